// Users and their secrets: lines user:secret (pool_passwd) or "user" "secret" (userlist.txt). Never throws.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace weir::config {

struct UserListError {
  int line = 0;
  std::string message;
};
struct UserList {
  std::vector<std::pair<std::string, std::string>> users;  // in the order of the file; a later line replaces an earlier
  std::vector<UserListError> errors;
};

UserList parse_userlist(std::string_view text);

}  // namespace weir::config
