// The names of prepared statements while connections are lent by the transaction: see client_session.h. A server has each
// text once, under a name of pgweir's own, for all clients that prepare it.
#include <algorithm>

#include "child/client_session.h"
#include "child/worker.h"
#include "common/config/config.h"
#include "common/wire/encode.h"

namespace weir::child {
namespace {

// What no statement is called: numbers begin at 1.
constexpr std::string_view kNoStatement = "pgweir_0";

bool is_parse(const BatchItem& item) { return item.what == Sent::Parse; }

}  // namespace

bool ClientSession::renames() const { return pool_mode_ != PoolMode::Session && worker_.config().max_prepared_statements > 0; }

// Decides for each message of the batch how the name in it goes to BACKEND.
void ClientSession::plan_names(const Backend& backend) {
  renamed_batch_ = false;
  if (batch_.kind != Batch::Kind::Extended || !renames()) return;
  for (std::size_t i = 0; i < batch_.items.size(); ++i) {
    BatchItem& item = batch_.items[i];
    item.naming = naming_of(backend, i);
    renamed_batch_ = renamed_batch_ || item.naming != Naming::AsSent;
  }
}

Naming ClientSession::naming_of(const Backend& backend, std::size_t index) const {
  const BatchItem& item = batch_.items[index];
  const auto earlier = [&](const auto& matches) {
    return std::any_of(batch_.items.begin(), batch_.items.begin() + static_cast<std::ptrdiff_t>(index), matches);
  };
  const bool names = is_parse(item) || item.what == Sent::Bind || item.what == Sent::DescribeStatement || (item.what == Sent::Close && item.of_statement);
  const bool streams = batch_.end == Batch::End::Oversize && index + 1 == batch_.items.size();
  if (!names || streams) return Naming::AsSent;
  if (item.statement_name.empty()) return naming_of_unnamed(backend, index);
  if (names_.is_by_sql(item.statement_name)) return Naming::AsSent;
  if (item.statement == nullptr) return item.statement_name.starts_with(kServerNamePrefix) ? Naming::Foreign : Naming::AsSent;
  if (item.statement->shared == nullptr || backend.prepared.contains(item.statement_name)) return Naming::AsSent;
  // Two of one name: the server refuses the second.
  const auto parses_of_name = std::count_if(batch_.items.begin(), batch_.items.end(), [&](const BatchItem& other) { return is_parse(other) && other.name == item.statement_name; });
  if (parses_of_name > 1) return Naming::AsSent;
  if (item.what == Sent::Close) return Naming::Nothing;
  if (!is_parse(item)) return Naming::Shared;
  const bool closed = earlier([&](const BatchItem& other) { return other.what == Sent::Close && other.of_statement && other.name == item.name; });
  if (names_.find(item.name) != nullptr && !closed) return Naming::AsSent;
  return has_shared(backend, index) ? Naming::AlreadyThere : Naming::Shared;
}

// plan_unnamed: the server keeps the statement. Closing it closes what the server has without a name, if anything.
Naming ClientSession::naming_of_unnamed(const Backend& backend, std::size_t index) const {
  const BatchItem& item = batch_.items[index];
  if (item.statement == nullptr || item.statement->shared == nullptr || item.what == Sent::Close) return Naming::AsSent;
  return is_parse(item) && has_shared(backend, index) ? Naming::AlreadyThere : Naming::Shared;
}

// The shared statement of the item is on BACKEND, or will be when the item gets there.
bool ClientSession::has_shared(const Backend& backend, std::size_t index) const {
  const std::uint64_t number = batch_.items[index].statement->shared->number;
  if (backend.shared.contains(number) || names_.is_shared_pending(number)) return true;
  return std::any_of(batch_.items.begin(), batch_.items.begin() + static_cast<std::ptrdiff_t>(index), [number](const BatchItem& other) {
    return other.naming == Naming::Shared && other.statement->shared->number == number;
  });
}

// What the batch uses and BACKEND does not have is prepared in front of it; what was not used for longest makes room.
void ClientSession::inject_shared(Backend& backend, std::string& out) {
  if (!renamed_batch_) return;
  close_unusable(backend, out);
  std::vector<std::uint64_t> used;
  for (const BatchItem& item : batch_.items) {
    if (item.naming != Naming::Shared && item.naming != Naming::AlreadyThere) continue;
    const std::uint64_t number = item.statement->shared->number;
    if (std::find(used.begin(), used.end(), number) != used.end()) continue;
    used.push_back(number);
    if (const auto there = backend.shared.find(number); there != backend.shared.end()) {
      there->second = ++backend.shared_uses;
      continue;
    }
    if (tracker_.idle() || tracker_.unsynced() == false) make_room_for_statement(backend, used, out);
    if (is_parse(item) || names_.is_shared_pending(number)) continue;
    traffic_.count(shmem::Traffic::ServerParses);
    encode_renamed(out, as_bytes(item.statement->parse_message), item.statement->shared->server_name);
    tracker_.sent(Sent::Parse, true, number);
    names_.shared_parse_sent(item.statement, true);
  }
}

void ClientSession::make_room_for_statement(Backend& backend, const std::vector<std::uint64_t>& used, std::string& out) {
  const auto limit = static_cast<std::size_t>(worker_.config().max_prepared_statements);
  while (backend.shared.size() >= limit) {
    auto oldest = backend.shared.end();
    for (auto it = backend.shared.begin(); it != backend.shared.end(); ++it) {
      const bool needed = std::find(used.begin(), used.end(), it->first) != used.end() || uses_shared(it->first);
      if (!needed && (oldest == backend.shared.end() || it->second < oldest->second)) oldest = it;
    }
    if (oldest == backend.shared.end()) return;
    wire::encode_close(out, 'S', worker_.statements().server_name(oldest->first));
    tracker_.sent(Sent::Close, true);
    names_.close_sent("\x01shared", true);
    backend.shared.erase(oldest);
  }
}

bool ClientSession::uses_shared(std::uint64_t number) const {
  return std::any_of(batch_.items.begin(), batch_.items.end(), [number](const BatchItem& item) {
    return (item.naming == Naming::Shared || item.naming == Naming::AlreadyThere) && item.statement->shared->number == number;
  });
}

// The batch as it goes to the server, appended to OUT.
void ClientSession::append_renamed(std::string& out, Bytes bytes) const {
  std::size_t from = 0;
  for (const BatchItem& item : batch_.items) {
    if (item.naming == Naming::AsSent) continue;
    out.append(as_text(bytes.subspan(from, item.offset - from)));
    from = item.offset + item.size;
    const Bytes message = bytes.subspan(item.offset, item.size);
    switch (item.naming) {
      case Naming::Shared: encode_renamed(out, message, item.statement->shared->server_name); break;
      case Naming::Foreign: encode_renamed(out, message, std::string(kServerNamePrefix) + std::string(item.statement_name)); break;
      default: wire::encode_close(out, 'S', kNoStatement); break;
    }
  }
  out.append(as_text(bytes.subspan(from)));
}

}  // namespace weir::child
