// Two databases that begin alike: one is spoken to through pgweir with all reads on standbys, the
// other directly on the primary. What a script writes is undone in both before the next begins.
#pragma once

#include <array>
#include <memory>
#include <string>
#include <vector>

#include "test/compare/say.h"
#include "test/support/cluster.h"
#include "test/support/pgweir.h"

namespace weir::compare {

// A growing log file, read from where it was left.
class LogTail {
public:
  explicit LogTail(std::string path) : path_(std::move(path)) {}
  // Whole lines that are new.
  std::vector<std::string> lines();
  void skip() { lines(); }

private:
  std::string path_;
  std::size_t offset_ = 0;
  std::string rest_;
};

class World {
public:
  // NAME tells the databases of this process from those of others. SETTINGS are pgweir's.
  World(test::Cluster& cluster, const std::string& name, const test::Settings& settings);
  ~World();
  World(const World&) = delete;
  World& operator=(const World&) = delete;

  // Sessions as USER: through pgweir in the one, directly in the other database.
  Speaker through(const std::string& user = "app");
  Speaker directly(const std::string& user = "app") const;
  // Undoes what a script has left behind, in both. The answer is "" or in what the databases
  // differed before: a write that one has and the other has not.
  std::string restore();
  // Runs a script of SQL in both as the role app, to have more objects; throws if it fails.
  void load(const std::string& sql);
  // Both names of databases read alike in answers.
  // MARK, where the text had one, is taken out too.
  void neutral(Heard& heard, const std::string& mark = {}) const;

  test::Pgweir& pgweir() { return *pgweir_; }
  LogTail& log() { return *log_; }
  const std::string& database() const { return databases_[0]; }

private:
  void drop();
  std::string digest(test::Connection& connection);

  test::Cluster& cluster_;
  std::array<std::string, 2> databases_;
  std::unique_ptr<test::Pgweir> pgweir_;
  std::unique_ptr<LogTail> log_;
  std::array<std::unique_ptr<test::Connection>, 2> owners_; // on the primary
  std::string clean_;                                       // digest of what schema.sql makes
};

} // namespace weir::compare
