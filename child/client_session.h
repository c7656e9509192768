// One frontend connection: its stream, its states and what it has under way. Collects what the client sends, has it
// routed, gets a backend (from its own set, the cache, or by waiting), brings the session's state up to date there, and
// relays both ways until ReadyForQuery.
//
// The code is in these files: client_session.cc (life), session_input.cc and session_long.cc (what the client sends),
// session_dispatch.cc (routing), session_node.cc (choice of the node), session_wait.cc (backends got and waited for), session_times.cc (time limits),
// session_effects.cc (what exchanges do to the session), session_prepare.cc and session_names.cc (a backend catches up),
// session_lend.cc, session_rename.cc, session_share.cc, session_heal.cc and session_sequences.cc (backends that are
// lent by the transaction, and the names and sequences on them), session_block.cc
// (transaction blocks held and moved), session_side.cc (reads beside a block, and what was written), session_local.cc and
// session_command.cc (statements of pgweir's own), session_sleep.cc (idle sessions become snapshots),
// session_tell.cc (what the console is told of it, and sessions with the console),
// session_send.cc (an exchange on its way to a server), session_relay.cc (answers), session_lost.cc (reads
// that are run again elsewhere, servers that are lost).
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "child/backend.h"
#include "child/backend_cache.h"
#include "child/batch.h"
#include "child/cancel_key.h"
#include "child/console.h"
#include "child/console_runner.h"
#include "child/held_block.h"
#include "child/login_info.h"
#include "child/prepared.h"
#include "child/replay_messages.h"
#include "child/reply_tracker.h"
#include "child/resolver.h"
#include "child/session_settings.h"
#include "child/session_snapshot.h"
#include "child/session_state.h"
#include "child/session_traffic.h"
#include "child/show_route.h"
#include "common/admin/census.h"
#include "child/time_limits.h"
#include "common/admin/rowset.h"
#include "common/base/event.h"
#include "common/base/log.h"
#include "common/base/stream.h"
#include "common/config/section_settings.h"
#include "lb/eligible.h"
#include "lb/reader.h"
#include "lb/redirect.h"
#include "lb/route.h"
#include "lb/sequence_use.h"
#include "lb/session_routing.h"
#include "lb/written_tables.h"
#include "parser/long_text.h"

namespace weir::child {

class CancelRequest;
class ClientLogin;
class ConsoleClient;
class InternalQuery;
struct InternalResult;
class Worker;

enum class ClientState : std::uint8_t {
  Startup,       // until authenticated (ClientLogin)
  Idle,          // nothing under way; a batch may be being collected
  AwaitBackend,  // in a queue, or a connection is being opened
  AwaitPrimary,  // there is no primary now
  Preparing,     // the backend catches up with the session's state
  InExchange,
  Closing,
};
BOOST_DESCRIBE_ENUM(ClientState, Startup, Idle, AwaitBackend, AwaitPrimary, Preparing, InExchange, Closing)

// When a server connection is given back. Replication connections are always of Session.
using config::PoolMode;

// Who the client is.
struct ClientIdentity {
  std::string user;
  std::string database;
  std::string application_name;
  std::string peer;  // numeric address, or "[local]"
  int peer_port = 0;
  BackendKey key;
  bool is_replication() const { return !key.replication.empty(); }
};

class ClientSession final : private StreamHandler, private BackendUser, private BackendWaiter {
 public:
  ClientSession(Worker& worker, int slot, UniqueFd fd, std::string peer, int peer_port);
  // A client that was asleep, or came from another process: idle, with FD to its client.
  ClientSession(Worker& worker, int slot, UniqueFd fd, SessionSnapshot snapshot, Monotonic active_at);
  ~ClientSession();
  ClientSession(const ClientSession&) = delete;
  ClientSession& operator=(const ClientSession&) = delete;

  int slot() const { return slot_; }
  ClientState state() const { return state_; }
  const ClientIdentity& identity() const { return identity_; }
  CancelKey cancel_key() const { return cancel_key_; }
  char status() const { return status_; }
  std::int64_t connected_epoch() const { return connected_epoch_; }
  // The configuration with what the session has set by PGPOOL SET.
  const config::Config& config() const;

