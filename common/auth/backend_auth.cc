#include "common/auth/backend_auth.h"

#include <algorithm>

#include "common/auth/md5_password.h"
#include "common/auth/scram.h"
#include "common/base/sqlstate.h"
#include "common/wire/encode.h"

namespace weir::auth {

BackendAuth::BackendAuth(std::string user, std::optional<Secret> secret, KeyCache& cache)
    : user_(std::move(user)), secret_(std::move(secret)), cache_(cache) {}

tl::unexpected<Error> BackendAuth::unfit(std::string_view asked) const {
  const std::string have = !secret_ ? "pgweir has no password for this user."
                           : secret_->kind() == Secret::Kind::Md5 ? "pgweir has only an md5 hash for this user."
                                                                  : "pgweir has only a SCRAM verifier for this user.";
  return fail(make_fatal(sqlstate::kInvalidPassword, "cannot log in to the server as user \"" + user_ + "\"",
                         "The server asks for " + std::string(asked) + "; " + have,
                         "Put the password into the file of pool_passwd, or set allow_clear_text_frontend_auth = on."));
}

Result<std::string> BackendAuth::step(const wire::Authentication& request) {
  std::string out;
  switch (request.code) {
    case 0:
      if (asked_ == AskedMethod::Unknown) asked_ = AskedMethod::Trust;
      if (!verified_) return fail(make_fatal(sqlstate::kInvalidPassword, "the server ended the SCRAM exchange without proving that it knows the password"));
      done_ = true;
      return out;
    case 3:
      asked_ = AskedMethod::Cleartext;
      if (!secret_ || secret_->kind() != Secret::Kind::Plain) return unfit("a clear text password");
      wire::encode_password(out, secret_->plain());
      return out;
    case 5: {
      asked_ = AskedMethod::Md5;
      if (!secret_ || secret_->kind() == Secret::Kind::Scram) return unfit("an md5 password");
      const std::string hash = secret_->kind() == Secret::Kind::Md5 ? secret_->md5_hash() : md5_hash(secret_->plain(), user_);
      wire::encode_password(out, md5_response(hash, as_text(request.data)));
      return out;
    }
    case 10:
    case 11:
    case 12: return sasl(request);
    default:
      return fail(make_fatal(sqlstate::kFeatureNotSupported, "the server asks for an authentication method that pgweir does not have",
                             "Authentication request code " + std::to_string(request.code) + " for user \"" + user_ + "\"."));
  }
}

Result<std::string> BackendAuth::sasl(const wire::Authentication& request) {
  std::string out;
  if (request.code == 10) {
    asked_ = AskedMethod::Scram;
    if (std::find(request.mechanisms.begin(), request.mechanisms.end(), kScramMechanism) == request.mechanisms.end()) {
      return fail(make_fatal(sqlstate::kFeatureNotSupported, "none of the server's SASL authentication mechanisms are supported"));
    }
    const bool fits = secret_ && (secret_->kind() == Secret::Kind::Plain || (secret_->kind() == Secret::Kind::Scram && !secret_->client_key().empty()));
    if (!fits) return unfit("a SCRAM-SHA-256 password");
    scram_ = std::make_unique<ScramClient>(*secret_, cache_);
    verified_ = false;
    wire::encode_sasl_initial(out, kScramMechanism, scram_->first());
    return out;
  }
  if (scram_ == nullptr) return fail(make_fatal(sqlstate::kProtocolViolation, "the server sent a SASL message out of turn"));
  if (request.code == 11) {
    const Result<std::string> answer = scram_->final(as_text(request.data));
    if (!answer) return fail(answer.error());
    wire::encode_sasl_response(out, *answer);
    return out;
  }
  WEIR_TRY(scram_->verify(as_text(request.data)));
  verified_ = true;
  return out;
}

}  // namespace weir::auth
