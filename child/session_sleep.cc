// Idle sessions become snapshots and sessions again: see client_session.h and session_snapshot.h.
#include <algorithm>
#include <memory>
#include <utility>

#include "child/cancel.h"
#include "child/client_login.h"
#include "child/client_session.h"
#include "child/console_client.h"
#include "child/worker.h"
#include "common/auth/verifier.h"
#include "common/base/check.h"
#include "common/config/config.h"
#include "common/config/effective.h"
#include "common/shmem/mapping.h"

namespace weir::child {
namespace {

using SecretFrom = SessionSnapshot::SecretFrom;

std::string text_of(const auth::Secret& secret) {
  switch (secret.kind()) {
    case auth::Secret::Kind::Md5: return secret.md5_hash();
    case auth::Secret::Kind::Scram: return auth::format_scram_verifier(secret.scram());
    case auth::Secret::Kind::Plain: break;
  }
  return secret.plain();
}

void save_secret(SessionSnapshot& snapshot, const auth::Secret& secret, const std::optional<auth::Secret>& of_file) {
  snapshot.client_key = secret.client_key();
  if (of_file && of_file->kind() == secret.kind() && text_of(*of_file) == text_of(secret)) {
    snapshot.secret_from = SecretFrom::File;
    return;
  }
  snapshot.secret_from = secret.kind() == auth::Secret::Kind::Plain ? SecretFrom::Plain : SecretFrom::Stored;
  snapshot.secret = text_of(secret);
}

std::optional<auth::Secret> restore_secret(SessionSnapshot& snapshot, const Worker& worker) {
  std::optional<auth::Secret> secret;
  switch (snapshot.secret_from) {
    case SecretFrom::None: return std::nullopt;
    case SecretFrom::File: secret = worker.secret_of(snapshot.user); break;
    case SecretFrom::Plain: secret = auth::Secret::from_plain(snapshot.secret); break;
    case SecretFrom::Stored: secret = auth::Secret::from_stored(snapshot.secret); break;
  }
  if (secret && !snapshot.client_key.empty()) secret->set_client_key(std::move(snapshot.client_key));
  return secret;
}

SessionSnapshot::Pair facts_of_pair(const LoginInfo& info) {
  return {info.method, info.from_primary, info.parameters, info.defaults_known, info.search_path, info.serializable_default, info.unusual_isolation, info.foreign_role_settings, info.checked_change, info.fingerprint};
}

// The other process may have learnt of a change of what the pair's logins give: what it knows is newer than what is known here.
void follow_change(Worker& worker, const BackendKey& key, LoginInfo& info, const SessionSnapshot::Pair& pair) {
  if (pair.checked_change <= info.checked_change) return;
  if (pair.fingerprint != info.fingerprint) {
    worker.login_has_changed(info, key.database, key.user, pair.checked_change);
    if (pair.from_primary) worker.learn_parameters(info, pair.parameters);
  }
  info.fingerprint = pair.fingerprint;
  info.checked_change = pair.checked_change;
}

// What another process knows of the pair is good here if this one does not know better. TOLD: what the client was told beyond that.
void learn_pair(LoginInfo& info, SessionSnapshot::Pair pair, ParameterList& told) {
  for (const auto& [name, value] : pair.parameters) {
    const auto is_name = [&name = name](const auto& parameter) { return parameter.first == name; };
    const auto here = std::find_if(info.parameters.begin(), info.parameters.end(), is_name);
    const bool same = !info.ready() || (here != info.parameters.end() && here->second == value);
    if (!same && std::none_of(told.begin(), told.end(), is_name)) told.emplace_back(name, value);
  }
  if (!info.ready()) {
    info.method = pair.method;
    info.from_primary = pair.from_primary;
    info.parameters = std::move(pair.parameters);
  }
  if (info.defaults_known || !pair.defaults_known) return;
  info.defaults_known = true;
  info.search_path = std::move(pair.search_path);
  info.serializable_default = pair.serializable_default;
  info.unusual_isolation = pair.unusual_isolation;
  info.foreign_role_settings = pair.foreign_role_settings;
}

bool can_be_saved(const StatementNames& names) {
  if (!names.nothing_pending()) return false;
  for (const auto& [name, statement] : names.known()) {
    if (statement->by_sql || statement->parse_message.empty()) return false;
  }
  return true;
}

}  // namespace

// Nothing is under way, no server connection is the session's, and nothing of it is known to this process alone.
bool ClientSession::can_sleep() const {
  const bool idle = state_ == ClientState::Idle && status_ == 'I' && set_.empty() && abandoned_.empty() && held_ == HeldBlock::None;
  if (!idle || identity_.is_replication() || info_ == nullptr || login_ != nullptr || console_ != nullptr) return false;
  if (internal_ != nullptr || acquiring_ || cancel_ != nullptr || pump_scheduled_ || pumping_) return false;
  if (!tracker_.idle() || tracker_.unsynced() || tracker_.skipping() || server_left_ > 0 || !hold_.empty()) return false;
  if (!in_.empty() || input_ended_ || stream_left_ > 0 || stream_.pending() > 0 || stream_.broken() || !stream_.reading()) return false;
  if (batch_.retained || long_text_ != nullptr || !local_portals_.empty() || local_failed_ || block_answer_.skip) return false;
  if (settings_.config() != nullptr || startup_in_doubt_ || sql_prepared_ || names_in_doubt_ || !unreplayable().empty()) return false;
  if (routing_.open_cursor || !unverified_.empty() || !unverified_now_.empty() || routing_.pinned || !written_.none()) return false;
  return can_be_saved(names_);
}

std::optional<std::string> ClientSession::snapshot(For whom) const {
  SessionSnapshot snapshot;
  auto state = state_of_session_.saved();
  if (!state) return std::nullopt;
  snapshot.state = std::move(*state);
  snapshot.user = identity_.user;
  snapshot.database = identity_.database;
  snapshot.application_name = identity_.application_name;
  snapshot.peer = identity_.peer;
  snapshot.peer_port = identity_.peer_port;
  snapshot.server_database = identity_.key.database;
  snapshot.server_user = identity_.key.user;
  snapshot.fixed = identity_.key.fixed;
  snapshot.connected_epoch = connected_epoch_;
  snapshot.cancel_pid = cancel_key_.pid;
  snapshot.cancel_secret = cancel_key_.secret;
  snapshot.number = whom == For::ThisProcess ? number_ : 0;
  snapshot.pool_mode = pool_mode_;
  if (secret_) save_secret(snapshot, *secret_, worker_.secret_of(identity_.user));
  snapshot.told = told_;
  for (const auto& [name, statement] : names_.known()) {
    snapshot.statements.push_back({name, statement->parse_message, statement->under, statement->generation});
  }
  snapshot.generation = generation_;
  snapshot.reader_node = reader_node_;
  snapshot.redirect_unit = redirect_unit_;
  snapshot.unusual_isolation = routing_.unusual_isolation;
  snapshot.serializable_default = routing_.serializable_default;
  snapshot.transactions_kept = routing_.transactions_kept;
  snapshot.reads_kept = routing_.reads_kept;
  snapshot.asks_sequences = asks_sequences_;
  if (whom == For::Another) snapshot.pair = facts_of_pair(*info_);
  std::string bytes;
  encode_snapshot(bytes, snapshot);
  return bytes;
}

UniqueFd ClientSession::leave() {
  WEIR_CHECK(set_.empty());
  return stream_.release();
}

ClientSession::ClientSession(Worker& worker, int slot, UniqueFd fd, SessionSnapshot snapshot, Monotonic active_at)
    : worker_(worker),
      slot_(slot),
      stream_(worker.loop(), std::move(fd), *this),
      state_(ClientState::Idle),
      cancel_key_{snapshot.cancel_pid, snapshot.cancel_secret},
      connected_epoch_(snapshot.connected_epoch),
      active_at_(active_at),
      number_(snapshot.number != 0 ? snapshot.number : worker.next_session_number()),
      pool_mode_(snapshot.pool_mode) {
  secret_ = restore_secret(snapshot, worker);
  identity_.user = std::move(snapshot.user);
  identity_.database = std::move(snapshot.database);
  identity_.application_name = std::move(snapshot.application_name);
  identity_.peer = std::move(snapshot.peer);
  identity_.peer_port = snapshot.peer_port;
  identity_.key.database = std::move(snapshot.server_database);
  identity_.key.user = std::move(snapshot.server_user);
  identity_.key.fixed = std::move(snapshot.fixed);
  LoginInfo& info = worker.login_info(identity_.database, identity_.user);
  info_ = &info;
  traffic_.resume(worker.context().mapping->databases(worker.context().slot).row_of(identity_.database));
  state_of_session_.restore_saved(std::move(snapshot.state));
  told_ = std::move(snapshot.told);
  if (snapshot.pair) follow_change(worker, identity_.key, info, *snapshot.pair);
  if (snapshot.pair) learn_pair(info, std::move(*snapshot.pair), told_);
  reader_node_ = snapshot.reader_node;
  redirect_unit_ = snapshot.redirect_unit;
  routing_.database = identity_.database;
  routing_.unusual_isolation = snapshot.unusual_isolation;
  routing_.serializable_default = snapshot.serializable_default;
  routing_.transactions_kept = snapshot.transactions_kept;
  routing_.reads_kept = snapshot.reads_kept;
  asks_sequences_ = snapshot.asks_sequences;
  refresh_routing();
  for (SessionSnapshot::Statement& kept : snapshot.statements) {
    auto statement = std::make_shared<PreparedStatement>();
    statement->name = std::move(kept.name);
    statement->parse_message = std::move(kept.parse_message);
    statement->facts = facts_of(statement->text());
    statement->under = kept.under;
    statement->generation = kept.generation;
    statement->primary_pattern = worker.policy().matches_primary_pattern(statement->text());
    if (!statement->name.empty() && renames()) statement->shared = share(as_bytes(statement->parse_message), statement->text());
    names_.define(std::move(statement));
  }
  generation_ = snapshot.generation;
  expect_times();
}

void ClientSession::wake() { on_readable(); }

}  // namespace weir::child
