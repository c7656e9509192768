#include "parent/password_key.h"

#include <cstdlib>
#include <fstream>

namespace weir::parent {
namespace {

constexpr std::size_t kMaxKey = 4096;

std::string first_line(const std::string& file) {
  std::ifstream in(file);
  std::string line(kMaxKey, '\0');
  in.read(line.data(), static_cast<std::streamsize>(line.size()));
  line.resize(static_cast<std::size_t>(in.gcount()));
  line = line.substr(0, line.find('\n'));
  if (!line.empty() && line.back() == '\r') line.pop_back();
  return line;
}

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value != nullptr ? value : "";
}

}  // namespace

bool is_list_of_users(const std::string& file) {
  std::ifstream in(file);
  for (std::string line; std::getline(in, line);) {
    if (line.empty() || line.front() == '#' || line.front() == ';') continue;
    return line.find(':') != std::string::npos || line.front() == '"';
  }
  return false;
}

std::string read_password_key(const std::string& file) {
  std::string path = file;
  if (path.empty()) path = variable("PGPOOLKEYFILE");
  if (path.empty() && !variable("HOME").empty()) path = variable("HOME") + "/.pgpoolkey";
  return path.empty() ? std::string() : first_line(path);
}

}  // namespace weir::parent
