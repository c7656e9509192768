#include "test/compare/world.h"

#include <fstream>
#include <stdexcept>

#include "test/support/process.h"

namespace weir::compare {
namespace {

using test::Connection;

std::string source(const std::string& name) {
  return test::read_file(std::string(WEIR_SOURCE_DIR "/test/compare/") + name);
}

void must(Connection& connection, const std::string& sql) {
  for (const test::Answer& answer : connection.exec_all(sql)) {
    if (!answer.ok())
      throw std::runtime_error(answer.sqlstate + " " + answer.message +
                               " in: " + sql.substr(0, 200));
  }
}

void replace_all(std::string& text, const std::string& from, const std::string& to) {
  for (std::size_t at = text.find(from); at != std::string::npos;
       at = text.find(from, at + to.size()))
    text.replace(at, from.size(), to);
}

// A role that others of this machine's runs may have made at the same time.
constexpr const char* kRoles =
    "DO $$BEGIN CREATE ROLE cmp_other LOGIN; EXCEPTION WHEN duplicate_object OR unique_violation "
    "THEN NULL; END$$;"
    "ALTER ROLE cmp_other SET synchronous_commit = remote_apply; GRANT cmp_other TO app;";

} // namespace

std::vector<std::string> LogTail::lines() {
  std::ifstream file(path_, std::ios::binary);
  file.seekg(static_cast<std::streamoff>(offset_));
  std::string text((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  offset_ += text.size();
  rest_ += text;
  std::vector<std::string> found;
  std::size_t start = 0;
  for (std::size_t end = rest_.find('\n'); end != std::string::npos;
       end = rest_.find('\n', start)) {
    found.push_back(rest_.substr(start, end - start));
    start = end + 1;
  }
  rest_.erase(0, start);
  return found;
}

World::World(test::Cluster& cluster, const std::string& name, const test::Settings& settings)
    : cluster_(cluster), databases_{name + "_a", name + "_b"} {
  drop();
  Connection super(cluster.conninfo(0, "postgres", "postgres"));
  must(super, kRoles);
  must(super, "CREATE DATABASE " + databases_[0] + " OWNER app");
  {
    Connection owner(cluster.conninfo(0, "postgres", databases_[0]));
    must(owner,
         "ALTER SCHEMA public OWNER TO app; CREATE FOREIGN DATA WRAPPER cmp_nothing; CREATE SERVER "
         "cmp_nowhere "
         "FOREIGN DATA WRAPPER cmp_nothing; GRANT USAGE ON FOREIGN SERVER cmp_nowhere TO app");
    Connection app(cluster.conninfo(0, "app", databases_[0]));
    must(app, source("schema.sql"));
  }
  // A copy has the same OIDs, tuples and statistics.
  must(super, "CREATE DATABASE " + databases_[1] + " OWNER app TEMPLATE " + databases_[0]);
  // A custom setting that a server process has seen is known to it for ever: known to all from the
  // start.
  for (const std::string& each : databases_) {
    for (const char* setting : {"cmp.x", "cmp.leak", "cmp.trigger"})
      must(super, "ALTER DATABASE " + each + " SET " + setting + " = ''");
  }
  cluster.wait_replayed();
  pgweir_ = std::make_unique<test::Pgweir>(cluster, settings);
  log_ = std::make_unique<LogTail>(pgweir_->folder() + "/log");
  for (std::size_t i = 0; i < 2; ++i)
    owners_[i] = std::make_unique<Connection>(cluster.conninfo(0, "app", databases_[i]));
  clean_ = digest(*owners_[0]);
  if (clean_ != digest(*owners_[1]))
    throw std::runtime_error("the databases do not begin alike: " + clean_);
}

World::~World() {
  pgweir_.reset();
  owners_ = {};
  drop();
}

void World::drop() {
  Connection super(cluster_.conninfo(0, "postgres", "postgres"));
  for (const std::string& each : databases_)
    super.exec("DROP DATABASE IF EXISTS " + each + " WITH (FORCE)");
}

Speaker World::through(const std::string& user) {
  return Speaker(pgweir_->conninfo(user, databases_[0]));
}

Speaker World::directly(const std::string& user) const {
  return Speaker(cluster_.conninfo(0, user, databases_[1]));
}

std::string World::digest(Connection& connection) {
  static const std::string sql = source("digest.sql");
  const test::Answer answer = connection.exec(sql);
  std::string out = answer.text();
  for (const auto& value : answer.rows.empty() ? test::Row{} : answer.rows[0])
    out += value.value_or("NULL") + "\n";
  return out;
}

std::string World::restore() {
  static const std::string sql = source("restore.sql");
  const std::string a = digest(*owners_[0]);
  const std::string b = digest(*owners_[1]);
  if (a == clean_ && b == clean_)
    return "";
  must(*owners_[0], sql);
  must(*owners_[1], sql);
  // DDL goes through pgweir, which learns of it by its text.
  const std::string ddl = "DROP SCHEMA IF EXISTS scratch CASCADE; CREATE SCHEMA scratch";
  const bool made =
      a.find("scratch") != std::string::npos || b.find("scratch") != std::string::npos;
  if (made) {
    Connection first(pgweir_->conninfo("app", databases_[0]));
    must(first, ddl);
    must(*owners_[1], ddl);
  }
  return a == b ? "" : a + "\n---\n" + b;
}

void World::load(const std::string& sql) {
  Connection a(cluster_.conninfo(0, "app", databases_[0]));
  must(a, sql);
  Connection b(cluster_.conninfo(0, "app", databases_[1]));
  must(b, sql);
  cluster_.wait_replayed();
}

void World::neutral(Heard& heard, const std::string& mark) const {
  const auto change = [&](std::string& text) {
    replace_all(text, databases_[1], databases_[0]);
    if (!mark.empty())
      replace_all(text, mark, "");
  };
  for (test::Answer& answer : heard.answers) {
    change(answer.message);
    change(answer.detail);
    change(answer.hint);
    for (test::Row& row : answer.rows) {
      for (auto& value : row) {
        if (value)
          change(*value);
      }
    }
  }
  for (std::string& each : heard.notices)
    change(each);
}

} // namespace weir::compare