  // --- used by ClientLogin
  void write(std::string_view bytes) { stream_.write(bytes); }
  // ERROR or FATAL to the client (always as FATAL before the login is done), then the end.
  void fail(Error error);
  void end(std::string_view why);
  // The login is done: SECRET is what servers may be told, HELD a backend that the login has opened.
  void welcome(ClientIdentity identity, SessionState::Parameters startup, std::optional<auth::Secret> secret,
               LoginInfo& info, const ParameterList& reported);
  void hold(std::unique_ptr<Backend> backend);
  SessionState& session_state() { return state_of_session_; }
  // INFO is about to tell other parameters than its clients were told.
  void keep_told(const LoginInfo& info);
  // What ends the session, if it is there still.
  std::function<void()> ending(std::string why);

  // --- the admin console (session_tell.cc)
  // The login is done, and the client talks to the console and never to a server.
  void welcome_to_console(ClientIdentity identity, ConsoleAccess access);
  // A command that took its time has been answered.
  void console_answered();
  void count_console_query() { traffic_.count(shmem::Traffic::Queries); }
  // What it tells of itself.
  admin::SocketFacts facts() const;
  bool waits() const;
  std::int64_t waited_us() const;
  bool cancelling() const { return cancel_ != nullptr; }
  bool answered() const { return tracker_.idle(); }
  std::span<const std::unique_ptr<Backend>> held() const { return set_; }
  const Backend* linked() const;
  int fd() const { return stream_.fd(); }

  // --- used by the worker
  // A cancel request for this client has come (rule 24) at RECEIVED_MS of the monotonic clock.
  void cancel(std::int64_t received_ms);
  // The nodes have changed or time has passed: try again.
  void resume_parked();
  // GROWN: a node can be used that could not.
  void nodes_changed(bool grown);
  void shut_down();       // FATAL 57P01
  void config_changed();  // the worker has another configuration
  bool idle_for(Monotonic now, Milliseconds limit) const;
  Monotonic active_at() const { return active_at_; }
  // Has connections until its client goes: it will never sleep.
  bool keeps_its_set() const { return pool_mode_ == PoolMode::Session && !set_.empty(); }
  // (session_sleep.cc) Whether it may become a snapshot now; the encoded one; and the socket, after which the session is to be
  // destroyed. wake(): the socket of one that was asleep has something to read.
  bool can_sleep() const;
  // Its snapshot was too large to be worth its place: so it is until something happens on it.
  void note_too_large() { too_large_at_ = active_at_; }
  bool is_too_large() const { return too_large_at_ == active_at_; }
  enum class For : std::uint8_t { ThisProcess, Another };
  std::optional<std::string> snapshot(For whom) const;
  UniqueFd leave();
  int socket() const { return stream_.fd(); }
  void wake();
  bool may_move() const { return pool_mode_ != PoolMode::Session; }
  // It is to go to another child as soon as nothing of it is under way; -1: it stays.
  void should_move(int child) { move_to_ = child; }
  int move_to() const { return move_to_; }
  // Ends the client if one of its times is over. When to ask again, if nothing happens till then; max: no need to.
  Monotonic check_times(Monotonic now);
  // If it stays idle; max: for ever.
  Monotonic idle_until() const;

 private:
  enum class Dispatch { Sent, Retained, Waiting, Ended };
  // A portal of a statement of pgweir's own: its result formats, and its answer once it was executed.
  struct LocalPortal {
    std::vector<std::int16_t> formats;
    std::optional<LocalAnswer> answer;
    std::size_t next = 0;  // row
  };

  // StreamHandler
  void on_readable() override;
  void on_drained() override;
  // BackendUser
  std::size_t on_backend_bytes(Backend& backend, Bytes bytes) override;
  void on_backend_drained(Backend& backend) override;
  void on_backend_lost(Backend& backend, const Error& error) override;
  // BackendWaiter
  void on_backend(std::unique_ptr<Backend> backend) override;
  void on_backend_failed(int node, const AcquireFailure& failure) override;

  // What the session was feared to have before the exchange: an exchange that failed has changed nothing of it.
  struct Fears {
    bool may_have_temp = false;
    bool opaque_state = false;
    bool unusual_isolation = false;
    bool serializable_default = false;
    bool listening = false;
    bool temp_names_known = false;
  };

  void set_state(ClientState state);
  std::string held_for() const;

