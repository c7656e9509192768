#include "child/search_path.h"

#include <algorithm>

namespace weir::child {

std::vector<std::string> split_path(std::string_view text, const std::string& user) {
  std::vector<std::string> schemas;
  std::size_t i = 0;
  while (i < text.size()) {
    while (i < text.size() && (text[i] == ' ' || text[i] == ',')) ++i;
    if (i == text.size()) break;
    std::string name;
    if (text[i] == '"') {
      for (++i; i < text.size(); ++i) {
        if (text[i] == '"' && i + 1 < text.size() && text[i + 1] == '"') {
          name += text[i++];
        } else if (text[i] == '"') {
          break;
        } else {
          name += text[i];
        }
      }
      ++i;
    } else {
      while (i < text.size() && text[i] != ',' && text[i] != ' ') name += text[i++];
    }
    schemas.push_back(name == "$user" ? user : name);
  }
  return schemas;
}

std::optional<std::vector<std::string>> path_of_literal(std::string_view literal, const std::string& user) {
  const bool simple = std::all_of(literal.begin(), literal.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_' || c == '$' || c == ',' || c == ' ';
  });
  if (!simple) return std::nullopt;
  return split_path(literal, user);
}

}  // namespace weir::child
