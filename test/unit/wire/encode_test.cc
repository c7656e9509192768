// What is encoded is what is decoded, and what PostgreSQL's documentation draws.
#include "common/wire/encode.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "common/wire/backend.h"
#include "common/wire/frontend.h"
#include "common/wire/startup.h"
#include "test/unit/wire/support.h"

namespace weir::wire {
namespace {

using namespace std::string_literals;
using test::body_of;
using test::framed;
using test::i16;
using test::i32;

// The body of what ENCODE appends, which must be one message TAG. There is something in front already.
template <typename Encode>
std::string server_body(char tag, Encode encode) {
  std::string out = "before";
  encode(out);
  EXPECT_EQ(out.substr(0, 6), "before");
  return body_of(out.substr(6), tag, Direction::FromServer);
}
template <typename Encode>
std::string client_body(char tag, Encode encode) {
  std::string out = "before";
  encode(out);
  EXPECT_EQ(out.substr(0, 6), "before");
  return body_of(out.substr(6), tag, Direction::FromClient);
}

TEST(Encode, EmptyMessages) {
  std::string client;
  encode_sync(client);
  encode_flush(client);
  encode_terminate(client);
  EXPECT_EQ(client, "S\0\0\0\4H\0\0\0\4X\0\0\0\4"s);
  std::string server;
  encode_empty_query_response(server);
  encode_parse_complete(server);
  encode_bind_complete(server);
  encode_close_complete(server);
  encode_no_data(server);
  encode_portal_suspended(server);
  EXPECT_EQ(server, "I\0\0\0\4"s + "1\0\0\0\4"s + "2\0\0\0\4"s + "3\0\0\0\4"s + "n\0\0\0\4"s +
                        "s\0\0\0\4"s);
}

TEST(Encode, Startup) {
  const std::vector<std::pair<std::string, std::string>> parameters = {{"user", "u"}, {"database", ""}};
  std::string out = "before";
  encode_startup(out, parameters);
  const StartupResult result = parse_startup(as_bytes(out).subspan(6));
  ASSERT_EQ(result.kind, StartupResult::Kind::Startup);
  EXPECT_EQ(result.size, out.size() - 6);
  EXPECT_EQ(result.startup.minor, 0);
  EXPECT_EQ(result.startup.params,
            (std::vector<std::pair<std::string_view, std::string_view>>{{"user", "u"}, {"database", ""}}));
}

TEST(Encode, UntaggedRequests) {
  std::string ssl;
  encode_ssl_request(ssl);
  EXPECT_EQ(parse_startup(as_bytes(ssl)).kind, StartupResult::Kind::SslRequest);
  for (const std::size_t size : {std::size_t{4}, std::size_t{256}}) {
    const std::string key(size, '\xfe');
    std::string cancel;
    encode_cancel_request(cancel, 4711, as_bytes(key));
    const StartupResult result = parse_startup(as_bytes(cancel));
    ASSERT_EQ(result.kind, StartupResult::Kind::CancelRequest);
    EXPECT_EQ(result.size, cancel.size());
    EXPECT_EQ(result.cancel.pid, 4711);
    EXPECT_EQ(as_text(result.cancel.key), key);
  }
}

TEST(Encode, ExtendedProtocol) {
  const auto parse = client_body('P', [](std::string& out) { encode_parse(out, "s", "SELECT $1"); });
  EXPECT_EQ(parse_parse(as_bytes(parse))->name, "s");
  EXPECT_EQ(parse_parse(as_bytes(parse))->query, "SELECT $1");
  EXPECT_EQ(parse_parse(as_bytes(parse))->type_count(), 0U);
  const TextValue values[] = {"one", std::nullopt, ""};
  const auto bind = client_body('B', [&](std::string& out) { encode_bind(out, "p", "s", values); });
  EXPECT_EQ(bind, "p\0s\0"s + i16(0) + i16(3) + i32(3) + "one" + i32(-1) + i32(0) + i16(0));
  EXPECT_EQ(parse_bind(as_bytes(bind))->value_count, 3U);
  const auto describe = client_body('D', [](std::string& out) { encode_describe(out, 'S', "s"); });
  EXPECT_EQ(parse_describe(as_bytes(describe))->kind, 'S');
  EXPECT_EQ(parse_describe(as_bytes(describe))->name, "s");
  const auto close = client_body('C', [](std::string& out) { encode_close(out, 'P', "p"); });
  EXPECT_EQ(parse_close(as_bytes(close))->kind, 'P');
  const auto execute = client_body('E', [](std::string& out) { encode_execute(out, "p", 10); });
  EXPECT_EQ(parse_execute(as_bytes(execute))->portal, "p");
  EXPECT_EQ(parse_execute(as_bytes(execute))->max_rows, 10);
}

TEST(Encode, Passwords) {
  const auto password = client_body('p', [](std::string& out) { encode_password(out, "secret"); });
  EXPECT_EQ(parse_password(as_bytes(password)), "secret");
  const auto initial = client_body('p', [](std::string& out) { encode_sasl_initial(out, "M", "n,,n=,r=x"); });
  EXPECT_EQ(parse_sasl_initial(as_bytes(initial))->mechanism, "M");
  EXPECT_EQ(parse_sasl_initial(as_bytes(initial))->data, "n,,n=,r=x");
  EXPECT_EQ(client_body('p', [](std::string& out) { encode_sasl_response(out, "c=biws"); }), "c=biws");
}

TEST(Encode, Authentication) {
  const auto request = [](auto encode) {
    static std::string body;
    body = server_body('R', encode);
    return *parse_authentication(as_bytes(body));
  };
  EXPECT_EQ(request([](std::string& out) { encode_authentication_ok(out); }).code, 0);
  EXPECT_EQ(request([](std::string& out) { encode_authentication_cleartext(out); }).code, 3);
  const std::array<std::byte, 4> salt = {std::byte{1}, std::byte{0}, std::byte{255}, std::byte{4}};
  const auto md5 = request([&](std::string& out) { encode_authentication_md5(out, salt); });
  EXPECT_EQ(md5.code, 5);
  EXPECT_EQ(as_text(md5.data), "\1\0\xff\4"s);
  const std::string_view mechanisms[] = {"A", "B"};
  const auto sasl = request([&](std::string& out) { encode_authentication_sasl(out, mechanisms); });
  EXPECT_EQ(sasl.code, 10);
  EXPECT_EQ(sasl.mechanisms, (std::vector<std::string_view>{"A", "B"}));
  const auto next = request([](std::string& out) { encode_authentication_sasl_continue(out, "r=x"); });
  EXPECT_EQ(next.code, 11);
  EXPECT_EQ(as_text(next.data), "r=x");
  const auto last = request([](std::string& out) { encode_authentication_sasl_final(out, "v=x"); });
  EXPECT_EQ(last.code, 12);
  EXPECT_EQ(as_text(last.data), "v=x");
}

TEST(Encode, Welcome) {
  const auto status = server_body('S', [](std::string& out) { encode_parameter_status(out, "a", "b"); });
  EXPECT_EQ(parse_parameter_status(as_bytes(status))->name, "a");
  EXPECT_EQ(parse_parameter_status(as_bytes(status))->value, "b");
  const auto key = server_body('K', [](std::string& out) { encode_backend_key_data(out, 0x80000001U, 0xdeadbeefU); });
  EXPECT_EQ(parse_backend_key_data(as_bytes(key))->pid, INT32_MIN + 1);
  EXPECT_EQ(as_text(parse_backend_key_data(as_bytes(key))->key), "\xde\xad\xbe\xef");
  for (const char state : {'I', 'T', 'E'}) {
    const auto ready = server_body('Z', [&](std::string& out) { encode_ready_for_query(out, state); });
    EXPECT_EQ(parse_ready_for_query(as_bytes(ready)), state);
  }
  const std::string_view options[] = {"_pq_.x"};
  const auto negotiate =
      server_body('v', [&](std::string& out) { encode_negotiate_protocol_version(out, 2, options); });
  EXPECT_EQ(parse_negotiate_protocol_version(as_bytes(negotiate))->minor, 2);
  EXPECT_EQ(parse_negotiate_protocol_version(as_bytes(negotiate))->options, (std::vector<std::string_view>{"_pq_.x"}));
}

TEST(Encode, Errors) {
  for (const Severity severity : {Severity::Warning, Severity::Error, Severity::Fatal, Severity::Panic}) {
    Error error = make_error("53300", "too many", "the detail", "the hint");
    error.severity = severity;
    const auto body = server_body('E', [&](std::string& out) { encode_error(out, error); });
    EXPECT_EQ(parse_error_fields(as_bytes(body))->to_error(), error);
    const auto notice = server_body('N', [&](std::string& out) { encode_notice(out, error); });
    EXPECT_EQ(notice, body);
  }
  std::string plain;
  encode_error(plain, make_error("XX000", "no"));
  EXPECT_EQ(plain, framed('E', "SERROR\0VERROR\0CXX000\0Mno\0\0"s));
}

TEST(Encode, Rows) {
  const ColumnDescription columns[] = {{"name", 25, -1}, {"count", 20, 8}};
  const auto description = server_body('T', [&](std::string& out) { encode_row_description(out, columns, 1); });
  const auto row = parse_row_description(as_bytes(description));
  ASSERT_TRUE(row);
  ASSERT_EQ(row->columns.size(), 2U);
  EXPECT_EQ(row->columns[0].name, "name");
  EXPECT_EQ(row->columns[0].type_oid, 25U);
  EXPECT_EQ(row->columns[1].type_size, 8);
  EXPECT_EQ(row->columns[1].type_modifier, -1);
  EXPECT_EQ(row->columns[1].format, 1);
  EXPECT_EQ(row->columns[1].table_oid, 0U);
  const TextValue values[] = {"x", std::nullopt, ""};
  const auto data = server_body('D', [&](std::string& out) { encode_data_row(out, values); });
  EXPECT_EQ(parse_data_row(as_bytes(data))->values, (std::vector<TextValue>{"x", std::nullopt, ""}));
  const auto tag = server_body('C', [](std::string& out) { encode_command_complete(out, "SELECT 1"); });
  EXPECT_EQ(parse_command_complete(as_bytes(tag)), "SELECT 1");
  const std::uint32_t oids[] = {25, 0xffffffffU};
  EXPECT_EQ(server_body('t', [&](std::string& out) { encode_parameter_description(out, oids); }),
            i16(2) + i32(25) + i32(-1));
}

std::string generated_text() { return *rc::gen::container<std::string>(rc::gen::distinctFrom('\0')); }

RC_GTEST_PROP(EncodeProperty, DataRowsComeBack, ()) {
  const auto texts = *rc::gen::container<std::vector<std::string>>(rc::gen::arbitrary<std::string>());
  std::vector<TextValue> values;
  for (const std::string& text : texts) values.push_back(text.size() == 3 ? TextValue() : TextValue(text));
  std::string out;
  encode_data_row(out, values);
  const auto row = parse_data_row(as_bytes(out).subspan(kHeaderSize));
  RC_ASSERT(row.has_value());
  RC_ASSERT(row->values == values);
  std::string bind;
  encode_bind(bind, "p", "s", values);
  const auto message = parse_bind(as_bytes(bind).subspan(kHeaderSize));
  RC_ASSERT(message.has_value());
  RC_ASSERT(message->value_count == values.size());
}

RC_GTEST_PROP(EncodeProperty, QueriesAndErrorsComeBack, ()) {
  const std::string text = generated_text();
  std::string query;
  encode_query(query, text);
  RC_ASSERT(parse_query(as_bytes(query).subspan(kHeaderSize))->text == text);
  const Error error = make_error("0A000", text, generated_text(), generated_text());
  std::string out;
  encode_error(out, error);
  RC_ASSERT(parse_error_fields(as_bytes(out).subspan(kHeaderSize))->to_error() == error);
}

RC_GTEST_PROP(EncodeProperty, NoBytesMakeADecoderMisbehave, (const std::string& bytes)) {
  // Whatever is accepted lies within the bytes given; the sanitizers look on.
  const Bytes body = as_bytes(bytes);
  if (const auto bind = parse_bind(body)) RC_ASSERT(bind->rest.size() <= body.size());
  if (const auto row = parse_row_description(body)) RC_ASSERT(row->columns.size() * 19 <= body.size());
  if (const auto row = parse_data_row(body)) RC_ASSERT(row->values.size() * 4 <= body.size());
  if (const auto fields = parse_error_fields(body)) RC_ASSERT(fields->message.size() < body.size());
}

}  // namespace
}  // namespace weir::wire
