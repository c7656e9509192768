#include "common/auth/client_auth.h"

#include <utility>

#include "common/auth/md5_password.h"
#include "common/auth/scram.h"
#include "common/base/random.h"
#include "common/base/sqlstate.h"
#include "common/wire/encode.h"
#include "common/wire/frontend.h"

namespace weir::auth {
namespace {

using Outcome = ClientAuthStep::Outcome;

ClientAuthStep refuse(Error error) {
  ClientAuthStep step;
  step.error = std::move(error);
  return step;
}

ClientAuthStep violation(std::string message) {
  return refuse(make_fatal(sqlstate::kProtocolViolation, std::move(message)));
}

// SEND goes out before AuthenticationOk.
ClientAuthStep accept(std::string send = {}) {
  ClientAuthStep step;
  step.outcome = Outcome::Accept;
  step.send = std::move(send);
  wire::encode_authentication_ok(step.send);
  return step;
}

ClientAuthStep challenge(std::string_view data) {
  ClientAuthStep step;
  step.outcome = Outcome::More;
  wire::encode_authentication_sasl_continue(step.send, data);
  return step;
}

}  // namespace

Method method_for(AskedMethod asked, const std::optional<Secret>& secret) {
  if (!secret || asked == AskedMethod::Cleartext) return Method::Cleartext;
  switch (secret->kind()) {
    case Secret::Kind::Md5: return Method::Md5;
    case Secret::Kind::Scram: return Method::ScramSha256;
    case Secret::Kind::Plain: break;
  }
  return asked == AskedMethod::Md5 ? Method::Md5 : Method::ScramSha256;
}

ClientAuth::ClientAuth(Method method, std::string user, std::optional<Secret> secret, KeyCache& cache)
    : method_(method), user_(std::move(user)), secret_(std::move(secret)), cache_(cache) {}

std::string ClientAuth::begin() {
  state_ = State::Asked;
  std::string out;
  switch (method_) {
    case Method::Cleartext: wire::encode_authentication_cleartext(out); break;
    case Method::Md5:
      secure_random(salt_);
      wire::encode_authentication_md5(out, salt_);
      break;
    case Method::ScramSha256: {
      const std::string_view mechanisms[] = {kScramMechanism};
      wire::encode_authentication_sasl(out, mechanisms);
      break;
    }
  }
  return out;
}

ClientAuthStep ClientAuth::wrong_password() const {
  return refuse(make_fatal(sqlstate::kInvalidPassword, "password authentication failed for user \"" + user_ + "\""));
}

ClientAuthStep ClientAuth::step(Bytes body) {
  const State state = std::exchange(state_, State::Over);
  if (state == State::Challenged) return scram_ == nullptr ? scram_first(as_text(body)) : scram_final(as_text(body));
  if (state == State::Asked) {
    switch (method_) {
      case Method::Cleartext: return cleartext(body);
      case Method::Md5: return md5(body);
      case Method::ScramSha256: return scram_initial(body);
    }
  }
  return violation("unexpected password response");
}

// Whether PASSWORD is the one of the secret, which there is.
bool ClientAuth::takes(const std::string& password) {
  switch (secret_->kind()) {
    case Secret::Kind::Plain: return same_secret(sha256(secret_->plain()), sha256(password));
    case Secret::Kind::Md5: {
      const auto hash = md5_hash(password, user_);
      return hash && same_secret(secret_->md5_hash(), *hash);
    }
    case Secret::Kind::Scram: return cache_.matches(password, secret_->scram());
  }
  return false;
}

ClientAuthStep ClientAuth::cleartext(Bytes body) {
  const auto password = wire::parse_password(body);
  if (!password) return violation("invalid password packet size");
  if (password->empty()) return refuse(make_fatal(sqlstate::kInvalidPassword, "empty password returned by client"));
  const std::string text(*password);
  if (secret_ && !takes(text)) return wrong_password();
  // Without a secret of its own pgweir lets a server judge the password; AuthenticationOk comes after that.
  ClientAuthStep step;
  if (secret_) step = accept();
  step.outcome = Outcome::Accept;
  step.clear_text = text;
  return step;
}

ClientAuthStep ClientAuth::md5(Bytes body) {
  const auto response = wire::parse_password(body);
  if (!response) return violation("invalid password packet size");
  if (response->empty()) return refuse(make_fatal(sqlstate::kInvalidPassword, "empty password returned by client"));
  std::optional<std::string> hash;
  if (secret_ && secret_->kind() == Secret::Kind::Md5) hash = secret_->md5_hash();
  if (secret_ && secret_->kind() == Secret::Kind::Plain) hash = md5_hash(secret_->plain(), user_);
  const auto expected = hash ? md5_response(*hash, as_text(salt_)) : std::nullopt;
  return expected && same_secret(*expected, *response) ? accept() : wrong_password();
}

ClientAuthStep ClientAuth::scram_initial(Bytes body) {
  const auto initial = wire::parse_sasl_initial(body);
  if (!initial) return violation("invalid SASLInitialResponse message");
  if (initial->mechanism != kScramMechanism) {
    return violation("client selected an invalid SASL authentication mechanism");
  }
  if (initial->data) return scram_first(*initial->data);
  state_ = State::Challenged;
  return challenge({});  // the client sends the same data as an answer to an empty challenge
}

ClientAuthStep ClientAuth::scram_first(std::string_view message) {
  if (secret_ && secret_->kind() == Secret::Kind::Scram) {
    scram_ = std::make_unique<ScramServer>(secret_->scram(), false);
  } else if (secret_ && secret_->kind() == Secret::Kind::Plain) {
    scram_ = std::make_unique<ScramServer>(cache_.verifier(user_, secret_->plain()), false);
  } else {
    scram_ = std::make_unique<ScramServer>(cache_.mock(user_), true);
  }
  const Result<std::string> answer = scram_->first(message);
  if (!answer) return refuse(answer.error());
  state_ = State::Challenged;
  return challenge(*answer);
}

ClientAuthStep ClientAuth::scram_final(std::string_view message) {
  const Result<std::string> answer = scram_->final(message);
  if (!answer) return answer.error().sqlstate == sqlstate::kInvalidPassword ? wrong_password() : refuse(answer.error());
  std::string out;
  wire::encode_authentication_sasl_final(out, *answer);
  ClientAuthStep step = accept(std::move(out));
  if (secret_->kind() == Secret::Kind::Scram) step.client_key = scram_->client_key();
  return step;
}

}  // namespace weir::auth
