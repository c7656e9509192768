#include "test/compare/say.h"

#include <poll.h>

#include <algorithm>

namespace weir::compare {
namespace {

using Clock = std::chrono::steady_clock;
using test::Answer;
using test::Row;

constexpr const char* kParameters[] = {"application_name",
                                       "client_encoding",
                                       "DateStyle",
                                       "default_transaction_read_only",
                                       "in_hot_standby",
                                       "IntervalStyle",
                                       "integer_datetimes",
                                       "is_superuser",
                                       "server_encoding",
                                       "server_version",
                                       "session_authorization",
                                       "standard_conforming_strings",
                                       "TimeZone"};

// What COPY FROM STDIN is fed with, whatever the table: most often an error, the same everywhere.
constexpr std::string_view kCopyData = "901\tcopied\n902\t\\N\n";

std::string field(const PGresult* result, int code) {
  const char* text = PQresultErrorField(result, code);
  return text != nullptr ? text : "";
}

std::string shorten(const std::string& text) {
  constexpr std::size_t kShown = 300;
  return text.size() <= kShown ? text : text.substr(0, kShown) + "...";
}

std::vector<const char*> pointers(const Row& parameters) {
  std::vector<const char*> result;
  for (const auto& each : parameters)
    result.push_back(each ? each->c_str() : nullptr);
  return result;
}

// The types that initdb makes have the same OID everywhere; others need not.
constexpr Oid kFirstOfUsers = 16384;

void add_types(const PGresult* result, Answer& answer) {
  for (int column = 0; column < PQnfields(result); ++column) {
    const Oid type = PQftype(result, column);
    std::string& name = answer.columns.at(static_cast<std::size_t>(column));
    name += type < kFirstOfUsers ? ":" + std::to_string(type) : ":user";
    name += "/" + std::to_string(PQfmod(result, column));
  }
}

std::string rows_text(const Answer& answer) {
  Answer rows;
  rows.rows = answer.rows;
  return rows.text();
}

std::string difference(const Answer& one, const Answer& other, bool shape_only) {
  if (one.status != other.status || one.sqlstate != other.sqlstate)
    return "answers differ";
  if (!shape_only &&
      (one.message != other.message || one.detail != other.detail || one.hint != other.hint))
    return "texts of errors differ";
  if (one.columns != other.columns)
    return "columns differ";
  if (shape_only)
    return "";
  if (one.tag != other.tag)
    return "tags differ";
  if (one.rows.size() != other.rows.size())
    return "numbers of rows differ";
  auto first = one.rows;
  auto second = other.rows;
  std::sort(first.begin(), first.end());
  std::sort(second.begin(), second.end());
  return first == second ? "" : "rows differ";
}

} // namespace

const char* to_text(Style style) {
  switch (style) {
  case Style::Simple:
    return "simple";
  case Style::Unnamed:
    return "unnamed";
  case Style::Named:
    return "named";
  case Style::Pipeline:
    break;
  }
  return "pipeline";
}

std::string Step::text() const {
  std::string out = std::string("[") + to_text(style) + "]";
  for (const Statement& each : statements) {
    out += " " + each.sql + " ;";
    for (const auto& value : each.parameters)
      out += " $" + (value ? *value : "NULL");
  }
  return out;
}

std::string Heard::text() const {
  std::string out = std::string(1, state) + (stuck ? " STUCK" : "") + (lost ? " LOST" : "");
  for (const Answer& each : answers) {
    out += " | " + shorten(each.text()) + " [";
    for (const std::string& column : each.columns)
      out += column + ",";
    out += "]";
    if (!each.detail.empty() || !each.hint.empty())
      out += " D:" + each.detail + " H:" + each.hint;
  }
  for (const std::string& each : notices)
    out += " | notice " + each;
  for (const std::string& each : notifications)
    out += " | notify " + each;
  return out + " | " + parameters;
}

Speaker::Speaker(const std::string& conninfo) : connection_(conninfo) {
  PQsetNoticeReceiver(
      connection_.raw(),
      [](void* self, const PGresult* notice) {
        static_cast<std::vector<std::string>*>(self)->push_back(
            field(notice, PG_DIAG_SQLSTATE) + " " + field(notice, PG_DIAG_MESSAGE_PRIMARY));
      },
      &notices_);
}

bool Speaker::send_named(const Statement& statement) {
  const std::string name = "c" + std::to_string(++names_);
  const auto values = pointers(statement.parameters);
  return PQsendPrepare(connection_.raw(), name.c_str(), statement.sql.c_str(), 0, nullptr) != 0 &&
         PQsendQueryPrepared(connection_.raw(), name.c_str(), static_cast<int>(values.size()),
                             values.data(), nullptr, nullptr, 0) != 0;
}

bool Speaker::send(const Step& step) {
  PGconn* raw = connection_.raw();
  const Statement& first = step.statements.front();
  const auto values = pointers(first.parameters);
  switch (step.style) {
  case Style::Simple:
    return PQsendQuery(raw, first.sql.c_str()) != 0;
  case Style::Unnamed:
    return PQsendQueryParams(raw, first.sql.c_str(), static_cast<int>(values.size()), nullptr,
                             values.data(), nullptr, nullptr, 0) != 0;
  case Style::Named:
    // In two exchanges, as drivers do that prepare on their own: libpq sends a Sync behind each.
    return PQsendPrepare(raw, ("c" + std::to_string(++names_)).c_str(), first.sql.c_str(), 0,
                         nullptr) != 0;
  case Style::Pipeline:
    break;
  }
  if (PQenterPipelineMode(raw) == 0)
    return false;
  for (const Statement& each : step.statements) {
    if (!send_named(each))
      return false;
  }
  return PQpipelineSync(raw) != 0;
}

// Waits for a whole result; nullptr at the end of the exchange, or with heard.stuck or lost set.
PGresult* Speaker::next(Clock::time_point deadline, Heard& heard) {
  PGconn* raw = connection_.raw();
  while (PQisBusy(raw) != 0) {
    PQflush(raw);
    const auto left =
        std::chrono::duration_cast<std::chrono::milliseconds>(deadline - Clock::now()).count();
    pollfd waited{PQsocket(raw), POLLIN, 0};
    if (left <= 0 || ::poll(&waited, 1, static_cast<int>(left)) <= 0) {
      heard.stuck = true;
      return nullptr;
    }
    if (PQconsumeInput(raw) == 0 && PQstatus(raw) != CONNECTION_OK) {
      heard.lost = true;
      break; // what was read before the end is still to be had
    }
  }
  return PQgetResult(raw);
}

void Speaker::copy_out(Heard& heard, Clock::time_point deadline) {
  PGconn* raw = connection_.raw();
  for (;;) {
    char* buffer = nullptr;
    const int bytes = PQgetCopyData(raw, &buffer, 1);
    if (bytes < 0)
      return;
    if (bytes > 0) {
      heard.answers.back().rows.push_back({std::string(buffer, static_cast<std::size_t>(bytes))});
      PQfreemem(buffer);
      continue;
    }
    const auto left =
        std::chrono::duration_cast<std::chrono::milliseconds>(deadline - Clock::now()).count();
    pollfd waited{PQsocket(raw), POLLIN, 0};
    if (left <= 0 || ::poll(&waited, 1, static_cast<int>(left)) <= 0) {
      heard.stuck = true;
      return;
    }
    if (PQconsumeInput(raw) == 0)
      return;
  }
}

bool Speaker::keep(PGresult* raw_result, Heard& heard, Clock::time_point deadline) {
  const test::ResultPtr result(raw_result);
  const ExecStatusType status = PQresultStatus(result.get());
  heard.answers.push_back(test::to_answer(result.get()));
  add_types(result.get(), heard.answers.back());
  if (status == PGRES_COPY_IN) {
    PQputCopyData(connection_.raw(), kCopyData.data(), static_cast<int>(kCopyData.size()));
    PQputCopyEnd(connection_.raw(), nullptr);
  } else if (status == PGRES_COPY_OUT) {
    copy_out(heard, deadline);
  }
  return !heard.stuck;
}

bool Speaker::collect(Heard& heard, Clock::time_point deadline, int statements) {
  PGconn* raw = connection_.raw();
  if (PQpipelineStatus(raw) == PQ_PIPELINE_OFF) {
    while (PGresult* result = next(deadline, heard)) {
      if (!keep(result, heard, deadline))
        return false;
    }
    return !heard.stuck && !heard.lost;
  }
  // A nullptr ends each command's results; the sync's result ends all.
  for (int ends = 0; ends <= 2 * statements + 2;) {
    PGresult* result = next(deadline, heard);
    if (heard.stuck || (heard.lost && result == nullptr))
      return false;
    if (result == nullptr) {
      ++ends;
    } else if (PQresultStatus(result) == PGRES_PIPELINE_SYNC) {
      PQclear(result);
      PQexitPipelineMode(raw);
      return true;
    } else if (!keep(result, heard, deadline)) {
      return false;
    }
  }
  heard.lost = true; // more ends than commands: the answer lacks its ReadyForQuery
  return false;
}

void Speaker::finish(Heard& heard) {
  heard.notices = std::move(notices_);
  notices_.clear();
  while (PGnotify* notify = PQnotifies(connection_.raw())) {
    heard.notifications.push_back(std::string(notify->relname) + " " + notify->extra);
    PQfreemem(notify);
  }
  heard.state = connection_.transaction();
  heard.lost = heard.lost || PQstatus(connection_.raw()) != CONNECTION_OK;
  for (const char* name : kParameters)
    heard.parameters += std::string(name) + "=" + connection_.parameter(name) + " ";
}

Heard Speaker::say(const Step& step, std::chrono::seconds patience) {
  Heard heard;
  const auto deadline = Clock::now() + patience;
  if (!send(step)) {
    heard.lost = true;
    finish(heard);
    return heard;
  }
  bool alive = collect(heard, deadline, static_cast<int>(step.statements.size()));
  if (alive && step.style == Style::Named && heard.answers.back().ok()) {
    const auto values = pointers(step.statements.front().parameters);
    const std::string name = "c" + std::to_string(names_);
    alive = PQsendQueryPrepared(connection_.raw(), name.c_str(), static_cast<int>(values.size()),
                                values.data(), nullptr, nullptr, 0) != 0 &&
            collect(heard, deadline, 1);
  }
  finish(heard);
  return heard;
}

std::string difference(const Heard& one, const Heard& other, bool shape_only) {
  if (one.stuck || one.lost)
    return one.stuck ? "stuck" : "connection lost";
  if (one.answers.size() != other.answers.size())
    return "numbers of answers differ";
  for (std::size_t i = 0; i < one.answers.size(); ++i) {
    const std::string found = difference(one.answers[i], other.answers[i], shape_only);
    if (!found.empty())
      return found + "\n      " + shorten(rows_text(one.answers[i])) + "\n      " +
             shorten(rows_text(other.answers[i]));
  }
  if (!shape_only && one.notices != other.notices)
    return "notices differ";
  if (one.notifications != other.notifications)
    return "notifications differ";
  if (one.state != other.state)
    return "transaction states differ";
  return one.parameters == other.parameters ? "" : "ParameterStatus differs";
}

} // namespace weir::compare
