#include "test/support/connection.h"

#include <gtest/gtest.h>

namespace weir::test {
namespace {

std::string field(const PGresult* result, int code) {
  const char* text = PQresultErrorField(result, code);
  return text != nullptr ? text : "";
}

std::vector<const char*> pointers(const Row& parameters) {
  std::vector<const char*> result;
  for (const auto& each : parameters)
    result.push_back(each ? each->c_str() : nullptr);
  return result;
}

} // namespace

Answer to_answer(const PGresult* result) {
  Answer answer;
  if (result == nullptr)
    return answer;
  answer.status = PQresultStatus(result);
  answer.tag = PQcmdStatus(const_cast<PGresult*>(result));
  answer.sqlstate = field(result, PG_DIAG_SQLSTATE);
  answer.message = field(result, PG_DIAG_MESSAGE_PRIMARY);
  answer.detail = field(result, PG_DIAG_MESSAGE_DETAIL);
  answer.hint = field(result, PG_DIAG_MESSAGE_HINT);
  if (!answer.ok() && answer.message.empty())
    answer.message = PQresultErrorMessage(result);
  for (int column = 0; column < PQnfields(result); ++column) {
    const char* name = PQfname(result, column);
    answer.columns.emplace_back(name != nullptr ? name : ""); // the columns of a COPY have none
  }
  for (int row = 0; row < PQntuples(result); ++row) {
    Row values;
    for (int column = 0; column < PQnfields(result); ++column) {
      if (PQgetisnull(result, row, column) != 0) {
        values.emplace_back(std::nullopt);
      } else {
        values.emplace_back(PQgetvalue(result, row, column));
      }
    }
    answer.rows.push_back(std::move(values));
  }
  return answer;
}

std::string Answer::value() const {
  if (rows.empty() || rows[0].empty())
    return "";
  return rows[0][0].value_or("");
}

std::string Answer::text() const {
  std::string out = std::string(PQresStatus(status)) + " " + tag;
  if (!sqlstate.empty() || !message.empty())
    out += " " + sqlstate + " " + message;
  for (const Row& row : rows) {
    out += " (";
    for (const auto& each : row)
      out += each.value_or("NULL") + ",";
    out += ")";
  }
  return out;
}

Connection::Connection(const std::string& conninfo) : connection_(PQconnectdb(conninfo.c_str())) {
  PQsetNoticeReceiver(
      raw(),
      [](void* self, const PGresult* notice) {
        static_cast<std::vector<std::string>*>(self)->push_back(
            field(notice, PG_DIAG_MESSAGE_PRIMARY));
      },
      &notices_);
}

char Connection::transaction() const {
  switch (PQtransactionStatus(raw())) {
  case PQTRANS_IDLE:
    return 'I';
  case PQTRANS_INTRANS:
    return 'T';
  case PQTRANS_INERROR:
    return 'E';
  case PQTRANS_ACTIVE:
    return 'A';
  case PQTRANS_UNKNOWN:
    break;
  }
  return '?';
}

namespace {
Answer answer_or_error(PGconn* connection, PGresult* raw) {
  const ResultPtr result(raw);
  Answer answer = to_answer(result.get());
  if (!answer.ok() && answer.message.empty())
    answer.message = PQerrorMessage(connection);
  return answer;
}
} // namespace

Answer Connection::exec(const std::string& sql) {
  return answer_or_error(raw(), PQexec(raw(), sql.c_str()));
}

std::vector<Answer> Connection::exec_all(const std::string& sql) {
  std::vector<Answer> answers;
  if (PQsendQuery(raw(), sql.c_str()) == 0)
    return answers;
  while (PGresult* result = PQgetResult(raw()))
    answers.push_back(answer_or_error(raw(), result));
  return answers;
}

Answer Connection::exec_params(const std::string& sql, const Row& parameters) {
  const auto values = pointers(parameters);
  return answer_or_error(raw(), PQexecParams(raw(), sql.c_str(), static_cast<int>(values.size()),
                                             nullptr, values.data(), nullptr, nullptr, 0));
}

Answer Connection::prepare(const std::string& name, const std::string& sql) {
  return answer_or_error(raw(), PQprepare(raw(), name.c_str(), sql.c_str(), 0, nullptr));
}

Answer Connection::exec_prepared(const std::string& name, const Row& parameters) {
  const auto values = pointers(parameters);
  return answer_or_error(raw(), PQexecPrepared(raw(), name.c_str(), static_cast<int>(values.size()),
                                               values.data(), nullptr, nullptr, 0));
}

std::string Connection::value(const std::string& sql) {
  const Answer answer = exec(sql);
  EXPECT_TRUE(answer.ok()) << sql << ": " << answer.sqlstate << " " << answer.message;
  return answer.value();
}

void Connection::must(const std::string& sql) {
  for (const Answer& answer : exec_all(sql)) {
    EXPECT_TRUE(answer.ok()) << sql << ": " << answer.sqlstate << " " << answer.message;
  }
}

std::string Connection::parameter(const std::string& name) const {
  const char* value = PQparameterStatus(raw(), name.c_str());
  return value != nullptr ? value : "";
}

} // namespace weir::test
