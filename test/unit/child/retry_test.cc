#include "child/retry.h"

#include <gtest/gtest.h>

#include <string>

namespace weir::child {
namespace {

struct Row {
  const char* sqlstate;
  bool fatal;
  bool again;        // may it be run again
  bool by_conflict;  // ... on another standby, and not on the primary alone
  const char* what;
};

constexpr Row kRows[] = {
    {"40001", false, true, true, "replay of WAL ended the read"},
    {"40P01", false, true, true, "replay and the read blocked each other"},
    {"57P04", true, true, true, "the database was dropped"},
    {"40001", true, true, true, "a conflict that took the connection with it"},
    {"25006", false, true, false, "a write after all"},
    {"42P01", false, true, false, "the table may not have been replayed yet"},
    {"42883", false, true, false, "nor the function"},
    {"42501", false, true, false, "nor the GRANT"},
    {"42601", false, true, false, "a syntax error: the primary has the last word"},
    {"3F000", false, true, false, "nor the schema"},
    {"0A000", false, true, false, "what a standby cannot do"},
    {"57P01", true, true, false, "the standby is shut down"},
    {"57P02", true, true, false, "it has crashed"},
    {"57P03", true, true, false, "it is starting up"},
    {"57P05", true, true, false, "it was idle too long"},
    {"57P01", false, false, false, "no more than words: the connection lives"},
    {"57014", false, false, false, "the client's own cancel"},
    {"57014", true, false, false, "the same, and fatal"},
    {"22012", false, false, false, "division by zero is the same everywhere"},
    {"23505", false, false, false, "a constraint"},
    {"40002", false, false, false, "another kind of rollback"},
    {"53300", true, false, false, "no connection slots"},
    {"25001", false, false, false, "not allowed in a block"},
    {"25006", true, false, false, "no server says this when it ends"},
    {"42P01", true, false, false, "nor this"},
    {"3D000", true, false, false, "no such database"},
    {"XX000", false, false, false, "an internal error"},
    {"00000", false, false, false, "no error at all"},
};

TEST(Retry, Table) {
  for (const Row& row : kRows) {
    EXPECT_EQ(may_retry(row.sqlstate, row.fatal, true, 0), row.again) << row.sqlstate << ": " << row.what;
    EXPECT_EQ(is_recovery_conflict(row.sqlstate), row.by_conflict) << row.sqlstate << ": " << row.what;
  }
}

TEST(Retry, NeverInsideABlockThatCannotMove) {
  for (const Row& row : kRows) EXPECT_FALSE(may_retry(row.sqlstate, row.fatal, false, 0)) << row.sqlstate;
}

TEST(Retry, EightTimesAtMost) {
  for (int retries = 0; retries < 12; ++retries) {
    EXPECT_EQ(may_retry("40001", false, true, retries), retries < 8) << retries;
    EXPECT_EQ(may_retry("57P01", true, true, retries), retries < 8) << retries;
    EXPECT_EQ(may_retry("25006", false, true, retries), retries < 8) << retries;
  }
}

// The server's message may lack the field, or hold anything there.
TEST(Retry, WhatIsNoSqlstate) {
  for (const char* text : {"", "4", "42", "3F", "57P0", "42P011", "0A0000", "40001 "}) {
    EXPECT_FALSE(may_retry(text, false, true, 0)) << text;
    EXPECT_FALSE(may_retry(text, true, true, 0)) << text;
  }
}

}  // namespace
}  // namespace weir::child
