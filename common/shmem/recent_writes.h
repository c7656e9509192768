// When tables were last written, shared by all children without a lock (dml_adaptive_global). A table of fixed size in a
// shared mapping: an entry is found within a few steps from where its key belongs, and is free again when it has become
// old. An entry is one word, tag and time, and is changed by compare-and-swap: a writer that dies leaves nothing half
// done. Two tables whose keys are taken for the same count as one; when no entry is free every table counts as written.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace weir::shmem {

class RecentWrites {
 public:
  // Of what was written; milliseconds of the machine's monotonic clock.
  struct Written {
    std::int64_t first = 0;  // of a run of writes
    std::int64_t last = 0;
  };

  RecentWrites() = default;  // no table: everything counts as written

  static std::size_t bytes_for(std::size_t entries);
  // Lays the table out in MEMORY, zeroed and 8-byte aligned, once, before the first fork. NOW is the time of its birth.
  static RecentWrites create(std::span<std::byte> memory, std::int64_t now);
  // The table that `create` made in MEMORY; one that holds none knows nothing.
  static RecentWrites attach(std::span<std::byte> memory);

  bool valid() const { return header_ != nullptr; }
  std::int64_t created_at() const;

  // KEY was written just now. What was written longer than KEEP ago may make room, and a run of writes that had paused so
  // long begins anew.
  void note(std::uint64_t key, std::int64_t now, std::int64_t keep) const;
  // True if KEY is in the table, or what could not be kept was written in the last KEEP milliseconds.
  bool find(std::uint64_t key, std::int64_t now, std::int64_t keep, Written& written) const;

 private:
  struct Header;
  struct Slot;
  explicit RecentWrites(Header* header) : header_(header) {}
  std::span<Slot> slots() const;
  std::uint32_t clock(std::int64_t now) const;

  Header* header_ = nullptr;
};

// Of the table NAME in DATABASE; of two texts that are not equal it may be the same, but hardly ever is.
std::uint64_t written_key(std::string_view database, std::string_view name);

}  // namespace weir::shmem
