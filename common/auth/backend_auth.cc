#include "common/auth/backend_auth.h"

#include <algorithm>

#include "common/auth/md5_password.h"
#include "common/auth/scram.h"
#include "common/base/sqlstate.h"
#include "common/wire/encode.h"

namespace weir::auth {
namespace {

enum Request : std::int32_t { kOk = 0, kCleartext = 3, kMd5 = 5, kSasl = 10, kSaslContinue = 11, kSaslFinal = 12 };

tl::unexpected<Error> out_of_turn() {
  return fail(make_fatal(sqlstate::kProtocolViolation, "the server sent an authentication request out of turn"));
}

std::string_view what_there_is(const std::optional<Secret>& secret) {
  if (!secret) return "pgweir has no password for this user.";
  switch (secret->kind()) {
    case Secret::Kind::Plain: return "pgweir has a password for this user.";
    case Secret::Kind::Md5: return "pgweir has only an md5 hash for this user.";
    case Secret::Kind::Scram: return "pgweir has only a SCRAM verifier for this user.";
  }
  return "";
}

}  // namespace

BackendAuth::BackendAuth(std::string user, std::optional<Secret> secret, KeyCache& cache)
    : user_(std::move(user)), secret_(std::move(secret)), cache_(cache) {}

tl::unexpected<Error> BackendAuth::unfit(std::string_view asked) const {
  return fail(make_fatal(sqlstate::kInvalidPassword, "cannot log in to the server as user \"" + user_ + "\"",
                         "The server asks for " + std::string(asked) + "; " + std::string(what_there_is(secret_)),
                         "Put the password into the file of pool_passwd, or set allow_clear_text_frontend_auth = on."));
}

Result<std::string> BackendAuth::step(const wire::Authentication& request) {
  Result<std::string> answer = next(request);
  if (!answer) phase_ = Phase::Failed;
  return answer;
}

Result<std::string> BackendAuth::next(const wire::Authentication& request) {
  const bool asks = request.code != kOk && request.code != kSaslContinue && request.code != kSaslFinal;
  if (phase_ == Phase::Done || phase_ == Phase::Failed || (asks && phase_ != Phase::Start)) return out_of_turn();
  switch (request.code) {
    case kOk: return ok();
    case kCleartext: return cleartext();
    case kMd5: return md5(as_text(request.data));
    case kSasl:
    case kSaslContinue:
    case kSaslFinal: return sasl(request);
    default:
      return fail(make_fatal(sqlstate::kFeatureNotSupported,
                             "the server asks for an authentication method that pgweir does not have",
                             "Authentication request code " + std::to_string(request.code) + " for user \"" + user_ +
                                 "\"."));
  }
}

Result<std::string> BackendAuth::ok() {
  if (phase_ == Phase::Proving) {
    return fail(make_fatal(sqlstate::kInvalidPassword,
                           "the server ended the SCRAM exchange without proving that it knows the password"));
  }
  if (asked_ == AskedMethod::Unknown) asked_ = AskedMethod::Trust;
  phase_ = Phase::Done;
  return std::string();
}

Result<std::string> BackendAuth::cleartext() {
  asked_ = AskedMethod::Cleartext;
  if (!secret_ || secret_->kind() != Secret::Kind::Plain) return unfit("a clear text password");
  phase_ = Phase::Answered;
  std::string out;
  wire::encode_password(out, secret_->plain());
  return out;
}

Result<std::string> BackendAuth::md5(std::string_view salt) {
  asked_ = AskedMethod::Md5;
  if (!secret_ || secret_->kind() == Secret::Kind::Scram) return unfit("an md5 password");
  const std::optional<std::string> hash =
      secret_->kind() == Secret::Kind::Md5 ? secret_->md5_hash() : md5_hash(secret_->plain(), user_);
  const std::optional<std::string> response = hash ? md5_response(*hash, salt) : std::nullopt;
  if (!response) return fail(make_fatal(sqlstate::kFeatureNotSupported, "OpenSSL does not allow MD5 on this machine"));
  phase_ = Phase::Answered;
  std::string out;
  wire::encode_password(out, *response);
  return out;
}

Result<std::string> BackendAuth::sasl(const wire::Authentication& request) {
  std::string out;
  if (request.code == kSasl) {
    asked_ = AskedMethod::Scram;
    if (std::find(request.mechanisms.begin(), request.mechanisms.end(), kScramMechanism) == request.mechanisms.end()) {
      return fail(make_fatal(sqlstate::kFeatureNotSupported,
                             "none of the server's SASL authentication mechanisms are supported"));
    }
    const bool fits = secret_ && (secret_->kind() == Secret::Kind::Plain ||
                                  (secret_->kind() == Secret::Kind::Scram && !secret_->client_key().empty()));
    if (!fits) return unfit("a SCRAM-SHA-256 password");
    scram_ = std::make_unique<ScramClient>(*secret_, cache_);
    phase_ = Phase::Proving;
    wire::encode_sasl_initial(out, kScramMechanism, scram_->first());
    return out;
  }
  if (phase_ != Phase::Proving) return out_of_turn();
  if (request.code == kSaslContinue) {
    const Result<std::string> answer = scram_->final(as_text(request.data));
    if (!answer) return fail(answer.error());
    wire::encode_sasl_response(out, *answer);
    return out;
  }
  WEIR_TRY(scram_->verify(as_text(request.data)));
  phase_ = Phase::Answered;
  return out;
}

}  // namespace weir::auth
