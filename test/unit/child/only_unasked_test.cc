// What may stand behind the last message that a server was asked for.
#include <gtest/gtest.h>

#include <string>

#include "child/backend.h"

namespace weir::child {
namespace {

std::string message(char tag, const std::string& body) {
  const auto length = static_cast<unsigned char>(4 + body.size());
  return std::string(1, tag) + std::string(3, '\0') + static_cast<char>(length) + body;
}

TEST(only_unasked, table) {
  const std::string ready = message('Z', "I");
  const std::string status = message('S', std::string("a\0b\0", 4));
  const std::string notice = message('N', std::string("MHello\0\0", 8));
  const std::string notify = message('A', std::string("\0\0\0\1c\0\0", 7));
  struct Row {
    const char* name;
    std::string bytes;
    bool expected;
  };
  const Row rows[] = {
      {"nothing", "", true},
      {"one of each", status + notice + notify, true},
      {"half of one", status + notice.substr(0, 7), true},
      {"its first byte", status + "N", true},
      {"a second ReadyForQuery", ready, false},
      {"its first byte", "Z", false},
      {"one behind a notice", notice + ready, false},
      {"a row", message('D', std::string("\0\0", 2)), false},
      {"an error", message('E', std::string("\0", 1)), false},
      {"an impossible length", std::string("N\0\0\0\3", 5), false},
      {"no message", std::string("\0", 1), false},
  };
  for (const Row& row : rows) EXPECT_EQ(only_unasked(as_bytes(row.bytes)), row.expected) << row.name;
}

}  // namespace
}  // namespace weir::child
