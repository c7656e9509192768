// Primitives and grammar of SCRAM-SHA-256.
#include "common/auth/scram.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "common/auth/saslprep.h"
#include "common/auth/verifier.h"

namespace weir::auth {
namespace {

using namespace std::string_literals;

TEST(Scram, ProofAndSignatureOfRfc7677) {
  const std::string salt = *base64_decode("W22ZaJ0SNY7soEsUEjb6gQ==");
  const ScramKeys keys = derive_scram_keys("pencil", salt, 4096);
  const std::string message =
      "n=user,r=rOprNGfwEbeRWgbNEkqO,"
      "r=rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0,s=W22ZaJ0SNY7soEsUEjb6gQ==,i=4096,"
      "c=biws,r=rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0";
  EXPECT_EQ(base64_encode(xor_texts(keys.client_key, hmac_sha256(keys.stored_key, message))),
            "dHzbZapWIk4jUhN+Ute9ytag9zjfMHgsqmmiz7AndVQ=");
  EXPECT_EQ(base64_encode(hmac_sha256(keys.server_key, message)), "6rriTRBi23WpRR/wtup+mMhUZUn/dB5nLTJRsjl95G4=");
}

TEST(Scram, HmacOfRfc4231AndPbkdf2) {
  EXPECT_EQ(base64_encode(hmac_sha256("Jefe", "what do ya want for nothing?")),
            "W9zBRr9gdU5qBCQmCJV1x1oAPwidJzmDnexYuWTsOEM=");
  // PBKDF2-HMAC-SHA256("password", "salt", 1 and 4096), 32 bytes.
  EXPECT_EQ(base64_encode(salted_password("password", "salt", 1)), "Eg+2z/z4syxD5yJSVsT4N6hlSMkszDVICAWYfLcL4Xs=");
  EXPECT_EQ(base64_encode(salted_password("password", "salt", 4096)), "xeR41ZKIyEGqUw22hFxMjZYok6ABzk4RpJY4c6qYE0o=");
}

struct Prepared {
  std::string_view password;
  std::string_view verifier;  // made by PostgreSQL 15 of that password
};

TEST(Saslprep, TheSameAsPostgres) {
  const Prepared rows[] = {
      {"pencil",
       "SCRAM-SHA-256$4096:3Yy70chmQuUeS5dpefsqIQ==$2pc1NT/jbrP1+YUqqW/AJgBpBUb5VsOreShtvZRKcys=:"
       "3P+BB5gXT7BVdVKeXrfE6QTjY0QO5r9IcYw0c92Cjqw="},
      {"\u00aa\u2168x",  // compatibility characters
       "SCRAM-SHA-256$4096:TKaNFcavxiEW791gHyYiYw==$YoxgJqIR8D1ypVje5ttI0Mm2hDn10U+1DCJha7EG8d8=:"
       "+zHDoa9CON1lcKGINDBsIn4n5us6atgryWfREC1wJRk="},
      {"I\u00adX",  // a soft hyphen, mapped to nothing
       "SCRAM-SHA-256$4096:rFiMQNU+DSdeHL+sce/cCA==$4C+A0bgcebhcFfXcpFMAuUe+N2a1TpuUXfBV21C/LKg=:"
       "u2wFAE2VQnqCzBu0U5rFpWr4rCDYYYblawa3QWaIqXM="},
      {"\u00a0a\u3000b",  // spaces that are not ASCII's
       "SCRAM-SHA-256$4096:ykrSKpnIt2k9oYtzCbnx2g==$ePar7Pq32wqHtv5peu94DFRWPlYjW1K4KkFjyTajX8I=:"
       "JxPMb1HqG/I+wRUrhXd96EDnoN6GnvhE+mTY7QGWmGY="},
      {"\u0221\u2168",  // unassigned in Unicode 3.2
       "SCRAM-SHA-256$4096:VHH6xEATY8kRFWfUG0eZ3A==$Llv3BbITixuVlnbMr32qtjWW3ZK+mU2RLeTymF7h7ew=:"
       "1pjE0hwbY6I1XPV0EU/kQCTaGxw0BCvDqpf0qsZNNu0="},
      {"\x07\u2168",  // a control character
       "SCRAM-SHA-256$4096:F8BqDGRuCZs0zOOazT+kvA==$7jdMTjMLRoCrjJkmLLHXRvNBZFGhlsjKsp9kgv/cJ6w=:"
       "gcUR6q+hfaQXFKSnAq9uoE00sFJ1EwPxxGX4vZP5xPQ="},
      {"\u06271",  // right to left, not at both ends
       "SCRAM-SHA-256$4096:iDwaGSoHO6+447smJ5dIDA==$UAsCc/kG6QqVcfSGYiBaggZgXVs5Ac0xJXqgIwTfPWk=:"
       "t2cnKSaNWao+Yo9jxiMEJo1jyIP44GH2FX13S2UK34Y="},
      {"\u00ad",  // nothing is left
       "SCRAM-SHA-256$4096:PkIYue5XbH3vBXmNhnuusQ==$WTcmvKAFC8w9HQ1q69y+ITcSrY8QiGmW2Zg6kGrd4Hg=:"
       "/WYsjKVHZuVGV/VsMOitC5oQIGsP4Q4FG3ddvFFPT4A="},
      {"\u06271\u0628",
       "SCRAM-SHA-256$4096:zGArX8RKWV+PdI8egfY4TA==$guQh+RmqU2h0LikPpCnCWvVzwynFRHXzP5PHj5mcZFw=:"
       "QwHYlIXtKGnSMXAyJkQdWtNg9CpHTvi7Uztc1vb9oPc="},
      {"tab\there",
       "SCRAM-SHA-256$4096:ABpQzfTwtFoXIHcywJAX3A==$+B8N8VMJMfpJsJ6DOAg7829ksXula7DIFv/C4jVBKtQ=:"
       "jJsfR7pjI5cCg2nZi1VLxtHkwYrGvaow7sBn9roSi9M="},
      {"a\u0308\ufb01",  // to be composed, and a ligature
       "SCRAM-SHA-256$4096:6bwyNx0gHy8xJNQrME0AbQ==$w8chS/HT4E89GQadJKiPtpGLiT/J87yP0Sw0RiGBdEQ=:"
       "cefqV2jNtWmnCd7HaCAR+50OxWC9LVl1vZIZ6D7IaD8="},
      {"\U0001F600\u2168",  // outside the first plane and unassigned in Unicode 3.2
       "SCRAM-SHA-256$4096:Qv4MIin8i1mLi85gcmb+Ig==$v7/TOzA7g7Tpc0nEjWwbIlYWO4cuq3h1Atyk3E+ObWo=:"
       "vRASqk//2ENlqt7/cbFqiCpqG3+U/ujtRNgPNUbp1zQ="},
  };
  for (const Prepared& row : rows) {
    const auto verifier = parse_scram_verifier(row.verifier);
    ASSERT_TRUE(verifier);
    const ScramKeys keys = derive_scram_keys(row.password, verifier->salt, verifier->iterations);
    EXPECT_EQ(base64_encode(keys.stored_key), base64_encode(verifier->stored_key)) << row.password;
    EXPECT_EQ(keys.server_key, verifier->server_key) << row.password;
  }
}

TEST(Saslprep, WhatIsNoTextStaysAsItIs) {
  for (const std::string& password : {"\xff\xfe"s, "caf\xe9"s, "\xc3"s, "\xed\xa0\x80"s, ""s, "\x7f"s}) {
    EXPECT_EQ(saslprep(password), password);
  }
  EXPECT_EQ(saslprep("\u2168"), "IX");
}

TEST(Base64, OnlyWhatIsWellFormed) {
  EXPECT_EQ(base64_decode(""), "");
  EXPECT_EQ(base64_decode("YQ=="), "a");
  EXPECT_EQ(base64_decode("YWI="), "ab");
  EXPECT_EQ(base64_decode("+/+/"), "\xfb\xff\xbf");
  for (const std::string& text : {"Y"s, "YQ"s, "YQ="s, "YQ==="s, "===="s, "Y==="s, "YQ==YQ=="s, "Y Q="s, "YQ=\n"s,
                                  " YQ="s, "YQ=a"s, "Y\0=="s, "-_-_"s, "YWJ\xff"s}) {
    EXPECT_FALSE(base64_decode(text)) << text;
  }
}

RC_GTEST_PROP(Base64Property, WhatIsEncodedIsDecoded, (const std::string& bytes)) {
  RC_ASSERT(base64_decode(base64_encode(bytes)) == bytes);
}

TEST(ScramAttributes, OneByOne) {
  ScramAttributes attributes("n=,r=a=b,x=1");
  EXPECT_FALSE(attributes.take('r'));  // not yet
  EXPECT_EQ(attributes.take('n'), "");
  EXPECT_EQ(attributes.take('r'), "a=b");
  EXPECT_FALSE(attributes.at_end());
  const auto last = attributes.next();
  ASSERT_TRUE(last);
  EXPECT_EQ(last->name, 'x');
  EXPECT_EQ(last->value, "1");
  EXPECT_TRUE(attributes.at_end());
  EXPECT_FALSE(attributes.next());
  EXPECT_FALSE(attributes.take('x'));
}

TEST(ScramAttributes, BrokenGrammar) {
  for (const std::string& text : {""s, "n"s, "="s, "n:x"s, "1=x"s, ",n=x"s, "n=a\0b"s, "\xff=x"s, "nn=x"s}) {
    EXPECT_FALSE(ScramAttributes(text).next()) << text;
  }
  ScramAttributes trailing("n=x,");
  EXPECT_TRUE(trailing.next());
  EXPECT_FALSE(trailing.at_end());
  EXPECT_FALSE(trailing.next());
}

TEST(Scram, Nonces) {
  EXPECT_TRUE(valid_nonce(scram_nonce()));
  EXPECT_EQ(scram_nonce().size(), 24U);
  EXPECT_NE(scram_nonce(), scram_nonce());
  for (const std::string& nonce : {""s, "a b"s, "a,b"s, "a\x7f"s, "\xc3\xa4"s, "a\0"s}) {
    EXPECT_FALSE(valid_nonce(nonce));
  }
}

TEST(Scram, SameSecret) {
  EXPECT_TRUE(same_secret("abc", "abc"));
  EXPECT_TRUE(same_secret("", ""));
  EXPECT_FALSE(same_secret("abc", "abd"));
  EXPECT_FALSE(same_secret("abc", "ab"));
  EXPECT_FALSE(same_secret("", "a"));
}

}  // namespace
}  // namespace weir::auth
