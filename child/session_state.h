// All that makes one client's session different from a fresh one and can be replayed: parameters (SET, RESET,
// set_config, role and authorization) with the savepoint stack that undoes them, and the startup parameters that RESET
// returns to. Pure: the session tells what completed, and asks what a given backend still lacks.
//
// Rules: one mechanism, replay (no broadcast); a backend that lacks something catches up when it is next used; order of
// a replay is reset of authorization and role, RESET ALL, parameters, authorization, role.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "child/state_image.h"
#include "parser/facts.h"

namespace weir::child {

// Grows with every change; a backend remembers up to which it has caught up. 0: a fresh (or freshly reset) backend.
using StateVersion = std::uint64_t;

// What a backend must run, outside any transaction block, to be where the session is.
struct Replay {
  bool discard_all = false;                                      // first: DISCARD ALL
  bool reset_identity = false;                                   // then: back to the login role
  bool reset_all = false;                                        // then: RESET ALL
  std::vector<std::pair<std::string, std::string>> parameters;   // then: set_config(name, value, false)
  std::vector<std::string> statements;                           // then these, in order
  bool empty() const { return !discard_all && !reset_identity && !reset_all && parameters.empty() && statements.empty(); }
};

// "role" and "session_authorization": set last, and reset first.
bool is_identity(std::string_view parameter);
// The statement that takes PARAMETER back to what the login gave it.
std::string reset_text(const std::string& parameter);

class SessionState {
 public:
  using Parameters = std::vector<std::pair<std::string, std::string>>;

  // One parameter that the session has set, or reset.
  struct Entry {
    std::string parameter;
    std::string replay;
    std::string literal;
    bool has_literal = false;
    bool is_reset = false;
    StateVersion stamp = 0;
    bool operator==(const Entry&) const = default;
  };
  // All of it between two transactions.
  struct Saved {
    Parameters startup;
    std::vector<Entry> entries;
    bool in_packets = false;
    StateVersion version = 1;
    StateVersion startup_stamp = 1;
    StateVersion reset_stamp = 0;
    StateVersion discard_stamp = 0;
    bool operator==(const Saved&) const = default;
  };
  // None: something is under way.
  std::optional<Saved> saved() const;
  void restore_saved(Saved saved);

  // The startup parameters that are state (names in lower case).
  void set_startup_parameters(Parameters parameters);
  // From now on every connection of the session has them in its own startup packet: they need no replay, and RESET finds
  // them.
  void startup_is_in_packets() { in_packets_ = true; }
  const Parameters& startup_parameters() const { return startup_; }

  // A statement that takes a snapshot has run: in a block, some of what follows is refused from then on.
  void on_query() {
    if (in_block_ && query_at_ == kNoQuery) note_query();
  }
  // One statement has completed successfully on the active backend; COMPLETION is the tag it got ("ROLLBACK" for a
  // COMMIT of an aborted block).
  void on_completed(const parser::Statement& statement, std::string_view completion);
  // The exchange has ended with this status; FAILED if an error was among its answers. Undoes what the server undid.
  // Returns the version that the active backend has now.
  StateVersion on_ready(char status, bool failed);

  // STATEMENT takes a parameter back to its startup value, or all of them: a server knows that value only if it was in
  // the startup packet of its own connection.
  bool takes_back_startup(const parser::Statement& statement) const;
  // The active backend has lost values of the startup packet, which RESET, DISCARD and SET LOCAL ... TO DEFAULT should
  // have returned to: they are to be set there again (restore_messages), and then noted.
  bool owes_startup() const { return startup_again_ || !local_again_.empty(); }
  // All that the session has lost, and what it has lost until the end of its block.
  const Parameters& owed_startup() const;
  const Parameters& owed_local() const { return local_again_; }
  void startup_restored();

  StateVersion version() const { return version_; }
  // ... and before the open block changed anything.
  StateVersion block_version() const { return block_version_; }
  // SET LOCAL or its kin has succeeded in the transaction at hand.
  bool has_local() const { return has_local_; }
  // Nothing to replay for a backend that has caught up to APPLIED.
  bool caught_up(StateVersion applied) const { return applied == version_; }
  // BEFORE_BLOCK: without what the open block has changed so far: it will be opened there by block().
  Replay difference(StateVersion applied, bool before_block = false) const;

  // The state as a connection holds it that has caught up; BEFORE_BLOCK as above.
  StateImage image(bool before_block = false) const;

  // The value of a parameter that this session set with a literal, or in its startup packet.
  std::optional<std::string_view> literal(std::string_view parameter) const;
  // The session has set it, and not back.
  bool has_set(std::string_view parameter) const {
    const Entry* entry = find(parameter);
    return entry != nullptr && !entry->is_reset;
  }
  std::vector<std::string> known_parameters() const;

  // What rebuilds the open transaction block elsewhere: BEGIN, SETs and SAVEPOINTs that succeeded in it, in order.
  const std::vector<std::string>& block() const { return block_texts_; }
  bool block_is_repeatable() const { return block_repeatable_; }
  const parser::TransactionModes& block_modes() const { return block_modes_; }
  // Those of them that a block chained to this one has even if this one has failed.
  const parser::TransactionModes& inherited_modes() const { return inherited_modes_; }
  bool has_savepoint(std::string_view name) const;

 private:
  struct Savepoint {
    std::string name;
    std::vector<Entry> entries;   // as they were
    std::size_t block_size = 0;   // how many block texts there were, this savepoint's included
    parser::TransactionModes modes;
  };

  const Entry* find(std::string_view parameter) const { return find(entries_, parameter); }
  static const Entry* find(const std::vector<Entry>& entries, std::string_view parameter);
  const std::string* startup_value(std::string_view parameter) const;
  void apply(const parser::SetChange& change);
  void apply_characteristics(const parser::TransactionModes& modes);
  void reset_everything(bool discard);
  void remember_base();
  void restore(std::vector<Entry> entries);
  void begin_block(const parser::TransactionModes& modes, bool inherited);
  void set_block_modes(const parser::TransactionModes& modes);
  void end_block();
  void note_block(std::string text);
  void note_query();
  void note_set(const parser::SetChange& change);

  Parameters startup_;
  std::vector<Entry> entries_;
  std::optional<std::vector<Entry>> base_;  // committed entries, once an uncommitted change was made
  std::vector<Savepoint> savepoints_;
  std::vector<std::string> block_texts_;
  static constexpr std::size_t kNoQuery = static_cast<std::size_t>(-1);
  std::size_t query_at_ = kNoQuery;  // where in the texts a query stands for those that have run
  bool block_failed_ = false;
  StateVersion block_version_ = 1;
  bool in_packets_ = false;
  bool block_repeatable_ = true;
  parser::TransactionModes block_modes_;  // what BEGIN and SET TRANSACTION have said
  parser::TransactionModes inherited_modes_;
  bool in_block_ = false;
  bool has_local_ = false;
  StateVersion version_ = 1;
  StateVersion startup_stamp_ = 1;  // backends behind this need the startup parameters (again)
  StateVersion reset_stamp_ = 0;    // backends behind this, that ever had state, need RESET ALL first
  StateVersion discard_stamp_ = 0;  // ... need DISCARD ALL first
  bool startup_again_ = false;      // RESET or DISCARD just ran: the active backend lost the startup parameters
  Parameters local_again_;          // SET LOCAL ... TO DEFAULT just ran: their startup values
};

}  // namespace weir::child
