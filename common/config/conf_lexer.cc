#include "common/config/conf_lexer.h"

#include <cctype>
#include <utility>

namespace weir::config {
namespace {

bool blank(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\f' || c == '\v'; }
bool name_char(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '.' || c == '-' || c == '*';
}

std::string_view skip_blanks(std::string_view line) {
  while (!line.empty() && blank(line.front())) line.remove_prefix(1);
  return line;
}

// A value in single quotes, taken off LINE; false: it does not end.
bool quoted(std::string_view& line, ConfEntry& entry) {
  for (std::size_t i = 1; i < line.size(); ++i) {
    char c = line[i];
    if (c == '\'') {
      if (i + 1 == line.size() || line[i + 1] != '\'') {
        line.remove_prefix(i + 1);
        return true;
      }
      ++i;
    } else if (c == '\\' && i + 1 < line.size()) {
      // Pgpool-II takes a backslash away only before a quote; patterns of functions are full of others.
      c = line[++i];
      if (c != '\'') entry.value += '\\';
      entry.list_value += '\\';
    }
    entry.value += c;
    entry.list_value += c;
  }
  return false;
}

bool digit(char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; }
bool letter(char c) { return std::isalpha(static_cast<unsigned char>(c)) != 0; }

// A bare word, taken off LINE. A number and its unit may be apart.
std::string bare(std::string_view& line) {
  std::size_t stop = 0;
  while (stop < line.size() && !blank(line[stop]) && line[stop] != '#') ++stop;
  std::string value(line.substr(0, stop));
  line.remove_prefix(stop);
  const std::string_view rest = skip_blanks(line);
  if (!value.empty() && digit(value.back()) && !rest.empty() && letter(rest.front())) {
    std::size_t unit = 0;
    while (unit < rest.size() && letter(rest[unit])) ++unit;
    value += rest.substr(0, unit);
    line = rest.substr(unit);
  }
  return value;
}

void parameter_line(std::string_view line, int number, ConfText& out) {
  std::size_t end = 0;
  while (end < line.size() && name_char(line[end])) ++end;
  if (end == 0) {
    out.errors.push_back({{}, number, "a line begins with a parameter's name, a [section] or #"});
    return;
  }
  ConfEntry entry;
  entry.line = number;
  entry.name = line.substr(0, end);
  line = skip_blanks(line.substr(end));
  if (!line.empty() && line.front() == '=') line = skip_blanks(line.substr(1));
  const auto error = [&](std::string message) { out.errors.push_back({{}, number, std::move(message)}); };
  if (!line.empty() && line.front() == '\'') {
    if (!quoted(line, entry)) return error("a quoted value does not end on its line");
  } else {
    entry.value = entry.list_value = bare(line);
    if (entry.value.empty()) return error("parameter \"" + entry.name + "\" has no value (write '' for an empty one)");
  }
  line = skip_blanks(line);
  if (!line.empty() && line.front() != '#') {
    return error("there is more behind the value of \"" + entry.name + "\" (a value with blanks needs single quotes)");
  }
  out.entries.push_back(std::move(entry));
}

// key = rest of the line, as PgBouncer has it.
void section_line(std::string_view line, int number, const std::string& section, ConfText& out) {
  ConfEntry entry;
  entry.section = section;
  entry.line = number;
  if (line.front() == '\'') {
    const std::size_t close = line.find('\'', 1);
    if (close == std::string_view::npos) {
      out.errors.push_back({{}, number, "a quoted name does not end on its line"});
      return;
    }
    entry.name = line.substr(1, close - 1);
    line.remove_prefix(close + 1);
  } else {
    std::size_t end = 0;
    while (end < line.size() && name_char(line[end])) ++end;
    entry.name = line.substr(0, end);
    line.remove_prefix(end);
  }
  line = skip_blanks(line);
  if (entry.name.empty() || line.empty() || line.front() != '=') {
    out.errors.push_back({{}, number, "a line of [" + section + "] is: name = settings"});
    return;
  }
  line = skip_blanks(line.substr(1));
  while (!line.empty() && blank(line.back())) line.remove_suffix(1);
  entry.value = line;
  out.entries.push_back(std::move(entry));
}

}  // namespace

ConfText lex_conf(std::string_view text) {
  ConfText out;
  std::string section;
  int number = 0;
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    std::string_view line = text.substr(0, end);
    text = end == std::string_view::npos ? std::string_view() : text.substr(end + 1);
    ++number;
    if (line.find('\0') != std::string_view::npos) {
      out.errors.push_back({{}, number, "the line has a NUL in it"});
      continue;
    }
    if (number == 1 && line.starts_with("\xef\xbb\xbf")) line.remove_prefix(3);
    line = skip_blanks(line);
    if (line.empty() || line.front() == '#' || (!section.empty() && line.front() == ';')) continue;
    if (line.front() == '[') {
      const std::size_t close = line.find(']');
      const std::string_view behind = close == std::string_view::npos ? line : skip_blanks(line.substr(close + 1));
      if (close == std::string_view::npos || close == 1 || (!behind.empty() && behind.front() != '#')) {
        out.errors.push_back({{}, number, "a section is a name in square brackets"});
        continue;
      }
      section = line.substr(1, close - 1);
      out.sections.push_back({section, number});
      continue;
    }
    if (section.empty()) {
      parameter_line(line, number, out);
    } else {
      section_line(line, number, section, out);
    }
  }
  return out;
}

}  // namespace weir::config
