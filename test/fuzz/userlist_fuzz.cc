// A file of users and secrets of any bytes. No user and no secret has a NUL or a line end in it, whatever comes in.
#include <cstddef>
#include <cstdint>
#include <string>

#include "common/base/check.h"
#include "common/config/userlist.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace weir::config;
  const std::string text(reinterpret_cast<const char*>(data), size);
  const UserList list = parse_userlist(text);
  std::size_t bytes = 0;
  for (const auto& [user, secret] : list.users) {
    const std::string both = user + secret;
    WEIR_CHECK(!secret.empty() && both.find('\0') == std::string::npos && both.find('\n') == std::string::npos);
    bytes += both.size();
  }
  WEIR_CHECK(bytes <= size);
  for (const UserListError& error : list.errors) WEIR_CHECK(error.line > 0 && !error.message.empty());
  return 0;
}
