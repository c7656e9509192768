#include "common/config/userlist.h"

namespace weir::config {
namespace {

// "..." with "" for a quote; takes it off LINE.
bool quoted(std::string_view& line, std::string& out) {
  if (line.empty() || line.front() != '"') return false;
  for (std::size_t i = 1; i < line.size(); ++i) {
    if (line[i] != '"') {
      out += line[i];
    } else if (i + 1 < line.size() && line[i + 1] == '"') {
      out += line[i++];
    } else {
      line.remove_prefix(i + 1);
      return true;
    }
  }
  return false;
}

}  // namespace

UserList parse_userlist(std::string_view text) {
  UserList list;
  int number = 0;
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    std::string_view line = text.substr(0, end);
    text = end == std::string_view::npos ? std::string_view() : text.substr(end + 1);
    ++number;
    if (!line.empty() && line.back() == '\r') line.remove_suffix(1);
    const std::size_t first = line.find_first_not_of(" \t");
    if (first == std::string_view::npos) continue;
    if (line[first] == '"') line.remove_prefix(first);  // blanks belong to the name in the form user:secret
    if (line.front() == '#' || line.front() == ';') continue;
    if (line.find('\0') != std::string_view::npos || line.size() > 65536) {
      list.errors.push_back({number, "the line is too long or has a NUL in it"});
      continue;
    }
    std::string user;
    std::string secret;
    if (line.front() == '"') {
      bool good = quoted(line, user);
      while (!line.empty() && (line.front() == ' ' || line.front() == '\t')) line.remove_prefix(1);
      good = good && quoted(line, secret);
      if (!good) {
        list.errors.push_back({number, "a line is: \"user\" \"secret\""});
        continue;
      }
      // Prefixes are Pgpool-II's; PgBouncer's form has none, and such a secret is a password that begins so.
      if (secret.starts_with("AES") || secret.starts_with("TEXT")) secret.insert(0, "TEXT");
    } else {
      const std::size_t colon = line.find(':');
      if (colon == std::string_view::npos || colon == 0) {
        list.errors.push_back({number, "a line is: user:secret"});
        continue;
      }
      user = line.substr(0, colon);
      secret = line.substr(colon + 1);
    }
    if (secret.empty()) continue;  // such a user cannot log in by password
    list.users.emplace_back(std::move(user), std::move(secret));
  }
  return list;
}

}  // namespace weir::config
