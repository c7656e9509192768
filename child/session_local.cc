// Statements that pgweir answers itself, in both protocols: see client_session.h.
#include <algorithm>

#include "child/client_session.h"
#include "child/console.h"
#include "child/worker.h"
#include "common/base/sqlstate.h"
#include "common/wire/encode.h"
#include "common/wire/frontend.h"

namespace weir::child {
namespace {

const parser::Statement& statement_of(const FactsPtr& facts) { return facts->facts.statements.front(); }

}  // namespace

ClientSession::Dispatch ClientSession::answer_locally(Bytes bytes) {
  std::string out;
  if (batch_.kind == Batch::Kind::Simple) {
    local_query(out, batch_.items.front().facts);
    wire::encode_ready_for_query(out, status_);
  } else {
    answer_local_extended(bytes, out);
  }
  stream_.write(out);
  return Dispatch::Sent;
}

std::optional<Error> ClientSession::local_refusal() const {
  if (status_ != 'E') return std::nullopt;
  return make_error(sqlstate::kInFailedTransaction, "current transaction is aborted, commands ignored until end of transaction block");
}

// True: rows were sent; false: an error.
bool ClientSession::local_query(std::string& out, const FactsPtr& facts) {
  LocalPortal portal;
  std::string rows;
  const bool good = local_execute(rows, facts, portal, 0);
  if (good && portal.answer->tag.empty()) encode_columns(out, portal.answer->rows.columns, {});
  out += rows;
  return good;
}

// LIMIT: of an Execute; 0: all rows.
bool ClientSession::local_execute(std::string& out, const FactsPtr& facts, LocalPortal& portal, std::size_t limit) {
  if (const auto refusal = local_refusal()) {
    wire::encode_error(out, *refusal);
    return false;
  }
  if (!portal.answer) {
    Result<LocalAnswer> answer = run_local(statement_of(facts));
    if (!answer) {
      wire::encode_error(out, answer.error());
      return false;
    }
    portal.answer = std::move(*answer);
    for (const Error& notice : portal.answer->notices) wire::encode_notice(out, notice);
  }
  if (!portal.answer->tag.empty()) {
    wire::encode_command_complete(out, portal.answer->tag);
    return true;
  }
  const admin::Rowset& rows = portal.answer->rows;
  const std::size_t left = rows.rows.size() - portal.next;
  const std::size_t count = limit == 0 ? left : std::min(limit, left);
  encode_rows(out, rows, portal.next, count, portal.formats);
  portal.next += count;
  // As a server does: a portal whose limit is reached is suspended, even if no row is left.
  if (limit != 0 && count == limit) {
    wire::encode_portal_suspended(out);
  } else {
    wire::encode_command_complete(out, "SELECT " + std::to_string(count));
  }
  return true;
}

void ClientSession::answer_local_extended(Bytes bytes, std::string& out) {
  bool good = !local_failed_;
  for (const BatchItem& item : batch_.items) {
    if (item.what == Sent::Sync) {
      wire::encode_ready_for_query(out, status_);
      if (status_ == 'I') local_portals_.clear();
      good = true;
      continue;
    }
    if (!good) continue;  // skipped up to Sync, as a server does
    const FactsPtr facts = item.statement != nullptr ? item.statement->facts : nullptr;
    switch (item.what) {
      case Sent::Parse:
        names_.define(item.statement);
        wire::encode_parse_complete(out);
        break;
      case Sent::Bind:
        portals_.insert_or_assign(std::string(item.name), item.statement);
        local_portals_[std::string(item.name)] = {result_formats(bytes.subspan(item.offset + 5, item.size - 5)), std::nullopt, 0};
        wire::encode_bind_complete(out);
        break;
      case Sent::DescribeStatement:
      case Sent::DescribePortal: {
        const auto columns = describe_local(statement_of(facts));
        if (!columns) {
          wire::encode_error(out, columns.error());
          good = false;
          break;
        }
        if (item.what == Sent::DescribeStatement) wire::encode_parameter_description(out, {});
        if (columns->empty()) {
          wire::encode_no_data(out);
          break;
        }
        encode_columns(out, *columns, item.what == Sent::DescribePortal ? local_portals_[std::string(item.name)].formats : std::vector<std::int16_t>{});
        break;
      }
      case Sent::Execute: {
        const auto execute = wire::parse_execute(bytes.subspan(item.offset + 5, item.size - 5));
        const std::size_t limit = execute && execute->max_rows > 0 ? static_cast<std::size_t>(execute->max_rows) : 0;
        good = local_execute(out, facts, local_portals_[std::string(item.name)], limit);
        break;
      }
      case Sent::Close:
        if (item.of_statement) names_.forget(item.name);
        wire::encode_close_complete(out);
        break;
      default: break;
    }
  }
  local_failed_ = !good;
}

}  // namespace weir::child
