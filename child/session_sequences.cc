// What was drawn from sequences on a connection that is lent by the transaction: see client_session.h. Nobody is told what
// another session has drawn, and who asks in a transaction is told what it has drawn there itself.
#include <algorithm>

#include "child/client_session.h"
#include "child/internal_query.h"
#include "child/worker.h"
#include "common/base/log.h"
#include "common/wire/encode.h"
#include "lb/sequence_use.h"

namespace weir::child {

lb::SequenceUse ClientSession::sequence_use() const {
  lb::SequenceUse sum;
  if (batch_.kind == Batch::Kind::Function || batch_.end == Batch::End::Oversize) sum = {true, true, false};
  const auto add = [&](const Resolution& resolution, bool told) {
    const lb::SequenceUse one = lb::sequence_use(resolution.facts->facts, resolution.resolved, told);
    sum.draws = sum.draws || one.draws;
    sum.asks = sum.asks || one.asks;
    sum.named = sum.named || one.named;
  };
  for (const Resolution* resolution : resolutions_) {
    add(*resolution, std::any_of(executed_.begin(), executed_.end(), [&](const Executed& one) { return one.by == resolution; }));
  }
  for (const Executed& executed : executed_) add(*executed.prepared, false);
  return sum;
}

// The batch draws or asks where somebody else has drawn.
bool ClientSession::sequences_are_anothers(const Backend& backend) const {
  return pool_mode_ != PoolMode::Session && backend.drawn_by != 0 && backend.drawn_by != number_ && primary_backend(backend) && sequence_use().any();
}

// From a session that has asked before what it has drawn before goes on to be asked: another connection would not know.
bool ClientSession::keeps_sequences(const Backend& backend) const { return asks_sequences_ && backend.drawn_by == number_ && primary_backend(backend); }

// True if there is nothing (left) to do. In a block that has failed nothing is drawn or told.
bool ClientSession::forget_anothers_sequences(Backend& backend) {
  if (backend.status == 'E' || !sequences_are_anothers(backend)) return true;
  std::string messages;
  wire::encode_query(messages, "DISCARD SEQUENCES");
  backend.prepared.erase(std::string());  // the Query ends it
  start_internal(backend, std::move(messages), 1, [this, raw = &backend](InternalResult& result) {
    if (result.lost) {
      batch_.node = -1;
      on_backend_lost(*raw, *result.error);
    } else if (result.error) {
      return refuse_batch(*result.error, block_node_ == raw->node());
    } else {
      raw->drawn_by = 0;
    }
    pump();
  });
  return false;
}

// The batch is on its way.
void ClientSession::note_sequences(Backend& backend) {
  if (pool_mode_ == PoolMode::Session) return;
  const lb::SequenceUse use = sequence_use();
  asks_sequences_ = asks_sequences_ || use.named;
  if (!use.draws) return;
  backend.drawn_by = backend.drawn_by == 0 || backend.drawn_by == number_ ? number_ : Backend::kSeveral;
}

}  // namespace weir::child
