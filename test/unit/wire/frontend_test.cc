#include "common/wire/frontend.h"

#include <gtest/gtest.h>

#include "test/unit/wire/support.h"

namespace weir::wire {
namespace {

using namespace std::string_literals;
using test::i16;
using test::i32;

// PARSE takes BODY, and neither a shorter one nor one with a byte more.
template <typename Parse>
void expect_exact(Parse parse, const std::string& body) {
  EXPECT_TRUE(parse(as_bytes(body)));
  for (std::size_t size = 0; size < body.size(); ++size) {
    EXPECT_FALSE(parse(as_bytes(std::string_view(body).substr(0, size)))) << size;
  }
  EXPECT_FALSE(parse(as_bytes(body + "\0"s)));
  EXPECT_FALSE(parse(as_bytes(body + "x")));
}

TEST(Frontend, Query) {
  const std::string body = "SELECT 1; SELECT '\xff'\0"s;
  EXPECT_EQ(parse_query(as_bytes(body))->text, "SELECT 1; SELECT '\xff'");
  expect_exact(parse_query, body);
  EXPECT_EQ(parse_query(as_bytes("\0"s))->text, "");
  EXPECT_FALSE(parse_query(as_bytes("a\0b\0"s)));
}

TEST(Frontend, Parse) {
  const std::string body = "name\0SELECT $1, $2\0"s + i16(2) + i32(23) + i32(0);
  const auto message = parse_parse(as_bytes(body));
  ASSERT_TRUE(message);
  EXPECT_EQ(message->name, "name");
  EXPECT_EQ(message->query, "SELECT $1, $2");
  EXPECT_EQ(message->type_count(), 2U);
  EXPECT_EQ(as_text(message->types), i32(23) + i32(0));
  expect_exact(parse_parse, body);
  expect_exact(parse_parse, "\0\0"s + i16(0));
}

TEST(Frontend, ParseWithAllTheTypesThatThereCanBe) {
  const std::string head = "\0SELECT 1\0"s;
  const auto message = parse_parse(as_bytes(head + i16(65535) + std::string(65535 * 4, '\0')));
  ASSERT_TRUE(message);
  EXPECT_EQ(message->type_count(), 65535U);
  EXPECT_FALSE(parse_parse(as_bytes(head + i16(-1) + i32(0))));
}

TEST(Frontend, Bind) {
  const std::string rest = i16(1) + i16(1) + i16(3) + i32(-1) + i32(0) + i32(2) + "hi" + i16(2) + i16(0) + i16(1);
  const std::string body = "portal\0statement\0"s + rest;
  const auto message = parse_bind(as_bytes(body));
  ASSERT_TRUE(message);
  EXPECT_EQ(message->portal, "portal");
  EXPECT_EQ(message->statement, "statement");
  EXPECT_EQ(message->value_count, 3U);
  EXPECT_EQ(as_text(message->rest), rest);
  expect_exact(parse_bind, body);
  expect_exact(parse_bind, "\0\0"s + i16(0) + i16(0) + i16(0));
}

TEST(Frontend, BindWithAsManyParametersAsPostgresTakes) {
  std::string body = "\0\0"s + i16(0) + i16(65535);
  for (int i = 0; i < 65535; ++i) body += i32(-1);
  body += i16(0);
  const auto message = parse_bind(as_bytes(body));
  ASSERT_TRUE(message);
  EXPECT_EQ(message->value_count, 65535U);
}

TEST(Frontend, BindWithLengthsThatLie) {
  const std::string head = "\0\0"s;
  for (const std::int32_t length : {-2, -100, std::int32_t{INT32_MIN}, 3, 1000, INT32_MAX}) {
    EXPECT_FALSE(parse_bind(as_bytes(head + i16(0) + i16(1) + i32(length) + "ab" + i16(0)))) << length;
  }
  EXPECT_FALSE(parse_bind(as_bytes(head + i16(65535) + i16(0) + i16(0))));   // format codes that are not there
  EXPECT_FALSE(parse_bind(as_bytes(head + i16(0) + i16(65535) + i16(0))));   // values
  EXPECT_FALSE(parse_bind(as_bytes(head + i16(0) + i16(0) + i16(65535))));   // result formats
}

TEST(Frontend, DescribeAndClose) {
  for (const char kind : {'S', 'P'}) {
    const std::string body = kind + "name\0"s;
    EXPECT_EQ(parse_describe(as_bytes(body))->kind, kind);
    EXPECT_EQ(parse_close(as_bytes(body))->name, "name");
    expect_exact(parse_describe, body);
    expect_exact(parse_close, body);
    expect_exact(parse_close, kind + "\0"s);
  }
  for (const char kind : {'s', 'p', '\0', 'X'}) {
    EXPECT_FALSE(parse_describe(as_bytes(kind + "name\0"s)));
    EXPECT_FALSE(parse_close(as_bytes(kind + "name\0"s)));
  }
}

TEST(Frontend, Execute) {
  const std::string body = "portal\0"s + i32(100);
  EXPECT_EQ(parse_execute(as_bytes(body))->portal, "portal");
  EXPECT_EQ(parse_execute(as_bytes(body))->max_rows, 100);
  EXPECT_EQ(parse_execute(as_bytes("\0"s + i32(-1)))->max_rows, -1);
  expect_exact(parse_execute, body);
}

TEST(Frontend, FunctionCall) {
  const std::string body = i32(1234) + i16(1) + i16(0) + i16(2) + i32(-1) + i32(3) + "abc" + i16(1);
  const auto message = parse_function_call(as_bytes(body));
  ASSERT_TRUE(message);
  EXPECT_EQ(message->function, 1234U);
  EXPECT_EQ(message->argument_count, 2U);
  expect_exact(parse_function_call, body);
  EXPECT_FALSE(parse_function_call(as_bytes(i32(1) + i16(0) + i16(1) + i32(-2) + i16(0))));
  EXPECT_FALSE(parse_function_call(as_bytes(i32(1) + i16(-1) + i16(0) + i16(0))));
}

TEST(Frontend, CopyFail) {
  EXPECT_EQ(*parse_copy_fail(as_bytes("no more\0"s)), "no more");
  expect_exact(parse_copy_fail, "no more\0"s);
}

TEST(Frontend, Password) {
  EXPECT_EQ(*parse_password(as_bytes("secret\0"s)), "secret");
  expect_exact(parse_password, "secret\0"s);
  EXPECT_EQ(*parse_password(as_bytes("\0"s)), "");
  EXPECT_FALSE(parse_password(as_bytes("se\0cret\0"s)));
}

TEST(Frontend, SaslInitialResponse) {
  const std::string body = "SCRAM-SHA-256\0"s + i32(5) + "n,,n=";
  const auto message = parse_sasl_initial(as_bytes(body));
  ASSERT_TRUE(message);
  EXPECT_EQ(message->mechanism, "SCRAM-SHA-256");
  EXPECT_EQ(message->data, "n,,n=");
  expect_exact(parse_sasl_initial, body);
  expect_exact(parse_sasl_initial, "M\0"s + i32(-1));
  EXPECT_FALSE(parse_sasl_initial(as_bytes("M\0"s + i32(-1)))->data);
  EXPECT_EQ(parse_sasl_initial(as_bytes("M\0"s + i32(0)))->data, "");
  for (const std::int32_t length : {-2, std::int32_t{INT32_MIN}, 4, INT32_MAX}) {
    EXPECT_FALSE(parse_sasl_initial(as_bytes("M\0"s + i32(length) + "abc"))) << length;
  }
}

}  // namespace
}  // namespace weir::wire
