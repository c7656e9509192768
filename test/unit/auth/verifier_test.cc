// Texts of stored secrets, and the cache of keys.
#include "common/auth/verifier.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "common/auth/digest.h"
#include "common/auth/key_cache.h"
#include "common/auth/md5_password.h"
#include "common/auth/scram.h"

namespace weir::auth {
namespace {

using namespace std::string_literals;

constexpr std::string_view kVerifier =
    "SCRAM-SHA-256$4096:3Yy70chmQuUeS5dpefsqIQ==$2pc1NT/jbrP1+YUqqW/AJgBpBUb5VsOreShtvZRKcys=:"
    "3P+BB5gXT7BVdVKeXrfE6QTjY0QO5r9IcYw0c92Cjqw=";

TEST(Verifier, PartsAndBack) {
  const auto verifier = parse_scram_verifier(kVerifier);
  ASSERT_TRUE(verifier);
  EXPECT_EQ(verifier->iterations, 4096);
  EXPECT_EQ(verifier->salt.size(), 16U);
  EXPECT_EQ(verifier->stored_key.size(), 32U);
  EXPECT_EQ(verifier->server_key.size(), 32U);
  EXPECT_EQ(format_scram_verifier(*verifier), kVerifier);
}

std::string with(std::string_view from, std::string_view to) {
  std::string text(kVerifier);
  return text.replace(text.find(from), from.size(), to);
}

TEST(Verifier, BrokenOnesAreNone) {
  EXPECT_FALSE(parse_scram_verifier(""));
  EXPECT_FALSE(parse_scram_verifier("SCRAM-SHA-256$"));
  for (std::size_t size = 0; size < kVerifier.size(); ++size) {
    EXPECT_FALSE(parse_scram_verifier(kVerifier.substr(0, size))) << size;
  }
  EXPECT_FALSE(parse_scram_verifier(std::string(kVerifier) + "="));
  EXPECT_FALSE(parse_scram_verifier(std::string(kVerifier) + ":x"));
  for (const std::string_view count : {"0:", "-1:", "+4096:", " 4096:", "4096 :", "0x10:", "99999999999:", "10000001:",
                                       ":", "4096.0:"}) {
    EXPECT_FALSE(parse_scram_verifier(with("4096:", count))) << count;
  }
  EXPECT_FALSE(parse_scram_verifier(with("3Yy70chmQuUeS5dpefsqIQ==", "")));
  EXPECT_FALSE(parse_scram_verifier(with("2pc1NT/jbrP1", "")));       // a stored key that is too short
  EXPECT_FALSE(parse_scram_verifier(with("3P+BB5gX", "")));           // a server key that is too short
  EXPECT_FALSE(parse_scram_verifier(with("3P+BB5gX", "3P+B3P+BB5gX")));
  EXPECT_FALSE(parse_scram_verifier(with("SCRAM-SHA-256", "SCRAM-SHA-512")));
  EXPECT_FALSE(parse_scram_verifier(with("SCRAM", "scram")));
}

RC_GTEST_PROP(VerifierProperty, WhatIsWrittenIsRead, ()) {
  const auto octets = [](std::size_t size) {
    return *rc::gen::container<std::string>(size, rc::gen::arbitrary<char>());
  };
  ScramVerifier verifier{*rc::gen::inRange(1, 100000), octets(*rc::gen::inRange<std::size_t>(1, 40)), octets(32),
                         octets(32)};
  RC_ASSERT(parse_scram_verifier(format_scram_verifier(verifier)) == verifier);
}

struct Row {
  std::string_view text;
  Secret::Kind kind;
  std::string_view plain_or_hash;
};

TEST(Secret, KindsAsTheyAreWritten) {
  const Row rows[] = {
      {"secret", Secret::Kind::Plain, "secret"},
      {"TEXTsecret", Secret::Kind::Plain, "secret"},
      {"TEXTmd500112233445566778899aabbccddeeff", Secret::Kind::Plain, "md500112233445566778899aabbccddeeff"},
      {"TEXT", Secret::Kind::Plain, "TEXT"},
      {"text", Secret::Kind::Plain, "text"},
      {"md500112233445566778899aabbccddeeff", Secret::Kind::Md5, "md500112233445566778899aabbccddeeff"},
      {"md500112233445566778899AABBCCDDEEFF", Secret::Kind::Plain, "md500112233445566778899AABBCCDDEEFF"},
      {"md500112233445566778899aabbccddeef", Secret::Kind::Plain, "md500112233445566778899aabbccddeef"},
      {"md500112233445566778899aabbccddeefff", Secret::Kind::Plain, "md500112233445566778899aabbccddeefff"},
      {"md500112233445566778899aabbccddeefg", Secret::Kind::Plain, "md500112233445566778899aabbccddeefg"},
      {"SCRAM-SHA-256$4096:broken", Secret::Kind::Plain, "SCRAM-SHA-256$4096:broken"},
      {kVerifier, Secret::Kind::Scram, ""},
      {"", Secret::Kind::Plain, ""},
  };
  for (const Row& row : rows) {
    const Secret secret = Secret::from_stored(row.text);
    EXPECT_EQ(secret.kind(), row.kind) << row.text;
    EXPECT_EQ(secret.plain(), row.plain_or_hash) << row.text;
    const auto parsed = Secret::parse(row.text);
    ASSERT_TRUE(parsed) << row.text;
    EXPECT_EQ(parsed->kind(), row.kind) << row.text;
  }
  EXPECT_EQ(Secret::from_stored(kVerifier).scram(), parse_scram_verifier(kVerifier));
  EXPECT_EQ(Secret::from_plain("TEXTx").plain(), "TEXTx");
}

TEST(Secret, EncryptedByPgEnc) {
  constexpr std::string_view kKey = "the key of this test";
  const auto secret = Secret::parse("AESFzZ0+3ke5S426ipCNi3ReQ==", kKey);
  ASSERT_TRUE(secret) << secret.error().one_line();
  EXPECT_EQ(secret->kind(), Secret::Kind::Plain);
  EXPECT_EQ(secret->plain(), "pencil & p\u00e4n");
  EXPECT_EQ(Secret::parse("AESjAEairzuu6Y9bBNqdVQOIcWhJz2JKrkLVl4DN4NtT0s=", kKey)->plain(), "exactly16bytes!!");
}

TEST(Secret, WhatCannotBeDecryptedIsAnErrorWithoutTheSecret) {
  constexpr std::string_view kKey = "the key of this test";
  const std::pair<std::string_view, std::string_view> rows[] = {
      {"AESFzZ0+3ke5S426ipCNi3ReQ==", ""},                 // no key
      {"AESFzZ0+3ke5S426ipCNi3ReQ==", "another key"},      // a wrong one
      {"AES", kKey},                                       // nothing
      {"AESsecret", kKey},                                 // not base64
      {"AESFzZ0+3ke5S426ipCNi3R", kKey},                   // not whole blocks
      {"AESFzZ0+3ke5S426ipCNi3ReQ==FzZ0", kKey},
  };
  for (const auto& [text, key] : rows) {
    const auto secret = Secret::parse(text, key);
    ASSERT_FALSE(secret) << text;
    EXPECT_EQ(secret.error().message, "unable to decrypt the password");
    EXPECT_EQ(secret.error().one_line().find("FzZ0"), std::string::npos);
    EXPECT_FALSE(secret.error().hint.empty());
  }
}

TEST(Md5, AsPostgresComputesIt) {
  const auto hash = md5_hash("secret", "alice");
  EXPECT_EQ(hash, "md54a0a68b43b6cd5cf266fa02f196e2371");
  EXPECT_TRUE(is_md5_hash(*hash));
  EXPECT_EQ(md5_response(*hash, "\x01\x02\x03\xff"), "md55f0388cdae34fff99488f7c4c4a91735");
  EXPECT_FALSE(md5_response("md5", "salt"));
  EXPECT_FALSE(md5_response("plain", "salt"));
}

TEST(KeyCache, DerivesOnceAndKeepsApart) {
  KeyCache cache;
  const auto a = cache.keys("pencil", "salt", 10);
  EXPECT_EQ(cache.size(), 1U);
  EXPECT_EQ(cache.keys("pencil", "salt", 10).client_key, a.client_key);
  EXPECT_EQ(cache.size(), 1U);
  EXPECT_NE(cache.keys("pencil", "salt", 11).client_key, a.client_key);
  EXPECT_NE(cache.keys("pencil", "tlas", 10).client_key, a.client_key);
  EXPECT_NE(cache.keys("pencils", "salt", 10).client_key, a.client_key);
  EXPECT_EQ(cache.size(), 4U);
  const ScramKeys keys = derive_scram_keys("pencil", "salt", 10);
  EXPECT_EQ(a.client_key, keys.client_key);
  EXPECT_EQ(a.stored_key, sha256(keys.client_key));
}

TEST(KeyCache, WrongPasswordsDoNotFillIt) {
  KeyCache cache;
  const ScramVerifier verifier = *parse_scram_verifier(kVerifier);
  EXPECT_FALSE(cache.matches("pencils", verifier));
  EXPECT_FALSE(cache.matches("", verifier));
  EXPECT_EQ(cache.size(), 0U);
  EXPECT_TRUE(cache.matches("pencil", verifier));
  EXPECT_EQ(cache.size(), 1U);
  EXPECT_TRUE(cache.matches("pencil", verifier));
  EXPECT_FALSE(cache.matches("pencils", verifier));
  ScramVerifier other = verifier;
  other.stored_key[0] = static_cast<char>(other.stored_key[0] ^ 1);
  EXPECT_FALSE(cache.matches("pencil", other));  // the keys are known, and are not those
  EXPECT_EQ(cache.size(), 1U);
}

TEST(KeyCache, IsBounded) {
  KeyCache cache;
  for (int i = 0; i < 10100; ++i) cache.keys("p" + std::to_string(i), "salt", 1);
  EXPECT_EQ(cache.size(), 10000U);
}

TEST(KeyCache, OwnVerifiersAndMocksLookAlike) {
  KeyCache cache("seed");
  const ScramVerifier own = cache.verifier("alice", "secret");
  EXPECT_EQ(own, cache.verifier("alice", "secret"));
  EXPECT_TRUE(cache.matches("secret", own));
  const ScramVerifier mock = cache.mock("alice");
  EXPECT_EQ(mock.salt, own.salt);  // whether there is an alice does not show
  EXPECT_EQ(mock.iterations, own.iterations);
  EXPECT_EQ(mock, cache.mock("alice"));
  EXPECT_NE(mock.salt, cache.mock("bob").salt);
  EXPECT_FALSE(cache.matches("secret", mock));
  EXPECT_EQ(KeyCache("seed").mock("alice").salt, mock.salt);
  EXPECT_NE(KeyCache("other").mock("alice").salt, mock.salt);
  EXPECT_NE(KeyCache().mock("alice").salt, KeyCache().mock("alice").salt);
}

TEST(Digest, RemembersWithoutKeeping) {
  std::string salt;
  std::string digest;
  EXPECT_FALSE(same_password(salt, digest, ""));
  remember_password(salt, digest, "secret");
  EXPECT_TRUE(same_password(salt, digest, "secret"));
  EXPECT_FALSE(same_password(salt, digest, "secreT"));
  EXPECT_FALSE(same_password(salt, digest, ""));
  const std::string before = digest;
  remember_password(salt, digest, "secret");
  EXPECT_NE(digest, before);
}

}  // namespace
}  // namespace weir::auth
