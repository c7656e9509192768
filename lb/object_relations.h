// dml_adaptive_object_relationship_list: which tables and functions hang on which. Pure.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/result.h"

namespace weir::lb {

// A table's or function's name as the list and dml_adaptive speak of it: without its schema, ASCII letters in lower
// case, "()" behind a function's.
std::string adaptive_name(std::string_view name, bool function);

// Entries are "object:dependent": when the object is written (a function: called), its dependent counts as written too.
// A backslash in front of a colon, a blank or a backslash takes it as part of the name (in front of a comma too, which
// the list itself sees to). A view or function that stands on the right is believed to read what it is listed with and
// nothing else, a function on the left to write what it is listed with and nothing else.
class ObjectRelations {
 public:
  // Fails (22023) if an entry has no colon or an empty side; empty entries do not count.
  static Result<ObjectRelations> compile(const std::vector<std::string>& entries);

  bool empty() const { return dependents_.empty(); }
  // NAME as adaptive_name gives it.
  bool is_object(std::string_view name) const { return dependents_.find(name) != dependents_.end(); }
  bool is_dependent(std::string_view name) const { return objects_.find(name) != objects_.end(); }
  // Those of NAME itself, not theirs in turn; null: none.
  const std::vector<std::string>* dependents(std::string_view name) const;

 private:
  std::map<std::string, std::vector<std::string>, std::less<>> dependents_;
  std::map<std::string, bool, std::less<>> objects_;  // every dependent
};

}  // namespace weir::lb
