#include "child/session_state.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "parser/classify.h"

namespace weir::child {
namespace {

using parser::Statement;
using parser::StatementKind;
using Texts = std::vector<std::string>;
using Values = std::map<std::string, std::string>;  // of parameters that differ from the server's own defaults

// What a PostgreSQL server makes of the statements below: values by name, and blocks that undo them.
class Server {
 public:
  const Values& values() const { return values_; }
  char status() const { return failed_ ? 'E' : before_block_ ? 'T' : 'I'; }

  // Would the server carry it out? What it refuses is no part of these tests.
  bool takes(const Statement& statement) const {
    switch (statement.kind) {
      case StatementKind::Commit:
      case StatementKind::Rollback: return !statement.transaction.chain || status() != 'I';
      case StatementKind::RollbackTo: return status() != 'I' && has_savepoint(statement.identifier);
      case StatementKind::Release: return status() == 'T' && has_savepoint(statement.identifier);
      case StatementKind::Savepoint: return status() == 'T';
      case StatementKind::Discard: return status() == 'I';
      default: return status() != 'E';
    }
  }

  // Statements of one text are one transaction, as far as they do not end it themselves.
  void begin_text() {
    if (!before_block_) before_text_ = values_;
  }

  // Returns the tag of its completion.
  std::string run(const Statement& statement) {
    switch (statement.kind) {
      case StatementKind::Begin:
        if (!before_block_) before_block_ = before_text_;
        return "BEGIN";
      case StatementKind::Commit:
      case StatementKind::Rollback: {
        const bool keeps = statement.kind == StatementKind::Commit && !failed_;
        if (!keeps) values_ = before_block_ ? *before_block_ : before_text_;
        before_text_ = values_;
        failed_ = false;
        savepoints_.clear();
        before_block_.reset();
        if (statement.transaction.chain) before_block_ = values_;
        return keeps ? "COMMIT" : "ROLLBACK";
      }
      case StatementKind::Savepoint: savepoints_.emplace_back(statement.identifier, values_); return "SAVEPOINT";
      case StatementKind::Release:
        while (savepoints_.back().first != statement.identifier) savepoints_.pop_back();
        savepoints_.pop_back();
        return "RELEASE";
      case StatementKind::RollbackTo:
        while (savepoints_.back().first != statement.identifier) savepoints_.pop_back();
        values_ = savepoints_.back().second;
        failed_ = false;
        return "ROLLBACK";
      case StatementKind::Discard: values_.clear(); return "DISCARD ALL";
      default:
        for (const parser::SetChange& change : statement.sets) apply(statement, change);
        return statement.kind == StatementKind::Reset ? "RESET" : "SET";
    }
  }
  void run(const std::string& text) {
    for (const Statement& statement : parser::classify(text).statements) run(statement);
  }

  // An error as the last of a text.
  void fail() {
    if (before_block_) {
      failed_ = true;
    } else {
      values_ = before_text_;
    }
  }

  // What the session does before the client learns that a RESET is done.
  void restore(const SessionState::Parameters& startup) {
    for (const auto& [name, value] : startup) values_.emplace(name, value);
  }

  // In the order of replay_messages.
  void catch_up(const Replay& replay) {
    if (replay.discard_all) values_.clear();
    if (replay.reset_identity) {
      run("RESET SESSION AUTHORIZATION");
      run("RESET ROLE");
    }
    if (replay.reset_all) run("RESET ALL");
    for (const auto& [name, value] : replay.parameters) {
      EXPECT_FALSE(values_.contains("role") || values_.contains("session_authorization")) << "set without the rights of the login role";
      values_.insert_or_assign(name, value);
    }
    for (const std::string& statement : replay.statements) run(statement);
  }

 private:
  bool has_savepoint(const std::string& name) const {
    for (const auto& savepoint : savepoints_) {
      if (savepoint.first == name) return true;
    }
    return false;
  }

  void apply(const Statement& statement, const parser::SetChange& change) {
    if (change.scope == parser::SetScope::Local) return;
    if (change.action == parser::SetAction::ResetAll) {
      std::erase_if(values_, [](const auto& value) { return !is_identity(value.first); });
      return;
    }
    if (change.parameter == "session_authorization") values_.erase("role");
    if (change.parameter == "session_characteristics") {
      using parser::Tristate;
      if (statement.transaction.read_only != Tristate::Unset) {
        values_.insert_or_assign("default_transaction_read_only", statement.transaction.read_only == Tristate::Yes ? "on" : "off");
      }
      return;
    }
    if (change.action == parser::SetAction::Reset || change.replay.ends_with("DEFAULT")) {
      values_.erase(change.parameter);
    } else {
      values_.insert_or_assign(change.parameter, change.has_literal ? change.literal : change.replay.substr(change.replay.find('=') + 2));
    }
  }

