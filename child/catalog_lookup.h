// Finds out what the catalogue says of names that statements used: over a service connection of its own to the primary,
// one a database, opened on demand and closed when it has nothing to do. The answers go to shared memory for all children.
#pragma once

#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "child/backend.h"
#include "child/backend_login.h"
#include "lb/resolve.h"

namespace weir::child {

class CatalogLookup {
 public:
  explicit CatalogLookup(Worker& worker);
  ~CatalogLookup();

  // Asks for NAMES of DATABASE, each once; never waits. At once where a read waits for the answer to leave the primary,
  // or a lent connection to be given back; else, since a question holds back what VACUUM may remove, in a pause of new names.
  void want(const std::string& database, std::span<const lb::Missing> names);
  // Something ran in DATABASE that may have changed its catalogue without telling so: a procedure, a trigger, a function.
  // The catalogue is compared with what it was, soon, and all facts are doubted if it is another.
  void suspect(const std::string& database);
  // Asks what was put off, closes connections that have been idle; once a second.
  void sweep(Monotonic now);
  // The primary is another one, or gone.
  void reconnect();

 private:
  struct Connection {
    std::string database;
    std::deque<lb::Missing> wanted;
    std::vector<lb::Missing> asked;
    std::set<std::string> known;  // wanted or asked
    std::size_t one_by_one = 0;   // names at the head of `wanted` to be asked each alone: together they failed
    std::unique_ptr<Backend> backend;
    std::unique_ptr<BackendLogin> login;
    bool busy = false;
    bool suspect = false;          // the catalogue may have changed
    std::string fingerprint;       // of the catalogue when it was compared last; empty: never
    Monotonic compare_at{};        // not before
    Monotonic idle_since{};
    Monotonic retry_at{};
    Monotonic waits_since{};  // where names are put off: the first of those that wait was met
    Monotonic last_name{};    // ... and the last
  };

  Connection& connection_to(const std::string& database);
  void run(Connection& connection);
  void open(Connection& connection);
  void logged_in(const std::string& database, const LoginFailure* failure);
  void ask(Connection& connection);
  void compare(Connection& connection);
  void compared(const std::string& database, Monotonic asked_at, bool suspect, struct InternalResult& result);
  void answered(const std::string& database, std::uint64_t epoch, struct InternalResult& result);
  void close(Connection& connection);

  Worker& worker_;
  std::map<std::string, std::unique_ptr<Connection>> connections_;
  bool warned_ = false;
};

}  // namespace weir::child