  // --- input (session_input.cc, session_long.cc)
  void pump();
  bool answers_owed() const;
  std::size_t process(Bytes bytes);
  bool blocked() const;
  bool collect(Bytes bytes);
  bool collect_message(Bytes bytes, const char tag, std::size_t total);
  bool collect_extended(Bytes message, char tag);
  bool collect_oversize(Bytes rest, char tag, std::size_t total);
  void note_oversize_names(Bytes prefix);
  std::size_t forward_copy(Bytes bytes);
  std::size_t forward_stream(Bytes bytes);
  void look_at_long_text(Bytes bytes);
  void protocol_error(std::string message);
  void keep_input(Bytes bytes);
  FactsPtr facts_of(std::string_view text);
  PreparedPtr new_statement(std::string_view name, Bytes message, std::string_view text);
  bool output_full() const;
  static std::string printable(char tag);
  log::Context log_context() const;
  bool preparing(const Backend& backend) const { return internal_ != nullptr && internal_backend_ == &backend; }

  // --- routing and backends (session_dispatch.cc, session_node.cc, session_wait.cc)
  Dispatch dispatch(Bytes bytes);
  Dispatch await_replies();
  Dispatch answer_locally(Bytes bytes);
  void answer_local_extended(Bytes bytes, std::string& out);
  bool local_query(std::string& out, const FactsPtr& facts);
  bool local_execute(std::string& out, const FactsPtr& facts, LocalPortal& portal, std::size_t limit);
  std::optional<Error> local_refusal() const;
  // (session_command.cc)
  Result<LocalAnswer> run_local(const parser::Statement& statement);
  Result<std::vector<admin::Column>> describe_local(const parser::Statement& statement) const;
  void keep_within_delay(bool prefer_standby, std::vector<int>& nodes);
  RouteAnswer explain_route(std::string_view text);
  Result<LocalAnswer> run_pgpool(std::string_view words);
  bool all_local() const;
  void resolve_items(Bytes bytes);
  bool block_on_standby() const;
  bool may_run_again(const Backend& backend) const;
  void remember_names();
  Dispatch leave_unsynced();
  bool takes_back_startup_midway() const;
  void use_startup_packet();
  void apply_named(const lb::NamedEffect& named);
  lb::Target route_batch(Bytes bytes);
  std::optional<Dispatch> place_batch(const lb::Target& target);
  bool opens_portal_in_block() const;
  bool begins_block() const;
  bool binds_date_word_in_block(Bytes bytes) const;
  lb::Target decided(lb::Target target);
  int choose_node(const lb::Target& target);
  lb::ReaderInputs reader_inputs(lb::Candidates candidates);
  int pick_reader(bool standby_only);
  lb::NodeSet avoided() const;
  Backend* backend_at(int node);
  Dispatch acquire(int node);
  // (session_names.cc)
  PreparedUnder prepared_under() const;
  bool means_the_same(const PreparedStatement& statement) const;
  bool reader_has(const PreparedStatement& statement) const;
  lb::RouteItem route_item(const Resolution& resolution, bool primary_pattern);
  bool names_sql_statement() const;
  bool needs_own_round() const;
  bool names_are_there(const Backend& backend);
  bool give_names(Backend& backend);
  struct NameMessages;
  NameMessages name_messages(const Backend& backend);
  void add_name(const Backend& backend, std::string_view name, bool only_name, NameMessages& messages) const;
  void leave_to_primary(lb::Reason reason);
  void names_given(Backend& backend, InternalResult& result);
  void note_prepared(const parser::Statement& statement, const parser::StatementFacts& text);
  void note_tag(std::string_view tag);
  // (session_side.cc)
  void note_written(const Resolution& resolution, bool executed);
  void note_written_unseen();
  void forget_written();
  std::optional<lb::Reason> kept_by_write(const Resolution& resolution) const;
  bool may_read_aside() const;
  bool portals_end_with_batch() const;
  int choose_aside(const lb::Target& target);
  bool may_rerun_in_block(std::string_view sqlstate) const;
  void settle_aside();
  void fail_block();
  void finish_aside();
  // (session_prepare.cc)
  bool prepare(Backend& backend);
  const StateImagePtr& state_image();
  // (session_sequences.cc)
  lb::SequenceUse sequence_use() const;
  bool sequences_are_anothers(const Backend& backend) const;
  bool forget_anothers_sequences(Backend& backend);
  void note_sequences(Backend& backend);
  bool keeps_sequences(const Backend& backend) const;
  // (session_lend.cc)
  void give_back();
  bool keeps_primary() const;
  // A new transaction is to begin on BACKEND, which is to go since a limit was lowered. False: it waits until it is known
  // whether the session can do without it.
  bool part_with_surplus(Backend& backend);
  // (session_rename.cc)
  bool renames() const;
  void plan_names(const Backend& backend);
  Naming naming_of(const Backend& backend, std::size_t index) const;
  Naming naming_of_unnamed(const Backend& backend, std::size_t index) const;
  bool has_shared(const Backend& backend, std::size_t index) const;
  void inject_shared(Backend& backend, std::string& out);
  void make_room_for_statement(Backend& backend, const std::vector<std::uint64_t>& used, std::string& out);
  bool uses_shared(std::uint64_t number) const;
  void append_renamed(std::string& out, Bytes bytes) const;
  // (session_share.cc)
  bool keeps_unnamed() const;
  bool means_what_others_mean() const;
  std::optional<std::string> parse_settings() const;
  SharedStatementPtr share(Bytes message, std::string_view text) const;
  SharedStatementPtr share_unnamed(Bytes message, std::string_view text, const FactsPtr& facts) const;
  // (session_heal.cc)
  bool may_heal() const;
  void stop_retaining();
  bool note_unusable(Backend& backend, const Progress& progress, std::string_view sqlstate);
  bool heals(const Backend& backend);
  void run_healed();
  void close_unusable(Backend& backend, std::string& out);
  std::string error_for_client(Bytes message, const Progress& progress, std::string_view sqlstate);
  void start_internal(Backend& backend, std::string messages, int ready, std::function<void(InternalResult&)> done);
  // (session_block.cc)
  bool may_hold(const parser::Statement& begin) const;
  bool answer_block(Bytes bytes);
  bool answer_block_statement(std::string& out, const FactsPtr& facts);
  bool answer_block_extended(Bytes bytes, std::string& out);
  void finish_block_answer(std::string& out);
  void set_held(HeldBlock held);
  bool block_can_move() const;
  void hold_block_again();
  bool open_block(Backend& backend, bool failed = false);
  bool opens_with_batch(const Backend& backend) const;
  void open_with_batch(Backend& backend);
  std::string opening_messages(Backend& backend);
  bool move_block(Backend& primary);
  void abandon_standby_block();
  bool is_abandoned(const Backend& backend) const;
  void forget_abandoned(const Backend& backend);
  Dispatch wait_for_primary();
  Monotonic wait_deadline();
  // (session_times.cc)
  TimeLimits time_limits() const;
  TimeState time_state() const;
  void expect_times();
  void query_begins();
  void query_ends();
  void time_is_over(TimeOver over, const TimeLimits& limits);
  // (session_effects.cc)
  void apply_effects();
  void note_effects(const Resolution& resolution);
  void note_execution(const Resolution& prepared);
  void note_fears(const lb::Effects& effects);
  void note_write(const Resolution& resolution, bool executed);
  void note_temp(const lb::Effects& effects);
  bool is_known_temp(const lb::Unverified& use) const;
  Fears fears() const;
  void fears(const Fears& fears);
  void refresh_routing();
  void settle_isolation();
  void verify_writes();
  // IN_BLOCK: the server has the error too, which has ended what its open block can do.
  void refuse_batch(Error error, bool in_block = false);
  std::string unreplayable() const;

