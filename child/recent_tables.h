// dml_adaptive_global: what was written a short time ago, by any session of any child, and which reads meet it. Cheap to
// make: a view of the shared table and of the settings as they are now.
#pragma once

#include <cstdint>
#include <string_view>

#include "common/shmem/recent_writes.h"
#include "lb/recent.h"
#include "lb/written_tables.h"

namespace weir::child {

class Worker;

class RecentTables {
 public:
  explicit RecentTables(Worker& worker);

  void note(std::string_view database, const lb::WrittenTables& written) const;
  // May a plain read meet what was written? At the beginning, when nobody knows what was written before, it may.
  bool meets(std::string_view database, const parser::StatementFacts& facts, const lb::Resolved& resolved) const;

 private:
  bool written(std::string_view database, std::string_view name) const;
  std::int64_t keep() const;

  shmem::RecentWrites table_;
  lb::RecentLimits limits_;
  std::int64_t now_;
  std::int64_t ttl_;
};

}  // namespace weir::child
