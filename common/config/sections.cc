#include "common/config/sections.h"

#include <algorithm>
#include <iterator>
#include <string_view>

namespace weir::config {
namespace {

constexpr std::string_view kSections[] = {"databases", "users", "pools", "tenants", "peers"};

bool pairs(std::string_view text, std::vector<std::pair<std::string, std::string>>& out) {
  std::size_t i = 0;
  const auto blank = [](char c) { return c == ' ' || c == '\t'; };
  const auto skip = [&] {
    while (i < text.size() && blank(text[i])) ++i;
  };
  for (skip(); i < text.size(); skip()) {
    const std::size_t equals = text.find('=', i);
    if (equals == std::string_view::npos) return false;
    std::string_view key = text.substr(i, equals - i);
    while (!key.empty() && blank(key.back())) key.remove_suffix(1);
    if (key.empty() || key.find_first_of(" \t'") != std::string_view::npos) return false;
    i = equals + 1;
    skip();
    std::string value;
    if (i < text.size() && text[i] == '\'') {
      for (++i;; ++i) {
        if (i >= text.size()) return false;
        if (text[i] == '\'') {
          if (i + 1 == text.size() || text[i + 1] != '\'') break;
          ++i;
        }
        value += text[i];
      }
      ++i;
    } else {
      while (i < text.size() && !blank(text[i])) value += text[i++];
      if (value.empty()) return false;
    }
    out.emplace_back(key, std::move(value));
  }
  return true;
}

}  // namespace

bool is_section(std::string_view name, std::string& message) {
  if (name == "pgbouncer") {
    message = "files in PgBouncer's own form come later; write the parameters above the sections, without [pgbouncer]";
    return false;
  }
  if (std::find(std::begin(kSections), std::end(kSections), name) == std::end(kSections)) {
    message = "unknown section [" + std::string(name) + "]: there are [databases], [users], [pools], [tenants] and [peers]";
    return false;
  }
  return true;
}

bool add_section_entry(std::map<std::string, SectionEntries>& sections, const ConfEntry& entry, std::string& message) {
  if (!is_section(entry.section, message)) return false;
  std::vector<std::pair<std::string, std::string>> settings;
  if (!pairs(entry.value, settings)) {
    message = "syntax error in the settings of \"" + entry.name + "\": they are key=value pairs with blanks between";
    return false;
  }
  sections[entry.section].insert_or_assign(entry.name, std::move(settings));
  return true;
}

}  // namespace weir::config
