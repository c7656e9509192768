// What has been written: in the open transaction for disable_load_balance_on_write = dml_adaptive, by one exchange for
// dml_adaptive_global. Pure; names as adaptive_name gives them, so that a table of any schema counts. ROLLBACK TO does not
// take anything back.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "lb/object_relations.h"
#include "lb/resolve.h"
#include "parser/facts.h"

namespace weir::lb {

class WrittenTables {
 public:
  static constexpr std::size_t kMaxNames = 128;

  void clear() {
    names_.clear();
    everything_ = false;
  }
  // A table, or a function with "()"; with its dependents, and theirs. Of too many names everything counts.
  void add(std::string name, const ObjectRelations& relations);
  // Nobody can say what was written.
  void add_everything() { everything_ = true; }

  bool none() const { return !everything_ && names_.empty(); }
  bool everything() const { return everything_; }
  const std::vector<std::string>& names() const { return names_; }
  // Does reading (or calling) NAME meet what was written?
  bool has(std::string_view name) const;

 private:
  std::vector<std::string> names_;
  bool everything_ = false;
};

// Adds what the text may write once it runs, or once it is EXECUTED if it is a PREPARE. RESOLVED is what is known at that moment: a name that is not known yet means
// everything.
void note_written(const parser::StatementFacts& facts, const Resolved& resolved, bool executed,
                  const ObjectRelations& relations, WrittenTables& written);

// May the text, a plain read, meet what was written?
bool reads_written(const parser::StatementFacts& facts, const Resolved& resolved, const WrittenTables& written);

}  // namespace weir::lb
