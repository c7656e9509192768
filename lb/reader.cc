#include "lb/reader.h"

#include <cstddef>

#include "lb/choose.h"

namespace weir::lb {

int choose_reader(const ReaderInputs& in) {
  const bool keep = in.kept >= 0 && !in.excluded.test(static_cast<std::size_t>(in.kept)) &&
                    eligible_node(in.view, in.kept, in.candidates);
  if (keep) return in.kept;
  const NodeSet allowed = eligible(in.view, in.candidates) & ~in.excluded;
  const RedirectChoice choice = apply_redirect(in.redirect, in.redirect_unit, in.view.primary, allowed);
  return choice.node >= 0 ? choice.node : choose(in.view, choice.nodes, in.random_unit);
}

}  // namespace weir::lb
