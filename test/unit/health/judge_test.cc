#include "health/judge.h"

#include <gtest/gtest.h>

#include <string_view>

#include "common/base/enum_text.h"

namespace weir::health {
namespace {

using shmem::Answer;

enum class Verdict { Up, Down, Stays, Counts };

struct Row {
  Answer answer;
  Verdict verdict;
};

// Stays: a node that is up stays up, and one that is down stays down. Counts: the same, until too many were silent.
constexpr Row kRows[] = {
    {Answer::Ok, Verdict::Up},           {Answer::BadCredentials, Verdict::Up}, {Answer::WrongRole, Verdict::Up},
    {Answer::Saturated, Verdict::Stays}, {Answer::Refused, Verdict::Down},      {Answer::Starting, Verdict::Down},
    {Answer::Stopping, Verdict::Down},   {Answer::Silent, Verdict::Counts},     {Answer::Unresolved, Verdict::Counts},
};

TEST(Judge, EveryAnswer) {
  for (const Row& row : kRows) {
    for (const bool up : {false, true}) {
      for (const int silent : {0, 1, 2, 3, 1000}) {
        for (const int retries : {0, 1, 2, 3}) {
          const NodeHealth now = judge({up, silent}, row.answer, retries);
          const bool counts = row.verdict == Verdict::Counts;
          const bool forgiven = silent + 1 <= (retries < 1 ? 1 : retries);
          const bool expected = row.verdict == Verdict::Up || (row.verdict == Verdict::Stays && up) || (counts && up && forgiven);
          EXPECT_EQ(now.up, expected) << enum_name(row.answer) << ", up " << up << ", silent " << silent << ", retries " << retries;
          EXPECT_EQ(now.silent, counts ? silent + 1 : 0) << enum_name(row.answer);
        }
      }
    }
  }
}

TEST(Judge, NoAnswerYetChangesNothing) {
  for (const bool up : {false, true}) {
    const NodeHealth now = judge({up, 2}, Answer::None, 0);
    EXPECT_EQ(now.up, up);
    EXPECT_EQ(now.silent, 2);
  }
}

// One check that does not come is always forgiven; the next one is only if the configuration says so.
TEST(Judge, SilencesInARow) {
  struct Silences {
    int retries;
    int until_down;
  };
  for (const Silences& row : {Silences{-1, 2}, Silences{0, 2}, Silences{1, 2}, Silences{2, 3}, Silences{5, 6}}) {
    NodeHealth health = judge({}, Answer::Ok, row.retries);
    int count = 0;
    while (health.up && count < 100) {
      health = judge(health, count % 2 == 0 ? Answer::Silent : Answer::Unresolved, row.retries);
      ++count;
    }
    EXPECT_EQ(count, row.until_down) << row.retries << " retries";
  }
}

TEST(Judge, AnAnswerBetweenThemBeginsAnew) {
  NodeHealth health{true, 0};
  for (int i = 0; i < 10; ++i) {
    health = judge(health, Answer::Silent, 0);
    EXPECT_TRUE(health.up);
    health = judge(health, i % 2 == 0 ? Answer::Ok : Answer::Saturated, 0);
  }
}

TEST(Judge, SilenceAloneBringsNobodyBack) {
  EXPECT_FALSE(judge({false, 0}, Answer::Silent, 3).up);
  EXPECT_FALSE(judge({false, 0}, Answer::Unresolved, 3).up);
}

TEST(Judge, WordsForAllButOk) {
  for (const Answer answer : {Answer::None, Answer::Saturated, Answer::Starting, Answer::Stopping, Answer::Refused, Answer::Silent, Answer::WrongRole, Answer::BadCredentials,
                              Answer::Unresolved}) {
    EXPECT_NE(std::string_view(answer_text(answer)), "") << enum_name(answer);
  }
  EXPECT_EQ(std::string_view(answer_text(Answer::Ok)), "");
}

struct Refusal {
  const char* sqlstate;
  Answer answer;
};

TEST(AnswerOfSqlstate, Table) {
  for (const Refusal& row : {
           Refusal{"53300", Answer::Saturated},       // too many clients
           Refusal{"57P03", Answer::Starting},        // cannot connect now
           Refusal{"57P01", Answer::Stopping},        // an administrator's shutdown
           Refusal{"57P02", Answer::Stopping},        // a crash
           Refusal{"57P04", Answer::Stopping},        // the database was dropped
           Refusal{"57P05", Answer::Stopping},        // idle too long
           Refusal{"28000", Answer::BadCredentials},  // pg_hba.conf does not let the user in
           Refusal{"28P01", Answer::BadCredentials},  // a wrong password
           Refusal{"3D000", Answer::BadCredentials},  // no such database
           Refusal{"42501", Answer::BadCredentials},  // no right to connect
           Refusal{"53200", Answer::Starting},        // out of memory
           Refusal{"57014", Answer::Starting},        // cancelled
           Refusal{"XX000", Answer::Starting},        // an internal error
           Refusal{"08P01", Answer::Starting},        // a violation of the protocol
           Refusal{"", Answer::Starting},
           Refusal{"5", Answer::Starting},
       }) {
    EXPECT_EQ(answer_of_sqlstate(row.sqlstate), row.answer) << row.sqlstate;
  }
}

}  // namespace
}  // namespace weir::health
