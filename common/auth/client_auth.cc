#include "common/auth/client_auth.h"

#include "common/auth/md5_password.h"
#include "common/auth/scram.h"
#include "common/base/random.h"
#include "common/base/sqlstate.h"
#include "common/wire/encode.h"
#include "common/wire/frontend.h"

namespace weir::auth {

Method method_for(AskedMethod asked, const std::optional<Secret>& secret) {
  if (!secret) return Method::Cleartext;
  switch (secret->kind()) {
    case Secret::Kind::Md5: return asked == AskedMethod::Cleartext ? Method::Cleartext : Method::Md5;
    case Secret::Kind::Scram: return Method::ScramSha256;
    case Secret::Kind::Plain: break;
  }
  if (asked == AskedMethod::Cleartext) return Method::Cleartext;
  return asked == AskedMethod::Md5 ? Method::Md5 : Method::ScramSha256;
}

ClientAuth::ClientAuth(Method method, std::string user, std::optional<Secret> secret, KeyCache& cache)
    : method_(method), user_(std::move(user)), secret_(std::move(secret)), cache_(cache) {}

std::string ClientAuth::begin() {
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

ClientAuthStep ClientAuth::refuse(Error error) const {
  ClientAuthStep step;
  error.severity = Severity::Fatal;
  if (error.sqlstate == sqlstate::kInvalidPassword) error.message = "password authentication failed for user \"" + user_ + "\"";
  step.error = std::move(error);
  return step;
}

ClientAuthStep ClientAuth::refuse() const { return refuse(make_fatal(sqlstate::kInvalidPassword, "")); }

ClientAuthStep ClientAuth::accept(std::string send) {
  ClientAuthStep step;
  step.outcome = ClientAuthStep::Outcome::Accept;
  step.send = std::move(send);
  wire::encode_authentication_ok(step.send);
  return step;
}

ClientAuthStep ClientAuth::step(Bytes body) {
  switch (method_) {
    case Method::Cleartext: return cleartext(body);
    case Method::Md5: return md5(body);
    case Method::ScramSha256: return scram(body);
  }
  return refuse();
}

ClientAuthStep ClientAuth::cleartext(Bytes body) {
  const auto password = wire::parse_password(body);
  if (!password) return refuse(make_fatal(sqlstate::kProtocolViolation, "invalid password packet size"));
  if (password->empty()) return refuse(make_fatal(sqlstate::kInvalidPassword, "empty password returned by client"));
  if (secret_) {
    bool right = false;
    switch (secret_->kind()) {
      case Secret::Kind::Plain: right = same_secret(sha256(secret_->plain()), sha256(*password)); break;
      case Secret::Kind::Md5: right = same_secret(secret_->md5_hash(), md5_hash(*password, user_)); break;
      case Secret::Kind::Scram: {
        const ScramVerifier& verifier = secret_->scram();
        right = same_secret(cache_.keys(std::string(*password), verifier.salt, verifier.iterations).stored_key, verifier.stored_key);
        break;
      }
    }
    if (!right) return refuse();
  }
  // Without a secret of its own pgweir lets a server judge the password; AuthenticationOk comes after that.
  ClientAuthStep step = secret_ ? accept() : ClientAuthStep{ClientAuthStep::Outcome::Accept, {}, {}, {}, {}};
  step.clear_text = *password;
  return step;
}

ClientAuthStep ClientAuth::md5(Bytes body) {
  const auto response = wire::parse_password(body);
  if (!response) return refuse(make_fatal(sqlstate::kProtocolViolation, "invalid password packet size"));
  if (!secret_ || secret_->kind() == Secret::Kind::Scram) return refuse();
  const std::string hash = secret_->kind() == Secret::Kind::Md5 ? secret_->md5_hash() : md5_hash(secret_->plain(), user_);
  return same_secret(md5_response(hash, as_text(salt_)), *response) ? accept() : refuse();
}

ClientAuthStep ClientAuth::scram(Bytes body) {
  if (scram_ == nullptr) {
    const auto initial = wire::parse_sasl_initial(body);
    if (!initial) return refuse(make_fatal(sqlstate::kProtocolViolation, "invalid SASLInitialResponse message"));
    if (initial->mechanism != kScramMechanism) {
      return refuse(make_fatal(sqlstate::kProtocolViolation, "client selected an invalid SASL authentication mechanism"));
    }
    const bool known = secret_ && secret_->kind() != Secret::Kind::Md5;
    const ScramVerifier verifier = !known ? cache_.verifier(user_, "no password at all: " + std::to_string(secure_random_u64()))
                                   : secret_->kind() == Secret::Kind::Scram ? secret_->scram()
                                                                            : cache_.verifier(user_, secret_->plain());
    scram_ = std::make_unique<ScramServer>(verifier, !known);
    const Result<std::string> answer = scram_->first(initial->data.value_or(std::string_view()));
    if (!answer) return refuse(answer.error());
    ClientAuthStep step;
    step.outcome = ClientAuthStep::Outcome::More;
    wire::encode_authentication_sasl_continue(step.send, *answer);
    return step;
  }
  const Result<std::string> answer = scram_->final(as_text(body));
  if (!answer) return refuse(answer.error());
  std::string out;
  wire::encode_authentication_sasl_final(out, *answer);
  ClientAuthStep step = accept(std::move(out));
  if (secret_ && secret_->kind() == Secret::Kind::Scram) step.client_key = scram_->client_key();
  return step;
}

}  // namespace weir::auth
