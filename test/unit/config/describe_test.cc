#include "common/config/describe.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <set>
#include <sstream>
#include <string>

#include "common/config/diff.h"
#include "common/config/indexed.h"
#include "common/config/loader.h"
#include "common/config/parameter.h"

namespace weir::config {
namespace {

LoadOutcome load_text(const std::string& text) {
  return load_with({"main.conf", {{"PGWEIR_MAX_POOL", "8"}}, {{"port", "7777"}}},
                   [&](const std::string&) { return text; });
}

std::string committed(const std::string& name) {
  std::ifstream file(WEIR_SOURCE_DIR "/" + name, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

// If this fails: build weir_describe and run it with the folder of the repository.
TEST(generated, files_are_those_of_the_table) {
  EXPECT_TRUE(committed("etc/pgweir.conf.sample") == sample_conf());
  EXPECT_TRUE(committed("etc/pgweir-minimal.conf") == minimal_conf());
  EXPECT_TRUE(committed("doc/parameters.md") == parameters_page());
  EXPECT_TRUE(committed("doc/man/pgweir.conf.5") == manual_page());
}

TEST(generated, every_parameter_is_in_each_text) {
  for (const Parameter& parameter : parameters()) {
    const std::string name(parameter.name);
    EXPECT_NE(sample_conf().find("\n#" + name + " = "), std::string::npos) << name;
    EXPECT_NE(parameters_page().find("| `" + name + "`"), std::string::npos) << name;
    EXPECT_NE(manual_page().find("\n.BR " + name + " "), std::string::npos) << name;
  }
  for (const NumberedParameter& numbered : numbered_parameters()) {
    EXPECT_NE(sample_conf().find("\n#" + std::string(numbered.name) + "0 = "), std::string::npos) << numbered.name;
  }
}

TEST(generated, sample_says_the_defaults) {
  std::istringstream lines(sample_conf());
  std::string parameters_only;
  int count = 0;
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with("#") || line.starts_with("# ")) continue;
    parameters_only += line.substr(1) + "\n";
    ++count;
  }
  EXPECT_EQ(count, static_cast<int>(parameters().size() + numbered_parameters().size()));
  const LoadOutcome all = load_text(parameters_only);
  ASSERT_NE(all.config, nullptr) << all.errors.at(0).message << " in line " << all.errors.at(0).line;
  const LoadOutcome none = load_text(sample_conf());
  ASSERT_NE(none.config, nullptr);
  for (const Change& change : diff(*none.config, *all.config)) {
    ADD_FAILURE() << change.name << ": " << change.before << " became " << change.after;
  }
}

TEST(generated, minimal_file_loads_without_a_word) {
  const LoadOutcome outcome = load_text(minimal_conf());
  ASSERT_NE(outcome.config, nullptr);
  EXPECT_TRUE(outcome.notices.empty());
  EXPECT_EQ(outcome.config->backends.size(), 3u);
}

const Description* find(const std::vector<Description>& rows, const std::string& name) {
  const auto it = std::find_if(rows.begin(), rows.end(), [&](const Description& row) { return row.name == name; });
  return it == rows.end() ? nullptr : &*it;
}

TEST(describe, values_and_sources) {
  const LoadOutcome outcome = load_text(
      "listen_addresses = '*'\nsr_check_password = 'hush'\nconnect_timeout = 5s\n"
      "backend_hostname1 = 'db'\nbackend_port1 = 1\nbackend_weight1 = 0.5\n");
  ASSERT_NE(outcome.config, nullptr);
  const auto rows = describe(*outcome.config);
  struct {
    const char* name;
    const char* value;
    const char* unit;
    const char* source;
  } const cases[] = {
      {"listen_addresses", "*", "", "main.conf:1"},
      {"port", "7777", "", "command line"},
      {"max_pool", "8", "", "environment"},
      {"authentication_timeout", "60s", "s", "default"},
      {"sr_check_password", "*****", "", "main.conf:2"},
      {"pool_mode", "session", "", "default"},
      {"backend_hostname1", "db", "", "main.conf:4"},
      {"backend_weight1", "0.5", "", "main.conf:6"},
      {"backend_flag1", "ALLOW_TO_FAILOVER", "", "default"},
      {"connect_timeout1", "5000ms", "ms", "main.conf:3"},
  };
  for (const auto& c : cases) {
    const Description* row = find(rows, c.name);
    ASSERT_NE(row, nullptr) << c.name;
    EXPECT_EQ(row->value, c.value) << c.name;
    EXPECT_EQ(row->unit, c.unit) << c.name;
    EXPECT_EQ(row->source, c.source) << c.name;
    EXPECT_FALSE(row->text.empty()) << c.name;
  }
  EXPECT_EQ(find(rows, "backend_hostname0"), nullptr) << "no such node";
  for (const Description& row : rows) EXPECT_EQ(row.value.find("hush"), std::string::npos) << row.name;
}

TEST(describe, pool_status) {
  const LoadOutcome outcome = load_text("sr_check_password = 'hush'\nssl = on\n");
  ASSERT_NE(outcome.config, nullptr);
  const auto items = pool_status_items(*outcome.config);
  ASSERT_GT(items.size(), 150u);
  EXPECT_EQ(items[0].item, "backend_clustering_mode");
  EXPECT_EQ(items[0].value, "1");
  EXPECT_EQ(items[1].item, "listen_addresses");
  EXPECT_EQ(items[2].item, "port");
  EXPECT_EQ(items[2].value, "7777");
  std::set<std::string> names;
  for (const Item& item : items) {
    EXPECT_TRUE(names.insert(item.item).second) << item.item;
    EXPECT_FALSE(item.description.empty());
    EXPECT_EQ(item.value.find("hush"), std::string::npos);
  }
  EXPECT_TRUE(names.contains("memqcache_cache_oiddir"));
  EXPECT_TRUE(names.contains("connection_max_age")) << "pgweir's own come behind";
  const auto it = std::find_if(items.begin(), items.end(), [](const Item& item) { return item.item == "ssl"; });
  EXPECT_EQ(it->value, "1");
}

}  // namespace
}  // namespace weir::config
