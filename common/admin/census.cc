#include "common/admin/census.h"

#include <algorithm>
#include <tuple>

#include "common/base/byte_reader.h"
#include "common/base/byte_writer.h"
#include "common/base/sqlstate.h"

namespace weir::admin {
namespace {

// Each entry begins with its kind; the fields follow in the order of the structs, texts with a NUL behind them.
constexpr char kClient = 'C';
constexpr char kServer = 'S';
constexpr char kPool = 'P';
constexpr char kLogins = 'L';

void put_wide(ByteWriter& writer, std::uint64_t value) {
  writer.u32(static_cast<std::uint32_t>(value >> 32U)).u32(static_cast<std::uint32_t>(value & 0xffffffffU));
}
void put_wide(ByteWriter& writer, std::int64_t value) { put_wide(writer, static_cast<std::uint64_t>(value)); }

std::uint64_t wide(ByteReader& reader) {
  const std::uint64_t high = reader.u32();
  return high << 32U | reader.u32();
}
std::int64_t signed_wide(ByteReader& reader) { return static_cast<std::int64_t>(wide(reader)); }

// Names and addresses have no NUL: they came as such texts themselves.
void put_text(ByteWriter& writer, std::string_view text) { writer.cstring(text.substr(0, text.find('\0'))); }

void put_socket(ByteWriter& writer, char kind, const SocketFacts& s) {
  writer.u8(static_cast<std::uint8_t>(kind));
  for (const std::string* text : {&s.database, &s.user, &s.replication, &s.address, &s.local_address, &s.application_name, &s.held_for}) put_text(writer, *text);
  writer.u8(static_cast<std::uint8_t>(s.state)).u8(s.close_needed ? 1 : 0);
  for (const std::int32_t value : {s.port, s.local_port, s.remote_pid, s.prepared_statements, s.id, s.child, s.node}) writer.i32(value);
  for (const std::int64_t value : {s.connected_at, s.requested_at, s.wait_us, s.held_us}) put_wide(writer, value);
  put_wide(writer, s.self);
  put_wide(writer, s.link);
}

SocketFacts socket(ByteReader& reader) {
  SocketFacts s;
  for (std::string* text : {&s.database, &s.user, &s.replication, &s.address, &s.local_address, &s.application_name, &s.held_for}) *text = reader.cstring();
  s.state = static_cast<SocketState>(std::min(reader.u8(), static_cast<std::uint8_t>(SocketState::BeingCanceled)));
  s.close_needed = reader.u8() != 0;
  for (std::int32_t* value : {&s.port, &s.local_port, &s.remote_pid, &s.prepared_statements, &s.id, &s.child, &s.node}) *value = reader.i32();
  for (std::int64_t* value : {&s.connected_at, &s.requested_at, &s.wait_us, &s.held_us}) *value = signed_wide(reader);
  s.self = wide(reader);
  s.link = wide(reader);
  return s;
}

PoolFacts pool(ByteReader& reader) {
  PoolFacts p;
  p.database = reader.cstring();
  p.user = reader.cstring();
  for (std::int32_t& count : p.counts) count = reader.i32();
  p.longest_wait_us = signed_wide(reader);
  return p;
}

}  // namespace

std::string_view socket_state_text(SocketState state) {
  switch (state) {
    case SocketState::Active: return "active";
    case SocketState::Idle: return "idle";
    case SocketState::Waiting: return "waiting";
    case SocketState::ActiveCancelReq: return "active_cancel_req";
    case SocketState::Used: return "used";
    case SocketState::Tested: return "tested";
    case SocketState::New: return "new";
    case SocketState::Login: return "login";
    case SocketState::BeingCanceled: return "being_canceled";
  }
  return "";
}

void encode_census(std::string& out, const Census& census) {
  ByteWriter writer(out);
  for (const SocketFacts& client : census.clients) put_socket(writer, kClient, client);
  for (const SocketFacts& server : census.servers) put_socket(writer, kServer, server);
  for (const PoolFacts& pool : census.pools) {
    writer.u8(static_cast<std::uint8_t>(kPool));
    put_text(writer, pool.database);
    put_text(writer, pool.user);
    for (const std::int32_t count : pool.counts) writer.i32(count);
    put_wide(writer, pool.longest_wait_us);
  }
  writer.u8(static_cast<std::uint8_t>(kLogins)).i32(census.logins);
}

Status decode_census(Bytes bytes, Census& into) {
  ByteReader reader(bytes);
  while (!reader.at_end()) {
    switch (static_cast<char>(reader.u8())) {
      case kClient:
        if (SocketFacts facts = socket(reader); reader.ok()) into.clients.push_back(std::move(facts));
        break;
      case kServer:
        if (SocketFacts facts = socket(reader); reader.ok()) into.servers.push_back(std::move(facts));
        break;
      case kPool:
        if (PoolFacts facts = pool(reader); reader.ok()) into.pools.push_back(std::move(facts));
        break;
      case kLogins: into.logins = static_cast<std::int32_t>(static_cast<std::uint32_t>(into.logins) + reader.u32()); break;
      default: return fail(make_error(sqlstate::kInternalError, "another process has told something that is not understood"));
    }
    if (!reader.ok()) return fail(make_error(sqlstate::kInternalError, "what another process has told ends too soon"));
  }
  return {};
}

void merge_pools(std::vector<PoolFacts>& pools) {
  std::stable_sort(pools.begin(), pools.end(), [](const PoolFacts& a, const PoolFacts& b) { return std::tie(a.database, a.user) < std::tie(b.database, b.user); });
  std::vector<PoolFacts> merged;
  for (PoolFacts& pool : pools) {
    if (merged.empty() || merged.back().database != pool.database || merged.back().user != pool.user) {
      merged.push_back(std::move(pool));
      continue;
    }
    PoolFacts& sum = merged.back();
    for (std::size_t i = 0; i < kPoolCounts; ++i) {
      sum.counts[i] = static_cast<std::int32_t>(static_cast<std::uint32_t>(sum.counts[i]) + static_cast<std::uint32_t>(pool.counts[i]));
    }
    sum.longest_wait_us = std::max(sum.longest_wait_us, pool.longest_wait_us);
  }
  pools = std::move(merged);
}

}  // namespace weir::admin
