// Slot, in 64-bit words:
//   0 checksum of the words that follow
//   1 words in all (upper half), offset of the next slot of the bucket (lower half)
//   2 generation (upper half), seconds when learnt (lower half)
//   3 hash of the key
//   4 epoch
//   5 key: kind, length of database, length of name (a byte each), database, name; padded with zeros to whole words
//   . number of schemas, then for each two bytes of flags, a byte of length and the name, a byte of length and the schemas
//     that would make it doubtful; padded likewise
// Words 3 to the end of the key are compared as they are.
#include "common/shmem/catalog_facts.h"

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstring>
#include <new>
#include <optional>
#include <utility>

namespace weir::shmem {

struct CatalogFacts::Header {
  std::uint64_t magic;
  std::uint64_t bytes;
  std::uint64_t epoch;
  std::uint64_t state;  // generation (upper half), bytes of its arena in use (lower half)
  std::uint32_t buckets;
  std::uint32_t arena_bytes;  // of each half
};

namespace {

constexpr std::uint64_t kMagic = 0x7065677769666163;
constexpr std::size_t kHeaderBytes = 64;
constexpr std::uint32_t kFirstOffset = 8;  // 0 means none
constexpr int kMaxSteps = 64;              // along one bucket
constexpr std::size_t kPrefixWords = 5;
constexpr std::size_t kMaxBytes = std::size_t{1} << 31;

struct Flag {
  unsigned bit;
  bool SchemaFact::*field;
};
constexpr Flag kFlags[] = {
    {1, &SchemaFact::plain},         {2, &SchemaFact::plain_to_write}, {4, &SchemaFact::builtin},
    {8, &SchemaFact::quiet},         {16, &SchemaFact::late},          {32, &SchemaFact::reads_itself},
    {64, &SchemaFact::writes_itself}, {128, &SchemaFact::draws_nothing}, {256, &SchemaFact::tells_time},
};

std::uint64_t load(std::uint64_t& word, std::memory_order order = std::memory_order_relaxed) {
  return std::atomic_ref<std::uint64_t>(word).load(order);
}

void store(std::uint64_t& word, std::uint64_t value) {
  std::atomic_ref<std::uint64_t>(word).store(value, std::memory_order_relaxed);
}

bool exchange(std::uint64_t& word, std::uint64_t& expected, std::uint64_t desired) {
  return std::atomic_ref<std::uint64_t>(word).compare_exchange_weak(expected, desired, std::memory_order_acq_rel,
                                                                    std::memory_order_acquire);
}

std::uint64_t pair_of(std::uint32_t upper, std::uint32_t lower) { return std::uint64_t{upper} << 32 | lower; }
std::uint32_t upper_of(std::uint64_t word) { return static_cast<std::uint32_t>(word >> 32); }
std::uint32_t lower_of(std::uint64_t word) { return static_cast<std::uint32_t>(word); }

std::uint64_t hash_words(std::span<const std::uint64_t> words, std::uint64_t seed) {
  std::uint64_t hash = seed ^ (words.size() * 0x9E3779B97F4A7C15);
  for (const std::uint64_t word : words) {
    hash = (hash ^ word) * 0xD6E8FEB86659FD93;
    hash ^= hash >> 32;
    hash *= 0x9FB21C651E98DF25;
    hash ^= hash >> 29;
  }
  return hash;
}

std::uint64_t checksum(std::span<const std::uint64_t> image) {
  return hash_words(image.subspan(1), 0x243F6A8885A308D3);
}

// Appends bytes to a vector of words and pads at the end.
class WordWriter {
 public:
  explicit WordWriter(std::vector<std::uint64_t>& words) : words_(words) {}
  void byte(std::size_t value) {
    const char c = static_cast<char>(static_cast<unsigned char>(value));
    text({&c, 1});
  }
  void text(std::string_view text) {
    for (const char c : text) {
      if (used_ == 0) words_.push_back(0);
      words_.back() |= std::uint64_t{static_cast<unsigned char>(c)} << (8 * used_);
      used_ = (used_ + 1) % 8;
    }
  }
  void pad() { used_ = 0; }

