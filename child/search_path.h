// search_path as text, and the schemas that it names.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace weir::child {

// "a", "$user", b -> the names as the server shows them; quotes taken off, USER in the place of "$user".
std::vector<std::string> split_path(std::string_view text, const std::string& user);

// The same of a value as a session gave it, only where every way of giving it means the same: lower-case words alone.
std::optional<std::vector<std::string>> path_of_literal(std::string_view literal, const std::string& user);

}  // namespace weir::child
