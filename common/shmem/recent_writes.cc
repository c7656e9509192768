#include "common/shmem/recent_writes.h"

#include <algorithm>
#include <atomic>
#include <new>

namespace weir::shmem {
namespace {

constexpr std::uint64_t kMagic = 0x77656972'72637432;  // "weirrct2"
constexpr std::size_t kProbes = 16;
constexpr std::size_t kMaxEntries = 1U << 20U;

std::uint64_t word_of(std::uint32_t tag, std::uint32_t time) { return (std::uint64_t{tag} << 32U) | time; }
std::uint32_t tag_of(std::uint64_t word) { return static_cast<std::uint32_t>(word >> 32U); }
std::uint32_t time_of(std::uint64_t word) { return static_cast<std::uint32_t>(word); }

// 0 marks a slot that was never used.
std::uint32_t tag_of_key(std::uint64_t key) { return std::max(static_cast<std::uint32_t>(key >> 32U), 1U); }

// Milliseconds between two readings of a clock that wraps after seven weeks. Two children read it a moment apart: what
// seems to lie ahead is now.
std::int64_t age_of(std::uint32_t then, std::uint32_t now) { return std::max(static_cast<std::int32_t>(now - then), 0); }

}  // namespace

struct RecentWrites::Slot {
  std::atomic<std::uint64_t> last;   // tag and time
  std::atomic<std::uint64_t> first;  // counts with the same tag only
};

struct RecentWrites::Header {
  std::uint64_t magic;
  std::uint64_t entries;
  std::int64_t created_at;
  std::atomic<std::int64_t> lost_at;  // an entry found no room; 0: never
};

std::size_t RecentWrites::bytes_for(std::size_t entries) {
  return sizeof(Header) + std::min(std::max<std::size_t>(entries, kProbes), kMaxEntries) * sizeof(Slot);
}

RecentWrites RecentWrites::create(std::span<std::byte> memory, std::int64_t now) {
  static_assert(std::atomic<std::uint64_t>::is_always_lock_free && alignof(Header) == 8 && sizeof(Header) % 8 == 0);
  const bool aligned = reinterpret_cast<std::uintptr_t>(memory.data()) % 8 == 0;
  if (!aligned || memory.size() < bytes_for(0)) return {};
  auto* header = reinterpret_cast<Header*>(memory.data());
  header->entries = std::min((memory.size() - sizeof(Header)) / sizeof(Slot), kMaxEntries);
  header->created_at = now;
  header->magic = kMagic;  // the slots are valid as zeros: not touching them costs no memory
  return RecentWrites(header);
}

RecentWrites RecentWrites::attach(std::span<std::byte> memory) {
  if (memory.size() < bytes_for(0)) return {};
  auto* header = std::launder(reinterpret_cast<Header*>(memory.data()));
  const bool whole = header->magic == kMagic && header->entries >= kProbes &&
                     header->entries <= (memory.size() - sizeof(Header)) / sizeof(Slot);
  return whole ? RecentWrites(header) : RecentWrites();
}

std::int64_t RecentWrites::created_at() const { return header_ != nullptr ? header_->created_at : 0; }

std::span<RecentWrites::Slot> RecentWrites::slots() const {
  return {std::launder(reinterpret_cast<Slot*>(header_ + 1)), static_cast<std::size_t>(header_->entries)};
}

std::uint32_t RecentWrites::clock(std::int64_t now) const { return static_cast<std::uint32_t>(now - header_->created_at); }

void RecentWrites::note(std::uint64_t key, std::int64_t now, std::int64_t keep) const {
  if (header_ == nullptr) return;
  const std::span<Slot> all = slots();
  const std::uint32_t tag = tag_of_key(key);
  const std::uint32_t time = clock(now);
  const std::uint64_t word = word_of(tag, time);
  for (int tries = 0; tries < 4; ++tries) {
    Slot* room = nullptr;
    std::uint64_t in_room = 0;
    for (std::size_t i = 0; i < kProbes; ++i) {
      Slot& slot = all[(static_cast<std::uint32_t>(key) + i) % all.size()];
      std::uint64_t seen = slot.last.load(std::memory_order_acquire);
      while (tag_of(seen) == tag) {
        const std::int64_t age = age_of(time_of(seen), time);
        if (age > keep) slot.first.store(word, std::memory_order_release);  // a new run
        if (age == 0 || slot.last.compare_exchange_weak(seen, word, std::memory_order_acq_rel)) return;
      }
      const bool free = tag_of(seen) == 0 || age_of(time_of(seen), time) > keep;
      if (free && room == nullptr) {
        room = &slot;
        in_room = seen;
      }
    }
    if (room == nullptr) break;
    if (!room->last.compare_exchange_strong(in_room, word, std::memory_order_acq_rel)) continue;
    room->first.store(word, std::memory_order_release);
    return;
  }
  header_->lost_at.store(now, std::memory_order_release);
}

bool RecentWrites::find(std::uint64_t key, std::int64_t now, std::int64_t keep, Written& written) const {
  if (header_ == nullptr) {
    written = {now, now};
    return true;
  }
  bool found = false;
  const std::int64_t lost = header_->lost_at.load(std::memory_order_acquire);
  if (lost != 0 && now - lost <= keep) {
    written = {lost, lost};
    found = true;
  }
  const std::span<Slot> all = slots();
  const std::uint32_t tag = tag_of_key(key);
  const std::uint32_t time = clock(now);
  for (std::size_t i = 0; i < kProbes; ++i) {
    const Slot& slot = all[(static_cast<std::uint32_t>(key) + i) % all.size()];
    const std::uint64_t seen = slot.last.load(std::memory_order_acquire);
    if (tag_of(seen) != tag) continue;
    const std::uint64_t first = slot.first.load(std::memory_order_acquire);
    Written one;
    one.last = now - age_of(time_of(seen), time);
    one.first = tag_of(first) == tag ? now - age_of(time_of(first), time) : one.last;
    // Two children may have entered it at the same time: the younger one counts.
    if (!found || one.last > written.last) written = one;
    found = true;
  }
  return found;
}

std::uint64_t written_key(std::string_view database, std::string_view name) {
  std::uint64_t hash = 0xCBF29CE484222325;
  const auto add = [&](unsigned char byte) { hash = (hash ^ byte) * 0x100000001B3; };
  for (const char c : database) add(static_cast<unsigned char>(c));
  add(0);
  for (const char c : name) add(static_cast<unsigned char>(c));
  hash ^= hash >> 33U;
  hash *= 0xFF51AFD7ED558CCD;
  hash ^= hash >> 33U;
  hash *= 0xC4CEB9FE1A85EC53;
  return hash ^ (hash >> 33U);
}

}  // namespace weir::shmem
