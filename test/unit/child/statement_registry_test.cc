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
  EXPECT_EQ(one->server_name, "pgweir_00000000_1");
  EXPECT_EQ(two->server_name, "pgweir_00000000_2");
}

TEST(StatementRegistry, what_nobody_has_is_forgotten_and_its_name_never_comes_back) {
  StatementRegistry registry;
  std::string last;
  for (int i = 0; i < 2000; ++i) last = registry.intern(as_bytes(parse_message("", "SELECT " + std::to_string(i))))->server_name;
  EXPECT_LE(registry.size(), 257U);
  EXPECT_EQ(last, "pgweir_00000000_2000");
  EXPECT_EQ(registry.intern(as_bytes(parse_message("", "SELECT 0")))->server_name, "pgweir_00000000_2001");
}

// Two processes have no name in common, whatever pooler is behind them.
TEST(StatementRegistry, names_tell_the_process) {
  StatementRegistry one(0x5f0c3e12);
  EXPECT_EQ(one.intern(as_bytes(parse_message("a", "SELECT 1")))->server_name, "pgweir_5f0c3e12_1");
  EXPECT_EQ(one.server_name(7), "pgweir_5f0c3e12_7");
}

TEST(StatementRegistry, what_is_read_by_other_settings_is_another_statement) {
  StatementRegistry registry;
  const std::string message = parse_message("a", "SELECT '1/2/2003'::date");
  const auto plain = registry.intern(as_bytes(message));
  const auto german = registry.intern(as_bytes(message), "datestyle=german\n");
  EXPECT_NE(plain, german);
  EXPECT_EQ(german, registry.intern(as_bytes(message), "datestyle=german\n"));
  EXPECT_EQ(german->definition, plain->definition);
  EXPECT_NE(registry.alone(as_bytes(message)), plain);
  EXPECT_NE(registry.alone(as_bytes(message))->number, registry.alone(as_bytes(message))->number);
}

TEST(StatementRegistry, seen_before) {
  StatementRegistry registry;
  EXPECT_FALSE(registry.seen_before(as_bytes(parse_message("", "SELECT 1"))));
  EXPECT_TRUE(registry.seen_before(as_bytes(parse_message("", "SELECT 1"))));
  EXPECT_TRUE(registry.seen_before(as_bytes(parse_message("named", "SELECT 1"))));
  EXPECT_FALSE(registry.seen_before(as_bytes(parse_message("", "SELECT 2"))));
}

TEST(StatementRegistry, words_of_the_moment) {
  struct {
    const char* text;
    bool moment;
  } const cases[] = {
      {"SELECT 1", false},
      {"SELECT now()", false},
      {"SELECT now(), 'x'", false},
      {"SELECT NOW(), 'x'", false},
      {"SELECT 'now'::timestamptz", true},
      {"SELECT ' NoW '::timestamptz", true},
      {"SELECT date 'today'", true},
      {"SELECT date $$tomorrow$$", true},
      {"SELECT date 'yesterday'", true},
      {"SELECT 'noon', 'to day'", false},
      {"SELECT E'n\\x6fw'::timestamptz", true},
      {"SELECT known FROM snow WHERE x = 'y'", true},  // one too many: costs sharing, and nothing else
      {"SELECT today FROM days", false},                // no literal at all
      {"", false},
      {"'now", true},
  };
  for (const auto& c : cases) EXPECT_EQ(names_a_moment(c.text), c.moment) << c.text;
}

std::string error_message(const std::string& text) {
  std::string body = std::string("SERROR") + '\0' + "C26000" + '\0' + "M" + text + '\0' + "Dpgweir_00000000_1" + '\0' + '\0';
  std::string out = "E";
  for (int shift = 24; shift >= 0; shift -= 8) out += static_cast<char>((body.size() + 4) >> static_cast<unsigned>(shift) & 0xffU);
  return out + body;
}

TEST(StatementRegistry, errors_have_the_clients_name) {
  const auto renamed = [](const std::string& text) { return rename_in_error(as_bytes(error_message(text)), "pgweir_00000000_1", "mine"); };
  EXPECT_EQ(renamed("prepared statement \"pgweir_00000000_1\" does not exist"), error_message("prepared statement \"mine\" does not exist"));
  EXPECT_EQ(renamed("\xc2\xabpgweir_00000000_1\xc2\xbb pgweir_00000000_1"), error_message("\xc2\xabmine\xc2\xbb mine"));
  EXPECT_EQ(renamed("\"pgweir_00000000_12\" and \"pgweir_00000000_1\""), error_message("\"pgweir_00000000_12\" and \"mine\""));
  EXPECT_EQ(renamed("nothing of it"), error_message("nothing of it"));
  // Cut short anywhere it stays as it is.
  const std::string whole = error_message("prepared statement \"pgweir_00000000_1\" does not exist");
  for (std::size_t size = 5; size < whole.size(); ++size) {
    EXPECT_EQ(rename_in_error(as_bytes(whole).first(size), "pgweir_00000000_1", "mine"), whole.substr(0, size));
  }
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
