// Where an exchange goes, with a named reason that every log line, SHOW and test speaks.
#pragma once

#include <cstddef>
#include <cstdint>

#include "common/base/enum_text.h"

namespace weir::lb {

// Primary: the primary and nothing else. AnyReadable: may be balanced over the readable nodes by weight (the primary
// with its own weight included). SameNode: where the open transaction block already is. Node: the one a hint names.
// Local: answered by pgweir (SHOW POOL_NODES).
enum class Scope : std::uint8_t { Primary, AnyReadable, SameNode, Node, Local };
BOOST_DESCRIBE_ENUM(Scope, Primary, AnyReadable, SameNode, Node, Local)

enum class Reason : std::uint8_t {
#define REASON(name, text) name,
#include "lb/reasons.def"
#undef REASON
};
inline constexpr std::size_t kReasonCount = 0
#define REASON(name, text) +1
#include "lb/reasons.def"
#undef REASON
    ;
const char* reason_text(Reason reason);
const char* reason_name(Reason reason);

struct Target {
  Scope scope = Scope::Primary;
  Reason reason = Reason::Unparsable;
  int node = -1;  // with Scope::Node
  // With AnyReadable: standbys alone are drawn from; without any the primary serves (hint standby).
  bool prefer_standby = false;
  // With AnyReadable and Node: on a standby it runs outside of any block, while one is open on the primary. If no standby
  // serves it is the block's own statement.
  bool aside = false;
  // With a general reason (MultiStatement, BlockMoves) the particular one behind it; else equal to `reason`.
  Reason cause = Reason::Unparsable;
};

}  // namespace weir::lb
