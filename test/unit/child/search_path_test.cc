#include "child/search_path.h"

#include <gtest/gtest.h>

namespace weir::child {
namespace {

using Path = std::vector<std::string>;

TEST(SearchPath, AsTheServerShowsIt) {
  EXPECT_EQ(split_path("\"$user\", public", "u"), (Path{"u", "public"}));
  EXPECT_EQ(split_path("a,b ,  c", "u"), (Path{"a", "b", "c"}));
  EXPECT_EQ(split_path("\"a, \"\"b\", \"C\"", "u"), (Path{"a, \"b", "C"}));
  EXPECT_EQ(split_path("", "u"), Path{});
}

TEST(SearchPath, OnlyWhatCannotBeMistakenIsReadFromASet) {
  EXPECT_EQ(path_of_literal("other, public", "u"), (Path{"other", "public"}));
  EXPECT_EQ(path_of_literal("$user,public", "u"), (Path{"u", "public"}));
  EXPECT_EQ(path_of_literal("", "u"), Path{});
  for (const char* literal : {"Other", "\"other\"", "a;b", "a\tb", "caf\xC3\xA9", "a'b", "a\"", "\"$user\", public"}) {
    EXPECT_FALSE(path_of_literal(literal, "u").has_value()) << literal;
  }
}

}  // namespace
}  // namespace weir::child
