// Unchanged clients, each through pgweir and directly at the primary: what they are told must be
// the same.
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <sstream>

#include "test/support/pgweir.h"

namespace weir::test {
namespace {

const std::string kClients = WEIR_SOURCE_DIR "/test/integration/clients/";

Output run_client(std::vector<std::string> argv, int port) {
  SpawnOptions options;
  options.argv = std::move(argv);
  options.as_server_user = false;
  options.environment = {
      {"PGHOST", "127.0.0.1"},
      {"PGPORT", std::to_string(port)},
      {"PGUSER", "app"},
      {"PGDATABASE", "app"},
      {"LC_ALL", "C.UTF-8"},
      {"PYTHONDONTWRITEBYTECODE", "1"},
      {"NODE_PATH", WEIR_SOURCE_DIR "/build/node/node_modules:/usr/share/nodejs"}};
  return run(options);
}

// The first lines that differ: whole outputs would drown them.
std::string difference(const std::string& direct, const std::string& through) {
  std::istringstream a(direct);
  std::istringstream b(through);
  std::string left;
  std::string right;
  std::vector<std::string> before;
  for (int line = 1;; ++line) {
    const bool more_left = static_cast<bool>(std::getline(a, left));
    const bool more_right = static_cast<bool>(std::getline(b, right));
    if (!more_left && !more_right)
      return "";
    if (more_left != more_right || left != right) {
      std::string out = "line " + std::to_string(line) + "\n";
      for (const std::string& each : before)
        out += "         " + each + "\n";
      out += "direct:  " + (more_left ? left : "(end)") + "\n";
      for (int i = 0; i < 4 && std::getline(a, left); ++i)
        out += "         " + left + "\n";
      out += "through: " + (more_right ? right : "(end)") + "\n";
      for (int i = 0; i < 4 && std::getline(b, right); ++i)
        out += "         " + right + "\n";
      return out;
    }
    before.push_back(left);
    if (before.size() > 6)
      before.erase(before.begin());
  }
}

void compare(const std::vector<std::string>& argv, int exit_code = 0) {
  Cluster& cluster = Cluster::shared();
  const Output direct = run_client(argv, cluster.port(0));
  ASSERT_EQ(direct.code, exit_code) << direct.out;
  ASSERT_FALSE(direct.out.empty());
  for (const char* per_statement : {"off", "on"}) {
    SCOPED_TRACE(std::string("statement_level_load_balance = ") + per_statement);
    Pgweir weir(cluster, {{"statement_level_load_balance", per_statement}});
    // Names are looked up when they are first seen: let that be done.
    Connection warm(weir.conninfo());
    ASSERT_TRUE(weir.reaches_standby(warm, "SELECT v FROM plain WHERE id = 1"));
    const std::size_t before = weir.statements("").size();
    const Output through = run_client(argv, weir.port());
    EXPECT_EQ(difference(direct.out, through.out), "");
    EXPECT_EQ(through.code, exit_code);
    // A comparison in which nothing was balanced would prove little.
    const auto all = weir.statements("");
    EXPECT_TRUE(std::any_of(all.begin() + static_cast<std::ptrdiff_t>(before), all.end(),
                            [](const NodeStatement& s) { return s.node > 0; }));
  }
}

std::string psql() {
  return postgres_bin() + "/psql";
}

TEST(clients, psql) {
  compare({psql(), "-X", "-a", "-f", kClients + "regress.sql"});
}

TEST(clients, psql_extended) {
  SpawnOptions version;
  version.argv = {psql(), "--version"};
  const std::string text = run(version).out; // psql (PostgreSQL) 15.20 (Debian …)
  if (std::atoi(text.substr(text.find(") ") + 2).c_str()) < 16) {
    std::printf("psql has no \\bind before version 16; the drivers cover the extended protocol\n");
    return;
  }
  compare({psql(), "-X", "-a", "-f", kClients + "bind.sql"});
}

TEST(clients, psycopg) {
  compare({"/usr/bin/python3", kClients + "psycopg3.py"});
}
TEST(clients, psycopg2) {
  compare({"/usr/bin/python3", kClients + "psycopg2_client.py"});
}
TEST(clients, asyncpg) {
  compare({"/usr/bin/python3", kClients + "asyncpg_client.py"});
}
TEST(clients, node_postgres) {
  const char* paths[] = {"/usr/bin/node", "/usr/bin/nodejs", "/usr/local/bin/node"};
  for (const char* path : paths) {
    if (::access(path, X_OK) == 0)
      return compare({path, "--no-deprecation", kClients + "node_pg.js"});
  }
  FAIL() << "no Node.js";
}

} // namespace
} // namespace weir::test
