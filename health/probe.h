// One node under watch: a libpq connection on the loop, kept open and asked every second; a fresh connect as soon as
// that one fails.
#pragma once

#include <libpq-fe.h>

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "common/base/event.h"
#include "common/base/unique_fd.h"
#include "common/shmem/observations.h"

namespace weir::health {

struct ProbeTarget {
  std::string host;      // as configured
  std::string address;   // numeric, or the socket directory
  int port = 0;
  std::string user;      // empty: only the TCP or Unix connect is tried
  std::string password;
  std::string database;
  Milliseconds connect_timeout{10000};
  Milliseconds query_timeout{20000};
  bool replication = false;  // ask for pg_stat_replication too
  std::vector<std::int32_t> pids;  // which of these server processes live
  // Those that are to be ended, and since when (ms ago) they should be gone: one that began later is another with that number.
  std::vector<std::pair<std::int32_t, std::int64_t>> end;
};

// A row of pg_stat_replication, as far as the check user may see it.
struct ReplicationRow {
  std::string application_name;
  std::string state;
  std::string sync_state;
  std::int64_t replay_lag = -1;  // microseconds, -1: not told
};

struct ProbeAnswer {
  shmem::Answer answer = shmem::Answer::None;
  std::string text;               // the server's or libpq's words
  int in_recovery = -1;
  std::uint64_t lsn = 0;          // writable: current position; standby: greatest of received and replayed
  std::uint64_t replayed = 0;     // of a standby
  std::int64_t commit_age = -1;   // microseconds since the last commit that a standby has replayed, -1: not told
  int max_connections = 0;
  int reserved_connections = 0;
  bool replication_told = false;  // the rows are an answer, and not none because nobody asked
  std::vector<ReplicationRow> replication;
  int clients = -1;  // connections but those of pgweir's own checks and look-ups; -1: not told
  bool pids_told = false;
  std::vector<std::int32_t> pids;          // those that were asked for,
  std::vector<std::int32_t> living;        // and those of them that live
  Monotonic asked;                // when the question was sent, and when its answer had come
  Monotonic answered;
};

class Probe {
 public:
  using Done = std::function<void(const ProbeAnswer&)>;
  Probe(EventLoop& loop, Done done);
  ~Probe();
  Probe(const Probe&) = delete;
  Probe& operator=(const Probe&) = delete;

  // Asks now, unless a question is under way.
  void ask(const ProbeTarget& target);
  void close();

 private:
  enum class State { Closed, Connecting, Bare, Idle, Asking };
  struct Finish {
    void operator()(PGconn* connection) const { PQfinish(connection); }
  };

  void connect();
  void connect_bare();
  void poll();
  void query();
  void on_ready();
  void read_answer(const PGresult* result, ProbeAnswer& answer) const;
  void connect_failed();
  void finish(ProbeAnswer answer);
  void watch(bool write);

  EventLoop& loop_;
  Done done_;
  ProbeTarget target_;
  State state_ = State::Closed;
  std::unique_ptr<PGconn, Finish> connection_;
  UniqueFd bare_;
  FdEvent read_;
  FdEvent write_;
  Timer deadline_;
  Monotonic asked_;
  bool reused_ = false;  // the question goes over the kept connection: its failure proves nothing
};

}  // namespace weir::health
