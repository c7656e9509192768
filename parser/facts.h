// Everything that routing may ask about a statement *text*: plain values and names, no tree,
// nothing from a catalogue and nothing from a session. Facts are immutable and cached by text, so
// they must never depend on anything else.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace weir::parser {

// What one statement is. `Unknown` is what could not be classified: it goes to the primary and is
// feared most.
enum class StatementKind : std::uint8_t {
  Unknown,        // unparsable, too long, too deep
  Empty,          // no statement at all (blanks, comments, a lone ';')
  Select,         // SELECT, VALUES, TABLE, WITH ... SELECT
  CopyOut,        // COPY (query) TO STDOUT, COPY table TO STDOUT
  CopyOther,      // every other COPY
  Show,           // SHOW name
  Set,            // SET name, SET TIME ZONE, SET ROLE, ... (session or LOCAL), see `sets`
  Reset,          // RESET name, RESET ALL
  SetTransaction, // SET TRANSACTION ..., applies to the open block only
  Begin,
  Commit,
  Rollback,
  Savepoint,
  Release,
  RollbackTo,
  TwoPhase, // PREPARE TRANSACTION, COMMIT PREPARED, ROLLBACK PREPARED
  Insert,
  Update,
  Delete,
  Merge,
  Prepare,    // SQL-level PREPARE name
  Execute,    // SQL-level EXECUTE name
  Deallocate, // DEALLOCATE name or ALL
  DeclareCursor,
  Fetch, // FETCH, MOVE
  CloseCursor,
  Listen,
  Unlisten,
  Notify,
  Discard, // DISCARD ALL/PLANS/SEQUENCES/TEMP
  Lock,
  Explain,
  Call,
  Do,
  Load,
  Vacuum,     // VACUUM, ANALYZE
  Ddl,        // every CREATE/ALTER/DROP/GRANT/COMMENT/... that is not named here
  OtherWrite, // CLUSTER, REINDEX, CHECKPOINT, ... : primary, nothing else to know
  PoolShow,   // SHOW POOL_NODES, SHOW ROUTE, PGPOOL SET and their kin: answered by pgweir
};

// A possibly qualified name as written, folded as the grammar folds it (unquoted: lower case).
struct Name {
  std::string schema; // empty: to be looked up along search_path
  std::string name;
  bool operator==(const Name&) const = default;
};

enum class SetScope : std::uint8_t { Session, Local };
enum class SetAction : std::uint8_t {
  Value,    // SET x TO ..., SET x = DEFAULT included
  Reset,    // RESET x
  ResetAll, // RESET ALL
};

// One change of session state that this statement makes if it succeeds. Replaying `replay` on
// another connection of the same session has the same effect there.
struct SetChange {
  SetScope scope = SetScope::Session;
  SetAction action = SetAction::Value;
  std::string
      parameter; // canonical lower-case name; "role", "session_authorization",
                 // "session_characteristics" and "timezone" for the odd forms; empty with ResetAll
  std::string replay;  // the SQL text of this single statement (without trailing ';')
  std::string literal; // the value, if it is one plain string/number/word; else empty
  bool has_literal = false;
  bool to_default = false; // a Value that is DEFAULT
  bool operator==(const SetChange&) const = default;
};

enum class Tristate : std::uint8_t { Unset, No, Yes };

// Modes named by BEGIN / START TRANSACTION / SET TRANSACTION / SET SESSION CHARACTERISTICS.
struct TransactionModes {
  Tristate read_only = Tristate::Unset;
  Tristate deferrable = Tristate::Unset;
  enum class Isolation : std::uint8_t {
    Unset,
    ReadUncommitted,  // is READ COMMITTED by another name
    ReadCommitted,
    RepeatableRead,
    Serializable
  } isolation = Isolation::Unset;
  bool chain = false; // AND CHAIN
  bool operator==(const TransactionModes&) const = default;
};

// What DDL (and SELECT INTO) may do to the session's temporary objects, if it has or gets any.
enum class TempUse : std::uint8_t {
  Unclear, // give one a name that the text does not tell, or hang code on one
  None,    // nothing of the kind
  Names,   // makes those that `written_relations` names, which are temporary, and nothing else
};

// One statement of the text.
struct Statement {
  StatementKind kind = StatementKind::Unknown;
  // Explain, Prepare: the kind of the statement in it, of which all else here tells. Unknown if its
  // result is more than that of the text: EXPLAIN that tells of the server's settings, PREPARE of
  // words such as 'now', whose meaning is that of the moment.
  StatementKind body = StatementKind::Unknown;

