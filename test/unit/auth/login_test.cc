// client_auth against backend_auth: pgweir as a server and pgweir as a client, message by message.
#include <gtest/gtest.h>

#include "common/auth/backend_auth.h"
#include "common/auth/client_auth.h"
#include "common/auth/md5_password.h"
#include "common/auth/scram.h"
#include "common/base/byte_writer.h"
#include "common/wire/encode.h"
#include "common/wire/frame.h"
#include "common/wire/frontend.h"

namespace weir::auth {
namespace {

using namespace std::string_literals;
using Outcome = ClientAuthStep::Outcome;

std::vector<Bytes> bodies(const std::string& bytes, char tag, wire::Direction direction) {
  std::vector<Bytes> found;
  Bytes rest = as_bytes(bytes);
  while (!rest.empty()) {
    const wire::FrameHeader header = wire::peek_frame(direction, rest);
    if (header.status != wire::FrameStatus::Ok || header.total() > rest.size() || header.tag != tag) {
      ADD_FAILURE() << "not whole messages " << tag;
      return found;
    }
    found.push_back(rest.subspan(wire::kHeaderSize, header.total() - wire::kHeaderSize));
    rest = rest.subspan(header.total());
  }
  return found;
}

struct Login {
  Outcome client = Outcome::More;  // what the server side came to
  bool done = false;               // the client side is through
  AskedMethod asked = AskedMethod::Unknown;
  ClientAuthStep last;
  Error error;                     // the client side's
};

// Plays a login through: SERVER judges a client that holds SECRET.
Login play(ClientAuth& server, BackendAuth& client) {
  Login login;
  std::string requests = server.begin();
  while (true) {
    std::string answer;
    for (const Bytes body : bodies(requests, 'R', wire::Direction::FromServer)) {
      const auto request = wire::parse_authentication(body);
      if (!request) return ADD_FAILURE() << "not a request", login;
      const auto step = client.step(*request);
      login.asked = client.asked();
      if (!step) return login.error = step.error(), login;
      answer += *step;
    }
    if (login.client == Outcome::Accept) break;
    const auto replies = bodies(answer, 'p', wire::Direction::FromClient);
    if (replies.size() != 1) return ADD_FAILURE() << "one answer was expected", login;
    login.last = server.step(replies[0]);
    login.client = login.last.outcome;
    if (login.client == Outcome::Refuse) return login;
    requests = login.last.send;
  }
  login.done = client.done();
  return login;
}

Login play(Method method, const std::optional<Secret>& stored, const std::optional<Secret>& held,
           std::string_view user = "alice") {
  KeyCache server_cache;
  KeyCache client_cache;
  ClientAuth server(method, std::string(user), stored, server_cache);
  BackendAuth client(std::string(user), held, client_cache);
  return play(server, client);
}

Secret plain(std::string_view password = "secret") { return Secret::from_plain(password); }
Secret md5(std::string_view password = "secret") { return Secret::from_stored(*md5_hash(password, "alice")); }
Secret scram(std::string_view password = "secret") {
  const ScramKeys keys = derive_scram_keys(password, "some salt", 100);
  return Secret::from_stored(format_scram_verifier({100, "some salt", keys.stored_key, keys.server_key}));
}

TEST(Login, RightPasswordsByEveryMethodAndSecret) {
  struct {
    Method method;
    Secret stored;
    AskedMethod asked;
  } rows[] = {
      {Method::Cleartext, plain(), AskedMethod::Cleartext}, {Method::Cleartext, md5(), AskedMethod::Cleartext},
      {Method::Cleartext, scram(), AskedMethod::Cleartext}, {Method::Md5, plain(), AskedMethod::Md5},
      {Method::Md5, md5(), AskedMethod::Md5},               {Method::ScramSha256, plain(), AskedMethod::Scram},
      {Method::ScramSha256, scram(), AskedMethod::Scram},
  };
  for (const auto& row : rows) {
    const Login login = play(row.method, row.stored, plain());
    EXPECT_EQ(login.client, Outcome::Accept);
    EXPECT_TRUE(login.done);
    EXPECT_EQ(login.asked, row.asked);
    EXPECT_EQ(login.last.clear_text, row.method == Method::Cleartext ? "secret" : "");
    const bool verifier = row.method == Method::ScramSha256 && row.stored.kind() == Secret::Kind::Scram;
    EXPECT_EQ(!login.last.client_key.empty(), verifier);
  }
  EXPECT_EQ(play(Method::Md5, md5(), md5()).client, Outcome::Accept);  // a hash will do on both sides
}

TEST(Login, WrongPasswordsByEveryMethodAndSecret) {
  for (const Method method : {Method::Cleartext, Method::Md5, Method::ScramSha256}) {
    for (const Secret& stored : {plain("other"), md5("other"), scram("other"), plain("secret ")}) {
      const Login login = play(method, stored, plain());
      EXPECT_EQ(login.client, Outcome::Refuse);
      EXPECT_FALSE(login.done);
      EXPECT_EQ(login.last.error, make_fatal("28P01", "password authentication failed for user \"alice\""));
      EXPECT_TRUE(login.last.send.empty());
    }
  }
}

TEST(Login, ASecretThatDoesNotFitTheMethodFailsLikeAWrongPassword) {
  for (const auto& [method, stored] : {std::pair(Method::Md5, scram()), std::pair(Method::ScramSha256, md5())}) {
    const Login login = play(method, stored, plain());
    EXPECT_EQ(login.client, Outcome::Refuse);
    EXPECT_EQ(login.last.error.message, "password authentication failed for user \"alice\"");
  }
}

TEST(Login, UnknownUsersGoThroughTheSameMessages) {
  for (const Method method : {Method::Md5, Method::ScramSha256}) {
    const Login unknown = play(method, std::nullopt, plain());
    const Login wrong = play(method, plain("other"), plain());
    EXPECT_EQ(unknown.client, Outcome::Refuse);
    EXPECT_EQ(unknown.last.error, wrong.last.error);
    EXPECT_EQ(unknown.asked, wrong.asked);
  }
}

TEST(Login, WithoutASecretAServerJudgesTheClearText) {
  KeyCache cache;
  ClientAuth server(Method::Cleartext, "alice", std::nullopt, cache);
  server.begin();
  const ClientAuthStep step = server.step(as_bytes("secret\0"s));
  EXPECT_EQ(step.outcome, Outcome::Accept);
  EXPECT_EQ(step.clear_text, "secret");
  EXPECT_TRUE(step.send.empty());  // no AuthenticationOk yet
}

TEST(Login, PassThroughOfAVerifier) {
  const Login first = play(Method::ScramSha256, scram(), plain());
  ASSERT_EQ(first.client, Outcome::Accept);
  Secret held = scram();
  EXPECT_EQ(play(Method::ScramSha256, scram(), held).error.message, "cannot log in to the server as user \"alice\"");
  held.set_client_key(first.last.client_key);
  const Login onward = play(Method::ScramSha256, scram(), held);
  EXPECT_EQ(onward.client, Outcome::Accept);
  EXPECT_TRUE(onward.done);
}

TEST(Login, ManyLoginsDeriveOnce) {
  KeyCache cache;
  for (int i = 0; i < 20; ++i) {
    ClientAuth server(Method::ScramSha256, "alice", plain(), cache);
    BackendAuth client("alice", plain(), cache);
    EXPECT_TRUE(play(server, client).done);
  }
  EXPECT_EQ(cache.size(), 1U);
}

TEST(ClientAuth, MethodFollowsTheServerAsFarAsTheSecretAllows) {
  struct {
    AskedMethod asked;
    std::optional<Secret> secret;
    Method method;
  } rows[] = {
      {AskedMethod::Cleartext, plain(), Method::Cleartext}, {AskedMethod::Md5, plain(), Method::Md5},
      {AskedMethod::Scram, plain(), Method::ScramSha256},   {AskedMethod::Cleartext, md5(), Method::Cleartext},
      {AskedMethod::Md5, md5(), Method::Md5},               {AskedMethod::Scram, md5(), Method::Md5},
      {AskedMethod::Cleartext, scram(), Method::Cleartext}, {AskedMethod::Md5, scram(), Method::ScramSha256},
      {AskedMethod::Scram, scram(), Method::ScramSha256},   {AskedMethod::Scram, std::nullopt, Method::Cleartext},
  };
  for (const auto& row : rows) EXPECT_EQ(method_for(row.asked, row.secret), row.method);
}

TEST(ClientAuth, HostilePasswordMessages) {
  for (const Method method : {Method::Cleartext, Method::Md5}) {
    for (const auto& [body, sqlstate] :
         {std::pair(""s, "08P01"), std::pair("secret"s, "08P01"), std::pair("sec\0ret\0"s, "08P01"),
          std::pair("\0"s, "28P01"), std::pair("\xff\xff\0"s, "28P01"), std::pair("md5\0"s, "28P01")}) {
      KeyCache cache;
      ClientAuth server(method, "alice", plain(), cache);
      server.begin();
      const ClientAuthStep step = server.step(as_bytes(body));
      EXPECT_EQ(step.outcome, Outcome::Refuse);
      EXPECT_EQ(step.error.sqlstate, sqlstate) << body;
      EXPECT_EQ(step.error.severity, Severity::Fatal);
    }
  }
  KeyCache cache;
  ClientAuth server(Method::Cleartext, "alice", plain(), cache);
  server.begin();
  EXPECT_EQ(server.step(as_bytes("\0"s)).error.message, "empty password returned by client");
}

std::string sasl_initial(std::string_view mechanism, std::string_view data) {
  std::string out;
  wire::encode_sasl_initial(out, mechanism, data);
  return out.substr(wire::kHeaderSize);
}

TEST(ClientAuth, HostileSaslMessages) {
  const std::pair<std::string, std::string_view> rows[] = {
      {"", "invalid SASLInitialResponse message"},
      {"SCRAM-SHA-256", "invalid SASLInitialResponse message"},
      {"SCRAM-SHA-256\0\xff\xff\xff\xfe"s, "invalid SASLInitialResponse message"},
      {"SCRAM-SHA-256\0\x7f\xff\xff\xffn,,"s, "invalid SASLInitialResponse message"},
      {sasl_initial("SCRAM-SHA-1", "n,,n=,r=x"), "client selected an invalid SASL authentication mechanism"},
      {sasl_initial("SCRAM-SHA-256-PLUS", "p=tls-server-end-point,,n=,r=x"),
       "client selected an invalid SASL authentication mechanism"},
      {sasl_initial("SCRAM-SHA-256", ""), "malformed SCRAM message"},
      {sasl_initial("SCRAM-SHA-256", "p=tls-server-end-point,,n=,r=x"),
       "client requires SCRAM channel binding, but it is not supported"},
  };
  for (const auto& [body, message] : rows) {
    KeyCache cache;
    ClientAuth server(Method::ScramSha256, "alice", plain(), cache);
    server.begin();
    const ClientAuthStep step = server.step(as_bytes(body));
    EXPECT_EQ(step.outcome, Outcome::Refuse);
    EXPECT_EQ(step.error.message, message);
    EXPECT_EQ(step.error.severity, Severity::Fatal);
    EXPECT_EQ(server.step(as_bytes(sasl_initial("SCRAM-SHA-256", "n,,n=,r=x"))).outcome, Outcome::Refuse);
  }
}

TEST(ClientAuth, AClientMayWaitForAnEmptyChallenge) {
  KeyCache cache;
  ClientAuth server(Method::ScramSha256, "alice", plain(), cache);
  server.begin();
  const ClientAuthStep empty = server.step(as_bytes("SCRAM-SHA-256\0\xff\xff\xff\xff"s));
  ASSERT_EQ(empty.outcome, Outcome::More);
  const auto request = wire::parse_authentication(bodies(empty.send, 'R', wire::Direction::FromServer)[0]);
  EXPECT_EQ(request->code, 11);
  EXPECT_TRUE(request->data.empty());
  ScramClient client(plain(), cache);
  const ClientAuthStep challenge = server.step(as_bytes(client.first()));
  ASSERT_EQ(challenge.outcome, Outcome::More);
  const auto next = wire::parse_authentication(bodies(challenge.send, 'R', wire::Direction::FromServer)[0]);
  const ClientAuthStep last = server.step(as_bytes(*client.final(as_text(next->data))));
  EXPECT_EQ(last.outcome, Outcome::Accept);
}

TEST(ClientAuth, NothingIsTakenBeforeItIsAskedForOrAfterTheEnd) {
  KeyCache cache;
  ClientAuth early(Method::Cleartext, "alice", plain(), cache);
  EXPECT_EQ(early.step(as_bytes("secret\0"s)).outcome, Outcome::Refuse);
  ClientAuth late(Method::Cleartext, "alice", plain(), cache);
  late.begin();
  EXPECT_EQ(late.step(as_bytes("wrong\0"s)).outcome, Outcome::Refuse);
  EXPECT_EQ(late.step(as_bytes("secret\0"s)).outcome, Outcome::Refuse);
}

wire::Authentication request(std::int32_t code, std::string_view data = {}) {
  wire::Authentication message;
  message.code = code;
  message.data = as_bytes(data);
  return message;
}
wire::Authentication sasl(std::vector<std::string_view> mechanisms = {kScramMechanism}) {
  wire::Authentication message;
  message.code = 10;
  message.mechanisms = std::move(mechanisms);
  return message;
}

TEST(BackendAuth, Trust) {
  KeyCache cache;
  BackendAuth client("alice", std::nullopt, cache);
  EXPECT_FALSE(client.done());
  EXPECT_EQ(client.step(request(0)), "");
  EXPECT_TRUE(client.done());
  EXPECT_EQ(client.asked(), AskedMethod::Trust);
  EXPECT_FALSE(client.step(request(0)));
  EXPECT_FALSE(client.done());
}

TEST(BackendAuth, SaysWhatIsMissingAndWhereToPutIt) {
  struct {
    wire::Authentication request;
    AskedMethod asked;
    std::optional<Secret> secret;
    std::string_view detail;
  } rows[] = {
      {request(3), AskedMethod::Cleartext, std::nullopt,
       "The server asks for a clear text password; pgweir has no password for this user."},
      {request(3), AskedMethod::Cleartext, md5(),
       "The server asks for a clear text password; pgweir has only an md5 hash for this user."},
      {request(5, "salt"), AskedMethod::Md5, scram(),
       "The server asks for an md5 password; pgweir has only a SCRAM verifier for this user."},
      {sasl(), AskedMethod::Scram, md5(),
       "The server asks for a SCRAM-SHA-256 password; pgweir has only an md5 hash for this user."},
      {sasl(), AskedMethod::Scram, scram(),
       "The server asks for a SCRAM-SHA-256 password; pgweir has only a SCRAM verifier for this user."},
      {sasl(), AskedMethod::Scram, std::nullopt,
       "The server asks for a SCRAM-SHA-256 password; pgweir has no password for this user."},
  };
  for (const auto& row : rows) {
    KeyCache cache;
    BackendAuth client("alice", row.secret, cache);
    const auto answer = client.step(row.request);
    ASSERT_FALSE(answer);
    EXPECT_EQ(client.asked(), row.asked);
    EXPECT_EQ(answer.error().sqlstate, "28P01");
    EXPECT_EQ(answer.error().message, "cannot log in to the server as user \"alice\"");
    EXPECT_EQ(answer.error().detail, row.detail);
    EXPECT_NE(answer.error().hint.find("pool_passwd"), std::string::npos);
  }
}

TEST(BackendAuth, WhatPgweirDoesNotHave) {
  KeyCache cache;
  for (const std::int32_t code : {2, 6, 7, 9, 99, -1}) {
    BackendAuth client("alice", plain(), cache);
    const auto answer = client.step(request(code));
    ASSERT_FALSE(answer);
    EXPECT_EQ(answer.error().sqlstate, "0A000");
  }
  for (const auto& mechanisms : {std::vector<std::string_view>{}, {"SCRAM-SHA-256-PLUS"}, {"OAUTHBEARER"}}) {
    BackendAuth client("alice", plain(), cache);
    const auto answer = client.step(sasl(mechanisms));
    ASSERT_FALSE(answer);
    EXPECT_EQ(answer.error().sqlstate, "0A000");
  }
}

TEST(BackendAuth, ServersThatSkipSteps) {
  KeyCache cache;
  const auto refused = [&](const std::vector<wire::Authentication>& requests) {
    BackendAuth client("alice", plain(), cache);
    for (std::size_t i = 0; i < requests.size(); ++i) {
      const bool taken = client.step(requests[i]).has_value();
      EXPECT_EQ(taken, i + 1 < requests.size()) << i;
    }
    return !client.done();
  };
  const std::string empty_signature = "v=" + base64_encode(hmac_sha256("", ""));
  EXPECT_TRUE(refused({sasl(), request(0)}));                      // no proof of the server
  EXPECT_TRUE(refused({sasl(), request(12, empty_signature)}));    // a signature with keys that nobody set
  EXPECT_TRUE(refused({sasl(), sasl()}));
  EXPECT_TRUE(refused({sasl(), request(3)}));                      // down to clear text
  EXPECT_TRUE(refused({request(5, "salt"), request(3)}));
  EXPECT_TRUE(refused({request(3), request(3)}));
  EXPECT_TRUE(refused({request(11, "r=x,s=AAAA,i=1")}));
  EXPECT_TRUE(refused({request(12, empty_signature)}));
}

TEST(BackendAuth, AServerThatDoesNotKnowThePassword) {
  KeyCache cache;
  BackendAuth client("alice", plain(), cache);
  const auto initial = client.step(sasl());
  ASSERT_TRUE(initial);
  const auto message = wire::parse_sasl_initial(as_bytes(*initial).subspan(wire::kHeaderSize));
  ASSERT_TRUE(message && message->data);
  EXPECT_TRUE(message->data->starts_with("n,,n=,r="));
  const std::string first = "r=" + std::string(message->data->substr(8)) + "x,s=AAAA,i=1";
  ASSERT_TRUE(client.step(request(11, first)));
  const std::string last = "v=" + base64_encode(std::string(32, 'x'));
  const auto answer = client.step(request(12, last));
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().message, "the server's SCRAM signature is wrong");
  EXPECT_FALSE(client.step(request(0)));
  EXPECT_FALSE(client.done());
}

}  // namespace
}  // namespace weir::auth
