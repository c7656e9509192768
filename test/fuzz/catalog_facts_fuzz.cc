// A table of catalogue facts whose bytes somebody else wrote: looking up may find nothing, and never reads outside.
// Input: pairs of (place, value), three bytes each, written over a table that holds some facts.
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "common/base/check.h"
#include "common/shmem/catalog_facts.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace weir::shmem;
  constexpr std::size_t kBytes = CatalogFacts::kMinBytes;
  constexpr std::size_t kFixed = 64;  // sizes and marks of the table itself are written once, before the first fork
  // On the heap and of the exact size, so that a sanitizer sees the ends.
  const auto memory = std::make_unique<std::uint64_t[]>(kBytes / 8);
  const std::span<std::byte> bytes(reinterpret_cast<std::byte*>(memory.get()), kBytes);
  const CatalogFacts facts = CatalogFacts::create(bytes);
  const SchemaFact schemas[] = {{"public", true, false, false}, {"other", false, true, true}};
  for (int i = 0; i < 20; ++i) {
    facts.insert(facts.epoch(), "db", FactKind::Relation, "t" + std::to_string(i), schemas, 1);
  }
  for (std::size_t i = 0; i + 3 <= size; i += 3) {
    const std::size_t place = (std::size_t{data[i]} << 8 | data[i + 1]) % (kBytes - kFixed);
    bytes[kFixed + place] = static_cast<std::byte>(data[i + 2]);
  }
  std::vector<std::uint64_t> buffer;
  for (int i = 0; i < 20; ++i) {
    const CatalogAnswer answer = facts.find("db", FactKind::Relation, "t" + std::to_string(i), 2, 0, buffer);
    if (answer.known == Known::Unknown) continue;
    WEIR_CHECK(answer.schemas.size() == 2);
    WEIR_CHECK(answer.schemas[0].schema == "public" && answer.schemas[0].plain && !answer.schemas[0].builtin);
    WEIR_CHECK(answer.schemas[1].schema == "other" && answer.schemas[1].plain_to_write);
  }
  return 0;
}