 private:
  std::vector<std::uint64_t>& words_;
  unsigned used_ = 0;
};

// Words 3 … end of key of a slot; the hash stands first.
std::vector<std::uint64_t> make_key(std::uint64_t epoch, std::string_view database, FactKind kind,
                                    std::string_view name) {
  std::vector<std::uint64_t> key{0, epoch};
  key.reserve(2 + (3 + database.size() + name.size() + 7) / 8);
  WordWriter writer(key);
  writer.byte(static_cast<std::size_t>(kind));
  writer.byte(database.size());
  writer.byte(name.size());
  writer.text(database);
  writer.text(name);
  key[0] = hash_words(std::span(key).subspan(1), 0x13198A2E03707344);
  return key;
}

void append_schemas(std::vector<std::uint64_t>& image, std::span<const SchemaFact> schemas) {
  image.push_back(schemas.size());
  WordWriter writer(image);
  for (const SchemaFact& fact : schemas) {
    unsigned flags = 0;
    for (const Flag& flag : kFlags) flags |= fact.*flag.field ? flag.bit : 0;
    writer.byte(flags & 0xff);
    writer.byte(flags >> 8);
    writer.byte(fact.schema.size());
    writer.text(fact.schema);
    writer.byte(fact.path_doubts.size());
    writer.text(fact.path_doubts);
  }
}

// The value part of a verified slot; views point into WORDS.
std::optional<std::vector<SchemaFact>> read_schemas(std::span<const std::uint64_t> words) {
  if (words.empty()) return std::nullopt;
  const std::uint64_t count = words[0];
  const std::string_view bytes(reinterpret_cast<const char*>(words.data() + 1), (words.size() - 1) * 8);
  if (count > bytes.size() / 4) return std::nullopt;
  std::vector<SchemaFact> schemas;
  schemas.reserve(count);
  std::size_t at = 0;
  const auto next = [&](std::string_view& text) {
    if (at >= bytes.size()) return false;
    const std::size_t length = static_cast<unsigned char>(bytes[at++]);
    if (bytes.size() - at < length) return false;
    text = bytes.substr(at, length);
    at += length;
    return true;
  };
  for (std::uint64_t i = 0; i < count; ++i) {
    if (bytes.size() - at < 2) return std::nullopt;
    const unsigned flags = static_cast<unsigned char>(bytes[at]) | static_cast<unsigned>(static_cast<unsigned char>(bytes[at + 1])) << 8;
    at += 2;
    SchemaFact fact;
    if (!next(fact.schema) || !next(fact.path_doubts)) return std::nullopt;
    for (const Flag& flag : kFlags) fact.*flag.field = (flags & flag.bit) != 0;
    schemas.push_back(fact);
  }
  return schemas;
}

bool fits(std::span<const SchemaFact> schemas) {
  return schemas.size() <= CatalogFacts::kMaxSchemas &&
         std::all_of(schemas.begin(), schemas.end(), [](const SchemaFact& fact) {
           return fact.schema.size() <= CatalogFacts::kMaxNameBytes &&
                  fact.path_doubts.size() <= CatalogFacts::kMaxNameBytes;
         });
}

}  // namespace

// Schema names are copied byte by byte into words and read back as text.
static_assert(std::endian::native == std::endian::little);

CatalogFacts CatalogFacts::create(std::span<std::byte> memory) {
  const bool aligned = reinterpret_cast<std::uintptr_t>(memory.data()) % alignof(std::uint64_t) == 0;
  if (!aligned || memory.size() < kMinBytes) return {};
  static_assert(sizeof(Header) <= kHeaderBytes);
  const std::size_t bytes = std::min(memory.size(), kMaxBytes) / 16 * 16;
  const std::size_t half = (bytes - kHeaderBytes) / 16 * 8;
  const std::size_t buckets = std::bit_floor(half / 256);
  auto* header = new (memory.data()) Header{};
  header->bytes = bytes;
  header->epoch = 1;
  header->buckets = static_cast<std::uint32_t>(buckets);
  header->arena_bytes = static_cast<std::uint32_t>(half - buckets * 8);
  header->state = pair_of(1, kFirstOffset);
  CatalogFacts facts(header);
  for (const std::uint32_t generation : {0U, 1U}) std::memset(facts.head_of(generation, 0), 0, buckets * 8);
  header->magic = kMagic;
  return facts;
}

CatalogFacts CatalogFacts::attach(std::span<std::byte> memory) {
  const bool aligned = reinterpret_cast<std::uintptr_t>(memory.data()) % alignof(std::uint64_t) == 0;
  if (!aligned || memory.size() < kMinBytes) return {};
  auto* header = reinterpret_cast<Header*>(memory.data());
  return header->magic == kMagic && header->bytes <= memory.size() ? CatalogFacts(header) : CatalogFacts();
}

std::uint64_t CatalogFacts::epoch() const {
  return valid() ? load(header_->epoch, std::memory_order_acquire) : 0;
}

void CatalogFacts::bump_epoch() const {
  if (valid()) std::atomic_ref<std::uint64_t>(header_->epoch).fetch_add(1, std::memory_order_acq_rel);
}

std::uint32_t CatalogFacts::generation() const {
  return valid() ? upper_of(load(header_->state, std::memory_order_acquire)) : 0;
}

std::uint64_t* CatalogFacts::head_of(std::uint32_t generation, std::uint64_t hash) const {
  auto* base = reinterpret_cast<std::byte*>(header_) + kHeaderBytes;
  const std::size_t half = std::size_t{header_->buckets} * 8 + header_->arena_bytes;
  auto* heads = reinterpret_cast<std::uint64_t*>(base + (generation & 1) * half);
  return heads + (hash & (header_->buckets - 1));
}

std::uint64_t* CatalogFacts::slot_at(std::uint32_t generation, std::uint32_t offset) const {
  return head_of(generation, 0) + header_->buckets + offset / 8;
}

CatalogFacts::Claim CatalogFacts::claim(std::size_t words) const {
  const std::size_t bytes = words * 8;
  if (bytes > (header_->arena_bytes - kFirstOffset) / 4) return {};
  std::uint64_t state = load(header_->state, std::memory_order_acquire);
  while (true) {
    Claim claim{upper_of(state), lower_of(state)};
    if (claim.offset + bytes > header_->arena_bytes) {
      // Full. 0 is no generation, and the halves alternate even when the number wraps around.
      const bool wraps = claim.generation == UINT32_MAX;
      claim = {wraps ? 2U : claim.generation + 1, kFirstOffset};
    }
    const auto used = static_cast<std::uint32_t>(claim.offset + bytes);
    if (exchange(header_->state, state, pair_of(claim.generation, used))) return claim;
  }
}

bool CatalogFacts::publish(Claim claim, std::span<std::uint64_t> image) const {
  std::uint64_t* slot = slot_at(claim.generation, claim.offset);
  std::uint64_t& head = *head_of(claim.generation, image[3]);
  image[2] = pair_of(claim.generation, lower_of(image[2]));
  std::uint64_t seen = load(head, std::memory_order_acquire);
  while (true) {
    // This process slept while the table moved on: what was claimed may be somebody else's by now.
    if (generation() - claim.generation > 1) return false;
    const std::uint32_t next = upper_of(seen) == claim.generation ? lower_of(seen) : 0;
    image[1] = pair_of(static_cast<std::uint32_t>(image.size()), next);
    image[0] = checksum(image);
    for (std::size_t i = 0; i < image.size(); ++i) store(slot[i], image[i]);
    if (exchange(head, seen, pair_of(claim.generation, claim.offset))) return true;
  }
}

bool CatalogFacts::insert(std::uint64_t epoch, std::string_view database, FactKind kind, std::string_view name,
                          std::span<const SchemaFact> schemas, std::uint32_t now) const {
  if (!valid() || epoch != this->epoch()) return false;
  if (database.size() > kMaxNameBytes || name.size() > kMaxNameBytes) return false;
  static constexpr SchemaFact kAnySchema{};
  const std::vector<std::uint64_t> key = make_key(epoch, database, kind, name);
  for (const bool whole : {true, false}) {
    if (whole && !fits(schemas)) continue;
    std::vector<std::uint64_t> image{0, 0, pair_of(0, now)};
    image.insert(image.end(), key.begin(), key.end());
    append_schemas(image, whole ? schemas : std::span(&kAnySchema, 1));
    const Claim slot = claim(image.size());
    if (slot.offset != 0) return publish(slot, image);
  }
  return false;
}

// Nothing that is read here can be trusted before the checksum has been seen to be right.
bool CatalogFacts::copy_slot(std::uint32_t generation, std::uint32_t offset,
                             std::vector<std::uint64_t>& buffer) const {
  std::uint64_t* slot = slot_at(generation, offset);
  const std::size_t words = upper_of(load(slot[1]));
  if (words <= kPrefixWords || words > (header_->arena_bytes - offset) / 8) return false;
  buffer.resize(words);
  for (std::size_t i = 0; i < words; ++i) buffer[i] = load(slot[i]);
  return upper_of(buffer[1]) == words && upper_of(buffer[2]) == generation && checksum(buffer) == buffer[0];
}

bool CatalogFacts::find_in(std::uint32_t generation, std::span<const std::uint64_t> key,
                           std::vector<std::uint64_t>& buffer) const {
  const std::uint64_t head = load(*head_of(generation, key[0]), std::memory_order_acquire);
  if (upper_of(head) != generation) return false;
  std::uint32_t offset = lower_of(head);
  for (int step = 0; step < kMaxSteps; ++step) {
    const bool inside = offset >= kFirstOffset && offset % 8 == 0 && offset <= header_->arena_bytes - kPrefixWords * 8;
    if (!inside) return false;
    std::uint64_t* slot = slot_at(generation, offset);
    if (load(slot[3]) == key[0] && copy_slot(generation, offset, buffer) && buffer.size() > 3 + key.size() &&
        std::equal(key.begin(), key.end(), buffer.begin() + 3)) {
      return true;
    }
    offset = lower_of(load(slot[1]));
  }
  return false;
}

CatalogAnswer CatalogFacts::find(std::string_view database, FactKind kind, std::string_view name, std::uint32_t now,
                                 std::uint32_t max_age, std::vector<std::uint64_t>& buffer) const {
  if (!valid() || database.size() > kMaxNameBytes || name.size() > kMaxNameBytes) return {};
  const std::vector<std::uint64_t> key = make_key(epoch(), database, kind, name);
  const std::uint32_t current = generation();
  const std::uint32_t previous = current - 1;
  if (!find_in(current, key, buffer) && !(previous != 0 && find_in(previous, key, buffer))) return {};
  const std::uint32_t learnt = lower_of(buffer[2]);
  const std::uint32_t age = now > learnt ? now - learnt : 0;
  if (max_age != 0 && age > max_age) return {};
  auto schemas = read_schemas(std::span<const std::uint64_t>(buffer).subspan(3 + key.size()));
  if (!schemas || (schemas->empty() && age > kAbsentSeconds)) return {};
  return {Known::Yes, std::move(*schemas)};
}

CatalogAnswer SharedCatalog::find(std::string_view database, FactKind kind, std::string_view name) const {
  return facts_.find(database, kind, name, now_, max_age_, buffer_);
}

}  // namespace weir::shmem