  // --- sending (session_send.cc)
  void send_batch(Backend& backend, Bytes bytes);
  std::string injected_parses(Backend& backend);
  bool is_stale(const Backend& backend, const BatchItem& item) const;
  void note_sent(const BatchItem& item, bool opening);
  void note_startup_taken_back();
  void log_statement(const Backend& backend, Bytes bytes);
  void notify_of_node(const Backend& backend, std::string_view text);
  void count_batch(const Backend& backend);
  lb::Reason sent_reason(const Backend& backend) const;
  std::string why(const Backend& backend) const;

  // --- answers (session_relay.cc)
  std::size_t relay(Backend& backend, Bytes bytes);
  std::size_t relay_idle(Backend& backend, Bytes bytes);
  void forward(Bytes bytes);
  bool on_parameter(Backend& backend, Bytes message);
  // True: the message goes to the client.
  bool on_reply(Backend& backend, char tag, Bytes message);
  bool on_error_reply(Backend& backend, Bytes message, const Progress& progress);
  void begin_answer();
  void on_statement_done(Bytes message, char tag);
  void completed(const parser::Statement& statement, const parser::StatementFacts& text);
  static bool changes_state(const parser::Statement& statement);
  static bool takes_snapshot(const parser::Statement& statement);
  void publish_login_change();
  void tell_new_defaults(const Backend& backend);
  bool note_parameter(const Backend& backend, std::string_view name, std::string_view value);
  void tell_parameter(const Backend& backend, std::string_view name, std::string_view value);
  void settle(Backend& backend);
  void restore_startup(Backend& backend);
  void finish_running();
  void schedule_pump();
  void retry_elsewhere(Backend& backend);
  void finish_retained();
  void lose_exchange(Backend& backend, const Error& error);
  void answer_lost_read(const Backend& backend, const Error& error);
  void remove_backend(Backend& backend);
  bool nothing_is_lost_with(const Backend& backend) const;
  bool primary_backend(const Backend& backend) const;

