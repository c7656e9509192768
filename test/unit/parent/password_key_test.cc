#include "parent/password_key.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <optional>
#include <string>

#include "test/unit/parent/scratch_file.h"

namespace weir::parent {
namespace {

// The variable has VALUE (nothing: it is not set) until the end of the scope.
class Variable {
 public:
  Variable(const char* name, const std::optional<std::string>& value) : name_(name) {
    if (const char* old = std::getenv(name)) old_ = old;
    set(value);
  }
  ~Variable() { set(old_); }
  Variable(const Variable&) = delete;
  Variable& operator=(const Variable&) = delete;

 private:
  void set(const std::optional<std::string>& value) const {
    if (value) {
      ::setenv(name_, value->c_str(), 1);
    } else {
      ::unsetenv(name_);
    }
  }
  const char* name_;
  std::optional<std::string> old_;
};

TEST(PasswordKey, TheFirstLine) {
  struct Row {
    const char* text;
    const char* key;
  };
  const ScratchDirectory scratch;
  for (const Row& row : {Row{"key", "key"}, Row{"key\n", "key"}, Row{"key\r\n", "key"}, Row{"key\nmore\n", "key"}, Row{" a key \n", " a key "}, Row{"", ""}, Row{"\nkey\n", ""},
                         Row{"a:b\n", "a:b"}}) {
    EXPECT_EQ(read_password_key(scratch.write("key", row.text)), row.key) << row.text;
  }
}

TEST(PasswordKey, ALineWithoutEndIsCut) {
  const ScratchDirectory scratch;
  EXPECT_EQ(read_password_key(scratch.write("key", std::string(1U << 20U, 'k'))).size(), 4096U);
}

TEST(PasswordKey, WhereItIsLookedFor) {
  const ScratchDirectory scratch;
  const std::string given = scratch.write("given", "of the option\n");
  const std::string named = scratch.write("named", "of the variable\n");
  scratch.write(".pgpoolkey", "of the home\n");
  const Variable home("HOME", scratch.path(""));
  {
    const Variable file("PGPOOLKEYFILE", named);
    EXPECT_EQ(read_password_key(given), "of the option");
    EXPECT_EQ(read_password_key(""), "of the variable");
    EXPECT_EQ(read_password_key(scratch.path("none")), "") << "a file that was asked for has no stand-in";
  }
  {
    const Variable file("PGPOOLKEYFILE", {});
    EXPECT_EQ(read_password_key(""), "of the home");
  }
  {
    const Variable file("PGPOOLKEYFILE", "");
    EXPECT_EQ(read_password_key(""), "of the home");
  }
  {
    const Variable file("PGPOOLKEYFILE", scratch.path("none"));
    EXPECT_EQ(read_password_key(""), "");
  }
}

TEST(PasswordKey, NoKeyAtAll) {
  const ScratchDirectory scratch;
  const Variable file("PGPOOLKEYFILE", {});
  {
    const Variable home("HOME", scratch.path(""));
    EXPECT_EQ(read_password_key(""), "");
  }
  const Variable home("HOME", {});
  EXPECT_EQ(read_password_key(""), "");
}

TEST(PasswordKey, ListsOfUsers) {
  struct Row {
    const char* text;
    bool users;
  };
  const ScratchDirectory scratch;
  for (const Row& row : {Row{"alice:md5abc\n", true}, Row{"# users\n\nalice:TEXTx\n", true}, Row{"; users\n\"alice\" \"secret\"\n", true}, Row{"\"alice\" \"secret\"\n", true},
                         Row{"key\n", false}, Row{"key\nalice:md5abc\n", false}, Row{"", false}, Row{"# nothing\n", false}, Row{"\n\n", false}}) {
    EXPECT_EQ(is_list_of_users(scratch.write("file", row.text)), row.users) << row.text;
  }
  EXPECT_FALSE(is_list_of_users(scratch.path("none")));
  EXPECT_FALSE(is_list_of_users(scratch.path(""))) << "a directory";
}

}  // namespace
}  // namespace weir::parent
