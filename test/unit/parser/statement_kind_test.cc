// Every node and statement of the grammar that we are built with is accounted for.
#include <gtest/gtest.h>

#include <cstddef>
#include <functional>
#include <set>
#include <string_view>
#include <vector>

#include "parser/pg_tree.h"
#include "parser/statement_kind.h"
#include "parser/walk.h"

namespace weir::parser {
namespace {

template <typename Use> void for_each_node_type(Use&& use) {
  const MessageType& node = *kType<PgQuery__Node>;
  for (unsigned i = 0; i < node.n_fields; ++i) {
    ASSERT_EQ(node.fields[i].type, PROTOBUF_C_TYPE_MESSAGE);
    use(*static_cast<const MessageType*>(node.fields[i].descriptor));
  }
}

TEST(StatementKinds, TheTableNamesEveryStatementOfTheGrammar) {
  int statements = 0;
  for_each_node_type([&](const MessageType& type) {
    const std::string_view name = type.short_name;
    if (!name.ends_with("Stmt"))
      return;
    ++statements;
    EXPECT_TRUE(knows_statement(name)) << name << " is missing in statement_kind.cc";
  });
  EXPECT_GT(statements, 100);
}

TEST(StatementKinds, TheTableNamesNothingElse) {
  EXPECT_FALSE(knows_statement("NoSuchStmt"));
  EXPECT_FALSE(knows_statement(""));
  EXPECT_EQ(statement_kind("NoSuchStmt"), StatementKind::Unknown);
  EXPECT_EQ(statement_kind("SelectStmt"), StatementKind::Select);
}

// What the walker relies on: there is nothing in a tree but messages, strings and plain numbers,
// and WITH is a field.
TEST(Tree, HoldsNoKindOfFieldThatTheWalkDoesNotKnow) {
  std::set<const MessageType*> seen;
  const std::function<void(const MessageType&)> check = [&](const MessageType& type) {
    if (!seen.insert(&type).second)
      return;
    for (unsigned i = 0; i < type.n_fields; ++i) {
      const ProtobufCFieldDescriptor& field = type.fields[i];
      EXPECT_NE(field.type, PROTOBUF_C_TYPE_BYTES) << type.short_name << "." << field.name;
      if (field.type == PROTOBUF_C_TYPE_MESSAGE)
        check(*static_cast<const MessageType*>(field.descriptor));
    }
  };
  check(pg_query__parse_result__descriptor);
  EXPECT_GT(seen.size(), 200U);
}

// A message that is filled by its descriptor alone: each of its messages and strings is visited
// once.
TEST(Tree, EveryFieldOfEveryNodeIsVisited) {
  for_each_node_type([&](const MessageType& type) {
    std::vector<std::byte> memory(type.sizeof_message);
    auto* message = reinterpret_cast<ProtobufCMessage*>(memory.data());
    type.message_init(message);
    ProtobufCMessage child{};
    const char* text = "x";
    const void* list[] = {&child, &child};
    const void* texts[] = {text, text};
    int expected = 0;
    std::set<unsigned> oneofs;
    for (unsigned i = 0; i < type.n_fields; ++i) {
      const ProtobufCFieldDescriptor& field = type.fields[i];
      const bool is_message = field.type == PROTOBUF_C_TYPE_MESSAGE;
      if (!is_message && field.type != PROTOBUF_C_TYPE_STRING)
        continue;
      const bool oneof = (field.flags & PROTOBUF_C_FIELD_FLAG_ONEOF) != 0;
      if (oneof && !oneofs.insert(field.quantifier_offset).second)
        continue;
      std::byte* value = memory.data() + field.offset;
      if (field.label == PROTOBUF_C_LABEL_REPEATED) {
        *reinterpret_cast<std::size_t*>(memory.data() + field.quantifier_offset) = 2;
        *reinterpret_cast<const void* const**>(value) = is_message ? list : texts;
        expected += 2;
      } else {
        if (oneof)
          *reinterpret_cast<std::uint32_t*>(memory.data() + field.quantifier_offset) = field.id;
        *reinterpret_cast<const void**>(value) =
            is_message ? static_cast<const void*>(&child) : text;
        ++expected;
      }
    }
    int visited = 0;
    for_each_child(
        *message, [&](const ProtobufCMessage&) { ++visited; },
        [&](std::string_view) { ++visited; });
    EXPECT_EQ(visited, expected) << type.short_name;
  });
}

} // namespace
} // namespace weir::parser
