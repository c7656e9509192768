// Catalogue facts shared by all processes: an insert-only hash table in a shared mapping, without locks.
//
// The region holds a header and two halves; a half is an array of bucket heads and an arena of slots. One 64-bit word
// in the header is (generation, bytes used): a slot is claimed by one compare-and-swap on it, and when a half is full
// the same compare-and-swap begins the next generation in the other half. Heads carry the generation, so those of older
// ones count as empty and nothing ever has to be cleared. A fact is written completely into its slot and published by
// one compare-and-swap on its bucket head: a writer that dies leaves an unused slot. Slots are copied before use and
// carry a checksum over everything, generation included: a writer that slept through two generations and then scribbles
// over a slot can make a fact unknown, never wrong. Readers look in the current and in the previous generation.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "common/shmem/catalog_view.h"

namespace weir::shmem {

class CatalogFacts {
 public:
  // The least size of a region.
  static constexpr std::size_t kMinBytes = 16 * 1024;
  // A fact of more schemas than this, or larger than a quarter of a half, is kept as one of unknown schemas.
  static constexpr std::size_t kMaxSchemas = 512;
  static constexpr std::size_t kMaxNameBytes = 255;
  // That nobody has an object of some name is believed for so many seconds only: it may be made behind pgweir's back,
  // or by a transaction that has not committed yet.
  static constexpr std::uint32_t kAbsentSeconds = 10;

  CatalogFacts() = default;  // no table: nothing is known, nothing is kept

  // Lays the table out in MEMORY (zeroed or not, 8-byte aligned, at least kMinBytes), once, before the first fork.
  static CatalogFacts create(std::span<std::byte> memory);
  // The table that `create` made in MEMORY. A region that holds none gives a table that knows nothing.
  static CatalogFacts attach(std::span<std::byte> memory);

  bool valid() const { return header_ != nullptr; }

  // Grows with each bump; 0 is never current. Read it *before* asking the server: an answer that was overtaken by a
  // change of the catalogue is then never found.
  std::uint64_t epoch() const;
  // Makes every fact unknown, those on their way included.
  void bump_epoch() const;

  // Publishes what is known of NAME as of EPOCH. False if it is too large, the epoch is over, or there is no table.
  // Of a fact that is too large one SchemaFact with an empty schema name and all flags false is kept, which readers
  // must take as "an object of any schema, nothing known of it". NOW: any monotonic seconds, the same clock as for
  // find().
  bool insert(std::uint64_t epoch, std::string_view database, FactKind kind, std::string_view name,
              std::span<const SchemaFact> schemas, std::uint32_t now) const;

  // The newest fact of the current epoch, not older than MAX_AGE seconds (0: of any age; see also kAbsentSeconds).
  // Copies it to BUFFER, into which the answer's views point.
  CatalogAnswer find(std::string_view database, FactKind kind, std::string_view name, std::uint32_t now,
                     std::uint32_t max_age, std::vector<std::uint64_t>& buffer) const;

  // How often the table was full and began anew (for SHOW and tests).
  std::uint32_t generation() const;

 private:
  struct Header;
  struct Claim {  // a slot for one fact; offset 0: none
    std::uint32_t generation = 0;
    std::uint32_t offset = 0;
  };
  friend struct CatalogFactsTest;

  explicit CatalogFacts(Header* header) : header_(header) {}

  std::uint64_t* head_of(std::uint32_t generation, std::uint64_t hash) const;
  std::uint64_t* slot_at(std::uint32_t generation, std::uint32_t offset) const;
  Claim claim(std::size_t words) const;
  bool publish(Claim claim, std::span<std::uint64_t> image) const;
  bool copy_slot(std::uint32_t generation, std::uint32_t offset, std::vector<std::uint64_t>& buffer) const;
  bool find_in(std::uint32_t generation, std::span<const std::uint64_t> key, std::vector<std::uint64_t>& buffer) const;

  Header* header_ = nullptr;
};

// The look-up that routing is given: a table, the current time and the age limit.
class SharedCatalog : public CatalogView {
 public:
  explicit SharedCatalog(CatalogFacts facts) : facts_(facts) {}
  SharedCatalog(const SharedCatalog&) = delete;
  SharedCatalog& operator=(const SharedCatalog&) = delete;

  // Seconds of the clock that inserts use, and relcache_expire (0: for ever).
  void set_now(std::uint32_t now) { now_ = now; }
  void set_max_age(std::uint32_t seconds) { max_age_ = seconds; }
  std::uint64_t epoch() const { return facts_.epoch(); }

  CatalogAnswer find(std::string_view database, FactKind kind, std::string_view name) const override;

 private:
  CatalogFacts facts_;
  std::uint32_t now_ = 0;
  std::uint32_t max_age_ = 0;
  mutable std::vector<std::uint64_t> buffer_;
};

}  // namespace weir::shmem
