#include <gtest/gtest.h>

#include <string>

#include "child/hand_over.h"

namespace weir::child {
namespace {

Parcel full() {
  Parcel parcel;
  parcel.giver = 1;
  parcel.lease = 7;
  parcel.node = 2;
  parcel.database = "app";
  parcel.user = "somebody";
  parcel.backend_pid = 4711;
  parcel.cancel_key = std::string("\0\1\2\3", 4);
  parcel.method = auth::AskedMethod::Scram;
  parcel.has_statements = true;
  parcel.connected_ms = 123456789;
  parcel.sent_ms = 123999999;
  parcel.uses = 99;
  parcel.login_change = 12;
  parcel.parameters = {{"TimeZone", "UTC"}, {"application_name", ""}};
  parcel.image.settings = {{"search_path", "SET search_path = 'a, b'"}};
  return parcel;
}

TEST(parcel, comes_out_as_it_went_in) {
  const auto again = decode_parcel(as_bytes(encode_parcel(full())));
  ASSERT_TRUE(again.has_value());
  EXPECT_EQ(again->giver, 1);
  EXPECT_EQ(again->lease, 7);
  EXPECT_EQ(again->node, 2);
  EXPECT_EQ(again->database, "app");
  EXPECT_EQ(again->user, "somebody");
  EXPECT_EQ(again->backend_pid, 4711);
  EXPECT_EQ(again->cancel_key, full().cancel_key);
  EXPECT_EQ(again->method, auth::AskedMethod::Scram);
  EXPECT_TRUE(again->has_statements);
  EXPECT_FALSE(again->has_drawn);
  EXPECT_EQ(again->connected_ms, 123456789);
  EXPECT_EQ(again->sent_ms, 123999999);
  EXPECT_EQ(again->uses, 99U);
  EXPECT_EQ(again->login_change, 12U);
  EXPECT_EQ(again->parameters, full().parameters);
  EXPECT_EQ(again->image.settings, full().image.settings);
}

TEST(parcel, cut_or_longer_it_is_none) {
  const std::string whole = encode_parcel(full());
  for (std::size_t size = 0; size < whole.size(); ++size) EXPECT_FALSE(decode_parcel(as_bytes(whole.substr(0, size)))) << size;
  EXPECT_FALSE(decode_parcel(as_bytes(whole + '\0')));
  EXPECT_FALSE(decode_parcel(as_bytes(std::string(kMaxParcelBytes + 1, 'x'))));
}

TEST(parcel, what_cannot_be_is_refused) {
  struct {
    const char* what;
    void (*spoil)(Parcel&);
  } const cases[] = {
      {"no giver", [](Parcel& p) { p.giver = -1; }},
      {"no lease", [](Parcel& p) { p.lease = -1; }},
      {"no node", [](Parcel& p) { p.node = -1; }},
      {"a node beyond all", [](Parcel& p) { p.node = 1000; }},
      {"no database", [](Parcel& p) { p.database.clear(); }},
      {"a name with a NUL", [](Parcel& p) { p.user = std::string("a\0b", 3); }},
      {"no process", [](Parcel& p) { p.backend_pid = 0; }},
      {"connected before time began", [](Parcel& p) { p.connected_ms = -1; }},
      {"a method that there is not", [](Parcel& p) { p.method = static_cast<auth::AskedMethod>(77); }},
      {"a setting without a name", [](Parcel& p) { p.image.settings[0].parameter.clear(); }},
      {"too many parameters", [](Parcel& p) { p.parameters.assign(1001, {"", ""}); }},
  };
  for (const auto& c : cases) {
    Parcel parcel = full();
    c.spoil(parcel);
    EXPECT_FALSE(decode_parcel(as_bytes(encode_parcel(parcel)))) << c.what;
  }
}

}  // namespace
}  // namespace weir::child