  // Relations read (FROM, sub-selects, CTE bodies; names of CTEs in scope are left out) and
  // relations written: targets of INSERT and the like, of INTO and COPY FROM, and those that DDL,
  // LOCK, VACUUM or TRUNCATE work on. What DDL names beside (LIKE, INHERITS, a view's query), and
  // what REINDEX, CLUSTER and REFRESH name, counts as read. No aliases.
  std::vector<Name> relations;
  std::vector<Name> written_relations;
  // Functions called (table samplers included), operators, and types named in casts. Names only,
  // each once; those that the grammar itself puts in have schema pg_catalog (EXTRACT, int).
  std::vector<Name> functions;
  std::vector<Name> operators; // each distinct operator name used, schema if OPERATOR(s.op)
  std::vector<Name>
      types; // named in casts, typed literals, column definition lists; "int4", "text", ...

  // What makes even a SELECT no plain read:
  bool row_locks = false;     // FOR UPDATE / NO KEY UPDATE / SHARE / KEY SHARE anywhere
  bool modifying_cte = false; // INSERT/UPDATE/DELETE/MERGE in a WITH anywhere
  bool select_into = false;   // SELECT INTO, CREATE TABLE AS, CREATE MATERIALIZED VIEW
  bool creates_temp = false;  // CREATE TEMP ..., SELECT INTO TEMP, or a name in pg_temp
  bool mentions_temp = false; // pg_temp named anywhere (schema, search_path value, ...)
  TempUse temp_use = TempUse::Unclear; // of DDL and SELECT INTO
  bool now_like =
      false; // now(), CURRENT_TIMESTAMP, transaction ids, pids: fixes a transaction to its node
  bool no_transaction_block =
      false; // VACUUM, CREATE DATABASE, ... CONCURRENTLY: refused by the server inside a
             // block; also what may be (CALL and DO that end transactions, REINDEX, CLUSTER)
  bool opaque_effects = false; // DO, CALL, LOAD, set_config with non-literals, ...: session state
                               // may change in ways the text does not tell
  bool with_hold = false; // DECLARE ... WITH HOLD
  bool all = false;       // DEALLOCATE ALL, CLOSE ALL, DISCARD ALL, UNLISTEN *

  TransactionModes transaction; // Begin, SetTransaction, Commit/Rollback (chain)
  std::string
      identifier; // savepoint, gid, prepared statement, cursor or channel as the grammar folds it;
                  // setting of SHOW, SET, RESET in lower case; what DISCARD discards; "start
                  // transaction" of a Begin that was written so; "route" and "pgpool" of kind PoolShow
  std::string argument; // PoolShow: what SHOW ROUTE asks about; the words behind PGPOOL. Prepare: the
                        // text of this statement alone, empty if it was too long to be kept
  std::vector<SetChange> sets; // Set, Reset, and literal set_config(…) calls of a Select
  bool operator==(const Statement&) const = default;
};

// Of STATEMENT its kind and the names it uses, and nothing else.
Statement kind_and_names(const Statement& statement);

// COUNT statements of the text, one behind the other, of which statements[index] tells.
struct StatementRun {
  std::uint32_t index = 0;
  std::uint32_t count = 0;
};

// Hints of /*NO LOAD BALANCE*/ and /*pgweir: ...*/ at the start of the text (contract, "Hints in
// SQL").
struct Hint {
  enum class Kind : std::uint8_t { None, NoLoadBalance, Primary, Standby, Node } kind = Kind::None;
  int node = -1;
};

struct StatementFacts {
  std::vector<Statement>
      statements; // in order; one of kind Empty if there is none; one Unknown if unparsable
  // Of a text too long to be parsed as a whole statements that are alike share one entry: in which order
  // they complete. Empty: each of `statements` is one.
  std::vector<StatementRun> runs;
  Hint hint;
  // Facts that hang on a literal (regclass casts, set_config, nextval, ...): valid for the exact
  // text only, never to be shared between look-alikes.
  bool exact_text_only = false;
};

// Goes over the statements of a text in the order in which they complete.
class StatementCursor {
public:
  // The next one; null behind the last. FACTS: the same at each call.
  const Statement* next(const StatementFacts& facts) {
    if (facts.runs.empty())
      return run_ < facts.statements.size() ? &facts.statements[run_++] : nullptr;
    if (run_ >= facts.runs.size())
      return nullptr;
    const StatementRun& run = facts.runs[run_];
    if (++done_ >= run.count) {
      ++run_;
      done_ = 0;
    }
    return &facts.statements[run.index];
  }

private:
  std::size_t run_ = 0;
  std::uint32_t done_ = 0; // of that run
};

} // namespace weir::parser
