#include "parser/facts_cache.h"

#include <cstring>

#include "common/base/random.h"
#include "parser/classify.h"
#include "parser/fingerprint.h"
#include "parser/lexical.h"

namespace weir::parser {
namespace {

template <std::size_t kCount> std::uint64_t load(const char* from) {
  std::uint64_t word = 0;
  std::memcpy(&word, from, kCount);
  return word;
}

// Both halves of the product of two words.
std::uint64_t fold(std::uint64_t a, std::uint64_t b) {
  const unsigned __int128 product = static_cast<unsigned __int128>(a) * b;
  return static_cast<std::uint64_t>(product) ^ static_cast<std::uint64_t>(product >> 64U);
}

constexpr std::uint64_t kOdd1 = 0x9e3779b97f4a7c15ULL;
constexpr std::uint64_t kOdd2 = 0xd6e8feb86659fd93ULL;

std::size_t bytes_of(const std::vector<Name>& names) {
  std::size_t bytes = names.capacity() * sizeof(Name);
  for (const Name& name : names)
    bytes += name.name.capacity() + name.schema.capacity();
  return bytes;
}

std::size_t bytes_of(const Entry& entry) {
  std::size_t bytes = sizeof(Entry) + entry.facts.statements.capacity() * sizeof(Statement);
  for (const Statement& statement : entry.facts.statements) {
    bytes += bytes_of(statement.relations) + bytes_of(statement.written_relations) +
             bytes_of(statement.functions) + bytes_of(statement.operators) +
             bytes_of(statement.types) + statement.identifier.capacity() +
             statement.argument.capacity();
    for (const SetChange& change : statement.sets) {
      bytes += sizeof(SetChange) + change.parameter.capacity() + change.replay.capacity() +
               change.literal.capacity();
    }
  }
  return bytes;
}

// Is there anything that a client may vary?
bool has_literal(std::string_view text) {
  Lexer lexer(text);
  for (Token token = lexer.next(); token.kind != TokenKind::End; token = lexer.next()) {
    if (token.kind == TokenKind::Number || token.kind == TokenKind::String ||
        token.kind == TokenKind::Broken)
      return true;
  }
  return false;
}

} // namespace

// No factor is known outside, so that no text can make one zero and hide what stands before it.
FactsCache::Hash::Hash(std::uint64_t secret) : seed(secret), other(fold(secret, kOdd2)) {}

std::size_t FactsCache::Hash::operator()(std::string_view text) const {
  const char* at = text.data();
  std::size_t left = text.size();
  std::uint64_t hash = seed ^ (left * kOdd1);
  if (left > 32) {
    // Two chains, since each product waits for the one before it.
    std::uint64_t second = other;
    for (; left > 32; at += 32, left -= 32) {
      hash = fold(load<8>(at) ^ hash, load<8>(at + 8) ^ other);
      second = fold(load<8>(at + 16) ^ second, load<8>(at + 24) ^ seed);
    }
    hash ^= second;
  }
  for (; left >= 16; at += 16, left -= 16)
    hash = fold(load<8>(at) ^ hash, load<8>(at + 8) ^ other);
  if (left >= 8) {
    hash = fold(load<8>(at) ^ hash, load<8>(at + left - 8) ^ other);
  } else if (left >= 4) {
    hash = fold((load<4>(at) << 32U | load<4>(at + left - 4)) ^ hash, other);
  } else if (left > 0) {
    const std::uint64_t bytes = load<1>(at) << 16U | load<1>(at + left / 2) << 8U | load<1>(at + left - 1);
    hash = fold(bytes ^ hash, other);
  }
  return static_cast<std::size_t>(fold(hash ^ kOdd2, kOdd1));
}

FactsCache::Table::Table(std::size_t max_entries, std::size_t max_bytes, const Hash& hash)
    : max_entries_(max_entries), max_bytes_(max_bytes), index_(0, hash) {}

const std::shared_ptr<const Entry>* FactsCache::Table::find(std::string_view text) {
  const auto it = index_.find(text);
  if (it == index_.end())
    return nullptr;
  if (it->second != lines_.begin())
    lines_.splice(lines_.begin(), lines_, it->second);
  return &it->second->entry;
}

void FactsCache::Table::insert(std::string_view text, std::shared_ptr<const Entry> entry) {
  if (const auto it = index_.find(text); it != index_.end()) {
    const auto line = it->second;
    index_.erase(it);
    bytes_ -= line->bytes;
    lines_.erase(line);
  }
  constexpr std::size_t kOverhead = 96; // of the list's node and the index
  const std::size_t bytes = sizeof(Line) + kOverhead + text.size() + bytes_of(*entry);
  if (bytes > max_bytes_ || max_entries_ == 0)
    return;
  lines_.push_front({std::string(text), std::move(entry), bytes});
  bytes_ += bytes;
  index_.emplace(std::string_view(lines_.front().text), lines_.begin());
  while (lines_.size() > max_entries_ || bytes_ > max_bytes_)
    drop_last();
}

void FactsCache::Table::drop_last() {
  index_.erase(std::string_view(lines_.back().text));
  bytes_ -= lines_.back().bytes;
  lines_.pop_back();
}

FactsCache::FactsCache(std::size_t max_entries, std::size_t max_bytes)
    : hash_{secure_random_u64()}, exact_(max_entries, max_bytes, hash_),
      skeletons_(max_entries, max_bytes, hash_),
      hangs_on_literals_(std::make_shared<Entry>()) {}

bool FactsCache::seen_before(std::string_view text) {
  const std::uint64_t hash = hash_(text);
  std::uint64_t& slot = sighted_[hash % sighted_.size()];
  if (slot == hash)
    return true;
  slot = hash;
  return false;
}

std::shared_ptr<const Entry> FactsCache::get(std::string_view text) {
  const bool kept = text.size() <= kMaxText;
  std::string_view key;
  bool marked = false;
  if (kept) {
    if (const auto* hit = exact_.find(text)) {
      ++counters_.exact;
      return *hit;
    }
    key = skeleton(text, scratch_);
    const auto* hit = key.empty() ? nullptr : skeletons_.find(key);
    if (hit != nullptr && *hit != hangs_on_literals_) {
      ++counters_.skeletons;
      return *hit;
    }
    marked = hit != nullptr;
  }
  ++counters_.misses;
  auto entry = std::make_shared<Entry>();
  entry->facts = classify(text);
  if (!kept)
    return entry;
  if (!key.empty() && !entry->facts.exact_text_only) {
    skeletons_.insert(key, entry);
    return entry;
  }
  if (!key.empty() && !marked)
    skeletons_.insert(key, hangs_on_literals_);
  // A text with literals that can't be taken out may never come again.
  if (entry->facts.exact_text_only || !has_literal(text) || seen_before(text))
    exact_.insert(text, entry);
  return entry;
}

} // namespace weir::parser
