// Statements that pgweir answers itself, in both protocols: see client_session.h.
#include "child/client_session.h"
#include "child/console.h"
#include "child/worker.h"
#include "common/base/byte_reader.h"
#include "common/base/sqlstate.h"
#include "common/wire/encode.h"

namespace weir::child {
namespace {

// The result format codes at the end of a Bind that was checked already.
std::vector<std::int16_t> result_formats(Bytes body) {
  ByteReader reader(body);
  reader.cstring();
  reader.cstring();
  reader.take(std::size_t{reader.u16()} * 2);
  for (std::size_t left = reader.u16(); left > 0 && reader.ok(); --left) {
    const std::int32_t size = reader.i32();
    if (size > 0) reader.take(static_cast<std::size_t>(size));
  }
  std::vector<std::int16_t> formats(reader.u16());
  for (std::int16_t& format : formats) format = reader.i16();
  return reader.ok() ? formats : std::vector<std::int16_t>{};
}

const std::string& show_name(const FactsPtr& facts) { return facts->facts.statements.front().identifier; }

}  // namespace

ClientSession::Dispatch ClientSession::answer_locally(Bytes bytes) {
  std::string out;
  if (batch_.kind == Batch::Kind::Simple) {
    local_execute(out, batch_.items.front().facts, {}, true);
    wire::encode_ready_for_query(out, status_);
  } else {
    answer_local_extended(bytes, out);
  }
  stream_.write(out);
  return Dispatch::Sent;
}

// True: rows were sent; false: an error.
bool ClientSession::local_execute(std::string& out, const FactsPtr& facts, const std::vector<std::int16_t>& formats, bool describe) {
  if (status_ == 'E') {
    wire::encode_error(out, make_error(sqlstate::kInFailedTransaction, "current transaction is aborted, commands ignored until end of transaction block"));
    return false;
  }
  const Result<admin::Rowset> rows = run_show(worker_, show_name(facts), reader_node_);
  if (!rows) {
    wire::encode_error(out, rows.error());
    return false;
  }
  if (describe) encode_columns(out, rows->columns, formats);
  encode_rows(out, *rows, formats);
  return true;
}

void ClientSession::answer_local_extended(Bytes bytes, std::string& out) {
  bool good = !local_failed_;
  for (const BatchItem& item : batch_.items) {
    if (item.what == Sent::Sync) {
      wire::encode_ready_for_query(out, status_);
      local_formats_.clear();
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
        local_formats_[std::string(item.name)] = result_formats(bytes.subspan(item.offset + 5, item.size - 5));
        wire::encode_bind_complete(out);
        break;
      case Sent::DescribeStatement:
      case Sent::DescribePortal: {
        const auto columns = describe_show(show_name(facts));
        if (!columns) {
          wire::encode_error(out, columns.error());
          good = false;
          break;
        }
        if (item.what == Sent::DescribeStatement) wire::encode_parameter_description(out, {});
        encode_columns(out, *columns, item.what == Sent::DescribePortal ? local_formats_[std::string(item.name)] : std::vector<std::int16_t>{});
        break;
      }
      case Sent::Execute: good = local_execute(out, facts, local_formats_[std::string(item.name)], false); break;
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
