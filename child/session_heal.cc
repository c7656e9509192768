// Shared statements that a server has lost, or that it will not run any more: see client_session.h. Somebody else has said
// DEALLOCATE ALL on the connection, or the rows of a text are of other types than they were when it was prepared. The
// statement is prepared anew, and what a client has asked for in vain runs again, if nothing of it can have run before.
#include <algorithm>

#include "child/client_session.h"
#include "child/shared_rows.h"
#include "child/worker.h"
#include "common/base/byte_reader.h"
#include "common/base/log.h"
#include "common/base/sqlstate.h"
#include "common/wire/encode.h"

namespace weir::child {
namespace {

constexpr std::string_view kForeignPrefix = "pgweir_pgweir_";

bool uses_statement(Sent what) { return what == Sent::Bind || what == Sent::DescribeStatement; }

// Only where the server has been asked for the statement by its name do these texts tell that.
bool names_statements(std::string_view sqlstate) {
  return sqlstate == sqlstate::kInvalidSqlStatementName || sqlstate == sqlstate::kDuplicatePreparedStatement || sqlstate == sqlstate::kProtocolViolation;
}

}  // namespace

// The batch that is about to be sent, outside of a transaction and with nothing under way, needs a statement that the server
// is only believed to have. Of those who send ahead without waiting for answers nothing is kept: it would hold them up.
bool ClientSession::may_heal() const {
  if (!renamed_batch_ || batch_.healed || batch_.end != Batch::End::Complete || status_ != 'I' || held_ != HeldBlock::None || more_follows_) return false;
  if (tracker_.unsynced() || tracker_.skipping() || opening_) return false;
  return std::any_of(batch_.items.begin(), batch_.items.end(), [this](const BatchItem& item) {
    if (item.naming == Naming::AlreadyThere) return true;
    const bool uses = item.naming == Naming::Shared && uses_statement(item.what);
    return uses && std::none_of(batch_.items.begin(), batch_.items.end(), [&](const BatchItem& other) { return other.what == Sent::Parse && other.statement == item.statement; });
  });
}

// The client goes on without waiting for the answer.
void ClientSession::stop_retaining() {
  if (!batch_.retained || !batch_.for_healing || discarding_) return;
  begin_answer();
  stream_.uncork();
  names_before_.reset();
  finish_retained();
}

// True: the message has failed for that reason alone.
bool ClientSession::note_unusable(Backend& backend, const Progress& progress, std::string_view sqlstate) {
  if (progress.label == 0 || progress.label == kForeignStatement) return false;
  const bool uses = uses_statement(progress.of);
  if (uses && sqlstate == sqlstate::kInvalidSqlStatementName) {
    // Where one is gone, the others are too.
    for (const auto& [number, used] : backend.shared) backend.unusable.push_back(number);
    backend.shared.clear();
    return true;
  }
  const bool one = (uses && sqlstate == sqlstate::kFeatureNotSupported) || (progress.of == Sent::Parse && sqlstate == sqlstate::kDuplicatePreparedStatement);
  if (!one) return false;
  if (std::find(backend.unusable.begin(), backend.unusable.end(), progress.label) == backend.unusable.end()) backend.unusable.push_back(progress.label);
  backend.shared.erase(progress.label);
  return true;
}

// The batch at hand runs again, and its answer up to here is thrown away.
bool ClientSession::heals(const Backend& backend) {
  if (!batch_.retained || begun_ || discarding_ || batch_.healed || batch_.aside || status_ != 'I' || held_ != HeldBlock::None) return false;
  log::print(log::Level::Info, log_context(), "node {} has lost a prepared statement, or its result is of other types now: it is prepared again", backend.node());
  worker_.rows().counts(backend.node()).count(shmem::ErrorClass::Error);
  discarding_ = healing_ = true;
  hold_.clear();
  instead_.clear();
  return true;
}

// The server is done with the batch that has failed.
void ClientSession::run_healed() {
  if (active_ == nullptr || active_->status != 'I') return fail(make_fatal(sqlstate::kProtocolViolation, "the server began a transaction that nobody asked for"));
  tracker_.clear();
  names_.drop_pending();
  if (names_before_) names_ = std::move(*names_before_);
  names_before_.reset();
  running_.clear();
  running_head_ = 0;
  hold_.clear();
  begun_ = failed_ = discarding_ = healing_ = false;
  batch_.retained = batch_.for_healing = false;
  batch_.retried = batch_.healed = true;
  set_state(ClientState::Idle);
  schedule_pump();
}

// In front of what uses them next: with that they are prepared again.
void ClientSession::close_unusable(Backend& backend, std::string& out) {
  for (const std::uint64_t number : backend.unusable) {
    wire::encode_close(out, 'S', worker_.statements().server_name(number));
    tracker_.sent(Sent::Close, true);
    names_.close_sent("\x01shared", true);
  }
  backend.unusable.clear();
}

// With the client's own name of a statement in it; empty: as it is.
std::string ClientSession::error_for_client(Bytes message, const Progress& progress, std::string_view sqlstate) {
  if (progress.label == 0 || !names_statements(sqlstate)) return {};
  if (message.size() != std::size_t{1} + ByteReader(message.subspan(1)).u32()) return {};  // longer than is looked at
  if (progress.label == kForeignStatement) return rename_in_error(message, kForeignPrefix, kServerNamePrefix);
  std::string name;
  const auto item = std::find_if(batch_.items.begin(), batch_.items.end(), [&](const BatchItem& one) {
    return one.what == progress.of && one.naming == Naming::Shared && one.statement->shared->number == progress.label;
  });
  if (batch_.retained && item != batch_.items.end()) {
    name = item->statement->name;
  } else {
    name = names_.name_of_shared(progress.label);
  }
  return rename_in_error(message, worker_.statements().server_name(progress.label), name);
}

}  // namespace weir::child
