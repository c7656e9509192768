#include "child/console_client.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "child/client_session.h"
#include "child/worker.h"
#include "common/base/byte_reader.h"
#include "common/base/log.h"
#include "common/base/sqlstate.h"
#include "common/wire/encode.h"
#include "common/wire/frame.h"
#include "common/wire/frontend.h"

namespace weir::child {
namespace {

constexpr std::size_t kMaxMessage = 16U << 10U;
constexpr std::size_t kMaxNames = 1000;  // statements, and portals, of a client
constexpr std::size_t kNameShown = 63;

Error too_many(const char* what) {
  return make_error(sqlstate::kProgramLimitExceeded, fmt::format("too many {}", what), fmt::format("The console keeps at most {} of a client.", kMaxNames));
}

void put_notices(std::string& out, const LocalAnswer& answer) {
  for (const Error& notice : answer.notices) wire::encode_notice(out, notice);
}

}  // namespace

ConsoleClient::ConsoleClient(Worker& worker, ClientSession& session, ConsoleAccess access) : worker_(worker), session_(session), access_(access), runner_(worker) {}

std::size_t ConsoleClient::take(Bytes bytes) {
  if (busy_ || bytes.empty()) return 0;
  const wire::FrameHeader header = wire::peek_frame(wire::Direction::FromClient, bytes);
  if (header.status == wire::FrameStatus::NeedMore) return 0;
  if (header.status == wire::FrameStatus::Violation || !header.known) {
    session_.fail(make_fatal(sqlstate::kProtocolViolation, "invalid message on the console"));
    return bytes.size();
  }
  if (header.total() > kMaxMessage) {
    session_.fail(make_fatal(sqlstate::kProgramLimitExceeded, "the message is too long for the console", fmt::format("It may have {} bytes.", kMaxMessage)));
    return bytes.size();
  }
  if (header.total() > bytes.size()) return 0;
  taking_ = true;
  const bool good = take_message(header.tag, bytes.subspan(5, header.total() - 5));
  taking_ = false;
  if (!good) session_.fail(make_fatal(sqlstate::kProtocolViolation, fmt::format("invalid message of type \"{}\" on the console", header.tag)));
  return header.total();
}

// False: the message violates the protocol.
bool ConsoleClient::take_message(char tag, Bytes body) {
  switch (tag) {
    case 'Q': {
      const auto message = wire::parse_query(body);
      if (!message) return false;
      skip_ = false;
      statements_.erase("");
      portals_.clear();
      query(message->text);
      return true;
    }
    case 'X': session_.end("the client said goodbye"); return true;
    case 'S':
      skip_ = false;
      portals_.clear();
      ready();
      return true;
    case 'P': return skip_ || parse(body);
    case 'B': return skip_ || bind(body);
    case 'D': return skip_ || describe(body);
    case 'E': return skip_ || execute(body);
    case 'C': return skip_ || close(body);
    case 'F':
      extended_ = false;
      refuse(make_error(sqlstate::kFeatureNotSupported, "the console has no functions to call"));
      return true;
    case 'H':
    case 'd':
    case 'c':
    case 'f': return true;  // as a server outside of COPY
    default: return false;
  }
}

void ConsoleClient::ready() {
  std::string out;
  wire::encode_ready_for_query(out, 'I');
  session_.write(out);
}

// The error, and with a simple Query its end.
void ConsoleClient::refuse(Error error) {
  std::string out;
  wire::encode_error(out, error);
  session_.write(out);
  if (extended_) {
    skip_ = true;
  } else {
    ready();
  }
}

// Only a success is told to DONE.
void ConsoleClient::run(const admin::ConsoleCommand& command, std::function<void(LocalAnswer&)> done) {
  if (command.needs_admin() && access_ != ConsoleAccess::Admin) {
    return refuse(make_error(sqlstate::kInsufficientPrivilege, "admin access needed", {}, "admin_users names those who may change something."));
  }
  busy_ = true;
  runner_.run(command, [this, done = std::move(done)](Result<LocalAnswer> answer) {
    busy_ = false;
    if (answer) {
      done(*answer);
    } else {
      refuse(answer.error());
    }
    if (!taking_) session_.console_answered();
  });
}

void ConsoleClient::query(std::string_view text) {
  extended_ = false;
  session_.count_console_query();
  const auto command = admin::parse_console(text);
  if (!command) return refuse(command.error());
  const bool empty = command->kind == admin::ConsoleCommand::Kind::Empty;
  run(*command, [this, empty](LocalAnswer& answer) {
    std::string out;
    put_notices(out, answer);
    if (empty) {
      wire::encode_empty_query_response(out);
    } else {
      if (answer.tag.empty()) encode_columns(out, answer.rows.columns, {});
      encode_rows(out, answer.rows, 0, answer.rows.rows.size(), {});
      wire::encode_command_complete(out, answer.tag.empty() ? "SHOW" : answer.tag);
    }
    wire::encode_ready_for_query(out, 'I');
    session_.write(out);
  });
}

// ------------------------------------------------------------------------------------------------------------- extended

bool ConsoleClient::parse(Bytes body) {
  const auto message = wire::parse_parse(body);
  if (!message) return false;
  extended_ = true;
  auto command = admin::parse_console(message->query);
  if (!command) return refuse(command.error()), true;
  if (!message->name.empty() && statements_.contains(message->name)) {
    refuse(make_error(sqlstate::kDuplicatePreparedStatement, fmt::format("prepared statement \"{}\" already exists", message->name.substr(0, kNameShown))));
    return true;
  }
  if (statements_.size() >= kMaxNames) return refuse(too_many("prepared statements")), true;
  statements_.insert_or_assign(std::string(message->name), std::move(*command));
  std::string out;
  wire::encode_parse_complete(out);
  session_.write(out);
  return true;
}

bool ConsoleClient::bind(Bytes body) {
  const auto message = wire::parse_bind(body);
  if (!message) return false;
  extended_ = true;
  const auto statement = statements_.find(message->statement);
  if (statement == statements_.end()) {
    refuse(make_error(sqlstate::kInvalidSqlStatementName, fmt::format("prepared statement \"{}\" does not exist", message->statement.substr(0, kNameShown))));
    return true;
  }
  if (message->value_count != 0) {
    refuse(make_error(sqlstate::kProtocolViolation, fmt::format("bind message supplies {} parameters, but the console's commands have none", message->value_count)));
    return true;
  }
  Portal portal{statement->second, result_formats(body), std::nullopt, 0};
  const std::size_t columns = command_columns(portal.command).size();
  const bool known = std::all_of(portal.formats.begin(), portal.formats.end(), [](std::int16_t format) { return format == 0 || format == 1; });
  if (!known) return refuse(make_error(sqlstate::kInvalidParameterValue, "unsupported format code")), true;
  if (portal.formats.size() > 1 && portal.formats.size() != columns) {
    refuse(make_error(sqlstate::kProtocolViolation, fmt::format("bind message has {} result formats but query has {} columns", portal.formats.size(), columns)));
    return true;
  }
  if (portals_.size() >= kMaxNames) return refuse(too_many("portals")), true;
  portals_.insert_or_assign(std::string(message->portal), std::move(portal));
  std::string out;
  wire::encode_bind_complete(out);
  session_.write(out);
  return true;
}

bool ConsoleClient::describe(Bytes body) {
  const auto message = wire::parse_describe(body);
  if (!message) return false;
  extended_ = true;
  const bool of_statement = message->kind == 'S';
  const auto statement = of_statement ? statements_.find(message->name) : statements_.end();
  const auto portal = of_statement ? portals_.end() : portals_.find(message->name);
  if (statement == statements_.end() && portal == portals_.end()) {
    refuse(make_error(of_statement ? sqlstate::kInvalidSqlStatementName : sqlstate::kInvalidCursorName,
                      fmt::format("{} \"{}\" does not exist", of_statement ? "prepared statement" : "portal", message->name.substr(0, kNameShown))));
    return true;
  }
  std::string out;
  if (of_statement) wire::encode_parameter_description(out, {});
  const std::vector<admin::Column> columns = command_columns(of_statement ? statement->second : portal->second.command);
  if (columns.empty()) {
    wire::encode_no_data(out);
  } else {
    encode_columns(out, columns, of_statement ? std::vector<std::int16_t>{} : portal->second.formats);
  }
  session_.write(out);
  return true;
}

bool ConsoleClient::execute(Bytes body) {
  const auto message = wire::parse_execute(body);
  if (!message) return false;
  extended_ = true;
  const auto portal = portals_.find(message->portal);
  if (portal == portals_.end()) {
    refuse(make_error(sqlstate::kInvalidCursorName, fmt::format("portal \"{}\" does not exist", message->portal.substr(0, kNameShown))));
    return true;
  }
  const std::size_t limit = message->max_rows > 0 ? static_cast<std::size_t>(message->max_rows) : 0;
  if (portal->second.answer) return send_rows(portal->second, limit), true;
  session_.count_console_query();
  // No message is taken while it runs: the portal stays.
  Portal& running = portal->second;
  run(running.command, [this, &running, limit](LocalAnswer& answer) {
    running.answer = std::move(answer);
    std::string out;
    put_notices(out, *running.answer);
    session_.write(out);
    send_rows(running, limit);
  });
  return true;
}

void ConsoleClient::send_rows(Portal& portal, std::size_t limit) {
  std::string out;
  const LocalAnswer& answer = *portal.answer;
  const std::size_t left = answer.rows.rows.size() - portal.next;
  const std::size_t count = limit > 0 ? std::min(limit, left) : left;
  encode_rows(out, answer.rows, portal.next, count, portal.formats);
  portal.next += count;
  if (portal.command.kind == admin::ConsoleCommand::Kind::Empty) {
    wire::encode_empty_query_response(out);
  } else if (count < left) {
    wire::encode_portal_suspended(out);
  } else {
    wire::encode_command_complete(out, answer.tag.empty() ? "SHOW" : answer.tag);
  }
  session_.write(out);
}

bool ConsoleClient::close(Bytes body) {
  const auto message = wire::parse_close(body);
  if (!message) return false;
  extended_ = true;
  if (message->kind == 'S') {
    if (const auto it = statements_.find(message->name); it != statements_.end()) statements_.erase(it);
  } else if (const auto it = portals_.find(message->name); it != portals_.end()) {
    portals_.erase(it);
  }
  std::string out;
  wire::encode_close_complete(out);
  session_.write(out);
  return true;
}

}  // namespace weir::child
