// Headers from a server -> progress of what was asked of it. One tracker a session and backend: a queue of the replies
// that are still to come, in the order in which the messages were sent, each with what to do with it. Pure.
// Rules: PostgreSQL protocol, "Extended Query" (after an error the server skips to Sync), "COPY Operations" (Sync and
// Flush are ignored during COPY IN), "Message Flow".
#pragma once

#include <cstdint>
#include <vector>

namespace weir::child {

// What was sent and will be answered. CopyEnd (CopyDone or CopyFail) has no answer of its own.
enum class Sent : std::uint8_t { Parse, Bind, DescribeStatement, DescribePortal, Execute, Close, Sync, Query, FunctionCall, CopyEnd };

struct Progress {
  enum class Event : std::uint8_t {
    Other,          // nothing that the owner must act on
    Parsed,         // ParseComplete of the oldest Parse
    Closed,         // CloseComplete of the oldest Close
    ParsedAlready,  // ... that stands for a Parse of what the server has already: ParseComplete to the client
    Answer,         // the answer has begun: DataRow, CopyOutResponse, ...
    StatementDone,  // CommandComplete, EmptyQueryResponse or PortalSuspended
    CopyIn,         // the server wants data
    Error,          // ErrorResponse; the rest up to Sync will not be answered
    Ready,          // ReadyForQuery: one exchange is done
    Unexpected,     // no such reply can come now: the server is not to be trusted any more
  };
  Event event = Event::Other;
  Sent of = Sent::Sync;    // which message it answers
  bool hidden = false;     // ... and whether pgweir sent it itself: its replies are swallowed, errors excepted
  std::uint32_t skipped_parses = 0;  // with Error: how many Parse and
  std::uint32_t skipped_closes = 0;  // Close messages will not be done
  std::uint64_t label = 0;  // with Error: what the sender called the message that failed
};

class ReplyTracker {
 public:
  // HIDDEN: sent by pgweir itself, ahead of what the client asked for. LABEL means something to the owner alone.
  void sent(Sent what, bool hidden = false, std::uint64_t label = 0);
  // A Close of what does not exist, in the place of a Parse of what the server has already: it fails, is skipped and is
  // answered just where that would be.
  void sent_close_for_parse();
  // A Query with a Sync of pgweir's own behind it, because messages of its own without a Sync stand before it: two
  // ReadyForQuery come, of which the owner sees one. Not for a text that may copy in: a Sync is lost in the data.
  void sent_query_and_sync();
  // A reply of the server (never called for NoticeResponse, ParameterStatus and NotificationResponse).
  Progress feed(char tag);

  bool idle() const { return queue_.size() == head_; }
  // Exchanges (Sync, Query, FunctionCall) whose ReadyForQuery is still to come.
  std::uint32_t exchanges() const { return exchanges_; }
  // Messages were sent after the last Sync: the server's implicit transaction is open.
  bool unsynced() const { return unsynced_; }
  // After an error without a Sync: the server ignores everything until it gets one.
  bool skipping() const { return skipping_; }
  bool copy_in() const { return copy_in_; }
  // An Execute or Query is among what is outstanding.
  bool executing() const { return executing_ != 0; }
  std::uint32_t executing_count() const { return executing_; }
  void clear();

 private:
  struct Item {
    Sent what;
    bool hidden;
    bool for_parse = false;     // a Close
    std::uint64_t label = 0;
    bool ready_hidden = false;  // a Query's ReadyForQuery: that of the Sync behind it counts
  };
  Sent head() const { return queue_[head_].what; }
  void pop();
  Progress error();
  void begin_copy_in();
  void count(Sent what, int delta);

  std::vector<Item> queue_;  // [head_, size) is outstanding
  std::size_t head_ = 0;
  std::uint32_t exchanges_ = 0;
  std::uint32_t executing_ = 0;
  bool unsynced_ = false;
  bool skipping_ = false;
  bool copy_in_ = false;
  bool answered_ = false;  // the Query or FunctionCall at the head has got what must come before ReadyForQuery
  std::uint32_t swallowed_ = 0;  // Syncs taken for ignored by a server that copies in
};

}  // namespace weir::child
