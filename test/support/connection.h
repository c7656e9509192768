// libpq connections as the tests use them: RAII, answers as values.
#pragma once

#include <libpq-fe.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace weir::test {

using Row = std::vector<std::optional<std::string>>;

// One result of a statement.
struct Answer {
  ExecStatusType status = PGRES_FATAL_ERROR;
  std::vector<std::string> columns;
  std::vector<Row> rows;
  std::string tag;      // command tag, "INSERT 0 1"
  std::string sqlstate; // of an error
  std::string message;
  std::string detail;
  std::string hint;

  bool ok() const { return status != PGRES_FATAL_ERROR && status != PGRES_BAD_RESPONSE; }
  // First column of the first row; "" if there is none.
  std::string value() const;
  // Everything on one line, for comparisons.
  std::string text() const;
};
Answer to_answer(const PGresult* result);

class Connection {
public:
  // CONNINFO as libpq takes it. The connection may have failed: ask ok().
  explicit Connection(const std::string& conninfo);

  bool ok() const { return PQstatus(raw()) == CONNECTION_OK; }
  std::string error() const { return PQerrorMessage(raw()); }
  PGconn* raw() const { return connection_.get(); }
  int socket() const { return PQsocket(raw()); }
  char transaction() const; // 'I' idle, 'T' in a block, 'E' failed block, 'A' active, '?' unknown

  // Simple protocol; the last result (all of them with exec_all).
  Answer exec(const std::string& sql);
  std::vector<Answer> exec_all(const std::string& sql);
  // Extended protocol, unnamed statement, text parameters.
  Answer exec_params(const std::string& sql, const Row& parameters);
  Answer prepare(const std::string& name, const std::string& sql);
  Answer exec_prepared(const std::string& name, const Row& parameters);
  // First value of a statement that must succeed; a failure of the test otherwise.
  std::string value(const std::string& sql);
  // A statement that must succeed.
  void must(const std::string& sql);

  std::string parameter(const std::string& name) const;
  const std::vector<std::string>& notices() const { return notices_; }

private:
  struct Close {
    void operator()(PGconn* connection) const { PQfinish(connection); }
  };
  std::unique_ptr<PGconn, Close> connection_;
  std::vector<std::string> notices_;
};

struct ClearResult {
  void operator()(PGresult* result) const { PQclear(result); }
};
using ResultPtr = std::unique_ptr<PGresult, ClearResult>;

} // namespace weir::test
