// The layering: which folder may include what. The table here is the rule.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <regex>
#include <string>
#include <vector>

namespace {
namespace fs = std::filesystem;

struct Rule {
  std::vector<std::string> folders; // of which every header may be included
  std::vector<std::string> headers; // single headers beside those
  std::vector<std::string>
      third_party; // prefixes of what may stand in angle brackets, beside the standard library's
};

const std::map<std::string, Rule>& rules() {
  static const std::map<std::string, Rule> table{
      {"common/base",
       {{}, {}, {"event2/", "openssl/", "fmt/", "tl/", "boost/describe", "boost/mp11"}}},
      {"common/wire", {{"common/base"}, {}, {}}},
      {"common/config", {{"common/base"}, {}, {"re2/", "boost/describe", "fmt/"}}},
      {"common/shmem", {{"common/base"}, {}, {"boost/", "pthread.h"}}},
      {"common/ledger", {{"common/base", "common/config", "common/shmem"}, {}, {"boost/", "fmt/"}}},
      {"common/process",
       {{"common/base", "common/config", "common/shmem"}, {}, {"bsd/", "event2/"}}},
      {"common/auth",
       {{"common/base", "common/wire", "common/config"}, {}, {"openssl/", "stringprep.h", "fmt/"}}},
      {"common/admin", {{"common/base", "common/config", "common/shmem", "common/ledger"}, {}, {"fmt/"}}},
      {"parser",
       {{"common/base"},
        {},
        {"pg_query", "protobuf-c/", "boost/", "fmt/", "pthread.h"}}}, // a stack of its own
      {"lb",
       {{"common/base", "parser"},
        {"common/shmem/node_view.h", "common/shmem/replication_delay.h", "common/shmem/catalog_view.h", "common/config/config.h",
         "common/config/pattern.h", "common/config/redirect.h", "common/config/object_pair.h", "common/shmem/recent_writes.h"},
        {"re2/", "boost/", "fmt/"}}},
      {"child",
       {{"common/base", "common/wire", "common/config", "common/shmem", "common/ledger", "common/process",
         "common/auth", "common/admin", "parser", "lb"},
        {},
        {"boost/", "event2/", "fmt/", "openssl/", "bsd/"}}},
      {"health",
       {{"common/base", "common/config", "common/shmem", "common/ledger", "common/process"},
        {"common/auth/verifier.h"}, // what a configured secret says
        {"libpq-fe.h", "event2/", "fmt/", "bsd/"}}},
      {"parent",
       {{"common/base", "common/config", "common/shmem", "common/ledger", "common/process"},
        {"child/child_main.h", "health/health_main.h"},
        {"CLI/", "libpq-fe.h", "event2/", "fmt/", "bsd/"}}},
  };
  return table;
}

// What lb may see of the parser is its facts: the tree stays inside.
const std::vector<std::string> kParserForLb{"parser/facts.h", "parser/names.h"};

struct Include {
  std::string file;
  std::string header;
  bool angle;
};

std::vector<Include> includes_of(const std::string& folder) {
  static const std::regex pattern("^\\s*#\\s*include\\s*([<\"])([^>\"]+)[>\"]");
  std::vector<Include> result;
  for (const auto& entry : fs::directory_iterator(fs::path(WEIR_SOURCE_DIR) / folder)) {
    const std::string extension = entry.path().extension();
    if (extension != ".h" && extension != ".cc" && extension != ".inc" && extension != ".def")
      continue;
    std::ifstream file(entry.path());
    for (std::string line; std::getline(file, line);) {
      std::smatch match;
      if (std::regex_search(line, match, pattern)) {
        result.push_back(
            {folder + "/" + entry.path().filename().string(), match[2], match[1] == "<"});
      }
    }
  }
  return result;
}

std::string folder_of(const std::string& header) {
  const std::size_t slash = header.rfind('/');
  return slash == std::string::npos ? "" : header.substr(0, slash);
}

bool contains(const std::vector<std::string>& list, const std::string& text) {
  return std::find(list.begin(), list.end(), text) != list.end();
}

bool has_prefix(const std::vector<std::string>& prefixes, const std::string& text) {
  return std::any_of(prefixes.begin(), prefixes.end(),
                     [&](const std::string& p) { return text.rfind(p, 0) == 0; });
}

// Third-party headers that anybody could reach for; all others in angle brackets are the language's
// or the system's.
bool is_third_party(const std::string& header) {
  static const std::vector<std::string> known{"event2/", "openssl/", "fmt/",         "tl/",
                                              "boost/",  "re2/",     "bsd/",         "protobuf-c/",
                                              "CLI/",    "pg_query", "stringprep.h", "libpq-fe.h",
                                              "libpq/",  "spdlog/",  "pthread.h"};
  return has_prefix(known, header);
}

TEST(layering, every_include_is_allowed) {
  for (const auto& [folder, rule] : rules()) {
    for (const Include& include : includes_of(folder)) {
      if (include.angle) {
        EXPECT_TRUE(!is_third_party(include.header) || has_prefix(rule.third_party, include.header))
            << include.file << " may not include <" << include.header << ">";
        continue;
      }
      const std::string from = folder_of(include.header);
      if (folder == "lb" && from == "parser") {
        EXPECT_TRUE(contains(kParserForLb, include.header))
            << include.file << " sees " << include.header;
        continue;
      }
      EXPECT_TRUE(from == folder || contains(rule.folders, from) ||
                  contains(rule.headers, include.header))
          << include.file << " may not include \"" << include.header << "\"";
    }
  }
}

// A folder with code that the table does not know would escape the rule.
TEST(layering, every_folder_has_a_rule) {
  for (auto at = fs::recursive_directory_iterator(WEIR_SOURCE_DIR);
       at != fs::recursive_directory_iterator(); ++at) {
    const std::string path = fs::relative(at->path(), WEIR_SOURCE_DIR).generic_string();
    if (at.depth() == 0 && (path == "build" || path == "test" || path.rfind('.', 0) == 0)) {
      at.disable_recursion_pending();
      continue;
    }
    if (at->path().extension() != ".cc")
      continue;
    EXPECT_TRUE(rules().count(folder_of(path)) == 1) << path << " lies in a folder without a rule";
  }
}

TEST(layering, rules_have_no_cycle) {
  // Each folder uses only folders whose own rules do not lead back.
  const auto reaches = [](const std::string& from, const std::string& to) {
    std::vector<std::string> open{from};
    for (std::size_t i = 0; i < open.size(); ++i) {
      for (const std::string& next : rules().at(open[i]).folders) {
        if (next == to)
          return true;
        if (!contains(open, next))
          open.push_back(next);
      }
    }
    return false;
  };
  for (const auto& [folder, rule] : rules())
    EXPECT_FALSE(reaches(folder, folder)) << folder;
}

} // namespace
