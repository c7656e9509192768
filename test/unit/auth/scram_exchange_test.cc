// Both sides of SCRAM-SHA-256: against RFC 7677, against each other, and against hostile peers.
#include <gtest/gtest.h>

#include "common/auth/key_cache.h"
#include "common/auth/scram.h"
#include "common/auth/scram_client.h"
#include "common/auth/scram_server.h"

namespace weir::auth {
namespace {

using namespace std::string_literals;

ScramVerifier verifier_of(std::string_view password, std::string salt, int iterations = 4096) {
  const ScramKeys keys = derive_scram_keys(password, salt, iterations);
  return {iterations, std::move(salt), keys.stored_key, keys.server_key};
}

const std::string kSalt = *base64_decode("W22ZaJ0SNY7soEsUEjb6gQ==");

TEST(ScramServer, TheExchangeOfRfc7677) {
  const ScramVerifier verifier = verifier_of("pencil", kSalt);
  ScramServer server(verifier, false, "%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0");
  EXPECT_EQ(*server.first("n,,n=user,r=rOprNGfwEbeRWgbNEkqO"),
            "r=rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0,s=W22ZaJ0SNY7soEsUEjb6gQ==,i=4096");
  const auto last = server.final(
      "c=biws,r=rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0,p=dHzbZapWIk4jUhN+Ute9ytag9zjfMHgsqmmiz7AndVQ=");
  ASSERT_TRUE(last) << last.error().one_line();
  EXPECT_EQ(*last, "v=6rriTRBi23WpRR/wtup+mMhUZUn/dB5nLTJRsjl95G4=");
  EXPECT_EQ(server.client_key(), derive_scram_keys("pencil", kSalt, 4096).client_key);
}

struct Outcome {
  bool client_accepted = false;  // by the server
  bool server_accepted = false;  // by the client
  std::string client_key;
  Error error;
};

Outcome exchange(const Secret& secret, const ScramVerifier& verifier, KeyCache& cache, bool mock = false) {
  Outcome outcome;
  ScramClient client(secret, cache);
  ScramServer server(verifier, mock);
  const auto first = server.first(client.first());
  if (!first) return outcome.error = first.error(), outcome;
  const auto proof = client.final(*first);
  if (!proof) return outcome.error = proof.error(), outcome;
  const auto last = server.final(*proof);
  if (!last) return outcome.error = last.error(), outcome;
  outcome.client_accepted = true;
  outcome.client_key = server.client_key();
  outcome.server_accepted = client.verify(*last).has_value();
  return outcome;
}

TEST(ScramExchange, RightAndWrongPasswords) {
  KeyCache cache;
  for (const std::string password : {"pencil", "\u2168", "\xff", " "}) {
    const ScramVerifier verifier = verifier_of(password, kSalt, 100);
    const Outcome right = exchange(Secret::from_plain(password), verifier, cache);
    EXPECT_TRUE(right.client_accepted);
    EXPECT_TRUE(right.server_accepted);
    const Outcome wrong = exchange(Secret::from_plain(password + "x"), verifier, cache);
    EXPECT_FALSE(wrong.client_accepted);
    EXPECT_EQ(wrong.error.sqlstate, "28P01");
    EXPECT_TRUE(wrong.client_key.empty());
  }
}

TEST(ScramExchange, OneDerivationForManyLogins) {
  KeyCache cache;
  const ScramVerifier verifier = verifier_of("pencil", kSalt);
  for (int i = 0; i < 50; ++i) EXPECT_TRUE(exchange(Secret::from_plain("pencil"), verifier, cache).server_accepted);
  EXPECT_EQ(cache.size(), 1U);
}

TEST(ScramExchange, AMockFailsLikeAWrongPassword) {
  KeyCache cache;
  const Outcome mock = exchange(Secret::from_plain("pencil"), cache.mock("nobody"), cache, true);
  const Outcome wrong = exchange(Secret::from_plain("pencil"), verifier_of("other", kSalt), cache);
  EXPECT_FALSE(mock.client_accepted);
  EXPECT_EQ(mock.error, wrong.error);
  // Even the right proof does not open it.
  EXPECT_FALSE(exchange(Secret::from_plain("pencil"), verifier_of("pencil", kSalt), cache, true).client_accepted);
}

TEST(ScramExchange, PassThroughOfAStoredVerifier) {
  KeyCache cache;
  const ScramVerifier verifier = verifier_of("pencil", kSalt);
  const Outcome login = exchange(Secret::from_plain("pencil"), verifier, cache);
  ASSERT_TRUE(login.client_accepted);
  Secret stored = Secret::from_stored(format_scram_verifier(verifier));
  EXPECT_EQ(exchange(stored, verifier, cache).error.message, "there is no password for SCRAM-SHA-256");
  stored.set_client_key(login.client_key);
  KeyCache other;
  const Outcome onward = exchange(stored, verifier, other);
  EXPECT_TRUE(onward.client_accepted);
  EXPECT_TRUE(onward.server_accepted);
  EXPECT_EQ(other.size(), 0U);
  for (const ScramVerifier& elsewhere : {verifier_of("pencil", "another salt"), verifier_of("pencil", kSalt, 4097)}) {
    const Outcome refused = exchange(stored, elsewhere, cache);
    EXPECT_EQ(refused.error.message, "the stored SCRAM verifier is not the one that the server has");
    EXPECT_EQ(refused.error.sqlstate, "28P01");
  }
}

struct First {
  std::string message;
  std::string_view sqlstate;  // empty: taken
};

TEST(ScramServer, FirstMessages) {
  const First rows[] = {
      {"n,,n=,r=abc", ""},
      {"y,,n=,r=abc", ""},
      {"n,,n=user,r=abc", ""},
      {"n,,n=,r=abc,x=ext,y=", ""},
      {"", "08P01"},
      {"n", "08P01"},
      {"n,", "08P01"},
      {"n,,", "08P01"},
      {"n,,n=", "08P01"},
      {"n,,n=,", "08P01"},
      {"n,,n=,r=", "08P01"},
      {"n,,r=abc", "08P01"},
      {"n,,n=,x=1,r=abc", "08P01"},
      {"n,,n=,r=abc,", "08P01"},
      {"n,,n=,r=abc,garbage", "08P01"},
      {"n,,n=,r=a c", "08P01"},
      {"n,,n=,r=a\xc3\xa4", "08P01"},
      {"n,,n=,r=a\0c"s, "08P01"},
      {"n,,n=a\0,r=abc"s, "08P01"},
      {"n,,n=,r=abc\0"s, "08P01"},
      {"n,a=admin,n=,r=abc", "0A000"},
      {"n,b=admin,n=,r=abc", "08P01"},
      {"n,,m=x,n=,r=abc", "0A000"},
      {"p=tls-server-end-point,,n=,r=abc", "08P01"},
      {"p", "08P01"},
      {"x,,n=,r=abc", "08P01"},
      {"n,,n=,r=" + std::string(9000, 'a'), "08P01"},
  };
  for (const First& row : rows) {
    ScramServer server(verifier_of("pencil", kSalt, 1), false);
    const auto answer = server.first(row.message);
    EXPECT_EQ(answer.has_value(), row.sqlstate.empty()) << row.message;
    if (answer) continue;
    EXPECT_EQ(answer.error().sqlstate, row.sqlstate) << row.message;
    EXPECT_EQ(answer.error().severity, Severity::Fatal);
    EXPECT_FALSE(server.first("n,,n=,r=abc")) << "a second try after " << row.message;
  }
}

// A right final message for NONCE, with FLAG as the client's channel-binding flag, to tamper with.
struct Answer {
  ScramServer server;
  std::string without_proof;
  std::string proof;