  struct Running {
    FactsPtr facts;
    parser::StatementCursor next{};  // of a Query: what completes next
    bool query = false;
    bool streams = false;  // its text is still being looked at: no answer can have come
  };

  Worker& worker_;
  const int slot_;
  Stream stream_;
  ClientState state_ = ClientState::Startup;
  ClientIdentity identity_;
  std::unique_ptr<ClientLogin> login_;
  std::unique_ptr<ConsoleClient> console_;
  SessionTraffic traffic_;
  LoginInfo* info_ = nullptr;
  std::optional<auth::Secret> secret_;
  CancelKey cancel_key_;
  Monotonic asked_at_{};  // when the exchange under way, or waited for, was asked for
  std::int64_t connected_epoch_ = epoch_seconds(wall_now());
  Monotonic active_at_;  // last sign of life of the client
  Monotonic query_since_{};        // since when it waits for an answer; Monotonic{}: it does not
  Monotonic transaction_since_{};  // when the first query of the transaction came; Monotonic{}: there is none

  // Input that could not be acted on yet, and the batch at its start.
  std::string in_;
  Batch batch_;
  std::size_t stream_left_ = 0;  // bytes of an oversize message or copy data still to be passed on
  bool stream_drop_ = false;     // ... or thrown away
  std::unique_ptr<parser::LongText> long_text_;  // looks at the text that streams by
  std::size_t long_skip_ = 0;                    // bytes of its message before the text
  bool long_text_over_ = false;
  std::shared_ptr<PreparedStatement> long_statement_;  // what it is the text of, if it is a Parse
  Fears long_before_;
  bool pumping_ = false;
  bool pump_again_ = false;
  bool input_ended_ = false;
  bool wait_notified_ = false;  // that it waits, in this wait

  const std::uint64_t number_;  // of this session in this process
  PoolMode pool_mode_ = PoolMode::Session;
  int move_to_ = -1;
  StateImagePtr image_;         // of the session's state at image_version_
  StateVersion image_version_ = 0;
  // The connection set: one backend a node used.
  std::vector<std::unique_ptr<Backend>> set_;
  Backend* active_ = nullptr;    // whom the last exchange was sent to
  char status_ = 'I';            // as the client was last told
  int block_node_ = -1;          // where the open transaction block is
  HeldBlock held_ = HeldBlock::None;  // a block that is open nowhere
  bool opening_ = false;              // the batch that is to be sent opens the block
  std::size_t opening_left_ = 0;      // statements that open the block, of which the server has not told the end
  bool ready_seen_ = false;           // the reply at hand ends an exchange
  bool renamed_batch_ = false;        // a name in the batch goes to the server as another one
  bool stands_for_parse_ = false;     // the reply at hand is to the client a ParseComplete
  std::string instead_;               // what the client gets in the place of the reply at hand
  bool healing_ = false;              // what is being discarded runs again on the same connection
  bool more_follows_ = false;         // there is input behind the batch
  struct BlockAnswers {               // of the batch at hand, until it is known that pgweir can give all of them
    HeldBlock held = HeldBlock::None;
    bool in_block = false;
    bool failed = false;
    bool skip = false;                // up to the next Sync; also between batches
    std::string out;
    std::vector<std::pair<FactsPtr, std::string_view>> done;
    std::vector<PreparedPtr> parsed;
  } block_answer_;
  int reader_node_ = -1;         // drawn for this session
  std::optional<Monotonic> read_sent_;    // a read whose first answer is awaited, for least_latency
  std::optional<lb::Redirect> redirect_;  // of its reads, looked up at the first of them
  double redirect_unit_ = -1;    // the draw of the redirect's ratio, of the session or of its last statement
  lb::NodeSet excluded_;         // nodes that failed this batch
  int retries_ = 0;
  std::optional<Monotonic> deadline_;  // of waiting for a backend
  InternalQuery* internal_ = nullptr;  // what pgweir itself asks of internal_backend_ now
  Backend* internal_backend_ = nullptr;
  Backend* internal_backend_done_ = nullptr;  // whom the last finished one was asked of
  struct Abandoned {  // its block is being rolled back, for nobody
    Backend* backend = nullptr;
    InternalQuery* query = nullptr;
  };
  std::vector<Abandoned> abandoned_;
  bool acquiring_ = false;

