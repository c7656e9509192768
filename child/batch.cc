#include "child/batch.h"

#include <algorithm>

namespace weir::child {

bool Batch::has_execute() const {
  return std::any_of(items.begin(), items.end(), [](const BatchItem& item) { return item.what == Sent::Execute; });
}

void Batch::clear() {
  kind = Kind::None;
  end = End::Open;
  length = 0;
  items.clear();
  node = -1;
  retained = false;
  for_healing = false;
  healed = false;
  aside = false;
  retried = false;
  pattern = false;
  primary_only = false;
  forced.reset();
  oversize = 0;
  oversize_portal.clear();
  oversize_statement.clear();
}

}  // namespace weir::child
