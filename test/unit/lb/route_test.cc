// Runs test/tables/route.tsv, and properties that hold for every kind of statement and every state of a session.
#include "lb/route.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <exception>
#include <fstream>
#include <functional>
#include <map>
#include <optional>

#include "test/unit/lb/route_words.h"
#include "test/unit/lb/support.h"

namespace weir::lb {
namespace {

using parser::Hint;
using parser::Statement;
using parser::StatementKind;
using parser::TransactionModes;
using parser::Tristate;

const std::map<std::string, StatementKind> kKinds = {
    {"unknown", StatementKind::Unknown},
    {"empty", StatementKind::Empty},
    {"select", StatementKind::Select},
    {"copyq", StatementKind::CopyOut},
    {"copy", StatementKind::CopyOther},
    {"show", StatementKind::Show},
    {"set", StatementKind::Set},
    {"reset", StatementKind::Reset},
    {"settrans", StatementKind::SetTransaction},
    {"begin", StatementKind::Begin},
    {"commit", StatementKind::Commit},
    {"rollback", StatementKind::Rollback},
    {"savepoint", StatementKind::Savepoint},
    {"release", StatementKind::Release},
    {"rollbackto", StatementKind::RollbackTo},
    {"twophase", StatementKind::TwoPhase},
    {"insert", StatementKind::Insert},
    {"update", StatementKind::Update},
    {"delete", StatementKind::Delete},
    {"merge", StatementKind::Merge},
    {"prepare", StatementKind::Prepare},
    {"execute", StatementKind::Execute},
    {"deallocate", StatementKind::Deallocate},
    {"declare", StatementKind::DeclareCursor},
    {"fetch", StatementKind::Fetch},
    {"close", StatementKind::CloseCursor},
    {"listen", StatementKind::Listen},
    {"unlisten", StatementKind::Unlisten},
    {"notify", StatementKind::Notify},
    {"discard", StatementKind::Discard},
    {"lock", StatementKind::Lock},
    {"explain", StatementKind::Explain},
    {"call", StatementKind::Call},
    {"do", StatementKind::Do},
    {"load", StatementKind::Load},
    {"vacuum", StatementKind::Vacuum},
    {"ddl", StatementKind::Ddl},
    {"otherwrite", StatementKind::OtherWrite},
    {"poolshow", StatementKind::PoolShow},
};

std::optional<Reason> reason_named(const std::string& name) {
  for (int i = 0; i < 256; ++i) {
    const auto reason = static_cast<Reason>(i);
    if (reason_name(reason) == name) return reason;
  }
  return std::nullopt;
}

void add_set(Statement& statement, const std::string& parameter) {
  parser::SetChange change;
  change.parameter = parameter;
  if (parameter == "*") {
    change.parameter.clear();
    change.action = parser::SetAction::ResetAll;
  }
  statement.sets.push_back(change);
}

// A flag of a statement: a feature, a transaction mode, or the parameter of SET, RESET and SHOW.
void apply_flag(Statement& statement, const std::string& flag) {
  const std::map<std::string, std::function<void()>> flags = {
      {"locks", [&] { statement.row_locks = true; }},
      {"cte", [&] { statement.modifying_cte = true; }},
      {"into", [&] { statement.select_into = true; }},
      {"temp", [&] { statement.creates_temp = true; }},
      {"pg_temp", [&] { statement.mentions_temp = true; }},
      {"now", [&] { statement.now_like = true; }},
      {"opaque", [&] { statement.opaque_effects = true; }},
      {"writes", [&] { statement.written_relations.push_back({"", "t"}); }},
      {"set_config", [&] { add_set(statement, "work_mem"); }},
      {"ro", [&] { statement.transaction.read_only = Tristate::Yes; }},
      {"rw", [&] { statement.transaction.read_only = Tristate::No; }},
      {"rc", [&] { statement.transaction.isolation = TransactionModes::Isolation::ReadCommitted; }},
      {"rr", [&] { statement.transaction.isolation = TransactionModes::Isolation::RepeatableRead; }},
      {"ser", [&] { statement.transaction.isolation = TransactionModes::Isolation::Serializable; }},
      {"deferrable", [&] { statement.transaction.deferrable = Tristate::Yes; }},
      {"chain", [&] { statement.transaction.chain = true; }},
      {"of_select", [&] { statement.body = StatementKind::Select; }},
      {"of_insert", [&] { statement.body = StatementKind::Insert; }},
  };
  const auto found = flags.find(flag);
  if (found != flags.end()) {
    found->second();
  } else if (statement.kind == StatementKind::Set || statement.kind == StatementKind::Reset) {
    add_set(statement, flag);
  } else {
    statement.identifier = flag;
  }
}

// One text of the exchange with all that RouteItem points at.
struct Text {
  parser::StatementFacts facts;
  Resolved resolved{Verdict::Plain, Reason::PlainRead, {}, false, true, false, false, {}};
  bool primary_pattern = false;
  std::optional<parser::StatementFacts> executed;
  Resolved executed_resolved{Verdict::Plain, Reason::PlainRead, {}, false, true, false, false, {}};
  Reason not_executed = Reason::SqlPrepare;
  std::optional<Reason> kept_by_write{};
};

Statement parse_statement(const std::string& word) {
  const auto colon = word.find(':');
  const auto kind = kKinds.find(word.substr(0, colon));
  if (kind == kKinds.end()) throw std::runtime_error("no such kind of statement: " + word);
  Statement statement = statement_of(kind->second);
  if (colon != std::string::npos) {
    for (const std::string& flag : split(word.substr(colon + 1), ',')) apply_flag(statement, flag);
  }
  return statement;
}

void apply_marks(const std::string& marks, Resolved& resolved) {
  if (marks == "@?") {
    resolved.verdict = Verdict::Unknown;
    resolved.reason = Reason::CatalogPending;
  } else if (marks == "@time") {
    resolved.tells_time = true;
  } else if (marks.starts_with("@")) {
    resolved.verdict = Verdict::Doubt;
    resolved.reason = reason_named(marks.substr(1)).value();
  }
}

// What an EXECUTE runs: "=> !Reason" or "=> [prepare/]kind:flags@doubt".
void parse_executed(const std::string& source, Text& text) {
  if (source.starts_with("!")) {
    text.not_executed = reason_named(source.substr(1)).value();
    return;
  }
  const auto marker = source.find('@');
  std::string word = source.substr(0, marker);
  const bool by_sql = word.starts_with("prepare/");
  if (by_sql) word.erase(0, 8);
  Statement statement = parse_statement(word);
  if (by_sql) {
    statement.body = statement.kind;
    statement.kind = StatementKind::Prepare;
  }
  text.executed.emplace().statements.push_back(statement);
  apply_marks(marker == std::string::npos ? "" : source.substr(marker), text.executed_resolved);
}

Text parse_text(const std::string& source) {
  Text text;
  std::string rest = source;
  if (const auto arrow = rest.find("=> "); arrow != std::string::npos) {
    parse_executed(rest.substr(arrow + 3), text);
    rest.resize(arrow);
  }
  const auto marker = rest.find_first_of("@%");
  const std::string marks = marker == std::string::npos ? "" : rest.substr(marker);
  rest = rest.substr(0, marker);
  if (rest.starts_with("<")) {
    const std::string hint = rest.substr(1, rest.find('>') - 1);
    rest = rest.substr(rest.find('>') + 1);
    if (hint == "primary") text.facts.hint.kind = Hint::Kind::Primary;
    if (hint == "nolb") text.facts.hint.kind = Hint::Kind::NoLoadBalance;
    if (hint == "standby") text.facts.hint.kind = Hint::Kind::Standby;
    if (hint.starts_with("node=")) text.facts.hint = {Hint::Kind::Node, std::stoi(hint.substr(5))};
  }
  for (const std::string& word : split(rest, ';')) text.facts.statements.push_back(parse_statement(word));
  if (marks.starts_with("%")) text.primary_pattern = true;
  const std::string mark = split(marks + " ", ' ').front();
  if (mark == "@!") {
    text.kept_by_write = Reason::WrittenTable;
  } else {
    apply_marks(mark, text.resolved);
  }
  return text;
}

Target route_texts(const std::vector<Text>& texts, const SessionRouting& session, const Policy& policy) {
  std::vector<RouteItem> items;
  for (const Text& text : texts) {
    const bool executes = text.executed.has_value();
    items.push_back({&text.facts, &text.resolved, text.primary_pattern, executes ? &*text.executed : nullptr,
                     executes ? &text.executed_resolved : nullptr, text.not_executed, text.kept_by_write});
  }
  return route(items, session, policy);
}

struct Case {
  SessionRouting session;
  PolicySettings settings;
  std::vector<Text> texts;
};

Case parse_case(const std::string& session, const std::string& exchange) {
  Case result;
  for (const std::string& word : split(session, ' ')) apply_session_word(result.session, result.settings, word);
  if (exchange == "nothing") return result;
  for (const std::string& text : split(exchange, '|')) result.texts.push_back(parse_text(text));
  return result;
}

Target route_case(const Case& one) {
  return route_texts(one.texts, one.session, std::move(compile_policy(one.settings)).value());
}

TEST(RouteTable, EveryRow) {
  std::ifstream in(std::string(WEIR_SOURCE_DIR) + "/test/tables/route.tsv");
  ASSERT_TRUE(in.is_open());
  int rows = 0;
  int line_number = 0;
  for (std::string line; std::getline(in, line);) {
    ++line_number;
    if (line.empty() || line[0] == '#') continue;
    const auto first = line.find('\t');
    const auto second = line.find('\t', first + 1);
    ASSERT_NE(second, std::string::npos) << "line " << line_number;
    const std::string expected = line.substr(second + 1);
    try {
      const Case one = parse_case(line.substr(0, first), line.substr(first + 1, second - first - 1));
      EXPECT_EQ(target_text(route_case(one)), expected) << "line " << line_number << ": " << line;
    } catch (const std::exception& error) {
      ADD_FAILURE() << "line " << line_number << ": " << error.what();
    }
    ++rows;
  }
  EXPECT_GE(rows, 200);
}

Target route_one(const std::string& session, const std::string& exchange) {
  return route_case(parse_case(session, exchange));
}

bool is_read(StatementKind kind) {
  return kind == StatementKind::Empty || kind == StatementKind::Select || kind == StatementKind::CopyOut;
}

TEST(Route, NoKindButReadsLeavesThePrimaryOutsideABlock) {
  for (const auto& [word, kind] : kKinds) {
    const Target target = route_one("-", word);
    if (is_read(kind)) {
      EXPECT_EQ(target.scope, Scope::AnyReadable) << word;
    } else if (kind == StatementKind::PoolShow) {
      EXPECT_EQ(target.scope, Scope::Local) << word;
    } else {
      EXPECT_EQ(target.scope, Scope::Primary) << word;
    }
  }
}

TEST(Route, NoSecondStatementMakesAReadOfAWrite) {
  for (const auto& [first, first_kind] : kKinds) {
    for (const auto& [second, second_kind] : kKinds) {
      for (const char* joint : {";", "|"}) {
        const Target target = route_one("-", first + joint + second);
        const bool block = first_kind == StatementKind::Begin && is_read(second_kind) && second_kind != StatementKind::Empty;
        if (block || (is_read(first_kind) && is_read(second_kind))) {
          EXPECT_EQ(target.scope, Scope::AnyReadable) << first << joint << second;
        } else if (target.scope != Scope::Local) {
          EXPECT_EQ(target.scope, Scope::Primary) << first << joint << second;
        } else {
          EXPECT_EQ(first + second, "poolshowpoolshow");
        }
      }
    }
  }
}

TEST(Route, AnOpenBlockOnThePrimaryKeepsEverything) {
  for (const auto& [word, kind] : kKinds) {
    for (const char* session : {"T", "E"}) {
      if (kind == StatementKind::PoolShow && session[0] == 'T') continue;
      EXPECT_EQ(route_one(session, word).scope, Scope::SameNode) << word;
    }
  }
}

TEST(Route, AFailedBlockOnAStandbyKeepsEverySingleStatement) {
  for (const auto& [word, kind] : kKinds) EXPECT_EQ(route_one("E standby", word).scope, Scope::SameNode) << word;
}

TEST(Route, FewKindsStayInABlockOnAStandby) {
  const std::vector<std::string> stay = {"empty", "select", "copyq", "commit", "rollback", "savepoint", "release",
                                         "rollbackto"};
  for (const auto& [word, kind] : kKinds) {
    if (kind == StatementKind::PoolShow) continue;
    const Target target = route_one("T standby", word);
    if (std::find(stay.begin(), stay.end(), word) != stay.end()) {
      EXPECT_EQ(target.scope, Scope::SameNode) << word;
      EXPECT_EQ(target.reason, Reason::BlockOnStandby) << word;
    } else {
      EXPECT_EQ(target.scope, Scope::Primary) << word;
      EXPECT_EQ(target.reason, Reason::BlockMoves) << word;
    }
  }
}

TEST(Route, StickyReasonsKeepReadsOnThePrimaryInEveryForm) {
  for (const char* word : {"temp", "opaque", "cursor", "listening", "strings", "encoding", "replication", "writes",
                           "effects", "pinned", "off", "serializable", "readskept"}) {
    for (const char* exchange : {"select", "copyq", "explain:of_select", "execute:p => prepare/select", "show:server_version", "select; select", "select | select",
                                 "begin:ro,rc", "begin:ro,rc; select", "<standby> select", "<node=1> select"}) {
      EXPECT_EQ(route_one(word, exchange).scope, Scope::Primary) << word << ": " << exchange;
    }
  }
}

TEST(Route, OnlyBlocksThatAStandbyCouldGetAreHeld) {
  struct Row {
    const char* session;
    const char* statement;
    bool held;
  };
  for (const Row& row : {Row{"-", "begin", true}, Row{"-", "begin:ro", true}, Row{"-", "begin:rc", true}, Row{"-", "begin:deferrable", true},
                         Row{"-", "begin:rw", false}, Row{"-", "begin:rr", false}, Row{"-", "begin:ser", false}, Row{"-", "begin:opaque", false},
                         Row{"-", "select", false}, Row{"-", "commit", false}, Row{"off", "begin", false}, Row{"unusual", "begin", false},
                         Row{"unusual", "begin:rc", true}, Row{"serializable", "begin:rc", false}, Row{"temp", "begin", false}, Row{"opaque", "begin:ro", false},
                         Row{"cursor", "begin", false}, Row{"listening", "begin", false}, Row{"strings", "begin", false}, Row{"encoding", "begin", false},
                         Row{"replication", "begin", false}, Row{"writes", "begin", false}, Row{"T", "begin", false}, Row{"E", "begin", false},
                         Row{"kept", "begin", false}, Row{"kept", "begin:ro", true}, Row{"readskept", "begin:ro", false}}) {
    const Case one = parse_case(row.session, row.statement);
    const Policy policy = std::move(compile_policy(one.settings)).value();
    EXPECT_EQ(may_hold(one.texts[0].facts.statements[0], one.session, policy), row.held) << row.session << ": " << row.statement;
  }
}

TEST(Route, FeaturesOfAStatementKeepItOnThePrimary) {
  for (const char* flag : {"locks", "cte", "into", "temp", "pg_temp", "opaque", "writes", "set_config"}) {
    for (const char* kind : {"select:", "copyq:", "explain:of_select,", "execute:p => select:", "execute:p => prepare/select:"}) {
      const std::string word = std::string(kind) + flag;
      EXPECT_EQ(route_one("-", word).scope, Scope::Primary) << word;
      EXPECT_EQ(route_one("-", "select | " + word).scope, Scope::Primary) << word;
      EXPECT_EQ(route_one("-", "begin:ro | " + word).scope, Scope::Primary) << word;
      EXPECT_EQ(route_one("T standby", word).reason, Reason::BlockMoves) << word;
    }
  }
}

TEST(Route, WithoutResolvedNamesAReadIsPending) {
  const Text text = parse_text("select");
  const RouteItem item{&text.facts, nullptr, false};
  EXPECT_EQ(route({&item, 1}, SessionRouting{}, Policy()).reason, Reason::CatalogPending);
}

TEST(Route, FactsWithoutAStatementAreDoubt) {
  const parser::StatementFacts none;
  const Resolved plain{Verdict::Plain, Reason::PlainRead, {}, false, true, false, false, {}};
  const RouteItem item{&none, &plain, false};
  EXPECT_EQ(route({&item, 1}, SessionRouting{}, Policy()).scope, Scope::Primary);
  SessionRouting session;
  session.transaction_status = 'E';
  session.block_on_standby = true;
  EXPECT_EQ(route({&item, 1}, session, Policy()).scope, Scope::SameNode);
}

TEST(Reasons, EachHasANameAndAText) {
  int count = 0;
  for (int i = 0; i < 256; ++i) {
    const auto reason = static_cast<Reason>(i);
    if (reason_name(reason) == std::string("?")) break;
    EXPECT_GT(std::string(reason_text(reason)).size(), 5U) << reason_name(reason);
    ++count;
  }
  EXPECT_GE(count, 45);
  EXPECT_STREQ(reason_name(Reason::PlainRead), "PlainRead");
  EXPECT_STREQ(reason_text(static_cast<Reason>(255)), "?");
}

}  // namespace
}  // namespace weir::lb