  // The exchange(s) under way.
  ReplyTracker tracker_;
  std::vector<Running> running_;
  std::size_t running_head_ = 0;
  std::string hold_;             // replies held back until the answer has begun
  bool begun_ = false;
  bool failed_ = false;          // an error was among the answers of this exchange
  bool discarding_ = false;      // the rest of this exchange's answer is not wanted: it will be run again
  std::size_t server_left_ = 0;  // bytes of a message of the server still to come
  bool server_forward_ = true;   // ... and whether they go to the client
  char ready_status_ = 'I';      // of the ReadyForQuery just seen
  bool catalog_changed_ = false;
  bool catalog_suspect_ = false;  // ... or may have, by what user-defined code has done
  bool login_changed_ = false;   // ... and so may what logins give (login_defaults.h)
  bool state_changed_ = false;
  bool completed_any_ = false;   // a statement of this exchange has completed
  bool retry_on_primary_ = false;
  bool pump_scheduled_ = false;
  bool flush_asked_ = false;     // the client has sent a Flush behind what is under way
  bool flushed_ = false;         // the active backend was told to flush the replies of an unfinished batch
  bool refused_ = false;         // the batch at hand was answered by pgweir itself
  Error last_fatal_;             // what the server said before it went away
  bool told_fatal_ = false;      // ... and the client was told
  lb::Target last_target_;
  std::optional<int> dry_run_node_;  // with routing_dry_run: where the last decision would have sent it
  std::vector<std::pair<std::string, std::uint64_t>> giving_names_;  // what is under way: generation, 0: taken away
  std::map<std::string, LocalPortal> local_portals_;
  bool local_failed_ = false;    // ... and an error among them: skipped up to Sync
  std::shared_ptr<char> alive_ = std::make_shared<char>('\0');  // for deferred work: does the session still exist?

  // The session.
  SessionSettings settings_;
  SessionState state_of_session_;
  StatementNames names_;
  PreparedPtr last_unnamed_;
  NameMap<PreparedPtr> portals_;
  lb::SessionRouting routing_;
  lb::WrittenTables written_;    // in the open block, or by what is under way
  std::vector<lb::RouteItem> route_items_;
  std::vector<const Resolution*> resolutions_;
  struct Executed {  // by an EXECUTE among them
    const Resolution* by = nullptr;
    const Resolution* prepared = nullptr;
  };
  std::vector<Executed> executed_;
  Monotonic too_large_at_ = Monotonic::max();
  Monotonic surplus_since_{};  // since when it waits for that; Monotonic{}: it does not
  std::vector<lb::Unverified> unverified_;
  std::vector<lb::Unverified> unverified_now_;  // of the exchange under way: one that fails has changed nothing
  std::optional<StatementNames> names_before_;  // as they were before a batch that may have to be run again
  ContextId context_ = 0;
  std::uint64_t login_change_ = 0;  // its pair was last known to be unchanged then (login_defaults.h)
  ParameterList told_;           // what the client was told beyond the pair's common parameters
  std::uint64_t generation_ = 0;
  Fears before_;
  bool startup_in_doubt_ = false;  // what is under way may take startup values back, and they are not set again yet
  bool sql_prepared_ = false;    // SQL's PREPARE was used: the primary's connection has the statement
  bool names_in_doubt_ = false;  // a text that was not looked at has prepared or deallocated something
  bool session_locks_ = false;
  bool hold_cursor_ = false;
  bool asks_sequences_ = false;  // currval() or lastval() has been called
  std::unique_ptr<CancelRequest> cancel_;
};

}  // namespace weir::child
