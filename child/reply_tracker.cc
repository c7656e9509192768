#include "child/reply_tracker.h"

namespace weir::child {

void ReplyTracker::count(Sent what, int delta) {
  const auto change = static_cast<std::uint32_t>(delta);
  if (what == Sent::Sync || what == Sent::Query || what == Sent::FunctionCall) exchanges_ += change;
  if (what == Sent::Execute || what == Sent::Query || what == Sent::FunctionCall) executing_ += change;
}

void ReplyTracker::sent(Sent what, bool hidden, std::uint64_t label) {
  if (what == Sent::CopyEnd) {
    // Without anything outstanding the server ignores it; while it copies, the copy ends here.
    if (copy_in_) {
      copy_in_ = false;
      return;
    }
    if (idle()) return;
  } else if (copy_in_ && what == Sent::Sync) {
    ++swallowed_;
    return;  // ignored by a server that copies in
  }
  if (idle()) swallowed_ = 0;
  if (skipping_) {
    if (what != Sent::Sync) return;
    skipping_ = false;
  }
  if (what == Sent::Sync || what == Sent::Query || what == Sent::FunctionCall) {
    unsynced_ = false;
  } else if (what != Sent::CopyEnd) {
    unsynced_ = true;
  }
  if (head_ == queue_.size()) {
    queue_.clear();
    head_ = 0;
  }
  queue_.push_back({what, hidden, false, label});
  count(what, 1);
}

void ReplyTracker::sent_close_for_parse() {
  const std::size_t before = queue_.size() - head_;
  sent(Sent::Close);
  if (queue_.size() - head_ > before) queue_.back().for_parse = true;
}

void ReplyTracker::sent_query_and_sync() {
  sent(Sent::Query);
  if (skipping_) return;
  queue_.back().ready_hidden = true;
  sent(Sent::Sync);
}

void ReplyTracker::pop() {
  answered_ = false;
  count(head(), -1);
  ++head_;
  while (head_ < queue_.size() && head() == Sent::CopyEnd) ++head_;
  if (head_ == queue_.size()) {
    queue_.clear();
    head_ = 0;
  } else if (head_ > 1024 && head_ * 2 > queue_.size()) {
    queue_.erase(queue_.begin(), queue_.begin() + static_cast<std::ptrdiff_t>(head_));
    head_ = 0;
  }
}

void ReplyTracker::clear() { *this = ReplyTracker(); }

Progress ReplyTracker::error() {
  copy_in_ = false;
  if (idle()) return {Progress::Event::Error, Sent::Sync, false, 0, 0, 0};
  answered_ = true;
  Progress progress{Progress::Event::Error, head(), queue_[head_].hidden, 0, 0, queue_[head_].label};
  if (head() == Sent::Query || head() == Sent::FunctionCall || head() == Sent::Sync) return progress;  // ReadyForQuery follows
  while (!idle() && head() != Sent::Sync) {
    if (head() == Sent::Parse) ++progress.skipped_parses;
    if (head() == Sent::Close) ++progress.skipped_closes;
    pop();
  }
  if (idle()) skipping_ = true;
  return progress;
}

void ReplyTracker::begin_copy_in() {
  // The Syncs that were sent after the statement and before the end of the copy are ignored by the server.
  copy_in_ = true;
  queue_[head_].ready_hidden = false;
  std::size_t keep = head_ + 1;
  for (std::size_t i = head_ + 1; i < queue_.size(); ++i) {
    if (copy_in_ && queue_[i].what == Sent::CopyEnd) {
      copy_in_ = false;
      continue;
    }
    if (copy_in_ && queue_[i].what == Sent::Sync) {
      count(Sent::Sync, -1);
      ++swallowed_;
      if (head() == Sent::Execute) unsynced_ = true;
      continue;
    }
    queue_[keep++] = queue_[i];
  }
  queue_.resize(keep);
  if (!queue_.empty() && queue_.back().what == Sent::Sync) unsynced_ = false;
}

Progress ReplyTracker::feed(char tag) {
  using Event = Progress::Event;
  if (tag == 'E') return error();
  if (idle()) {
    // A Sync that a COPY IN swallowed on our side may have reached a server that had failed already.
    if (tag == 'Z' && swallowed_ > 0) {
      --swallowed_;
      skipping_ = false;
      unsynced_ = false;
      return {Event::Ready, Sent::Sync, false, 0, 0, 0};
    }
    return {Event::Unexpected, Sent::Sync, false, 0, 0, 0};
  }
  const Sent of = head();
  const bool hidden = queue_[head_].hidden;
  const bool query = of == Sent::Query;
  const auto simple = [&](bool expected, Event event, bool done) {
    if (!expected) return Progress{Event::Unexpected, of, hidden, 0, 0, 0};
    if (done) pop();
    return Progress{event, of, hidden, 0, 0, 0};
  };
  switch (tag) {
    case '1': return simple(of == Sent::Parse, Event::Parsed, true);
    case '2': return simple(of == Sent::Bind, Event::Other, true);
    case '3': {
      const Event event = queue_[head_].for_parse ? Event::ParsedAlready : Event::Closed;
      return simple(of == Sent::Close, event, true);
    }
    case 't': return simple(of == Sent::DescribeStatement, Event::Other, false);
    case 'n': return simple(of == Sent::DescribeStatement || of == Sent::DescribePortal, Event::Other, true);
    case 'T':
      if (query || of == Sent::Execute) return {Event::Other, of, hidden, 0, 0, 0};
      return simple(of == Sent::DescribeStatement || of == Sent::DescribePortal, Event::Other, true);
    case 'D':
    case 'd':
    case 'H':
    case 'W':
    case 'c': return simple(query || of == Sent::Execute, Event::Answer, false);
    case 'G':
      if (!query && of != Sent::Execute) return {Event::Unexpected, of, hidden, 0, 0, 0};
      begin_copy_in();
      return {Event::CopyIn, of, hidden, 0, 0, 0};
    case 'C':
    case 'I':
      copy_in_ = false;
      answered_ = true;
      return simple(query || of == Sent::Execute, Event::StatementDone, of == Sent::Execute);
    case 's': return simple(of == Sent::Execute, Event::StatementDone, true);
    case 'V': answered_ = true; return simple(of == Sent::FunctionCall, Event::Answer, false);
    case 'Z':
      copy_in_ = false;
      if (query && answered_ && queue_[head_].ready_hidden) return pop(), Progress{Event::Other, of, true, 0, 0, 0};
      // A Query has an answer before it, if only an error: one without is left over from what was before.
      return simple(of == Sent::Sync || ((query || of == Sent::FunctionCall) && answered_), Event::Ready, true);
    default: return {Event::Unexpected, of, hidden, 0, 0, 0};
  }
}

}  // namespace weir::child
