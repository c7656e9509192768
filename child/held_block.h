// A transaction block that no server has open: BEGIN was answered without one, since the first statement decides where
// the block goes, or the standby that had it was lost. Pure; rules 10 and 17 of the session rules.
#pragma once

#include <cstdint>
#include <string_view>

#include "common/base/enum_text.h"
#include "parser/facts.h"

namespace weir::child {

enum class HeldBlock : std::uint8_t {
  None,     // no block, or a server has it
  Held,     // begun, and nothing of it has been sent yet: it can be opened anywhere
  Aborted,  // failed: nothing but its end is taken
};
BOOST_DESCRIBE_ENUM(HeldBlock, None, Held, Aborted)

// What pgweir itself answers to a statement of such a block.
struct BlockAnswer {
  enum class Kind : std::uint8_t {
    Server,     // nothing: a server must have it (and the block first)
    Complete,   // CommandComplete with TAG
    Empty,      // EmptyQueryResponse
    Refused,    // 25P02
    NoSavepoint,  // 3B001
  } kind = Kind::Server;
  std::string_view tag;
  HeldBlock after = HeldBlock::None;
  bool in_block = false;  // a block is open afterwards
};

// MAY_HOLD: a BEGIN may be held now (lb::may_hold). SAVEPOINT_KNOWN: the block has the savepoint that ROLLBACK TO names.
BlockAnswer answer_in_block(HeldBlock block, const parser::Statement& statement, bool may_hold, bool savepoint_known);

}  // namespace weir::child