  Values values_;
  Values before_text_;
  std::optional<Values> before_block_;
  std::vector<std::pair<std::string, Values>> savepoints_;
  bool failed_ = false;
};

// One session on its own connection, and connections that follow it in every way there is: one that is fresh at the end,
// those that had caught up at some moment and were left alone since, and one that catches up all the time.
class Follow {
 public:
  explicit Follow(SessionState::Parameters startup) {
    state.set_startup_parameters(std::move(startup));
    own.catch_up(state.difference(0));
    applied_ = state.version();
    note();
  }

  // One exchange; an error comes last if TEXT ends with '!'.
  void exchange(std::string text) {
    const bool fails = text.ends_with('!');
    if (fails) text.pop_back();
    if (own.status() == 'I' && !state.caught_up(applied_)) {
      own.catch_up(state.difference(applied_));
      applied_ = state.version();
    }
    own.begin_text();
    for (const Statement& statement : parser::classify(text).statements) {
      if (!own.takes(statement)) continue;
      const std::string tag = own.run(statement);
      state.on_completed(statement, tag);
    }
    if (fails) own.fail();
    if (state.owes_startup() && own.status() != 'E') {
      own.restore(state.startup_parameters());
      state.startup_restored();
    }
    applied_ = state.on_ready(own.status(), fails);
    note();
  }

  std::string mismatch() {
    if (own.status() != 'I') exchange("ROLLBACK");
    Server fresh;
    fresh.catch_up(state.difference(0));
    if (fresh.values() != own.values()) return "a fresh backend has " + text(fresh.values()) + ", not " + text(own.values());
    for (auto& [server, applied] : behind_) {
      const std::string was = text(server.values());
      server.catch_up(state.difference(applied));
      if (server.values() != own.values()) return "one that had " + was + " now has " + text(server.values()) + ", not " + text(own.values());
    }
    if (always_.values() != own.values()) return "one that follows has " + text(always_.values()) + ", not " + text(own.values());
    return {};
  }

  static std::string text(const Values& values) {
    std::string out;
    for (const auto& [name, value] : values) out += (out.empty() ? "" : " ") + name + "=" + value;
    return out;
  }

  SessionState state;
  Server own;

 private:
  void note() {
    if (own.status() != 'I') return;
    Server server;
    server.catch_up(state.difference(0));
    behind_.emplace_back(std::move(server), state.version());
    always_.catch_up(state.difference(always_applied_));
    always_applied_ = state.version();
  }

