// What a client has sent up to the point where it can be judged as a whole: one simple Query, one FunctionCall, or the
// messages of an extended batch up to Sync, Flush or 64 KiB.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "child/prepared.h"
#include "child/reply_tracker.h"
#include "lb/target.h"

namespace weir::child {

// How the name of a statement goes to a server while connections are lent by the transaction.
enum class Naming : std::uint8_t {
  AsSent,
  Shared,        // as the shared statement's
  AlreadyThere,  // a Parse of what the server has: a Close of nothing stands for it
  Nothing,       // a Close of a shared statement: the others keep it
  Foreign,       // not known, and looks like one of pgweir's own names
};

struct BatchItem {
  Sent what = Sent::Sync;
  std::size_t offset = 0;    // of the message in the batch
  std::size_t size = 0;      // of the whole message
  std::string_view name;     // Parse, Bind, Describe, Close: the name meant; only valid while the batch is looked at
  PreparedPtr statement;     // Parse: the new one; Bind, Describe, Execute: the one meant, if known
  FactsPtr facts;            // Query
  bool limited = false;      // Execute: of some rows only
  bool of_statement = false;  // Describe and Close: a statement, not a portal
  std::string_view statement_name = {};  // Parse, Bind, Describe and Close of a statement; valid as `name` is
  Naming naming = Naming::AsSent;
};

struct Batch {
  enum class Kind : std::uint8_t { None, Simple, Extended, Function };
  enum class End : std::uint8_t {
    Open,      // more is to come
    Complete,  // Query, FunctionCall, Sync
    Flush,     // what is there wants an answer
    Overflow,  // 64 KiB without an end
    Oversize,  // a message follows that is too large to be looked at as a whole
    CopyData,  // copy data follows
  };

  static constexpr std::size_t kLimit = 64U << 10U;

  Kind kind = Kind::None;
  End end = End::Open;
  std::size_t length = 0;  // bytes looked at
  std::vector<BatchItem> items;

  // How it is being carried out:
  int node = -1;            // chosen, -1: not yet
  bool retained = false;    // kept until its answer has begun: sent to a standby, it may be run again elsewhere, or ...
  bool for_healing = false; // ... it uses statements that the server may have lost, and runs again there with new ones
  bool healed = false;      // it has run again for that
  bool aside = false;       // a read on a standby beside the block that is open on the primary
  bool retried = false;     // its effects count already
  bool pattern = false;       // the text matches primary_routing_query_pattern_list
  bool primary_only = false;
  std::optional<lb::Reason> forced;  // why it is not sent where its text would be; none: it is
  std::string oversize_portal;     // the names in an oversize Bind
  std::string oversize_statement;
  std::size_t oversize = 0;  // size of the message that follows in pieces (End::Oversize)

  bool has_execute() const;
  void clear();
};

}  // namespace weir::child
