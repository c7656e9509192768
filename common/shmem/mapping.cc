#include "common/shmem/mapping.h"

#include <sys/mman.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <new>
#include <string>

#include "common/base/check.h"
#include "common/base/clock.h"
#include "common/base/sqlstate.h"
#include "common/shmem/catalog_facts.h"
#include "common/shmem/recent_writes.h"

namespace weir::shmem {
namespace {

constexpr std::size_t kPage = 4096;
constexpr int kMaxChildren = 65536;
constexpr int kMaxRows = 1 << 20;
constexpr std::size_t kMaxCatalogBytes = std::size_t{1} << 31U;
constexpr std::size_t kMaxLedgerBytes = std::size_t{1} << 40U;

std::size_t whole_pages(std::size_t value) { return (value + kPage - 1) / kPage * kPage; }

// Room for a line about each client and each server connection.
std::size_t report_bytes(const MappingPlan& plan) {
  constexpr std::size_t kLine = 448;
  return whole_pages(kLine * static_cast<std::size_t>(plan.sessions_per_child + plan.backends_per_child));
}

bool sensible(const MappingPlan& plan) {
  return plan.children >= 1 && plan.children <= kMaxChildren && plan.sessions_per_child >= 1 &&
         plan.sessions_per_child <= kMaxRows && plan.backends_per_child >= 1 && plan.backends_per_child <= kMaxRows &&
         plan.catalog_bytes <= kMaxCatalogBytes && plan.ledger_bytes <= kMaxLedgerBytes && plan.recent_writes <= kMaxRows;
}

// Empties each row of a dead child that is in use.
template <typename Row, typename Slot>
void clear_rows(std::span<Slot> rows) {
  for (Slot& slot : rows) {
    Row row;
    if (!slot.read(row) || row.in_use) slot.publish(Row{});
  }
}

}  // namespace

Mapping::Offsets Mapping::offsets_of(const MappingPlan& plan) {
  Offsets offsets;
  offsets.sessions = whole_pages(sizeof(ChildPart));
  offsets.backends =
      offsets.sessions + whole_pages(sizeof(SessionSlot) * static_cast<std::size_t>(plan.sessions_per_child));
  offsets.desk =
      offsets.backends + whole_pages(sizeof(BackendSlot) * static_cast<std::size_t>(plan.backends_per_child));
  offsets.desk_text = offsets.desk + whole_pages(sizeof(ReportDesk::Word) * static_cast<std::size_t>(plan.children));
  offsets.child_size = offsets.desk_text + report_bytes(plan);
  offsets.first_child = whole_pages(sizeof(Head));
  offsets.catalog = offsets.first_child + offsets.child_size * static_cast<std::size_t>(plan.children);
  offsets.ledger = offsets.catalog + whole_pages(plan.catalog_bytes);
  offsets.recent_writes = offsets.ledger + whole_pages(plan.ledger_bytes);
  offsets.total = offsets.recent_writes + whole_pages(RecentWrites::bytes_for(plan.recent_writes));
  return offsets;
}

Result<std::unique_ptr<Mapping>> Mapping::create(const MappingPlan& plan) {
  if (!sensible(plan)) {
    return fail(make_fatal(sqlstate::kInvalidParameterValue, "shared memory of an impossible size was asked for", {},
                           "Look at num_init_children and max_client_conn."));
  }
  const Offsets offsets = offsets_of(plan);
  void* base =
      ::mmap(nullptr, offsets.total, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (base == MAP_FAILED) {
    return fail(make_fatal(sqlstate::kOutOfMemory, std::string("cannot map shared memory: ") + std::strerror(errno),
                           std::to_string(offsets.total) + " bytes were asked for.",
                           "Lower num_init_children or max_client_conn."));
  }
  return std::unique_ptr<Mapping>(new Mapping(plan, offsets, static_cast<std::byte*>(base)));
}

Mapping::Mapping(const MappingPlan& plan, const Offsets& offsets, std::byte* base)
    : plan_(plan), offsets_(offsets), base_(base), size_(offsets.total) {
  // All else is valid as the zeros that the kernel gives: not touching it is what makes it cheap.
  for (int slot = 0; slot < plan.children; ++slot) new (&child(slot).cancels) CancelMailbox();
  CatalogFacts::create(catalog_region());
  RecentWrites::create(recent_writes_region(), monotonic_milliseconds(monotonic_now()));
}

Mapping::~Mapping() { ::munmap(base_, size_); }

Head& Mapping::head() { return *std::launder(reinterpret_cast<Head*>(base_)); }

ChildPart& Mapping::child(int slot) {
  WEIR_CHECK(slot >= 0 && slot < plan_.children);
  std::byte* part = base_ + offsets_.first_child + offsets_.child_size * static_cast<std::size_t>(slot);
  return *std::launder(reinterpret_cast<ChildPart*>(part));
}

std::span<SessionSlot> Mapping::session_rows(int slot) {
  auto* rows = reinterpret_cast<std::byte*>(&child(slot)) + offsets_.sessions;
  return {std::launder(reinterpret_cast<SessionSlot*>(rows)), static_cast<std::size_t>(plan_.sessions_per_child)};
}

std::span<BackendSlot> Mapping::backend_rows(int slot) {
  auto* rows = reinterpret_cast<std::byte*>(&child(slot)) + offsets_.backends;
  return {std::launder(reinterpret_cast<BackendSlot*>(rows)), static_cast<std::size_t>(plan_.backends_per_child)};
}

// The counts are a child's word, which may have gone wrong with it.
std::span<SessionSlot> Mapping::used_session_rows(int slot) {
  const auto rows = session_rows(slot);
  return rows.first(std::min<std::size_t>(rows.size(), child_row(slot).session_slots.load(std::memory_order_acquire)));
}

std::span<BackendSlot> Mapping::used_backend_rows(int slot) {
  const auto rows = backend_rows(slot);
  return rows.first(std::min<std::size_t>(rows.size(), child_row(slot).backend_slots.load(std::memory_order_acquire)));
}

ReportDesk Mapping::report_desk(int slot) {
  ChildPart& part = child(slot);
  auto* base = reinterpret_cast<std::byte*>(&part);
  auto* acknowledged = std::launder(reinterpret_cast<ReportDesk::Word*>(base + offsets_.desk));
  auto* words = std::launder(reinterpret_cast<ReportDesk::Word*>(base + offsets_.desk_text));
  return {part.report, {acknowledged, static_cast<std::size_t>(plan_.children)}, {words, report_bytes(plan_) / sizeof(ReportDesk::Word)}};
}

SessionSlot& Mapping::session_row(int slot, int index) {
  WEIR_CHECK(index >= 0 && index < plan_.sessions_per_child);
  return session_rows(slot)[static_cast<std::size_t>(index)];
}

BackendSlot& Mapping::backend_row(int slot, int index) {
  WEIR_CHECK(index >= 0 && index < plan_.backends_per_child);
  return backend_rows(slot)[static_cast<std::size_t>(index)];
}

std::span<std::byte> Mapping::catalog_region() { return {base_ + offsets_.catalog, plan_.catalog_bytes}; }

std::span<std::byte> Mapping::ledger_region() { return {base_ + offsets_.ledger, plan_.ledger_bytes}; }

std::span<std::byte> Mapping::recent_writes_region() {
  return {base_ + offsets_.recent_writes, RecentWrites::bytes_for(plan_.recent_writes)};
}

std::uint32_t Mapping::total_clients() {
  std::uint32_t sum = 0;
  for (int slot = 0; slot < plan_.children; ++slot) sum += child_row(slot).clients.load(std::memory_order_relaxed);
  return sum;
}

Siblings Mapping::siblings(int slot) {
  Siblings result;
  std::uint64_t clients = 0;
  for (int other = 0; other < plan_.children; ++other) {
    const ChildRow& row = child_row(other);
    if (other == slot || !row.running()) continue;
    ++result.running;
    clients += row.clients.load(std::memory_order_relaxed);
    result.one_has_room = result.one_has_room || row.waiting.load(std::memory_order_relaxed) == 0;
  }
  if (result.running > 0) result.mean_clients = static_cast<double>(clients) / result.running;
  return result;
}

void Mapping::reset_child(int slot) {
  ChildRow& row = child_row(slot);
  row.reset();
  row.restarts.fetch_add(1, std::memory_order_relaxed);
  clear_rows<SessionRow>(used_session_rows(slot));
  clear_rows<BackendRow>(used_backend_rows(slot));
  cancel_mailbox(slot).drain();
  report_desk(slot).wish_no_more();
}

std::uint64_t Mapping::selects(int node) {
  std::uint64_t sum = 0;
  for (int slot = 0; slot < children(); ++slot) sum += counts(slot, node).selects();
  return sum;
}

NodeTotals Mapping::totals(int node) {
  NodeTotals totals;
  for (int slot = 0; slot < children(); ++slot) counts(slot, node).add_to(totals);
  return totals;
}

void Mapping::reset_health() {
  for (int node = 0; node < kMaxNodes; ++node) {
    Observation seen;
    if (observations().read(node, seen) && seen.answer != Answer::None) observations().repair(node);
    ReplicationDelay delay;
    if (observations().read_delay(node, delay) && delay.measured_at != 0) observations().repair_delay(node);
  }
}

}  // namespace weir::shmem