  StateVersion applied_ = 0;
  std::vector<std::pair<Server, StateVersion>> behind_;
  Server always_;
  StateVersion always_applied_ = 0;
};

struct Row {
  const char* what;
  SessionState::Parameters startup;
  Texts exchanges;
  const char* expected;  // the session's own values after them
};

const SessionState::Parameters kStartup{{"search_path", "a"}, {"work_mem", "1MB"}};

const std::vector<Row>& rows() {
  static const std::vector<Row> table{
      {"nothing at all", {}, {}, ""},
      {"startup parameters alone", kStartup, {}, "search_path=a work_mem=1MB"},
      {"SET", {}, {"SET work_mem = '5MB'"}, "work_mem=5MB"},
      {"the last SET counts", {}, {"SET work_mem = '5MB'", "SET work_mem = '6MB'"}, "work_mem=6MB"},
      {"two parameters", {}, {"SET work_mem = '5MB'; SET search_path = b"}, "search_path=b work_mem=5MB"},
      {"a list", {}, {"SET search_path = b, c"}, "search_path=b, c"},
      {"SET LOCAL", {}, {"BEGIN", "SET LOCAL work_mem = '5MB'", "COMMIT"}, ""},
      {"set_config", {}, {"SELECT set_config('work_mem', '5MB', false)"}, "work_mem=5MB"},
      {"local set_config", {}, {"BEGIN", "SELECT set_config('work_mem', '5MB', true)", "COMMIT"}, ""},
      {"RESET", {}, {"SET work_mem = '5MB'", "RESET work_mem"}, ""},
      {"RESET of what was not set", {}, {"RESET work_mem"}, ""},
      {"TO DEFAULT", {}, {"SET work_mem = '5MB'", "SET work_mem TO DEFAULT"}, ""},
      {"RESET ALL", {}, {"SET work_mem = '5MB'; SET search_path = b", "RESET ALL"}, ""},
      {"RESET ALL, then SET", {}, {"SET work_mem = '5MB'", "RESET ALL", "SET search_path = b"}, "search_path=b"},
      {"RESET ALL keeps the role", {}, {"SET ROLE r", "SET work_mem = '5MB'", "RESET ALL"}, "role=r"},
      {"DISCARD ALL", {}, {"SET ROLE r", "SET work_mem = '5MB'", "DISCARD ALL"}, ""},
      {"DISCARD ALL, then SET", {}, {"SET ROLE r", "DISCARD ALL", "SET work_mem = '5MB'"}, "work_mem=5MB"},
      {"both", {}, {"SET work_mem = '5MB'", "RESET ALL", "SET ROLE r", "DISCARD ALL", "SET search_path = b"}, "search_path=b"},
      // Identity.
      {"SET ROLE", {}, {"SET ROLE r", "SET work_mem = '5MB'"}, "role=r work_mem=5MB"},
      {"RESET ROLE", {}, {"SET ROLE r", "RESET ROLE"}, ""},
      {"authorization ends the role", {}, {"SET ROLE r", "SET SESSION AUTHORIZATION u"}, "session_authorization=u"},
      {"a role on top of an authorization", {}, {"SET SESSION AUTHORIZATION u", "SET ROLE r"}, "role=r session_authorization=u"},
      {"RESET SESSION AUTHORIZATION", {}, {"SET SESSION AUTHORIZATION u", "SET ROLE r", "RESET SESSION AUTHORIZATION"}, ""},
      {"a role with a role before", {}, {"SET ROLE r", "SET ROLE s", "SET work_mem = '5MB'"}, "role=s work_mem=5MB"},
      // Blocks.
      {"COMMIT keeps", {}, {"BEGIN", "SET work_mem = '5MB'", "COMMIT"}, "work_mem=5MB"},
      {"ROLLBACK undoes", {}, {"BEGIN", "SET work_mem = '5MB'", "ROLLBACK"}, ""},
      {"ROLLBACK goes back", {}, {"SET work_mem = '5MB'", "BEGIN", "SET work_mem = '6MB'", "ROLLBACK"}, "work_mem=5MB"},
      {"ROLLBACK of RESET", {}, {"SET work_mem = '5MB'", "BEGIN", "RESET work_mem", "ROLLBACK"}, "work_mem=5MB"},
      {"ROLLBACK of RESET ALL", {}, {"SET work_mem = '5MB'; SET ROLE r", "BEGIN", "RESET ALL", "ROLLBACK"}, "role=r work_mem=5MB"},
      {"ROLLBACK of an authorization", {}, {"SET ROLE r", "BEGIN", "SET SESSION AUTHORIZATION u", "ROLLBACK"}, "role=r"},
      {"COMMIT of a failed block", {}, {"BEGIN", "SET work_mem = '5MB'", "SELECT 1!", "COMMIT"}, ""},
      {"AND CHAIN", {}, {"BEGIN", "SET work_mem = '5MB'", "COMMIT AND CHAIN", "SET work_mem = '6MB'", "ROLLBACK"}, "work_mem=5MB"},
      {"ROLLBACK outside of a block", {}, {"SET work_mem = '5MB'", "ROLLBACK"}, "work_mem=5MB"},
      {"several in one text", {}, {"BEGIN; SET work_mem = '5MB'; COMMIT; SET search_path = b!"}, "work_mem=5MB"},
      {"an error undoes the text", {}, {"SET work_mem = '5MB'", "SET work_mem = '6MB'; SET search_path = b!"}, "work_mem=5MB"},
      {"a text begins a block", {}, {"SET work_mem = '5MB'; BEGIN", "ROLLBACK"}, ""},
      // Savepoints.
      {"ROLLBACK TO", {}, {"BEGIN", "SET work_mem = '5MB'", "SAVEPOINT s", "SET work_mem = '6MB'", "ROLLBACK TO s", "COMMIT"}, "work_mem=5MB"},
      {"ROLLBACK TO, twice", {}, {"BEGIN", "SAVEPOINT s", "SET work_mem = '5MB'", "ROLLBACK TO s", "SET search_path = b", "ROLLBACK TO s", "COMMIT"}, ""},
      {"RELEASE keeps", {}, {"BEGIN", "SAVEPOINT s", "SET work_mem = '5MB'", "RELEASE s", "COMMIT"}, "work_mem=5MB"},
      {"a name twice: the inner one counts",
       {},
       {"BEGIN", "SAVEPOINT s", "SET work_mem = '5MB'", "SAVEPOINT s", "SET work_mem = '6MB'", "ROLLBACK TO s", "COMMIT"},
       "work_mem=5MB"},
      {"the outer one again after RELEASE",
       {},
       {"BEGIN", "SAVEPOINT s", "SET work_mem = '5MB'", "SAVEPOINT s", "RELEASE s", "ROLLBACK TO s", "COMMIT"},
       ""},
      {"RELEASE of an outer one takes the inner ones along",
       {},
       {"BEGIN", "SAVEPOINT s", "SET work_mem = '5MB'", "SAVEPOINT t", "SET search_path = b", "RELEASE s", "COMMIT"},
       "search_path=b work_mem=5MB"},
      {"out of a failed block",
       {},
       {"BEGIN", "SET work_mem = '5MB'", "SAVEPOINT s", "SET search_path = b", "SELECT 1!", "ROLLBACK TO s", "COMMIT"},
       "work_mem=5MB"},
      {"ROLLBACK over all savepoints", {}, {"BEGIN", "SET work_mem = '5MB'", "SAVEPOINT s", "RELEASE s", "ROLLBACK"}, ""},
      {"SESSION CHARACTERISTICS", {}, {"SET SESSION CHARACTERISTICS AS TRANSACTION READ ONLY"}, "default_transaction_read_only=on"},
      {"their ROLLBACK", {}, {"BEGIN", "SET SESSION CHARACTERISTICS AS TRANSACTION READ ONLY", "ROLLBACK"}, ""},
      {"their ROLLBACK to what was set by name",
       {},
       {"SET default_transaction_read_only = on", "BEGIN", "SET SESSION CHARACTERISTICS AS TRANSACTION READ WRITE", "ROLLBACK"},
       "default_transaction_read_only=on"},
      {"RESET of what they set", {}, {"SET SESSION CHARACTERISTICS AS TRANSACTION READ ONLY", "RESET default_transaction_read_only"}, ""},
      {"ROLLBACK of the name to what they set",
       {},
       {"SET SESSION CHARACTERISTICS AS TRANSACTION READ ONLY", "BEGIN", "SET default_transaction_read_only = off", "ROLLBACK"},
       "default_transaction_read_only=on"},
      {"they and the name", {}, {"SET SESSION CHARACTERISTICS AS TRANSACTION READ ONLY", "SET default_transaction_read_only = off"}, "default_transaction_read_only=off"},
      // Values of the startup packet.
      {"SET over startup", kStartup, {"SET work_mem = '5MB'"}, "search_path=a work_mem=5MB"},
      {"a list over startup", kStartup, {"SET search_path = b, c"}, "search_path=b, c work_mem=1MB"},
      {"RESET to startup", kStartup, {"SET work_mem = '5MB'", "RESET work_mem"}, "search_path=a work_mem=1MB"},
      {"TO DEFAULT to startup", kStartup, {"SET work_mem = '5MB'", "SET work_mem TO DEFAULT"}, "search_path=a work_mem=1MB"},
      {"RESET ALL to startup", kStartup, {"SET work_mem = '5MB'; SET app.x = 'y'", "RESET ALL"}, "search_path=a work_mem=1MB"},
      {"DISCARD ALL to startup", kStartup, {"SET work_mem = '5MB'; SET ROLE r", "DISCARD ALL"}, "search_path=a work_mem=1MB"},
      {"RESET ALL, then SET", kStartup, {"RESET ALL", "SET work_mem = '5MB'"}, "search_path=a work_mem=5MB"},
      {"RESET ALL with a role", kStartup, {"SET ROLE r", "RESET ALL"}, "role=r search_path=a work_mem=1MB"},
      {"RESET of one keeps the other", kStartup, {"SET search_path = b, c", "RESET work_mem"}, "search_path=b, c work_mem=1MB"},
      {"ROLLBACK to startup", kStartup, {"BEGIN", "SET work_mem = '5MB'", "ROLLBACK"}, "search_path=a work_mem=1MB"},
      {"ROLLBACK TO to startup", kStartup, {"BEGIN", "SAVEPOINT s", "SET work_mem = '5MB'", "ROLLBACK TO s", "COMMIT"}, "search_path=a work_mem=1MB"},
      {"ROLLBACK of RESET with startup", kStartup, {"SET work_mem = '5MB'", "BEGIN", "RESET work_mem", "ROLLBACK"}, "search_path=a work_mem=5MB"},
      {"COMMIT of RESET with startup", kStartup, {"SET work_mem = '5MB'", "BEGIN", "RESET work_mem", "COMMIT"}, "search_path=a work_mem=1MB"},
      {"an error after RESET", kStartup, {"SET work_mem = '5MB'", "RESET work_mem!"}, "search_path=a work_mem=5MB"},
      {"a failed block with RESET ALL", kStartup, {"SET work_mem = '5MB'", "BEGIN; RESET ALL!", "ROLLBACK"}, "search_path=a work_mem=5MB"},
  };
  return table;
}

TEST(SessionState, EveryBackendComesToWhereTheSessionIs) {
  for (const Row& row : rows()) {
    Follow follow(row.startup);
    for (const std::string& text : row.exchanges) follow.exchange(text);
    EXPECT_EQ(Follow::text(follow.own.values()), row.expected) << row.what;
    EXPECT_EQ(follow.mismatch(), "") << row.what;
  }
}

void random_sessions(const SessionState::Parameters& startup) {
  static const Texts exchanges{
      "SET work_mem = '5MB'", "SET work_mem = '6MB'", "SET work_mem TO DEFAULT", "RESET work_mem", "SET search_path = b",
      "SET search_path = b, c", "RESET search_path", "SET app.x = 'y'", "RESET app.x", "SET LOCAL work_mem = '7MB'",
      "SELECT set_config('app.x', 'z', false)", "RESET ALL", "DISCARD ALL", "SET ROLE r", "RESET ROLE",
      "SET SESSION AUTHORIZATION u", "RESET SESSION AUTHORIZATION", "SET SESSION CHARACTERISTICS AS TRANSACTION READ ONLY",
      "SET default_transaction_read_only = off", "RESET default_transaction_read_only", "BEGIN", "BEGIN", "COMMIT", "COMMIT", "ROLLBACK", "COMMIT AND CHAIN",
      "SAVEPOINT s", "SAVEPOINT t", "RELEASE s", "ROLLBACK TO s", "ROLLBACK TO t", "SELECT 1!", "SET work_mem = '8MB'!",
      "RESET ALL!", "SET work_mem = '9MB'; BEGIN; SET app.x = 'w'", "BEGIN; SET search_path = d; COMMIT; SET ROLE s!",
  };
  EXPECT_TRUE(rc::check("every backend comes to where the session is", [&] {
    const auto chosen = *rc::gen::container<Texts>(rc::gen::elementOf(exchanges));
    Follow follow(startup);
    for (const std::string& text : chosen) follow.exchange(text);
    const std::string mismatch = follow.mismatch();
    if (!mismatch.empty()) RC_FAIL(mismatch);
  }));
}

TEST(SessionState, RandomSessions) { random_sessions({}); }
TEST(SessionState, RandomSessionsWithStartupParameters) { random_sessions(kStartup); }

// ---------------------------------------------------------------------------------------------- what exactly is replayed

SessionState after(const Texts& exchanges, SessionState::Parameters startup = {}) {
  Follow follow(std::move(startup));
  for (const std::string& text : exchanges) follow.exchange(text);
  return std::move(follow.state);
}

TEST(SessionState, SetLocalLastsAsLongAsItsTransaction) {
  SessionState state;
  const auto run = [&](const char* text, std::string_view tag) { state.on_completed(parser::classify(text).statements.front(), tag); };
  run("SET work_mem = '1MB'", "SET");
  EXPECT_FALSE(state.has_local());
  run("BEGIN", "BEGIN");
  run("SET LOCAL work_mem = '2MB'", "SET");
  state.on_ready('T', false);
  EXPECT_TRUE(state.has_local());
  run("COMMIT", "COMMIT");
  state.on_ready('I', false);
  EXPECT_FALSE(state.has_local());
}

TEST(SessionState, NothingToDoForABackendThatHasCaughtUp) {
  const SessionState state = after({"SET work_mem = '5MB'", "SET ROLE r"}, kStartup);
  EXPECT_TRUE(state.caught_up(state.version()));
  EXPECT_TRUE(state.difference(state.version()).empty());
  EXPECT_FALSE(state.caught_up(0));
}

TEST(SessionState, NothingToDoForASessionWithoutState) {
  EXPECT_TRUE(after({}).difference(0).empty());
  EXPECT_TRUE(after({"BEGIN", "SET LOCAL work_mem = '5MB'", "SAVEPOINT s", "COMMIT"}).difference(0).empty());
}

TEST(SessionState, AFreshBackendGetsAll) {
  const Replay replay = after({"SET work_mem = '5MB';", "SET ROLE r", "SET app.x = 'y'"}, {{"search_path", "a"}, {"work_mem", "1MB"}}).difference(0);
  EXPECT_FALSE(replay.discard_all);
  EXPECT_FALSE(replay.reset_identity);
  EXPECT_EQ(replay.parameters, (SessionState::Parameters{{"search_path", "a"}}));
  EXPECT_EQ(replay.statements, (Texts{"SET work_mem = '5MB'", "SET app.x = 'y'", "SET ROLE r"}));
}

TEST(SessionState, OneThatIsBehindGetsWhatIsNew) {
  Follow follow(kStartup);
  follow.exchange("SET work_mem = '5MB'");
  const StateVersion then = follow.state.version();
  follow.exchange("SET app.x = 'y'");
  const Replay replay = follow.state.difference(then);
  EXPECT_TRUE(replay.parameters.empty());
  EXPECT_EQ(replay.statements, Texts{"SET app.x = 'y'"});
}

TEST(SessionState, BackToTheLoginRoleBeforeParametersAreSet) {
  Follow follow({});
  follow.exchange("SET SESSION AUTHORIZATION u");
  follow.exchange("SET ROLE r");
  const StateVersion then = follow.state.version();
  follow.exchange("SET work_mem = '5MB'");
  const Replay replay = follow.state.difference(then);
  EXPECT_TRUE(replay.reset_identity);
  EXPECT_EQ(replay.statements, (Texts{"SET work_mem = '5MB'", "SET SESSION AUTHORIZATION u", "SET ROLE r"}));
}

TEST(SessionState, DiscardAllIsRunWhereThereWasState) {
  Follow follow(kStartup);
  follow.exchange("SET app.x = 'y'");
  const StateVersion then = follow.state.version();
  follow.exchange("DISCARD ALL");
  const Replay replay = follow.state.difference(then);
  EXPECT_TRUE(replay.discard_all);
  EXPECT_EQ(replay.parameters, kStartup);
  EXPECT_TRUE(replay.statements.empty());
  EXPECT_FALSE(follow.state.difference(0).discard_all) << "a fresh backend has nothing to discard";
}

TEST(SessionState, ARefusedStatementChangesNothing) {
  Follow follow({});
  const StateVersion then = follow.state.version();
  follow.exchange("SELECT 1!");
  EXPECT_EQ(follow.state.version(), then);
}

TEST(SessionState, VersionsOnlyGrow) {
  SessionState state;
  StateVersion last = state.version();
  EXPECT_GT(last, 0U);
  for (const char* text : {"SET work_mem = '5MB'", "BEGIN", "SET ROLE r", "SAVEPOINT s", "RESET ALL", "ROLLBACK TO s", "ROLLBACK", "DISCARD ALL"}) {
    for (const Statement& statement : parser::classify(text).statements) state.on_completed(statement, statement.kind == StatementKind::Discard ? "DISCARD ALL" : "ROLLBACK");
    EXPECT_GE(state.version(), last) << text;
    last = state.version();
  }
}

// ------------------------------------------------------------------------------------------------ startup values owed

TEST(SessionState, StartupValuesAreOwedAfterAReset) {
  struct Owed {
    const char* text;
    bool owed;
  };
  for (const Owed& row : {Owed{"SET work_mem = '5MB'", false}, Owed{"RESET work_mem", true}, Owed{"SET work_mem TO DEFAULT", true}, Owed{"RESET app.x", false},
                          Owed{"RESET ALL", true}, Owed{"DISCARD ALL", true}, Owed{"SET ROLE r", false}, Owed{"RESET ROLE", false}, Owed{"SELECT 1", false},
                          Owed{"SET LOCAL work_mem TO DEFAULT", false}}) {
    SessionState state;
    state.set_startup_parameters({{"work_mem", "1MB"}});
    for (const Statement& statement : parser::classify(row.text).statements) state.on_completed(statement, "SET");
    EXPECT_EQ(state.owes_startup(), row.owed) << row.text;
    SessionState none;
    for (const Statement& statement : parser::classify(row.text).statements) none.on_completed(statement, "SET");
    EXPECT_FALSE(none.owes_startup()) << "without any: " << row.text;
  }
}

TEST(SessionState, RestoredStartupValuesAreNotOwedAnyMore) {
  SessionState state;
  state.set_startup_parameters(kStartup);
  const StateVersion then = state.version();
  for (const Statement& statement : parser::classify("RESET ALL").statements) state.on_completed(statement, "RESET");
  state.startup_restored();
  EXPECT_FALSE(state.owes_startup());
  EXPECT_TRUE(state.caught_up(state.on_ready('I', false)));
  EXPECT_EQ(state.difference(then).parameters, kStartup);
}

// Where they could not be set again, the backend counts as one that lacks them.
TEST(SessionState, WhatIsOwedIsReplayedAtTheNextUse) {
  SessionState state;
  state.set_startup_parameters(kStartup);
  for (const Statement& statement : parser::classify("RESET ALL").statements) state.on_completed(statement, "RESET");
  const StateVersion reached = state.on_ready('I', false);
  EXPECT_FALSE(state.owes_startup());
  EXPECT_FALSE(state.caught_up(reached));
  EXPECT_EQ(state.difference(reached).parameters, kStartup);
  EXPECT_TRUE(state.difference(reached).statements.empty());
}

TEST(SessionState, ATextThatCouldNotBeLookedAt) {
  for (const char* tag : {"RESET", "SET"}) {
    SessionState state;
    state.set_startup_parameters(kStartup);
    state.on_completed(Statement{}, tag);
    EXPECT_TRUE(state.owes_startup()) << tag;
  }
  SessionState state;
  state.set_startup_parameters(kStartup);
  state.on_completed(Statement{}, "SELECT 1");
  EXPECT_FALSE(state.owes_startup());
}

// -------------------------------------------------------------------------------------------------------------- values

TEST(SessionState, Literals) {
  struct Known {
    Texts exchanges;
    const char* value;  // null: not known
  };
  for (const Known& row : {Known{{}, "1MB"}, Known{{"SET work_mem = '5MB'"}, "5MB"}, Known{{"SET work_mem = 64"}, "64"},
                           Known{{"SET work_mem = '5MB'", "RESET work_mem"}, "1MB"}, Known{{"SET work_mem = '5MB'", "RESET ALL"}, "1MB"},
                           Known{{"BEGIN", "SET work_mem = '5MB'", "ROLLBACK"}, "1MB"}, Known{{"BEGIN", "SET work_mem = '5MB'"}, "5MB"}}) {
    const SessionState state = after(row.exchanges, kStartup);
    const auto value = state.literal("work_mem");
    ASSERT_TRUE(value.has_value()) << row.value;
    EXPECT_EQ(*value, row.value);
  }
  EXPECT_EQ(after({"SET search_path = b, c"}, kStartup).literal("search_path"), "b, c");
  EXPECT_FALSE(after({"SET search_path = b, \"C\""}, kStartup).literal("search_path").has_value());
  EXPECT_FALSE(after({"SET DateStyle = ISO, MDY"}).literal("datestyle").has_value());
  EXPECT_FALSE(after({}).literal("work_mem").has_value());
  EXPECT_FALSE(after({"SET work_mem = '5MB'", "RESET work_mem"}).literal("work_mem").has_value());
}

TEST(SessionState, KnownParameters) {
  EXPECT_EQ(after({"SET app.x = 'y'"}, {{"work_mem", "1MB"}}).known_parameters(), (Texts{"app.x", "work_mem"}));
  EXPECT_TRUE(after({"SET app.x = 'y'", "RESET app.x"}).known_parameters().empty());
}

// ------------------------------------------------------------------------------------------------ the block, elsewhere

struct Block {
  const char* what;
  Texts exchanges;
  Texts texts;
  bool repeatable;
};

TEST(SessionState, TextsThatRebuildABlock) {
  for (const Block& row : {
           Block{"no block", {"SET work_mem = '5MB'"}, {}, true},
           Block{"an empty one", {"BEGIN"}, {"BEGIN"}, true},
           Block{"modes", {"START TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY, DEFERRABLE"}, {"BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY DEFERRABLE"}, true},
           Block{"more modes",
                 {"BEGIN TRANSACTION ISOLATION LEVEL SERIALIZABLE READ WRITE NOT DEFERRABLE"},
                 {"BEGIN ISOLATION LEVEL SERIALIZABLE READ WRITE NOT DEFERRABLE"},
                 true},
           Block{"read committed", {"BEGIN ISOLATION LEVEL READ COMMITTED READ ONLY"}, {"BEGIN ISOLATION LEVEL READ COMMITTED READ ONLY"}, true},
           Block{"SETs of both scopes", {"BEGIN", "SET work_mem = '5MB'", "SET LOCAL app.x = 'y'"}, {"BEGIN", "SET work_mem = '5MB'", "SET LOCAL app.x = 'y'"}, true},
           Block{"reads leave nothing", {"BEGIN", "SELECT 1", "SHOW work_mem"}, {"BEGIN"}, true},
           Block{"savepoints", {"BEGIN", "SAVEPOINT \"a\"\"b\"", "SET ROLE r"}, {"BEGIN", "SAVEPOINT \"a\"\"b\"", "SET ROLE r"}, true},
           Block{"RELEASE", {"BEGIN", "SAVEPOINT s", "RELEASE s"}, {"BEGIN", "SAVEPOINT \"s\"", "RELEASE SAVEPOINT \"s\""}, true},
           Block{"ROLLBACK TO drops what came after", {"BEGIN", "SAVEPOINT s", "SET ROLE r", "SAVEPOINT t", "ROLLBACK TO s"}, {"BEGIN", "SAVEPOINT \"s\""}, true},
           Block{"a second BEGIN", {"BEGIN READ ONLY", "BEGIN READ WRITE"}, {"BEGIN READ ONLY"}, true},
           Block{"COMMIT", {"BEGIN", "SET ROLE r", "COMMIT"}, {}, true},
           Block{"ROLLBACK", {"BEGIN", "SET ROLE r", "ROLLBACK"}, {}, true},
           Block{"a new block", {"BEGIN", "SET ROLE r", "COMMIT", "BEGIN"}, {"BEGIN"}, true},
           Block{"SET TRANSACTION", {"BEGIN", "SET TRANSACTION READ ONLY"}, {"BEGIN", "SET TRANSACTION READ ONLY"}, true},
           Block{"a mode as a setting", {"BEGIN", "SET transaction_read_only = on"}, {"BEGIN", "SET TRANSACTION READ ONLY"}, true},
           Block{"a snapshot", {"BEGIN", "SET TRANSACTION SNAPSHOT '1-1'"}, {"BEGIN", "SET TRANSACTION"}, false},
           Block{"its mark ends with the block", {"BEGIN", "SET TRANSACTION SNAPSHOT '1-1'", "COMMIT", "BEGIN"}, {"BEGIN"}, true},
           // What was inherited by a chain is kept by a block that fails, unlike what BEGIN said.
           Block{"a chained block", {"BEGIN READ ONLY", "COMMIT AND CHAIN"}, {"BEGIN READ ONLY", "COMMIT AND CHAIN"}, true},
           Block{"chained with modes that came later", {"BEGIN", "SET TRANSACTION READ ONLY", "ROLLBACK AND CHAIN"}, {"BEGIN READ ONLY", "COMMIT AND CHAIN"}, true},
           Block{"of READ UNCOMMITTED", {"BEGIN ISOLATION LEVEL READ UNCOMMITTED"}, {"BEGIN ISOLATION LEVEL READ UNCOMMITTED"}, true},
           Block{"chained with modes that were undone", {"BEGIN", "SAVEPOINT s", "SET TRANSACTION READ ONLY", "ROLLBACK TO s", "COMMIT AND CHAIN"}, {"BEGIN"}, true},
       }) {
    const SessionState state = after(row.exchanges);
    EXPECT_EQ(state.block(), row.texts) << row.what;
    EXPECT_TRUE(row.texts.empty() || state.block_is_repeatable() == row.repeatable) << row.what;
  }
}

// ----------------------------------------------------------------------------------- startup values that a server forgets

TEST(SessionState, WhatIsOwedAfterReset) {
  const SessionState::Parameters startup = {{"timezone", "Asia/Tokyo"}, {"work_mem", "5MB"}};
  const auto statement = [](const char* text) { return parser::classify(text).statements.front(); };
  struct Owed {
    const char* text;
    bool takes_back;
    bool owes;  // outside of a block
  };
  for (const Owed& row : {Owed{"RESET timezone", true, true}, Owed{"RESET ALL", true, true}, Owed{"DISCARD ALL", true, true}, Owed{"RESET datestyle", false, false},
                         Owed{"SET timezone TO DEFAULT", true, true}, Owed{"SET LOCAL timezone TO DEFAULT", true, false}, Owed{"SET timezone = 'UTC'", false, false},
                         Owed{"SELECT set_config('timezone', NULL, false)", true, true}, Owed{"SELECT 1", false, false}, Owed{"DISCARD PLANS", false, false}}) {
    SessionState state;
    EXPECT_FALSE(state.takes_back_startup(statement(row.text))) << row.text;  // no startup values
    state.set_startup_parameters(startup);
    EXPECT_EQ(state.takes_back_startup(statement(row.text)), row.takes_back) << row.text;
    state.on_completed(statement(row.text), "");
    EXPECT_EQ(state.owes_startup(), row.owes) << row.text;
    if (row.owes) {
      EXPECT_EQ(state.owed_startup(), startup) << row.text;
    }
  }
  // Until the end of its block; a failed one has undone it.
  for (const char status : {'T', 'E', 'I'}) {
    Follow follow(startup);
    follow.exchange("BEGIN");
    follow.state.on_completed(statement("SET LOCAL timezone TO DEFAULT"), "SET");
    EXPECT_EQ(follow.state.owed_local(), (SessionState::Parameters{{"timezone", "Asia/Tokyo"}}));
    EXPECT_TRUE(follow.state.owed_startup().empty());
    follow.state.on_ready(status, status == 'E');
    EXPECT_EQ(follow.state.owes_startup(), status == 'T');
    follow.state.startup_restored();
    EXPECT_FALSE(follow.state.owes_startup());
  }
}

TEST(SessionState, PreparedTransactions) {
  Follow follow({});
  follow.exchange("BEGIN");
  follow.exchange("SET work_mem = '5MB'");
  Statement prepare = parser::classify("PREPARE TRANSACTION 'x'").statements.front();
  SessionState kept = follow.state;
  kept.on_completed(prepare, "PREPARE TRANSACTION");
  kept.on_ready('I', false);
  EXPECT_EQ(kept.literal("work_mem"), "5MB");
  EXPECT_TRUE(kept.block().empty());
  SessionState undone = follow.state;
  undone.on_completed(prepare, "ROLLBACK");
  undone.on_ready('I', false);
  EXPECT_FALSE(undone.literal("work_mem").has_value());
  // Another transaction's end is not this session's.
  SessionState other = after({"SET work_mem = '5MB'"});
  const StateVersion then = other.version();
  other.on_completed(parser::classify("ROLLBACK PREPARED 'x'").statements.front(), "ROLLBACK PREPARED");
  EXPECT_EQ(other.version(), then);
}

}  // namespace
}  // namespace weir::child
