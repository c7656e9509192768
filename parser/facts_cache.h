// Bounded cache text -> facts: by the exact text, then by the text without literals, then
// libpg_query. A hit allocates nothing. One a process; not for several threads.
#pragma once

#include <array>
#include <boost/unordered/unordered_flat_map.hpp>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <list>
#include <memory>
#include <string>
#include <string_view>

#include "parser/facts.h"

namespace weir::parser {

// Facts as they are shared by all texts that have them. The facts never change; the memo is the
// caller's, for what it derives from them (KEY 0: unused). What depends on the text's literals must
// not go in unless exact_text_only is set.
struct Entry {
  struct Memo {
    std::uint64_t key = 0;
    std::uint32_t value = 0;
  };
  StatementFacts facts;
  mutable std::array<Memo, 4> memo{};
};

class FactsCache {
public:
  // Limits hold for each of the two tables; bytes count keys and facts.
  explicit FactsCache(std::size_t max_entries = 5000,
                      std::size_t max_bytes = std::size_t{4} << 20U);

  // The facts of TEXT, never null. A returned entry stays valid when the cache drops it.
  std::shared_ptr<const Entry> get(std::string_view text);

  struct Counters {
    std::uint64_t exact = 0;     // found by the exact text
    std::uint64_t skeletons = 0; // found without literals
    std::uint64_t misses = 0;    // parsed
  };
  const Counters& counters() const { return counters_; }

  struct Usage {
    std::size_t entries = 0;
    std::size_t bytes = 0;
  };
  Usage exact_usage() const { return exact_.usage(); }
  Usage skeleton_usage() const { return skeletons_.usage(); }

private:
  // Seeded, so that clients can't aim at one bucket.
  struct Hash {
    using is_transparent = void;
    using is_avalanching = void;
    explicit Hash(std::uint64_t secret);
    std::uint64_t seed;
    std::uint64_t other;
    std::size_t operator()(std::string_view text) const;
  };
  struct Line {
    std::string text;
    std::shared_ptr<const Entry> entry;
    std::size_t bytes = 0;
  };
  // One least-recently-used table. The keys are views of the lines' texts.
  class Table {
  public:
    Table(std::size_t max_entries, std::size_t max_bytes, const Hash& hash);
    const std::shared_ptr<const Entry>* find(std::string_view text);
    void insert(std::string_view text, std::shared_ptr<const Entry> entry);
    Usage usage() const { return {lines_.size(), bytes_}; }

  private:
    void drop_last();

    std::size_t max_entries_;
    std::size_t max_bytes_;
    std::size_t bytes_ = 0;
    std::list<Line> lines_; // most recent first
    boost::unordered_flat_map<std::string_view, std::list<Line>::iterator, Hash, std::equal_to<>>
        index_;
  };

  bool seen_before(std::string_view text);

  Hash hash_;
  Table exact_;
  Table skeletons_;
  std::shared_ptr<const Entry>
      hangs_on_literals_; // marks a skeleton whose facts are those of exact texts only
  std::array<std::uint64_t, 1024> sighted_{}; // hashes of texts seen once and not kept
  std::string scratch_;
  Counters counters_;
};

} // namespace weir::parser
