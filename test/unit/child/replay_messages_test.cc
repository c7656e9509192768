#include "child/replay_messages.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "common/wire/frame.h"
#include "common/wire/frontend.h"

namespace weir::child {
namespace {

using Texts = std::vector<std::string>;

struct Message {
  char tag = '\0';
  std::string body;
};

// BYTES as the messages that a server would read.
std::vector<Message> taken_apart(std::string_view bytes) {
  std::vector<Message> messages;
  while (!bytes.empty()) {
    const wire::FrameHeader header = wire::peek_frame(wire::Direction::FromClient, as_bytes(bytes));
    if (header.status != wire::FrameStatus::Ok || !header.known || header.total() > bytes.size()) {
      ADD_FAILURE() << "no whole message follows the first " << messages.size();
      break;
    }
    messages.push_back({header.tag, std::string(bytes.substr(wire::kHeaderSize, header.total() - wire::kHeaderSize))});
    bytes.remove_prefix(header.total());
  }
  return messages;
}

std::string tags(const std::vector<Message>& messages) {
  std::string out;
  for (const Message& message : messages) out += message.tag;
  return out;
}

// The SQL of each Query and Parse.
Texts statements(const std::vector<Message>& messages) {
  Texts out;
  for (const Message& message : messages) {
    if (message.tag == 'Q') {
      const auto query = wire::parse_query(as_bytes(message.body));
      EXPECT_TRUE(query);
      if (query) out.emplace_back(query->text);
    } else if (message.tag == 'P') {
      const auto parse = wire::parse_parse(as_bytes(message.body));
      EXPECT_TRUE(parse && parse->name.empty());
      if (parse) out.emplace_back(parse->query);
    }
  }
  return out;
}

// The values of a Bind, all of them text.
Texts values(const Message& message) {
  Texts out;
  const auto bind = wire::parse_bind(as_bytes(message.body));
  if (message.tag != 'B' || !bind) return ADD_FAILURE() << "no Bind", out;
  EXPECT_TRUE(bind->portal.empty());
  EXPECT_TRUE(bind->statement.empty());
  std::string_view rest = as_text(bind->rest);
  const auto number = [&](std::size_t size) {
    std::size_t value = 0;
    for (; size > 0; --size) {
      value = value << 8U | static_cast<unsigned char>(rest.at(0));
      rest.remove_prefix(1);
    }
    return value;
  };
  EXPECT_EQ(number(2), 0U) << "format codes";
  for (std::size_t count = number(2); count > 0; --count) {
    const std::size_t size = number(4);
    out.emplace_back(rest.substr(0, size));
    rest.remove_prefix(size);
  }
  return out;
}

TEST(ReplayMessages, NothingToDo) {
  const ReplayMessages messages = replay_messages({});
  EXPECT_TRUE(messages.bytes.empty());
  EXPECT_EQ(messages.ready, 0);
  EXPECT_FALSE(messages.discards);
}

struct Row {
  const char* what;
  Replay replay;
  const char* tags;
  Texts statements;
  int ready;
};

TEST(ReplayMessages, Table) {
  const std::string set_two = "SELECT pg_catalog.set_config($1, $2, false), pg_catalog.set_config($3, $4, false)";
  for (const Row& row : {
           Row{"DISCARD ALL is alone: it is not allowed in a transaction", {true, false, false, {}, {}}, "Q", {"DISCARD ALL"}, 1},
           Row{"the login role", {false, true, false, {}, {}}, "PBEPBECS", {"RESET SESSION AUTHORIZATION", "RESET ROLE"}, 1},
           Row{"parameters", {false, false, false, {{"a", "1"}, {"b", "2"}}, {}}, "PBECS", {set_two}, 1},
           Row{"RESET ALL comes before what shall stay", {false, false, true, {{"a", "1"}, {"b", "2"}}, {"SET c = 3"}}, "PBEPBEPBECS", {"RESET ALL", set_two, "SET c = 3"}, 1},
           Row{"statements", {false, false, false, {}, {"SET a = 1", "SET b = 2"}}, "PBEPBECS", {"SET a = 1", "SET b = 2"}, 1},
           Row{"all in order",
               {true, true, true, {{"a", "1"}, {"b", "2"}}, {"SET ROLE r"}},
               "QPBEPBEPBEPBEPBECS",
               {"DISCARD ALL", "RESET SESSION AUTHORIZATION", "RESET ROLE", "RESET ALL", set_two, "SET ROLE r"},
               2},
       }) {
    const ReplayMessages messages = replay_messages(row.replay);
    const auto apart = taken_apart(messages.bytes);
    EXPECT_EQ(tags(apart), row.tags) << row.what;
    EXPECT_EQ(statements(apart), row.statements) << row.what;
    EXPECT_EQ(messages.ready, row.ready) << row.what;
    EXPECT_EQ(messages.discards, row.replay.discard_all) << row.what;
  }
}

// Whatever a client has put into its startup packet, it never becomes SQL.
TEST(ReplayMessages, NamesAndValuesArePassedAsParameters) {
  const std::string nasty = "x', false); DROP TABLE t; -- \\ \" $1 \xc3\xa9";
  const SessionState::Parameters parameters{{nasty, nasty}, {"", ""}, {"b", std::string(100000, 'v')}};
  for (const std::string& bytes : {replay_messages({false, false, false, parameters, {}}).bytes, restore_messages(parameters, {}), restore_messages({}, parameters)}) {
    const auto apart = taken_apart(bytes);
    ASSERT_EQ(tags(apart), "PBECS");
    EXPECT_EQ(statements(apart).at(0).find("DROP"), std::string::npos);
    EXPECT_EQ(values(apart[1]), (Texts{nasty, nasty, "", "", "b", std::string(100000, 'v')}));
  }
}

TEST(ReplayMessages, ExecuteTakesAllRows) {
  for (const Message& message : taken_apart(replay_messages({false, true, false, {{"a", "1"}}, {"SET b = 2"}}).bytes)) {
    if (message.tag != 'E') continue;
    const auto execute = wire::parse_execute(as_bytes(message.body));
    ASSERT_TRUE(execute);
    EXPECT_TRUE(execute->portal.empty());
    EXPECT_EQ(execute->max_rows, 0);
  }
}

TEST(ReplayMessages, RestoreNumbersItsParameters) {
  const auto apart = taken_apart(restore_messages({{"a", "1"}, {"b", "2"}}, {}));
  ASSERT_EQ(tags(apart), "PBECS");
  const std::string sql = statements(apart).at(0);
  EXPECT_NE(sql.find("VALUES ($1::pg_catalog.text, $2::pg_catalog.text), ($3::pg_catalog.text, $4::pg_catalog.text)) AS p(n, v)"), std::string::npos) << sql;
  EXPECT_EQ(values(apart[1]), (Texts{"a", "1", "b", "2"}));
}

}  // namespace
}  // namespace weir::child
