#include "child/console.h"

#include <charconv>

#include "child/worker.h"
#include "common/admin/show.h"
#include "common/base/byte_reader.h"
#include "common/base/byte_writer.h"
#include "common/base/sqlstate.h"
#include "common/config/config.h"
#include "common/shmem/mapping.h"
#include "common/wire/encode.h"
#include "lb/target.h"

namespace weir::child {
namespace {

std::string_view hindrance(const shmem::ReplicationDelay& delay, const lb::DelayLimit& limit, Monotonic now) {
  switch (lb::judge_delay(delay, limit, monotonic_milliseconds(now))) {
    case lb::DelayVerdict::Within: return {};
    case lb::DelayVerdict::Over: return "no reads: it is further behind than the limit of delay";
    case lb::DelayVerdict::Unknown: return "no reads: its replication delay is not known";
  }
  return {};
}

std::vector<shmem::ReplicationDelay> delays(Worker& worker) {
  std::vector<shmem::ReplicationDelay> all(static_cast<std::size_t>(worker.nodes().count));
  for (std::size_t id = 0; id < all.size(); ++id) worker.context().mapping->observations().read_delay(static_cast<int>(id), all[id]);
  return all;
}

std::vector<admin::NodeFacts> node_facts(Worker& worker) {
  const std::vector<shmem::ReplicationDelay> behind = delays(worker);
  shmem::Mapping& mapping = *worker.context().mapping;
  std::vector<admin::NodeFacts> facts(static_cast<std::size_t>(worker.nodes().count));
  for (std::size_t id = 0; id < facts.size(); ++id) {
    mapping.observations().read(static_cast<int>(id), facts[id].observation);
    facts[id].selects = mapping.selects(static_cast<int>(id));
    facts[id].delay = behind[id];
    const bool standby = facts[id].observation.in_recovery == 1 && static_cast<int>(id) != worker.nodes().primary;
    if (standby) facts[id].hindrance = hindrance(behind[id], worker.policy().delay_limit(), worker.loop().now());
  }
  return facts;
}

std::vector<admin::ProcessFacts> process_facts(Worker& worker) {
  shmem::Mapping& mapping = *worker.context().mapping;
  std::vector<admin::ProcessFacts> processes;
  for (int slot = 0; slot < mapping.children(); ++slot) {
    const shmem::ChildRow& row = mapping.child_row(slot);
    admin::ProcessFacts facts;
    facts.pid = row.pid;
    if (facts.pid == 0) continue;
    facts.started_at = row.started_at;
    facts.served = row.served;
    facts.clients = row.clients;
    facts.waiting = row.waiting;
    facts.busy = row.busy;
    facts.asleep = row.asleep;
    facts.moved_away = row.moved_away;
    facts.draining = row.state == shmem::ChildState::Draining;
    for (int i = 0; i < static_cast<int>(row.session_slots.load()); ++i) {
      shmem::SessionRow session;
      if (mapping.session_row(slot, i).read(session) && session.in_use) facts.sessions.push_back(session);
    }
    for (int i = 0; i < static_cast<int>(row.backend_slots.load()); ++i) {
      shmem::BackendRow backend;
      if (mapping.backend_row(slot, i).read(backend) && backend.in_use) facts.backends.push_back(backend);
    }
    processes.push_back(std::move(facts));
  }
  return processes;
}

std::vector<shmem::NodeTotals> node_totals(Worker& worker) {
  std::vector<shmem::NodeTotals> totals;
  for (int id = 0; id < worker.nodes().count; ++id) totals.push_back(worker.context().mapping->totals(id));
  return totals;
}

std::vector<admin::ReasonText> reasons() {
  std::vector<admin::ReasonText> texts;
  for (std::size_t i = 0; i < lb::kReasonCount; ++i) {
    const auto reason = static_cast<lb::Reason>(i);
    texts.push_back({lb::reason_name(reason), lb::reason_text(reason)});
  }
  return texts;
}

tl::unexpected<Error> not_yet(std::string_view name) {
  return fail(make_error(sqlstate::kFeatureNotSupported, "SHOW " + std::string(name) + " is not available yet"));
}

std::int16_t format_of(const std::vector<std::int16_t>& formats, std::size_t column) {
  if (formats.empty()) return 0;
  return formats.size() == 1 ? formats[0] : column < formats.size() ? formats[column] : std::int16_t{0};
}

// A whole number of 0 or more: count of digits to the base 10,000, weight of the first, sign, decimals, the digits.
std::string numeric(std::int64_t number) {
  std::vector<std::int16_t> digits;
  for (; number > 0; number /= 10000) digits.insert(digits.begin(), static_cast<std::int16_t>(number % 10000));
  std::string out;
  ByteWriter writer(out);
  writer.i16(static_cast<std::int16_t>(digits.size())).i16(static_cast<std::int16_t>(digits.empty() ? 0 : digits.size() - 1)).u32(0);
  for (const std::int16_t digit : digits) writer.i16(digit);
  return out;
}

std::string binary(std::string_view text, std::uint32_t type) {
  std::int64_t number = 0;
  std::from_chars(text.data(), text.data() + text.size(), number);
  std::string out;
  ByteWriter writer(out);
  if (type == admin::kNumeric) return numeric(number);
  if (type == admin::kInt8) writer.u32(static_cast<std::uint32_t>(static_cast<std::uint64_t>(number) >> 32U));
  writer.u32(static_cast<std::uint32_t>(static_cast<std::uint64_t>(number)));
  return out;
}

}  // namespace

Result<admin::Rowset> run_show(Worker& worker, std::string_view name, int load_balance_node) {
  const auto command = admin::show_command(name);
  if (!command) return not_yet(name);
  const bool streaming = worker.config().backend_clustering_mode == "streaming_replication";
  switch (*command) {
    case admin::ShowCommand::Nodes:
      return admin::show_nodes(worker.nodes(), node_facts(worker), load_balance_node, streaming,
                               worker.policy().delay_limit().by_time() ? admin::DelayUnit::Time : admin::DelayUnit::Bytes);
    case admin::ShowCommand::BackendStats: return admin::show_backend_stats(worker.nodes(), node_totals(worker), streaming);
    case admin::ShowCommand::RouteStats: return admin::show_route_stats(worker.nodes(), node_totals(worker), reasons(), streaming);
    case admin::ShowCommand::Processes: return admin::show_processes(process_facts(worker));
    case admin::ShowCommand::Pools: return admin::show_pools(process_facts(worker));
    case admin::ShowCommand::Status: return admin::show_status(worker.config(), worker.nodes(), delays(worker));
    case admin::ShowCommand::Version: return admin::show_version();
    case admin::ShowCommand::NotYet: break;
  }
  return not_yet(name);
}

Result<std::vector<admin::Column>> describe_show(std::string_view name) {
  const auto command = admin::show_command(name);
  if (!command || *command == admin::ShowCommand::NotYet) return not_yet(name);
  return admin::show_columns(*command);
}

void encode_columns(std::string& out, const std::vector<admin::Column>& columns, const std::vector<std::int16_t>& formats) {
  // Each column has a format of its own.
  ByteWriter writer(out);
  writer.u8('T');
  const std::size_t start = out.size();
  writer.u32(0).i16(static_cast<std::int16_t>(columns.size()));
  for (std::size_t i = 0; i < columns.size(); ++i) {
    const std::int16_t size = columns[i].type == admin::kInt4 ? 4 : columns[i].type == admin::kInt8 ? 8 : -1;
    writer.cstring(columns[i].name).u32(0).i16(0).u32(columns[i].type).i16(size).i32(-1).i16(format_of(formats, i));
  }
  writer.patch_u32(start, static_cast<std::uint32_t>(out.size() - start));
}

void encode_rows(std::string& out, const admin::Rowset& rows, std::size_t first, std::size_t count, const std::vector<std::int16_t>& formats) {
  for (std::size_t index = first; index < first + count; ++index) {
    const auto& row = rows.rows[index];
    std::vector<std::string> converted(row.size());
    std::vector<wire::TextValue> values(row.size());
    for (std::size_t i = 0; i < row.size(); ++i) {
      if (!row[i]) continue;
      const std::uint32_t type = rows.columns[i].type;
      const bool as_binary = format_of(formats, i) == 1 && (type == admin::kInt4 || type == admin::kInt8 || type == admin::kNumeric);
      if (as_binary) converted[i] = binary(*row[i], type);
      values[i] = as_binary ? std::string_view(converted[i]) : std::string_view(*row[i]);
    }
    wire::encode_data_row(out, values);
  }
}

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

}  // namespace weir::child
