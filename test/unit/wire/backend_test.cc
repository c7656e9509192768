#include "common/wire/backend.h"

#include <gtest/gtest.h>

#include "test/unit/wire/support.h"

namespace weir::wire {
namespace {

using namespace std::string_literals;
using test::i16;
using test::i32;

template <typename Parse>
void expect_exact(Parse parse, const std::string& body) {
  EXPECT_TRUE(parse(as_bytes(body)));
  for (std::size_t size = 0; size < body.size(); ++size) {
    EXPECT_FALSE(parse(as_bytes(std::string_view(body).substr(0, size)))) << size;
  }
  EXPECT_FALSE(parse(as_bytes(body + "\0"s)));
  EXPECT_FALSE(parse(as_bytes(body + "x")));
}

TEST(Backend, AuthenticationWithoutData) {
  for (const std::int32_t code : {0, 3}) {
    EXPECT_EQ(parse_authentication(as_bytes(i32(code)))->code, code);
    expect_exact(parse_authentication, i32(code));
  }
}

TEST(Backend, AuthenticationMd5) {
  const std::string body = i32(5) + "salt";
  const auto message = parse_authentication(as_bytes(body));
  ASSERT_TRUE(message);
  EXPECT_EQ(as_text(message->data), "salt");
  expect_exact(parse_authentication, body);
}

TEST(Backend, AuthenticationSasl) {
  const std::string body = i32(10) + "SCRAM-SHA-256-PLUS\0SCRAM-SHA-256\0\0"s;
  EXPECT_EQ(parse_authentication(as_bytes(body))->mechanisms,
            (std::vector<std::string_view>{"SCRAM-SHA-256-PLUS", "SCRAM-SHA-256"}));
  expect_exact(parse_authentication, body);
  EXPECT_TRUE(parse_authentication(as_bytes(i32(10) + "\0"s))->mechanisms.empty());
}

TEST(Backend, AuthenticationWithDataAsItIs) {
  for (const std::int32_t code : {11, 12, 7, 99, -1}) {
    const std::string data = "r=\0,x"s;
    const std::string body = i32(code) + data;
    const auto message = parse_authentication(as_bytes(body));
    ASSERT_TRUE(message);
    EXPECT_EQ(message->code, code);
    EXPECT_EQ(as_text(message->data), data);
    EXPECT_TRUE(parse_authentication(as_bytes(i32(code))));
  }
  EXPECT_FALSE(parse_authentication({}));
}

TEST(Backend, ParameterStatus) {
  const std::string body = "TimeZone\0Europe/Berlin\0"s;
  const auto message = parse_parameter_status(as_bytes(body));
  ASSERT_TRUE(message);
  EXPECT_EQ(message->name, "TimeZone");
  EXPECT_EQ(message->value, "Europe/Berlin");
  expect_exact(parse_parameter_status, "a\0b\0"s);
  expect_exact(parse_parameter_status, "a\0\0"s);
  EXPECT_FALSE(parse_parameter_status(as_bytes("\0b\0"s)));
}

TEST(Backend, BackendKeyData) {
  for (const std::size_t size : {std::size_t{4}, std::size_t{32}, std::size_t{256}}) {
    const auto message = parse_backend_key_data(as_bytes(i32(4711) + std::string(size, 'k')));
    ASSERT_TRUE(message);
    EXPECT_EQ(message->pid, 4711);
    EXPECT_EQ(message->key.size(), size);
  }
  for (const std::size_t size : {std::size_t{0}, std::size_t{3}, std::size_t{257}}) {
    EXPECT_FALSE(parse_backend_key_data(as_bytes(i32(1) + std::string(size, 'k'))));
  }
  EXPECT_FALSE(parse_backend_key_data(as_bytes("abc"s)));
}

TEST(Backend, ReadyForQuery) {
  for (const char status : {'I', 'T', 'E'}) EXPECT_EQ(parse_ready_for_query(as_bytes(std::string(1, status))), status);
  for (const std::string& body : {""s, "i"s, "\0"s, "II"s}) EXPECT_FALSE(parse_ready_for_query(as_bytes(body)));
}

TEST(Backend, CommandComplete) {
  EXPECT_EQ(*parse_command_complete(as_bytes("INSERT 0 1\0"s)), "INSERT 0 1");
  expect_exact(parse_command_complete, "SELECT 1\0"s);
}

TEST(Backend, ErrorFields) {
  const std::string body = "SFEHLER\0VERROR\0C25006\0Mno\0Dbecause\0Hdo not\0P15\0Zunknown\0Ffile.c\0\0"s;
  const auto fields = parse_error_fields(as_bytes(body));
  ASSERT_TRUE(fields);
  EXPECT_EQ(fields->severity, "ERROR");
  EXPECT_EQ(fields->sqlstate, "25006");
  EXPECT_EQ(fields->message, "no");
  EXPECT_EQ(fields->detail, "because");
  EXPECT_EQ(fields->hint, "do not");
  expect_exact(parse_error_fields, body);
  EXPECT_EQ(fields->to_error(), make_error("25006", "no", "because", "do not"));
}

TEST(Backend, ErrorFieldsOfOldAndOddServers) {
  EXPECT_EQ(parse_error_fields(as_bytes("SFATAL\0C57P01\0Mbye\0\0"s))->to_error(), make_fatal("57P01", "bye"));
  EXPECT_EQ(parse_error_fields(as_bytes("VPANIC\0CXX001\0\0"s))->to_error().severity, Severity::Panic);
  EXPECT_EQ(parse_error_fields(as_bytes("VWARNING\0C01000\0\0"s))->to_error().severity, Severity::Warning);
  EXPECT_EQ(parse_error_fields(as_bytes("Cbad\0\0"s))->to_error(), make_error("XX000", ""));
  EXPECT_TRUE(parse_error_fields(as_bytes("\0"s)));
  EXPECT_FALSE(parse_error_fields(as_bytes("\0M\0"s)));
}

std::string column(std::string_view name, std::int32_t type) {
  return std::string(name) + "\0"s + i32(16384) + i16(2) + i32(type) + i16(-1) + i32(-1) + i16(1);
}

TEST(Backend, RowDescription) {
  const std::string body = i16(2) + column("a", 25) + column("", 23);
  const auto row = parse_row_description(as_bytes(body));
  ASSERT_TRUE(row);
  ASSERT_EQ(row->columns.size(), 2U);
  EXPECT_EQ(row->columns[0].name, "a");
  EXPECT_EQ(row->columns[0].table_oid, 16384U);
  EXPECT_EQ(row->columns[0].table_column, 2);
  EXPECT_EQ(row->columns[1].type_oid, 23U);
  EXPECT_EQ(row->columns[1].type_size, -1);
  EXPECT_EQ(row->columns[1].type_modifier, -1);
  EXPECT_EQ(row->columns[1].format, 1);
  expect_exact(parse_row_description, body);
  expect_exact(parse_row_description, i16(0));
  EXPECT_FALSE(parse_row_description(as_bytes(i16(-1) + column("a", 25))));
  EXPECT_FALSE(parse_row_description(as_bytes(i16(32767) + column("a", 25))));
}

TEST(Backend, DataRow) {
  const std::string body = i16(3) + i32(-1) + i32(0) + i32(2) + "hi";
  const auto row = parse_data_row(as_bytes(body));
  ASSERT_TRUE(row);
  EXPECT_EQ(row->values, (std::vector<std::optional<std::string_view>>{std::nullopt, "", "hi"}));
  expect_exact(parse_data_row, body);
  expect_exact(parse_data_row, i16(0));
  EXPECT_FALSE(parse_data_row(as_bytes(i16(-1) + i32(-1))));
  EXPECT_FALSE(parse_data_row(as_bytes(i16(32767) + i32(-1))));
  for (const std::int32_t length : {-2, std::int32_t{INT32_MIN}, 3, INT32_MAX}) {
    EXPECT_FALSE(parse_data_row(as_bytes(i16(1) + i32(length) + "hi"))) << length;
  }
}

TEST(Backend, Notification) {
  const std::string body = i32(77) + "channel\0payload\0"s;
  const auto message = parse_notification(as_bytes(body));
  ASSERT_TRUE(message);
  EXPECT_EQ(message->pid, 77);
  EXPECT_EQ(message->channel, "channel");
  EXPECT_EQ(message->payload, "payload");
  expect_exact(parse_notification, body);
}

TEST(Backend, CopyResponse) {
  const std::string body = "\1"s + i16(2) + i16(1) + i16(1);
  const auto message = parse_copy_response(as_bytes(body));
  ASSERT_TRUE(message);
  EXPECT_EQ(message->format, 1);
  EXPECT_EQ(message->column_formats.size(), 4U);
  expect_exact(parse_copy_response, body);
  expect_exact(parse_copy_response, "\0"s + i16(0));
  EXPECT_FALSE(parse_copy_response(as_bytes("\2"s + i16(0))));
  EXPECT_FALSE(parse_copy_response(as_bytes("\0"s + i16(-1))));
}

TEST(Backend, NegotiateProtocolVersion) {
  const std::string body = i32(0) + i32(2) + "_pq_.a\0_pq_.b\0"s;
  const auto message = parse_negotiate_protocol_version(as_bytes(body));
  ASSERT_TRUE(message);
  EXPECT_EQ(message->minor, 0);
  EXPECT_EQ(message->options, (std::vector<std::string_view>{"_pq_.a", "_pq_.b"}));
  expect_exact(parse_negotiate_protocol_version, body);
  EXPECT_EQ(parse_negotiate_protocol_version(as_bytes(i32(3 << 16 | 2) + i32(0)))->minor, 2);
  for (const std::int32_t count : {-1, std::int32_t{INT32_MIN}, 1, INT32_MAX}) {
    EXPECT_FALSE(parse_negotiate_protocol_version(as_bytes(i32(0) + i32(count)))) << count;
  }
}

}  // namespace
}  // namespace weir::wire
