// Bounded cache text -> facts: by the exact text, then by the text without literals, then libpg_query. A hit allocates
// nothing.
#pragma once

#include <boost/unordered/unordered_flat_map.hpp>
#include <cstddef>
#include <cstdint>
#include <list>
#include <memory>
#include <string>
#include <string_view>

#include "parser/facts.h"

namespace weir::parser {

struct Entry {
  StatementFacts facts;
};

class FactsCache {
 public:
  explicit FactsCache(std::size_t max_entries = 5000, std::size_t max_bytes = 8U << 20U);

  std::shared_ptr<const Entry> get(std::string_view text);

  struct Counters {
    std::uint64_t exact = 0;
    std::uint64_t skeletons = 0;
    std::uint64_t misses = 0;
  };
  const Counters& counters() const { return counters_; }

 private:
  struct Hash {
    using is_transparent = void;
    std::size_t operator()(std::string_view text) const { return boost::hash<std::string_view>()(text); }
  };
  struct Line {
    std::string text;
    std::shared_ptr<const Entry> entry;
  };
  // One least-recently-used table. The keys are views of the lines' texts.
  class Table {
   public:
    Table(std::size_t max_entries, std::size_t max_bytes) : max_entries_(max_entries), max_bytes_(max_bytes) {}
    std::shared_ptr<const Entry> find(std::string_view text);
    void insert(std::string_view text, std::shared_ptr<const Entry> entry);

   private:
    std::size_t max_entries_;
    std::size_t max_bytes_;
    std::size_t bytes_ = 0;
    std::list<Line> lines_;  // most recent first
    boost::unordered_flat_map<std::string_view, std::list<Line>::iterator, Hash, std::equal_to<>> index_;
  };

  Table exact_;
  Table skeletons_;
  std::string scratch_;
  Counters counters_;
};

}  // namespace weir::parser
