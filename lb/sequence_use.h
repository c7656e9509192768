// What a text may have to do with the values that its session has drawn from sequences, which currval() and lastval() tell.
// Pure; see test/unit/lb/sequence_use_test.cc for the table.
#pragma once

#include "lb/resolve.h"
#include "parser/facts.h"

namespace weir::lb {

struct SequenceUse {
  bool draws = false;  // nextval() or setval() may be called
  bool asks = false;   // currval() or lastval() may be
  bool named = false;  // ... and the text says so
  bool any() const { return draws || asks; }
  bool operator==(const SequenceUse&) const = default;
};

// What is not known of a text counts as both. What EXECUTE runs is left to the caller, who may know it: TOLD.
SequenceUse sequence_use(const parser::StatementFacts& facts, const Resolved& resolved, bool told = false);

}  // namespace weir::lb
