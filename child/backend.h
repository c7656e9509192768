// One server connection. It has exactly one owner at any time (cache, a session's connection set, or an attempt to log
// in) and one user that is told of its bytes.
#pragma once

#include <boost/unordered/unordered_flat_map.hpp>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "child/reported_parameters.h"
#include "child/session_state.h"
#include "common/base/clock.h"
#include "common/base/enum_text.h"
#include "common/base/error.h"
#include "common/base/stream.h"
#include "common/base/unique_fd.h"
#include "common/ledger/ledger.h"

namespace weir::child {

class Backend;
class Worker;
struct BackendGroup;

// What decides whether a cached connection may serve a session: rule 3 of the session rules. FIXED are the startup
// parameters that SET cannot change, sorted.
struct BackendKey {
  std::string database;
  std::string user;
  std::string replication;  // value of the startup parameter, empty: an ordinary connection
  std::vector<std::pair<std::string, std::string>> fixed;
  bool operator==(const BackendKey&) const = default;
};

// Who uses the backend now.
class BackendUser {
 public:
  // BYTES begin at a message or inside one that was taken in part. Returns how many were taken; what is left comes
  // again with more behind it.
  virtual std::size_t on_backend_bytes(Backend& backend, Bytes bytes) = 0;
  // What could not be written at once has been written.
  virtual void on_backend_drained(Backend& backend) = 0;
  // The connection has ended; the backend's socket is closed already. The owner gets rid of the object.
  virtual void on_backend_lost(Backend& backend, const Error& error) = 0;

 protected:
  ~BackendUser() = default;
};

// What stands behind the last message that was asked for: empty, or nothing but NoticeResponse, ParameterStatus and
// NotificationResponse, the last one perhaps in part. Anything else would be taken for the answer to the next question.
bool only_unasked(Bytes bytes);

enum class BackendState : std::uint8_t { Connecting, Authenticating, Idle, Busy, Resetting, Closing };
BOOST_DESCRIBE_ENUM(BackendState, Connecting, Authenticating, Idle, Busy, Resetting, Closing)

class Backend final : public StreamHandler {
 public:
  Backend(Worker& worker, int node, BackendKey key);
  ~Backend();
  Backend(const Backend&) = delete;
  Backend& operator=(const Backend&) = delete;

  // Starts a connect to ADDRESS (numeric) or the socket directory; the user hears on_backend_drained when it is
  // writable, or on_backend_lost. False with errno if it fails at once.
  bool connect(std::string_view address, int port);

  // A connection of another child, logged in and idle, is this one's now; it is Busy until it is stored.
  void take_over(UniqueFd fd);
  // It is another child's: only the descriptor is closed.
  void leave_to_another();

  int node() const { return node_; }
  const BackendKey& key() const { return key_; }
  BackendState state() const { return state_; }
  // QUIETLY: for a transaction; its shared row follows within a second.
  void set_state(BackendState state, bool quietly = false);
  void set_user(BackendUser* user) { user_ = user; }
  BackendUser* user() const { return user_; }

  bool send(Bytes bytes);
  bool send(std::string_view text) { return send(as_bytes(text)); }
  std::size_t pending() const { return stream_ ? stream_->pending() : 0; }
  int connect_error() const { return stream_ ? stream_->connect_error() : 0; }
  int fd() const { return stream_ ? stream_->fd() : -1; }
  void start_reading() { if (stream_) stream_->resume_reading(); }
  void pause_reading() { if (stream_) stream_->pause_reading(); }
  void resume_reading() { if (stream_) stream_->resume_reading(); }
  bool alive() const { return stream_ != nullptr; }
  // Nothing that was read or written is still here.
  bool quiet() const { return left_over_.empty() && pending() == 0; }
  // Says Terminate where that makes sense and closes the socket, or leaves that to Leases, who wait for the server.
  void close();
  // As if the server had closed the connection: the user hears of it.
  void give_up(Error error) { lost(std::move(error)); }
  // Reads what has arrived, if anything has: true. The user is told; the connection may be lost thereby.
  bool look();
  // Offers what was left over again, e.g. after the user changed its mind.
  void poke();

  // Facts of the login.
  std::int32_t pid = 0;
  std::string cancel_key;            // as the server sent it; never leaves this process
  ReportedParameters parameters;
  Monotonic connected_at;
  Monotonic released_at;
  std::uint64_t uses = 0;
  BackendGroup* home = nullptr;      // where the cache has it
  int row = -1;                      // slot in the shared backend rows
  bool row_is_old = false;           // what it shows is not what is
  bool counted = false;              // among this child's connections in use
  std::uint32_t generation = 0;      // of its group's settings when it was opened
  std::uint64_t login_change = 0;    // changes of logins (login_defaults.h) that it was opened behind, for certain
  ledger::LeaseId lease = -1;        // its place in the account of all connections; -1: it needs none

  // What of a session has been applied here, in its versions; 0: a fresh connection, or one made like it. kAsImage: it was
  // given back with a session's state, which IMAGE tells.
  static constexpr StateVersion kAsImage = ~StateVersion{0};
  StateVersion applied = 0;
  StateImagePtr image;
  // The only session, by its number, that may have drawn from sequences here; 0: none has. kSeveral: more than one.
  static constexpr std::uint64_t kSeveral = ~std::uint64_t{0};
  std::uint64_t drawn_by = 0;
  // Prepared statements that exist here, by name, with the generation of the session's statement.
  NameMap<std::uint64_t> prepared;
  // Shared statements that exist here, by number, and when each was last used, in uses.
  boost::unordered_flat_map<std::uint64_t, std::uint64_t> shared;
  std::uint64_t shared_uses = 0;
  // ... and those that the server may have, but that are of no use: closed before it is next given one.
  std::vector<std::uint64_t> unusable;
  void forget_statements() {
    prepared.clear();
    shared.clear();
    unusable.clear();
  }
  // The transaction status of the last ReadyForQuery.
  char status = 'I';
  // Something may have been left that DISCARD ALL does not clear: close instead of reuse.
  bool tainted = false;

 private:
  void on_readable() override;
  void on_drained() override;
  void lost(Error error, bool by_server = false);
  void let_go(bool over);

  Worker& worker_;
  const int node_;
  const BackendKey key_;
  BackendState state_ = BackendState::Connecting;
  BackendUser* user_ = nullptr;
  std::unique_ptr<Stream> stream_;
  std::string left_over_;  // bytes that the user did not take yet
};

}  // namespace weir::child
