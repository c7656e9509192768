// Every answer that pgweir itself gives inside a block that no server has.
#include "child/held_block.h"

#include <gtest/gtest.h>

#include "parser/classify.h"

namespace weir::child {
namespace {

using Kind = BlockAnswer::Kind;

struct Row {
  HeldBlock block;
  const char* sql;
  Kind kind;
  const char* tag;
  HeldBlock after;
  bool in_block;
};

constexpr HeldBlock kNone = HeldBlock::None;
constexpr HeldBlock kHeld = HeldBlock::Held;
constexpr HeldBlock kAborted = HeldBlock::Aborted;

const Row kRows[] = {
    {kNone, "BEGIN", Kind::Complete, "BEGIN", kHeld, true},
    {kNone, "START TRANSACTION READ ONLY", Kind::Complete, "BEGIN", kHeld, true},
    {kNone, "COMMIT", Kind::Server, "", kNone, false},  // the server's warning
    {kNone, "ROLLBACK", Kind::Server, "", kNone, false},
    {kNone, "SELECT 1", Kind::Server, "", kNone, false},
    {kNone, "SET TRANSACTION READ ONLY", Kind::Server, "", kNone, false},
    {kHeld, "BEGIN", Kind::Server, "", kNone, false},
    {kHeld, "COMMIT", Kind::Complete, "COMMIT", kNone, false},
    {kHeld, "END", Kind::Complete, "COMMIT", kNone, false},
    {kHeld, "COMMIT AND CHAIN", Kind::Complete, "COMMIT", kHeld, true},
    {kHeld, "ROLLBACK", Kind::Complete, "ROLLBACK", kNone, false},
    {kHeld, "ABORT", Kind::Complete, "ROLLBACK", kNone, false},
    {kHeld, "ROLLBACK AND CHAIN", Kind::Complete, "ROLLBACK", kHeld, true},
    {kHeld, "SET TRANSACTION READ ONLY", Kind::Complete, "SET", kHeld, true},
    {kHeld, "SET TRANSACTION ISOLATION LEVEL SERIALIZABLE", Kind::Complete, "SET", kHeld, true},
    {kHeld, "SET transaction_read_only = on", Kind::Complete, "SET", kHeld, true},
    {kHeld, "SET TRANSACTION SNAPSHOT '00000003-1'", Kind::Server, "", kNone, false},
    {kHeld, "SET transaction_read_only = maybe", Kind::Server, "", kNone, false},
    {kHeld, "SET work_mem = '1MB'", Kind::Server, "", kNone, false},
    {kHeld, "SAVEPOINT s", Kind::Server, "", kNone, false},
    {kHeld, "ROLLBACK TO s", Kind::Server, "", kNone, false},
    {kHeld, "PREPARE TRANSACTION 'x'", Kind::Server, "", kNone, false},
    {kHeld, "SELECT 1", Kind::Server, "", kNone, false},
    {kHeld, "", Kind::Server, "", kNone, false},
    {kAborted, "SELECT 1", Kind::Refused, "", kAborted, true},
    {kAborted, "BEGIN", Kind::Refused, "", kAborted, true},
    {kAborted, "SET TRANSACTION READ ONLY", Kind::Refused, "", kAborted, true},
    {kAborted, "SAVEPOINT t", Kind::Refused, "", kAborted, true},
    {kAborted, "this is no SQL", Kind::Refused, "", kAborted, true},
    {kAborted, "", Kind::Empty, "", kAborted, true},
    {kAborted, "COMMIT", Kind::Complete, "ROLLBACK", kNone, false},
    {kAborted, "ROLLBACK", Kind::Complete, "ROLLBACK", kNone, false},
    {kAborted, "ROLLBACK AND CHAIN", Kind::Complete, "ROLLBACK", kHeld, true},
    {kAborted, "ROLLBACK TO s", Kind::Complete, "ROLLBACK", kHeld, true},
};

TEST(HeldBlock, EveryRow) {
  for (const Row& row : kRows) {
    const auto facts = parser::classify(row.sql);
    const BlockAnswer answer = answer_in_block(row.block, facts.statements.front(), true, true);
    EXPECT_EQ(answer.kind, row.kind) << row.sql;
    if (row.kind == Kind::Server) continue;
    EXPECT_EQ(answer.tag, row.tag) << row.sql;
    EXPECT_EQ(answer.after, row.after) << row.sql;
    EXPECT_EQ(answer.in_block, row.in_block) << row.sql;
  }
}

TEST(HeldBlock, OnlyWhatMayBeHeld) {
  EXPECT_EQ(answer_in_block(kNone, parser::classify("BEGIN").statements.front(), false, true).kind, Kind::Server);
}

TEST(HeldBlock, ASavepointThatDoesNotExist) {
  const BlockAnswer answer = answer_in_block(kAborted, parser::classify("ROLLBACK TO s").statements.front(), true, false);
  EXPECT_EQ(answer.kind, Kind::NoSavepoint);
  EXPECT_EQ(answer.after, kAborted);
}

}  // namespace
}  // namespace weir::child
