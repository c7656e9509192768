#include "common/wire/startup.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "test/unit/wire/support.h"

namespace weir::wire {
namespace {

using namespace std::string_literals;
using test::untagged;
using Kind = StartupResult::Kind;
using Params = std::vector<std::pair<std::string_view, std::string_view>>;

constexpr std::uint32_t kVersion = 3U << 16U;

std::string startup(std::string_view body, std::uint32_t version = kVersion) {
  return untagged(static_cast<std::uint32_t>(8 + body.size()), version, body);
}

StartupResult parse(const std::string& bytes) { return parse_startup(as_bytes(bytes)); }

void expect_violation(const std::string& bytes, std::string_view message, std::string_view state = "08P01") {
  const StartupResult result = parse(bytes);
  EXPECT_EQ(result.kind, Kind::Violation);
  EXPECT_EQ(result.error.message, message);
  EXPECT_EQ(result.error.sqlstate, state);
  EXPECT_EQ(result.error.severity, Severity::Fatal);
}

constexpr std::string_view kBadLength = "invalid length of startup packet";
constexpr std::string_view kBadLayout = "invalid startup packet layout: expected terminator as last byte";

TEST(Startup, Parameters) {
  const std::string bytes = startup("user\0alice\0database\0shop\0application_name\0\0\0"s);
  const StartupResult result = parse(bytes);
  ASSERT_EQ(result.kind, Kind::Startup);
  EXPECT_EQ(result.size, bytes.size());
  EXPECT_EQ(result.startup.major, 3);
  EXPECT_EQ(result.startup.minor, 0);
  EXPECT_EQ(result.startup.params, (Params{{"user", "alice"}, {"database", "shop"}, {"application_name", ""}}));
  EXPECT_TRUE(result.startup.unknown_options.empty());
}

TEST(Startup, NoParametersAtAllIsWellFormed) {
  const StartupResult result = parse(startup("\0"s));
  ASSERT_EQ(result.kind, Kind::Startup);
  EXPECT_TRUE(result.startup.params.empty());
}

TEST(Startup, NewerMinorVersionsAndOptionsAreForNegotiation) {
  const std::string bytes = startup("user\0a\0_pq_.compress\0on\0_pq_.\0x\0\0"s, kVersion | 9999U);
  const StartupResult result = parse(bytes);
  ASSERT_EQ(result.kind, Kind::Startup);
  EXPECT_EQ(result.startup.minor, 9999);
  EXPECT_EQ(result.startup.params, (Params{{"user", "a"}}));
  EXPECT_EQ(result.startup.unknown_options, (std::vector<std::string_view>{"_pq_.compress", "_pq_."}));
}

TEST(Startup, OtherMajorVersionsAreRefused) {
  expect_violation(startup("user\0a\0\0"s, 2U << 16U), "unsupported frontend protocol 2.0: server supports 3.0 to 3.0",
                   "0A000");
  expect_violation(startup("user\0a\0\0"s, 4U << 16U), "unsupported frontend protocol 4.0: server supports 3.0 to 3.0",
                   "0A000");
  expect_violation(startup("user\0a\0\0"s, 0xffffffffU),
                   "unsupported frontend protocol 65535.65535: server supports 3.0 to 3.0", "0A000");
  expect_violation(startup("", 0), "unsupported frontend protocol 0.0: server supports 3.0 to 3.0", "0A000");
  expect_violation(startup("\0"s, 80877105), "unsupported frontend protocol 1234.5681: server supports 3.0 to 3.0",
                   "0A000");
}

TEST(Startup, EncryptionRequests) {
  const StartupResult ssl = parse(untagged(8, 80877103) + "rest");
  EXPECT_EQ(ssl.kind, Kind::SslRequest);
  EXPECT_EQ(ssl.size, 8U);
  const StartupResult gss = parse(untagged(8, 80877104));
  EXPECT_EQ(gss.kind, Kind::GssRequest);
  EXPECT_EQ(gss.size, 8U);
  expect_violation(untagged(9, 80877103, "x"), kBadLength);
  expect_violation(untagged(12, 80877104, "xxxx"), kBadLength);
}

TEST(Startup, CancelRequests) {
  for (const std::size_t size : {std::size_t{4}, std::size_t{32}, std::size_t{256}}) {
    const std::string key(size, 'k');
    const std::string bytes = untagged(static_cast<std::uint32_t>(12 + size), 80877102, test::i32(-7) + key);
    const StartupResult result = parse(bytes);
    ASSERT_EQ(result.kind, Kind::CancelRequest) << size;
    EXPECT_EQ(result.size, bytes.size());
    EXPECT_EQ(result.cancel.pid, -7);
    EXPECT_EQ(as_text(result.cancel.key), key);
  }
  for (const std::size_t size : {std::size_t{0}, std::size_t{1}, std::size_t{3}, std::size_t{4 + 257}}) {
    expect_violation(untagged(static_cast<std::uint32_t>(8 + size), 80877102, std::string(size, 'k')),
                     "invalid length of cancel request packet");
  }
}

TEST(Startup, LengthsThatCannotBeAreRefusedAtOnce) {
  for (const std::uint32_t length : {0U, 1U, 4U, 7U, 10005U, 0x7fffffffU, 0x80000000U, 0xffffffffU}) {
    std::string bytes;
    ByteWriter(bytes).u32(length);
    expect_violation(bytes, kBadLength);
  }
  expect_violation("GET / HTTP/1.1\r\n", kBadLength);
  expect_violation("\x16\x03\x01\x02\x00\x01"s, kBadLength);  // a TLS hello that was not asked for
}

TEST(Startup, TheLongestPacket) {
  const std::string head = "user\0a\0options\0"s;
  const std::string body = head + std::string(10000 - 4 - head.size() - 2, 'x') + "\0\0"s;
  const std::string bytes = startup(body);
  ASSERT_EQ(bytes.size(), kMaxStartupPacket);
  EXPECT_EQ(parse(bytes).kind, Kind::Startup);
  expect_violation(startup(body + "\0"s), kBadLength);
}

TEST(Startup, BadLayouts) {
  expect_violation(startup(""), kBadLayout);
  expect_violation(startup("user"), kBadLayout);
  expect_violation(startup("user\0"s), kBadLayout);
  expect_violation(startup("user\0a"s), kBadLayout);
  expect_violation(startup("user\0a\0"s), kBadLayout);
  expect_violation(startup("user\0a\0database\0\0"s), kBadLayout);  // the last NUL is the value's
  expect_violation(startup("user\0a\0\0more\0"s), kBadLayout);
  expect_violation(startup("\0\0"s), kBadLayout);
}

TEST(Startup, NothingIsSaidBeforeAllOfItIsThere) {
  const std::string packets[] = {startup("user\0alice\0database\0shop\0\0"s), startup("user\0a\0\0"s, 2U << 16U),
                                 startup("user\0a"s), untagged(8, 80877103),
                                 untagged(16, 80877102, "pid_key_")};
  for (const std::string& bytes : packets) {
    for (std::size_t size = 0; size < bytes.size(); ++size) {
      EXPECT_EQ(parse(bytes.substr(0, size)).kind, Kind::NeedMore) << size;
    }
    EXPECT_NE(parse(bytes).kind, Kind::NeedMore);
    EXPECT_EQ(parse(bytes + "and the next").kind, parse(bytes).kind);
    EXPECT_EQ(parse(bytes + "and the next").startup.params, parse(bytes).startup.params);
  }
}

RC_GTEST_PROP(StartupProperty, WhatWasWrittenIsRead, ()) {
  // Names are not empty and do not claim to be options; values are anything without NUL.
  const auto text = rc::gen::container<std::string>(rc::gen::inRange('\x01', '\x7f'));
  const auto name = rc::gen::map(text, [](std::string value) { return "n" + value; });
  const auto pairs = *rc::gen::resize(20, rc::gen::container<std::vector<std::pair<std::string, std::string>>>(
                                              rc::gen::pair(name, text)));
  std::string body;
  Params expected;
  for (const auto& [key, value] : pairs) {
    ByteWriter(body).cstring(key).cstring(value);
    expected.emplace_back(key, value);
  }
  const std::string bytes = startup(body + "\0"s);
  const StartupResult result = parse(bytes);
  RC_ASSERT(result.kind == Kind::Startup);
  RC_ASSERT(result.startup.params == expected);
}

}  // namespace
}  // namespace weir::wire
