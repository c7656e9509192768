// What is said to a server and what comes back, as values that can be compared.
#pragma once

#include <libpq-fe.h>

#include <chrono>
#include <string>
#include <vector>

#include "test/support/connection.h"

namespace weir::compare {

// How a step travels. Pipeline: each statement named, all behind one Sync.
enum class Style { Simple, Unnamed, Named, Pipeline };
const char* to_text(Style style);

struct Statement {
  std::string sql;
  test::Row parameters; // of $1, $2, ...: none in the simple protocol
};

// One exchange: everything up to ReadyForQuery. More than one statement only with Style::Pipeline.
struct Step {
  Style style = Style::Simple;
  std::vector<Statement> statements;
  bool shape_only =
      false; // values differ by nature in each call: columns and SQLSTATE are compared alone
  std::string text() const;
};

struct Heard {
  std::vector<test::Answer> answers;
  std::vector<std::string> notices;       // SQLSTATE and text
  std::vector<std::string> notifications; // channel and payload
  std::string parameters;                 // all ParameterStatus values
  char state = '?';                       // as Connection::transaction()
  bool stuck = false; // no ReadyForQuery in time: the session is of no use any more
  bool lost = false;  // the connection ended
  std::string text() const;
};

// A session that can say steps.
class Speaker {
public:
  explicit Speaker(const std::string& conninfo);
  bool ok() const { return connection_.ok(); }
  std::string error() const { return connection_.error(); }
  test::Connection& connection() { return connection_; }

  Heard say(const Step& step, std::chrono::seconds patience = std::chrono::seconds(20));

private:
  bool send(const Step& step);
  bool send_named(const Statement& statement);
  PGresult* next(std::chrono::steady_clock::time_point deadline, Heard& heard);
  bool collect(Heard& heard, std::chrono::steady_clock::time_point deadline, int statements);
  bool keep(PGresult* result, Heard& heard, std::chrono::steady_clock::time_point deadline);
  void copy_out(Heard& heard, std::chrono::steady_clock::time_point deadline);
  void finish(Heard& heard);

  test::Connection connection_;
  std::vector<std::string> notices_;
  int names_ = 0;
};

// What differs between the two, on one line; "" if nothing does. Rows are compared as a multiset,
// since nothing but ORDER BY promises an order.
std::string difference(const Heard& one, const Heard& other, bool shape_only);

} // namespace weir::compare
