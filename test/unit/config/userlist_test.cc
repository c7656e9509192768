#include "common/config/userlist.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <string>
#include <utility>
#include <vector>

namespace weir::config {
namespace {

using Users = std::vector<std::pair<std::string, std::string>>;

TEST(userlist, pool_passwd) {
  const UserList list = parse_userlist(
      "# comment\nann:md5d41d8cd98f00b204e9800998ecf8427e\r\nbob:TEXTpa:ss\n\ncarl:\n two words: x \n"
      "dora:SCRAM-SHA-256$4096:c2FsdA==$a:b\n");
  EXPECT_TRUE(list.errors.empty());
  EXPECT_EQ(list.users, (Users{{"ann", "md5d41d8cd98f00b204e9800998ecf8427e"},
                               {"bob", "TEXTpa:ss"},
                               {" two words", " x "},
                               {"dora", "SCRAM-SHA-256$4096:c2FsdA==$a:b"}}));
}

TEST(userlist, pgbouncer_form) {
  const UserList list = parse_userlist(
      "; comment\n\"ann\" \"secret\"\n  \"b\"\"ob\"\t\"s\"\"s\" trailing words\n\"nobody\" \"\"\n\"x y\"\"\" "
      "\"a:b\"\n");
  EXPECT_TRUE(list.errors.empty());
  EXPECT_EQ(list.users, (Users{{"ann", "secret"}, {"b\"ob", "s\"s"}, {"x y\"", "a:b"}}));
}

TEST(userlist, errors_with_lines) {
  const std::string text =
      "ann:ok\nnocolon\n:nouser\n\"open\n\"u\" \"open\n\"u\" bare\n\"u\"\nnul:" + std::string(1, '\0') +
      "x\nlast:ok\n";
  const UserList list = parse_userlist(text);
  std::vector<int> lines;
  for (const UserListError& error : list.errors) lines.push_back(error.line);
  EXPECT_EQ(lines, (std::vector<int>{2, 3, 4, 5, 6, 7, 8}));
  EXPECT_EQ(list.users, (Users{{"ann", "ok"}, {"last", "ok"}}));
}

TEST(userlist, prefixes_belong_to_one_form_only) {
  EXPECT_EQ(parse_userlist("a:AESx\nb:TEXTy\n\"c\" \"AESx\"\n\"d\" \"TEXTy\"\n").users,
            (Users{{"a", "AESx"}, {"b", "TEXTy"}, {"c", "TEXTAESx"}, {"d", "TEXTTEXTy"}}));
}

TEST(userlist, hostile_texts) {
  EXPECT_TRUE(parse_userlist("").users.empty());
  EXPECT_EQ(parse_userlist("u:" + std::string(100000, 'x')).errors.size(), 1u);
  EXPECT_TRUE(parse_userlist(std::string(100000, '\n')).errors.empty());
  EXPECT_EQ(parse_userlist(std::string(1000, '"')).users.size(), 0u);
}

TEST(userlist, any_user_and_secret_come_back) {
  EXPECT_TRUE(rc::check([](const std::string& user, const std::string& secret) {
    const auto quoted = [](const std::string& text) {
      std::string out = "\"";
      for (char c : text) out += c == '"' ? std::string("\"\"") : std::string(1, c);
      return out + "\"";
    };
    for (char c : user + secret) RC_PRE(c != '\n' && c != '\0');
    RC_PRE(!secret.empty() && !secret.starts_with("AES") && !secret.starts_with("TEXT"));
    const UserList list = parse_userlist(quoted(user) + " " + quoted(secret) + "\n");
    RC_ASSERT(list.errors.empty());
    RC_ASSERT(list.users == (Users{{user, secret}}));
  }));
}

}  // namespace
}  // namespace weir::config
