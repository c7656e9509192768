// Statements that a client has prepared with Parse or with SQL's PREPARE, and what is under way with their names.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <string_view>

#include "child/backend.h"
#include "child/statement_registry.h"
#include "parser/facts_cache.h"

namespace weir::child {

using FactsPtr = std::shared_ptr<const parser::Entry>;

// What the meaning of a text may hang on when it is prepared, beside the text: what its names mean, and what it makes of
// its literals.
struct PreparedUnder {
  std::uint64_t state = 0;    // version of the session's state
  std::uint64_t catalog = 0;  // the catalogue's epoch
  bool local = false;         // SET LOCAL had been used in the transaction
  bool operator==(const PreparedUnder&) const = default;
};

struct PreparedStatement {
  std::string name;            // empty: the unnamed one
  std::string parse_message;   // the whole Parse message, to prepare it on another node; empty: too large to be kept
  SharedStatementPtr shared;   // what servers know it as while connections are lent by the transaction
  bool never_kept = false;     // an unnamed one that was looked at for plan_unnamed
  bool by_sql = false;         // by PREPARE: there is a text instead, and facts of kind Prepare
  std::string prepare_text;    // the whole PREPARE statement; empty: must not be run anywhere else
  PreparedUnder under;
  FactsPtr facts;              // null: a PREPARE too long to be kept
  std::uint64_t generation = 0;  // a name may be used again for another statement
  bool primary_pattern = false;

  // The text in the message. Empty if that was not kept.
  std::string_view text() const;
};
using PreparedPtr = std::shared_ptr<const PreparedStatement>;

// The statements of a session by name. What was sent and is not answered yet counts as if it had succeeded, until the
// server says otherwise.
class StatementNames {
 public:
  PreparedPtr find(std::string_view name) const;
  // ... if it is one of Parse: Bind and Describe of the other kind are for the primary, which has it.
  PreparedPtr find_parsed(std::string_view name) const;
  bool is_by_sql(std::string_view name) const;
  // A Parse of NAME is under way, under that name (one of pgweir's own included).
  bool is_pending(std::string_view name) const;
  std::size_t size() const { return names_.size(); }
  bool empty() const { return names_.empty() && pending_.empty(); }
  bool nothing_pending() const { return pending_.empty(); }
  // Those that exist, by name.
  const NameMap<PreparedPtr>& known() const { return names_; }

  // A statement of pgweir's own (SHOW POOL_*), which no server has.
  void define(PreparedPtr statement);
  void parse_sent(PreparedPtr statement, bool hidden) { parse_sent(std::move(statement), hidden, false); }
  // ... under its shared name.
  void shared_parse_sent(PreparedPtr statement, bool hidden) { parse_sent(std::move(statement), hidden, true); }
  bool is_shared_pending(std::uint64_t number) const;
  // What the client calls the shared statement of that NUMBER: the latest of its names; empty if there is none.
  std::string name_of_shared(std::uint64_t number) const;
  // A statement that cannot be prepared again somewhere else.
  bool has_unrepeatable() const;
  void close_sent(std::string name, bool hidden);
  // The oldest of what was sent has succeeded on BACKEND.
  void succeeded(Backend& backend);
  // The COUNT oldest were skipped by the server after an error.
  void skipped(std::uint32_t count);
  void drop_pending() { pending_.clear(); }
  // A simple Query ends the unnamed statement.
  void forget_unnamed();
  void forget(std::string_view name);
  void forget_all();

 private:
  struct Pending {
    PreparedPtr statement;  // null: a Close
    std::string name;
    bool hidden = false;
    bool shared = false;    // on the server under its shared name
  };
  void parse_sent(PreparedPtr statement, bool hidden, bool shared);
  NameMap<PreparedPtr> names_;
  std::deque<Pending> pending_;
};

}  // namespace weir::child
