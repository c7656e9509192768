#include "common/shmem/mapping.h"

#include <sys/mman.h>

#include <cerrno>
#include <cstring>
#include <new>

#include "common/base/check.h"
#include "common/base/sqlstate.h"
#include "common/shmem/catalog_facts.h"

namespace weir::shmem {
namespace {

constexpr std::size_t kPage = 4096;

std::size_t up(std::size_t value) { return (value + kPage - 1) / kPage * kPage; }

}  // namespace

Result<std::unique_ptr<Mapping>> Mapping::create(const MappingPlan& plan) {
  const std::size_t sessions = up(sizeof(SessionSlot) * static_cast<std::size_t>(plan.sessions_per_child));
  const std::size_t backends = up(sizeof(BackendSlot) * static_cast<std::size_t>(plan.backends_per_child));
  const std::size_t child = up(sizeof(ChildPart)) + sessions + backends;
  const std::size_t size = up(sizeof(Head)) + child * static_cast<std::size_t>(plan.children) + up(plan.catalog_bytes);
  void* base = ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (base == MAP_FAILED) {
    return fail(make_fatal(sqlstate::kOutOfMemory, std::string("cannot map shared memory: ") + std::strerror(errno),
                           std::to_string(size) + " bytes were asked for.", "Lower num_init_children or max_client_conn."));
  }
  return std::unique_ptr<Mapping>(new Mapping(plan, static_cast<std::byte*>(base), size));
}

Mapping::Mapping(const MappingPlan& plan, std::byte* base, std::size_t size) : plan_(plan), base_(base), size_(size) {
  session_offset_ = up(sizeof(ChildPart));
  backend_offset_ = session_offset_ + up(sizeof(SessionSlot) * static_cast<std::size_t>(plan.sessions_per_child));
  child_size_ = backend_offset_ + up(sizeof(BackendSlot) * static_cast<std::size_t>(plan.backends_per_child));
  child_offset_ = up(sizeof(Head));
  catalog_offset_ = child_offset_ + child_size_ * static_cast<std::size_t>(plan.children);
  new (base_) Head();
  for (int slot = 0; slot < plan.children; ++slot) new (base_ + child_offset_ + child_size_ * static_cast<std::size_t>(slot)) ChildPart();
  // The rows are valid when they are all zero: nothing is touched before it is used.
  CatalogFacts::create(catalog_region());
}

Mapping::~Mapping() { ::munmap(base_, size_); }

Head& Mapping::head() { return *std::launder(reinterpret_cast<Head*>(base_)); }

ChildPart& Mapping::child(int slot) {
  WEIR_CHECK(slot >= 0 && slot < plan_.children);
  return *std::launder(reinterpret_cast<ChildPart*>(base_ + child_offset_ + child_size_ * static_cast<std::size_t>(slot)));
}

SessionSlot& Mapping::session_row(int slot, int index) {
  WEIR_CHECK(index >= 0 && index < plan_.sessions_per_child);
  auto* rows = reinterpret_cast<std::byte*>(&child(slot)) + session_offset_;
  return *reinterpret_cast<SessionSlot*>(rows + sizeof(SessionSlot) * static_cast<std::size_t>(index));
}

BackendSlot& Mapping::backend_row(int slot, int index) {
  WEIR_CHECK(index >= 0 && index < plan_.backends_per_child);
  auto* rows = reinterpret_cast<std::byte*>(&child(slot)) + backend_offset_;
  return *reinterpret_cast<BackendSlot*>(rows + sizeof(BackendSlot) * static_cast<std::size_t>(index));
}

std::span<std::byte> Mapping::catalog_region() { return {base_ + catalog_offset_, plan_.catalog_bytes}; }

std::uint32_t Mapping::total_clients() {
  std::uint32_t sum = 0;
  for (int slot = 0; slot < plan_.children; ++slot) sum += child_row(slot).clients.load(std::memory_order_relaxed);
  return sum;
}

void Mapping::reset_child(int slot) {
  child_row(slot).reset();
  for (int i = 0; i < static_cast<int>(child_row(slot).session_slots.load()); ++i) {
    SessionRow row;
    if (session_row(slot, i).read(row) && !row.in_use) continue;
    session_row(slot, i).repair();
    session_row(slot, i).publish(SessionRow{});
  }
  for (int i = 0; i < static_cast<int>(child_row(slot).backend_slots.load()); ++i) {
    BackendRow row;
    if (backend_row(slot, i).read(row) && !row.in_use) continue;
    backend_row(slot, i).repair();
    backend_row(slot, i).publish(BackendRow{});
  }
  while (requests(slot).pop()) {
  }
}

}  // namespace weir::shmem
