#include "child/statement_registry.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <optional>
#include <string>
#include <vector>

#include "common/wire/encode.h"

namespace weir::child {
namespace {

std::string parse_message(std::string_view name, std::string_view sql) {
  std::string out;
  wire::encode_parse(out, name, sql);
  return out;
}

TEST(StatementRegistry, equal_definitions_are_one_statement) {
  StatementRegistry registry;
  const auto one = registry.intern(as_bytes(parse_message("a", "SELECT 1")));
  EXPECT_EQ(one, registry.intern(as_bytes(parse_message("another", "SELECT 1"))));
  const auto two = registry.intern(as_bytes(parse_message("a", "SELECT 2")));
  EXPECT_NE(one, two);
  EXPECT_EQ(one->server_name, "pgweir_1");
  EXPECT_EQ(two->server_name, "pgweir_2");
}

TEST(StatementRegistry, what_nobody_has_is_forgotten_and_its_name_never_comes_back) {
  StatementRegistry registry;
  std::string last;
  for (int i = 0; i < 2000; ++i) last = registry.intern(as_bytes(parse_message("", "SELECT " + std::to_string(i))))->server_name;
  EXPECT_LE(registry.size(), 257U);
  EXPECT_EQ(last, "pgweir_2000");
  EXPECT_EQ(registry.intern(as_bytes(parse_message("", "SELECT 0")))->server_name, "pgweir_2001");
}

// The message is what it would be had the client given it that name.
TEST(StatementRegistry, messages_renamed) {
  EXPECT_TRUE(rc::check("a message with another name", [] {
    const auto word = [] { return *rc::gen::container<std::string>(rc::gen::inRange('a', 'z')); };
    const std::string portal = word(), old_name = word(), new_name = word(), sql = word(), value = word();
    const auto messages = [&](const std::string& name) {
      std::vector<std::string> out(4);
      wire::encode_parse(out[0], name, sql);
      const std::vector<std::optional<std::string_view>> values{value, std::nullopt};
      wire::encode_bind(out[1], portal, name, values);
      wire::encode_describe(out[2], 'S', name);
      wire::encode_close(out[3], 'S', name);
      return out;
    };
    const auto before = messages(old_name);
    const auto wanted = messages(new_name);
    for (std::size_t i = 0; i < before.size(); ++i) {
      std::string renamed = "x";
      encode_renamed(renamed, as_bytes(before[i]), new_name);
      RC_ASSERT(renamed == "x" + wanted[i]);
    }
  }));
}

}  // namespace
}  // namespace weir::child
