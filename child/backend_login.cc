#include "child/backend_login.h"

#include <fmt/format.h>

#include <cstring>

#include "child/leases.h"
#include "child/worker.h"
#include "common/base/sqlstate.h"
#include "common/wire/backend.h"
#include "common/wire/encode.h"
#include "common/wire/frame.h"

namespace weir::child {

BackendLogin::BackendLogin(Worker& worker, Backend& backend, std::optional<auth::Secret> secret, Done done)
    : worker_(worker),
      backend_(backend),
      has_secret_(secret.has_value()),
      auth_(backend.key().user, std::move(secret), worker.keys()),
      done_(std::move(done)) {}

BackendLogin::~BackendLogin() = default;

void BackendLogin::start(std::string_view address, int port, Milliseconds timeout) {
  backend_.set_user(this);
  deadline_.set(worker_.loop(), [this] {
    LoginFailure failure;
    failure.kind = LoginFailure::Kind::Timeout;
    failure.error = make_error(sqlstate::kConnectionFailure, fmt::format("node {} did not answer in time", backend_.node()), {},
                               "See connect_timeout.");
    fail(std::move(failure));
  });
  deadline_.arm(timeout.count() > 0 ? timeout : Milliseconds(10000));
  if (backend_.connect(address, port)) return;
  const int error = errno;
  worker_.loop().defer([this, error, alive = std::weak_ptr<char>(alive_)] {
    if (alive.expired()) return;
    LoginFailure failure;
    failure.error = make_error(sqlstate::kConnectionFailure, fmt::format("could not connect to node {}: {}", backend_.node(), std::strerror(error)));
    fail(std::move(failure));
  });
}

void BackendLogin::on_backend_drained(Backend& backend) {
  if (connected_ || finished_) return;
  if (const int error = backend.connect_error(); error != 0) {
    LoginFailure failure;
    failure.error = make_error(sqlstate::kConnectionFailure, fmt::format("could not connect to node {}: {}", backend.node(), std::strerror(error)));
    return fail(std::move(failure));
  }
  connected_ = true;
  backend.set_state(BackendState::Authenticating);
  std::vector<std::pair<std::string, std::string>> parameters = {{"user", backend.key().user}, {"database", backend.key().database}};
  if (!backend.key().replication.empty()) parameters.emplace_back("replication", backend.key().replication);
  parameters.insert(parameters.end(), backend.key().fixed.begin(), backend.key().fixed.end());
  std::string out;
  wire::encode_startup(out, parameters);
  backend.send(out);
  backend.start_reading();
}

std::size_t BackendLogin::on_backend_bytes(Backend&, Bytes bytes) {
  std::size_t taken = 0;
  while (!finished_) {
    const Bytes rest = bytes.subspan(taken);
    const wire::FrameHeader header = wire::peek_frame(wire::Direction::FromServer, rest);
    if (header.status == wire::FrameStatus::NeedMore) break;
    if (header.status != wire::FrameStatus::Ok || header.total() > Worker::kReadSize) {
      break_off("does not speak the PostgreSQL protocol");
      return bytes.size();
    }
    if (header.total() > rest.size()) break;
    taken += header.total();
    if (header.tag == 'Z' && !only_unasked(bytes.subspan(taken))) {
      break_off("said more than its welcome during login");
      return bytes.size();
    }
    if (!take(header.tag, rest.subspan(5, header.total() - 5))) {
      break_off("sent an invalid message during login");
      return bytes.size();
    }
  }
  return taken;
}

// The server broke the protocol.
void BackendLogin::break_off(std::string_view what) {
  LoginFailure failure;
  failure.kind = LoginFailure::Kind::Refused;
  failure.error = make_error(sqlstate::kProtocolViolation, fmt::format("node {} {}", backend_.node(), what));
  fail(std::move(failure));
}

bool BackendLogin::take(char tag, Bytes body) {
  switch (tag) {
    case 'R': on_authentication(body); return true;
    case 'S': {
      const auto parameter = wire::parse_parameter_status(body);
      return parameter && backend_.parameters.note(parameter->name, parameter->value);
    }
    case 'K': {
      const auto key = wire::parse_backend_key_data(body);
      if (!key) return false;
      backend_.pid = key->pid;
      worker_.leases().note_pid(backend_);
      backend_.cancel_key = as_text(key->key);
      return true;
    }
    case 'E': on_error(body); return true;
    case 'Z':
      if (!auth_.done()) return false;
      finish(nullptr);
      return true;
    case 'N':
    case 'v': return true;
    default: return false;
  }
}

void BackendLogin::on_authentication(Bytes body) {
  const auto request = wire::parse_authentication(body);
  LoginFailure failure;
  if (!request) {
    failure.kind = LoginFailure::Kind::Refused;
    failure.error = make_error(sqlstate::kProtocolViolation, fmt::format("node {} sent an invalid authentication request", backend_.node()));
    return fail(std::move(failure));
  }
  const Result<std::string> answer = auth_.step(*request);
  if (!answer) {
    failure.kind = has_secret_ ? LoginFailure::Kind::Refused : LoginFailure::Kind::NeedPassword;
    failure.method = auth_.asked();
    failure.error = answer.error();
    return fail(std::move(failure));
  }
  if (!answer->empty()) backend_.send(*answer);
}

void BackendLogin::on_error(Bytes body) {
  LoginFailure failure;
  failure.kind = LoginFailure::Kind::Refused;
  failure.method = auth_.asked();
  const auto fields = wire::parse_error_fields(body);
  failure.error = fields ? fields->to_error() : make_error(sqlstate::kConnectionFailure, "the server refused the login");
  if (failure.error.sqlstate == sqlstate::kTooManyConnections) failure.kind = LoginFailure::Kind::Saturated;
  if (failure.error.sqlstate == sqlstate::kCannotConnectNow) failure.kind = LoginFailure::Kind::NotUsable;
  fail(std::move(failure));
}

void BackendLogin::on_backend_lost(Backend&, const Error& error) {
  LoginFailure failure;
  failure.error = error;
  fail(std::move(failure));
}

void BackendLogin::fail(LoginFailure failure) { finish(&failure); }

void BackendLogin::finish(const LoginFailure* failure) {
  if (finished_) return;
  finished_ = true;
  deadline_.disarm();
  Done done = std::move(done_);
  done(failure);
}

}  // namespace weir::child