  explicit Answer(std::string flag = "n") : server(verifier_of("pencil", kSalt, 1), false, "server") {
    const std::string first = *server.first(flag + ",,n=,r=client");
    without_proof = "c=" + base64_encode(flag + ",,") + ",r=clientserver";
    const ScramKeys keys = derive_scram_keys("pencil", kSalt, 1);
    proof = base64_encode(xor_texts(
        keys.client_key, hmac_sha256(keys.stored_key, "n=,r=client," + first + "," + without_proof)));
  }
};

TEST(ScramServer, FinalMessages) {
  for (const std::string flag : {"n", "y"}) {
    Answer good(flag);
    EXPECT_TRUE(good.server.final(good.without_proof + ",p=" + good.proof)) << flag;
  }
  const std::string proof = Answer().proof;
  const std::pair<std::string, std::string_view> rows[] = {
      {"", "08P01"},
      {"c=biws", "08P01"},
      {"c=biws,r=clientserver", "08P01"},
      {"c=biws,r=clientserver,p=", "08P01"},
      {"c=biws,r=clientserver,p=AAAA", "08P01"},
      {"c=biws,r=clientserver,p=!" + proof.substr(1), "08P01"},
      {"c=biws,r=clientserver,p=" + proof + ",x=1", "08P01"},
      {"c=biws,r=clientserver,p=" + proof + ",", "08P01"},
      {"c=biws,r=clientserver,p=" + proof + "\0"s, "08P01"},
      {"c=eSws,r=clientserver,p=" + proof, "08P01"},      // another flag than before
      {"c=,r=clientserver,p=" + proof, "08P01"},
      {"c=biws,r=client,p=" + proof, "08P01"},            // the server's part of the nonce is missing
      {"c=biws,r=clientserverx,p=" + proof, "08P01"},
      {"r=clientserver,c=biws,p=" + proof, "08P01"},
      {"c=biws,r=clientserver,x=1,p=" + proof, "28P01"},  // well-formed, but not what the proof is for
      {"c=biws,r=clientserver,p=" + base64_encode(std::string(32, '\0')), "28P01"},
      {"c=biws,r=clientserver,x=" + std::string(9000, 'x') + ",p=" + proof, "08P01"},
  };
  for (const auto& [message, sqlstate] : rows) {
    Answer answer;
    const auto last = answer.server.final(message);
    ASSERT_FALSE(last) << message;
    EXPECT_EQ(last.error().sqlstate, sqlstate) << message;
    EXPECT_TRUE(answer.server.client_key().empty());
    EXPECT_FALSE(answer.server.final(answer.without_proof + ",p=" + answer.proof)) << "a second try after " << message;
  }
}

TEST(ScramServer, OutOfTurn) {
  ScramServer server(verifier_of("pencil", kSalt, 1), false);
  EXPECT_FALSE(server.final("c=biws,r=,p=" + base64_encode(std::string(32, '\0'))));
  EXPECT_FALSE(server.first("n,,n=,r=abc"));
}

TEST(ScramClient, HostileServersFirstMessage) {
  const std::string salt = base64_encode(kSalt);
  KeyCache cache;
  const auto answer = [&](auto make) {
    ScramClient client(Secret::from_plain("pencil"), cache);
    const std::string nonce = client.first().substr(std::string("n,,n=,r=").size());
    return client.final(make(nonce)).has_value();
  };
  EXPECT_TRUE(answer([&](const std::string& n) { return "r=" + n + "x,s=" + salt + ",i=1"; }));
  EXPECT_TRUE(answer([&](const std::string& n) { return "r=" + n + "x,s=" + salt + ",i=1,x=extension"; }));
  EXPECT_FALSE(answer([&](const std::string&) { return ""s; }));
  EXPECT_FALSE(answer([&](const std::string& n) { return "r=" + n + ",s=" + salt + ",i=1"; }));
  EXPECT_FALSE(answer([&](const std::string& n) { return "r=x" + n + ",s=" + salt + ",i=1"; }));
  EXPECT_FALSE(answer([&](const std::string& n) { return "r=" + n + " x,s=" + salt + ",i=1"; }));
  EXPECT_FALSE(answer([&](const std::string& n) { return "m=x,r=" + n + "x,s=" + salt + ",i=1"; }));
  EXPECT_FALSE(answer([&](const std::string& n) { return "r=" + n + "x,s=,i=1"; }));
  EXPECT_FALSE(answer([&](const std::string& n) { return "r=" + n + "x,s=***,i=1"; }));
  EXPECT_FALSE(answer([&](const std::string& n) { return "r=" + n + "x,s=" + std::string(2000, 'A') + ",i=1"; }));
  EXPECT_FALSE(answer([&](const std::string& n) { return "r=" + n + "x,i=1,s=" + salt; }));
  EXPECT_FALSE(answer([&](const std::string& n) { return "r=" + n + "x,s=" + salt; }));
  for (const std::string count : {"0", "-1", "", "x", "1x", " 1", "1000001", "99999999999999999999"}) {
    EXPECT_FALSE(answer([&](const std::string& n) { return "r=" + n + "x,s=" + salt + ",i=" + count; })) << count;
  }
}

TEST(ScramClient, OnlyOneProofAndNoSignatureBeforeIt) {
  KeyCache cache;
  ScramClient early(Secret::from_plain("pencil"), cache);
  // Without this order a server that knows nothing could sign with keys that are still empty.
  EXPECT_FALSE(early.verify("v=" + base64_encode(hmac_sha256("", ""))));
  ScramClient client(Secret::from_plain("pencil"), cache);
  const std::string nonce = client.first().substr(8);
  ASSERT_TRUE(client.final("r=" + nonce + "x,s=AAAA,i=1"));
  EXPECT_FALSE(client.final("r=" + nonce + "y,s=BBBB,i=1"));
}

TEST(ScramClient, SignaturesThatDoNotCount) {
  for (const std::string& last : {""s, "v="s, "v=AAAA"s, "v=" + base64_encode(std::string(32, '\0')), "e=other-error"s,
                                  "x=1"s, "garbage"s, "v=***"s}) {
    KeyCache cache;
    ScramClient client(Secret::from_plain("pencil"), cache);
    ScramServer server(verifier_of("pencil", kSalt, 1), false);
    const auto proof = client.final(*server.first(client.first()));
    const auto right = server.final(*proof);
    ASSERT_TRUE(right);
    EXPECT_FALSE(client.verify(last)) << last;
    EXPECT_FALSE(client.verify(*right)) << "a second try after " << last;
  }
}

}  // namespace
}  // namespace weir::auth
