#include "health/probe.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <cctype>
#include <cstdlib>
#include <cstring>
#include <iterator>

#include "common/base/unique_fd.h"
#include "health/judge.h"

namespace weir::health {
namespace {

constexpr const char* kQuestion =
    "SELECT pg_catalog.pg_is_in_recovery(), CASE WHEN pg_catalog.pg_is_in_recovery() "
    "THEN GREATEST(pg_catalog.pg_last_wal_receive_lsn(), pg_catalog.pg_last_wal_replay_lsn()) - '0/0'::pg_catalog.pg_lsn "
    "ELSE pg_catalog.pg_current_wal_lsn() - '0/0'::pg_catalog.pg_lsn END, "
    "pg_catalog.current_setting('max_connections'), pg_catalog.current_setting('superuser_reserved_connections'), "
    "pg_catalog.pg_last_wal_replay_lsn() - '0/0'::pg_catalog.pg_lsn, "
    "(EXTRACT(EPOCH FROM pg_catalog.clock_timestamp() - pg_catalog.pg_last_xact_replay_timestamp()) * 1000000)::pg_catalog.int8";

// With the one above in a string of two statements. A walsender is a connection: there are not many.
constexpr const char* kReplicationQuestion =
    "; SELECT application_name, state, sync_state, (EXTRACT(EPOCH FROM replay_lag) * 1000000)::pg_catalog.int8 "
    "FROM pg_catalog.pg_stat_replication";

// Likewise. The column's name tells its rows apart from the others.
constexpr const char* kPidsQuestion = "; SELECT pid AS living FROM pg_catalog.pg_stat_activity WHERE pid IN (";
constexpr const char* kLiving = "living";

// Likewise. Who may not see the application's name of others counts their services as clients.
constexpr const char* kClientsQuestion =
    "; SELECT pg_catalog.count(*) AS clients FROM pg_catalog.pg_stat_activity WHERE datid IS NOT NULL AND usesysid IS NOT NULL "
    "AND backend_type IS DISTINCT FROM 'parallel worker' AND application_name IS DISTINCT FROM 'pgweir service'";
constexpr const char* kClients = "clients";

// Ends a server process, if the check user may: else the whole string would fail. Its column's name is nobody's.
constexpr const char* kEndQuestion =
    "; SELECT pg_catalog.pg_terminate_backend(a.pid) AS ended FROM pg_catalog.pg_stat_activity a JOIN pg_catalog.pg_roles r ON r.oid = a.usesysid "
    "WHERE a.pid = {} AND a.backend_start < pg_catalog.clock_timestamp() - pg_catalog.make_interval(secs => {}) "
    "AND ((SELECT rolsuper FROM pg_catalog.pg_roles WHERE rolname = current_user) "
    "OR (NOT r.rolsuper AND (pg_catalog.pg_has_role(a.usesysid, 'USAGE') OR pg_catalog.pg_has_role('pg_signal_backend', 'USAGE'))))";

constexpr int kFields = 6;
constexpr int kReplicationFields = 4;

// A number that may be missing, or, of a clock that is behind the primary's, negative.
std::int64_t microseconds_in(const PGresult* result, int row, int column) {
  if (PQgetisnull(result, row, column) != 0) return -1;
  const std::int64_t value = std::strtoll(PQgetvalue(result, row, column), nullptr, 10);
  return value < 0 ? 0 : value;
}

// The SQLSTATE at the end of a message of verbosity PQERRORS_SQLSTATE ("FATAL:  53300"); empty if there is none.
std::string sqlstate_in(const char* message) {
  std::string text = message != nullptr ? message : "";
  while (!text.empty() && std::isspace(static_cast<unsigned char>(text.back())) != 0) text.pop_back();
  if (text.size() < 7) return {};
  const std::string last = text.substr(text.size() - 5);
  for (char c : last) {
    if (std::isdigit(static_cast<unsigned char>(c)) == 0 && (c < 'A' || c > 'Z')) return {};
  }
  return text[text.size() - 6] == ' ' ? last : std::string();
}

std::string one_line(const char* message) {
  std::string text = message != nullptr ? message : "";
  for (char& c : text) c = c == '\n' ? ' ' : c;
  while (!text.empty() && text.back() == ' ') text.pop_back();
  return text;
}

}  // namespace

Probe::Probe(EventLoop& loop, Done done) : loop_(loop), done_(std::move(done)) {
  deadline_.set(loop, [this] {
    ProbeAnswer answer;
    answer.answer = shmem::Answer::Silent;
    close();
    finish(std::move(answer));
  });
}

Probe::~Probe() { close(); }

void Probe::close() {
  read_.release();
  write_.release();
  deadline_.disarm();
  connection_.reset();
  bare_.reset();
  state_ = State::Closed;
}

void Probe::ask(const ProbeTarget& target) {
  if (state_ == State::Connecting || state_ == State::Asking || state_ == State::Bare) return;
  const bool same = target.address == target_.address && target.port == target_.port && target.user == target_.user && target.database == target_.database;
  target_ = target;
  if (state_ == State::Idle && same) {
    reused_ = true;
    return query();
  }
  close();
  connect();
}

void Probe::connect() {
  reused_ = false;
  if (target_.user.empty()) return connect_bare();
  const bool local = target_.address.empty() || target_.address.front() == '/';
  const std::string port = std::to_string(target_.port);
  const char* keys[] = {local ? "host" : "hostaddr", "port", "user", "password", "dbname", "application_name", "sslmode", "gssencmode", "client_encoding", nullptr};
  const char* values[] = {target_.address.c_str(), port.c_str(), target_.user.c_str(), target_.password.empty() ? nullptr : target_.password.c_str(),
                          target_.database.c_str(), "pgweir service", "disable", "disable", "UTF8", nullptr};
  state_ = State::Connecting;
  deadline_.arm(target_.connect_timeout);
  connection_.reset(PQconnectStartParams(keys, values, 0));
  if (connection_ == nullptr || PQstatus(connection_.get()) == CONNECTION_BAD) return connect_failed();
  PQsetErrorVerbosity(connection_.get(), PQERRORS_SQLSTATE);
  watch(true);
}

void Probe::watch(bool write) {
  const int fd = PQsocket(connection_.get());
  read_.release();
  write_.release();
  if (fd < 0) return;
  if (write) {
    write_.watch_write(loop_, fd, [this] { poll(); });
    write_.arm();
  } else {
    read_.watch_read(loop_, fd, [this] { state_ == State::Connecting ? poll() : on_ready(); });
  }
}

void Probe::poll() {
  switch (PQconnectPoll(connection_.get())) {
    case PGRES_POLLING_READING: return watch(false);
    case PGRES_POLLING_WRITING: return watch(true);
    case PGRES_POLLING_OK:
      PQsetnonblocking(connection_.get(), 1);
      PQsetNoticeProcessor(connection_.get(), [](void*, const char*) {}, nullptr);
      return query();
    default: return connect_failed();
  }
}

void Probe::connect_failed() {
  ProbeAnswer answer;
  const char* message = connection_ != nullptr ? PQerrorMessage(connection_.get()) : "out of memory";
  const std::string sqlstate = sqlstate_in(message);
  answer.text = one_line(message);
  const bool wants_password = connection_ != nullptr && PQconnectionNeedsPassword(connection_.get()) != 0;
  answer.answer = wants_password ? shmem::Answer::BadCredentials : sqlstate.empty() ? shmem::Answer::Refused : answer_of_sqlstate(sqlstate.c_str());
  close();
  finish(std::move(answer));
}

void Probe::query() {
  state_ = State::Asking;
  deadline_.arm(target_.query_timeout);
  asked_ = monotonic_now();
  std::string question = target_.replication ? std::string(kQuestion) + kReplicationQuestion : kQuestion;
  for (std::size_t i = 0; i < target_.pids.size(); ++i) fmt::format_to(std::back_inserter(question), "{}{}", i == 0 ? kPidsQuestion : ", ", target_.pids[i]);
  if (!target_.pids.empty()) question += ')';
  question += kClientsQuestion;
  for (const auto& [pid, ago] : target_.end) fmt::format_to(std::back_inserter(question), fmt::runtime(kEndQuestion), pid, static_cast<double>(ago) / 1000);
  if (PQsendQuery(connection_.get(), question.c_str()) == 0) return on_ready();
  watch(false);
  if (PQflush(connection_.get()) != 0) {
    // A question of a kilobyte that does not fit into an idle socket: the peer has gone.
    return on_ready();
  }
}

void Probe::read_answer(const PGresult* result, ProbeAnswer& answer) const {
  if (PQntuples(result) == 1 && PQnfields(result) == kFields) {
    answer.answer = shmem::Answer::Ok;
    answer.in_recovery = PQgetvalue(result, 0, 0)[0] == 't' ? 1 : 0;
    answer.lsn = std::strtoull(PQgetvalue(result, 0, 1), nullptr, 10);
    answer.max_connections = std::atoi(PQgetvalue(result, 0, 2));
    answer.reserved_connections = std::atoi(PQgetvalue(result, 0, 3));
    answer.replayed = std::strtoull(PQgetvalue(result, 0, 4), nullptr, 10);
    answer.commit_age = microseconds_in(result, 0, 5);
    return;
  }
  if (PQnfields(result) == 1 && std::strcmp(PQfname(result, 0), kLiving) == 0) {
    answer.pids_told = true;
    for (int row = 0; row < PQntuples(result); ++row) answer.living.push_back(std::atoi(PQgetvalue(result, row, 0)));
    return;
  }
  if (PQntuples(result) == 1 && PQnfields(result) == 1 && std::strcmp(PQfname(result, 0), kClients) == 0) {
    answer.clients = std::atoi(PQgetvalue(result, 0, 0));
    return;
  }
  if (PQnfields(result) != kReplicationFields) return;
  answer.replication_told = true;
  for (int row = 0; row < PQntuples(result); ++row) {
    answer.replication.push_back({PQgetvalue(result, row, 0), PQgetvalue(result, row, 1), PQgetvalue(result, row, 2),
                                  microseconds_in(result, row, 3)});
  }
}

void Probe::on_ready() {
  if (state_ == State::Idle) {  // something unasked: the end of the connection, most likely
    if (PQconsumeInput(connection_.get()) != 0 && PQstatus(connection_.get()) == CONNECTION_OK) return;
    close();
    return connect();
  }
  const bool alive = PQconsumeInput(connection_.get()) != 0 && PQstatus(connection_.get()) == CONNECTION_OK;
  if (alive && PQisBusy(connection_.get()) != 0) return;
  ProbeAnswer answer;
  answer.asked = asked_;
  answer.pids = target_.pids;
  answer.answered = monotonic_now();
  std::string failure;
  while (PGresult* result = alive ? PQgetResult(connection_.get()) : nullptr) {
    if (PQresultStatus(result) == PGRES_TUPLES_OK) {
      read_answer(result, answer);
    } else {
      failure = one_line(PQresultErrorMessage(result));
    }
    PQclear(result);
  }
  if (answer.answer == shmem::Answer::Ok) {
    state_ = State::Idle;
    deadline_.disarm();
    return finish(std::move(answer));
  }
  // The kept connection has failed, which proves nothing: only a fresh connect tells.
  const bool again = reused_;
  close();
  if (again) return connect();
  answer.answer = shmem::Answer::Starting;
  answer.text = failure.empty() ? "the connection ended during the check" : failure;
  finish(std::move(answer));
}

// Without a user nothing but the connect itself can be tried.
void Probe::connect_bare() {
  sockaddr_storage address{};
  socklen_t size = 0;
  if (target_.address.empty() || target_.address.front() == '/') {
    auto& local = reinterpret_cast<sockaddr_un&>(address);
    const std::string path = fmt::format("{}/.s.PGSQL.{}", target_.address.empty() ? "/tmp" : target_.address, target_.port);
    local.sun_family = AF_UNIX;
    std::strncpy(local.sun_path, path.c_str(), sizeof local.sun_path - 1);
    size = sizeof local;
  } else if (auto& v4 = reinterpret_cast<sockaddr_in&>(address); inet_pton(AF_INET, target_.address.c_str(), &v4.sin_addr) == 1) {
    v4.sin_family = AF_INET;
    v4.sin_port = htons(static_cast<std::uint16_t>(target_.port));
    size = sizeof v4;
  } else {
    auto& v6 = reinterpret_cast<sockaddr_in6&>(address);
    inet_pton(AF_INET6, target_.address.c_str(), &v6.sin6_addr);
    v6.sin6_family = AF_INET6;
    v6.sin6_port = htons(static_cast<std::uint16_t>(target_.port));
    size = sizeof v6;
  }
  bare_.reset(::socket(address.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  state_ = State::Bare;
  deadline_.arm(target_.connect_timeout);
  const int connected = ::connect(bare_.get(), reinterpret_cast<sockaddr*>(&address), size);
  const auto judge_socket = [this](int error) {
    ProbeAnswer answer;
    answer.answer = error == 0 ? shmem::Answer::Ok : shmem::Answer::Refused;
    if (error != 0) answer.text = std::strerror(error);
    close();
    finish(std::move(answer));
  };
  if (connected == 0 || errno != EINPROGRESS) return judge_socket(connected == 0 ? 0 : errno);
  write_.watch_write(loop_, bare_.get(), [this, judge_socket] {
    int error = 0;
    socklen_t length = sizeof error;
    getsockopt(bare_.get(), SOL_SOCKET, SO_ERROR, &error, &length);
    const auto judge_now = judge_socket;  // close() below frees the event that holds this closure
    loop_.defer([judge_now, error] { judge_now(error); });
    write_.disarm();
  });
  write_.arm();
}

void Probe::finish(ProbeAnswer answer) { done_(answer); }

}  // namespace weir::health
