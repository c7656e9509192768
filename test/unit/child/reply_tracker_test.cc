#include "child/reply_tracker.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <sstream>
#include <string>
#include <vector>

namespace weir::child {
namespace {

// A script is words apart from each other by blanks. ">P" sends a Parse, B Bind, d and p Describe (statement, portal),
// E Execute, C Close, S Sync, Q Query, G Query and a Sync of pgweir's own, K a Close for a Parse, F FunctionCall, x CopyDone or CopyFail; ">~P" is pgweir's own. Other words are a
// reply's tag and what shall come of it: o Other, p Parsed, c Closed, P ParsedAlready, a Answer, d StatementDone, i CopyIn, e Error,
// r Ready, ! Unexpected.
Sent sent_of(char letter) {
  switch (letter) {
    case 'P': return Sent::Parse;
    case 'B': return Sent::Bind;
    case 'd': return Sent::DescribeStatement;
    case 'p': return Sent::DescribePortal;
    case 'E': return Sent::Execute;
    case 'C': return Sent::Close;
    case 'S': return Sent::Sync;
    case 'Q': return Sent::Query;
    case 'F': return Sent::FunctionCall;
    case 'x': return Sent::CopyEnd;
    default: ADD_FAILURE() << "no message " << letter; return Sent::Sync;
  }
}

char letter_of(Progress::Event event) {
  switch (event) {
    case Progress::Event::Other: return 'o';
    case Progress::Event::Parsed: return 'p';
    case Progress::Event::Closed: return 'c';
    case Progress::Event::ParsedAlready: return 'P';
    case Progress::Event::Answer: return 'a';
    case Progress::Event::StatementDone: return 'd';
    case Progress::Event::CopyIn: return 'i';
    case Progress::Event::Error: return 'e';
    case Progress::Event::Ready: return 'r';
    case Progress::Event::Unexpected: return '!';
  }
  return '?';
}

// "idle" or what is outstanding as EXCHANGES/EXECUTING, then the flags.
std::string state_of(const ReplyTracker& tracker) {
  std::string out = tracker.idle() ? "idle" : std::to_string(tracker.exchanges()) + "/" + std::to_string(tracker.executing_count());
  if (tracker.idle() && (tracker.exchanges() != 0 || tracker.executing_count() != 0)) out += " miscounted";
  if (tracker.executing() != (tracker.executing_count() != 0)) out += " contradictory";
  if (tracker.unsynced()) out += " unsynced";
  if (tracker.skipping()) out += " skipping";
  if (tracker.copy_in()) out += " copy";
  return out;
}

Progress play(ReplyTracker& tracker, const std::string& script) {
  std::istringstream words(script);
  Progress last;
  for (std::string word; words >> word;) {
    if (word == ">K") {
      tracker.sent_close_for_parse();
      continue;
    }
    if (word == ">G") {
      tracker.sent_query_and_sync();
      continue;
    }
    if (word[0] == '>') {
      tracker.sent(sent_of(word.back()), word[1] == '~');
      continue;
    }
    last = tracker.feed(word[0]);
    EXPECT_EQ(letter_of(last.event), word[1]) << "at " << word << " of " << script;
  }
  return last;
}

struct Row {
  const char* what;
  const char* script;
  const char* state;
};

constexpr Row kRows[] = {
    {"nothing", "", "idle"},
    {"a query under way", ">Q", "1/1"},
    {"rows", ">Q To Da Da Cd", "1/1"},
    {"a query", ">Q To Da Cd Zr", "idle"},
    {"several statements in it", ">Q Cd To Da Cd Cd Zr", "idle"},
    {"an empty query", ">Q Id Zr", "idle"},
    {"a query fails", ">Q Ee", "1/1"},
    {"... and is over", ">Q To Da Ee Zr", "idle"},
    {"ReadyForQuery is no answer to a query", ">Q Z!", "1/1"},
    {"... nor to the one behind it", ">Q >Q Cd Zr Z!", "1/1"},
    {"... nor when rows are all it has got", ">Q To Da Z!", "1/1"},
    {"... nor to a FunctionCall", ">F Z!", "1/1"},
    {"queries one after the other", ">Q >Q >Q Cd Zr Ee Zr", "1/1"},
    {"FunctionCall", ">F Va Zr", "idle"},
    {"FunctionCall fails", ">F Ee Zr", "idle"},
    // Extended.
    {"Sync alone", ">S Zr", "idle"},
    {"without a Sync yet", ">P >B >E", "0/1 unsynced"},
    {"answered without a Sync", ">P >B >E 1p 2o Cd", "idle unsynced"},
    {"a whole batch", ">P >B >p >E >S 1p 2o To Da Cd Zr", "idle"},
    {"no rows", ">P >d >S 1p to no Zr", "idle"},
    {"a statement described", ">P >d >S 1p to To Zr", "idle"},
    {"a portal without rows", ">B >p >E >S 2o no Cd Zr", "idle"},
    {"rows in pieces", ">B >E >S 2o Da sd Zr", "idle"},
    {"an empty statement", ">P >B >E >S 1p 2o Id Zr", "idle"},
    {"Close", ">C >S 3c Zr", "idle"},
    {"two executes", ">B >E >B >E >S 2o Da Cd 2o", "1/1"},
    {"a pipeline", ">P >B >E >S >P >B >E >S 1p 2o Cd Zr 1p", "1/1"},
    {"a pipeline to its end", ">P >B >E >S >P >B >E >S 1p 2o Cd Zr 1p 2o Cd Zr", "idle"},
    {"both kinds", ">P >S >Q >B >E >S 1p Zr Cd Zr 2o Cd Zr", "idle"},
    {"a Query ends the open batch", ">P >Q 1p Cd Zr", "idle"},
    // Errors: the rest up to Sync is not answered.
    {"Parse fails", ">P >B >E >S Ee", "1/0"},
    {"... to the end", ">P >B >E >S Ee Zr", "idle"},
    {"Execute fails midway", ">P >B >E >S 1p 2o Da Ee Zr", "idle"},
    {"only up to the next Sync", ">P >S >P >S Ee Zr 1p Zr", "idle"},
    {"no Sync was sent yet", ">P >B Ee", "idle unsynced skipping"},
    {"what follows is ignored", ">P Ee >B >E >Q >F >C", "idle unsynced skipping"},
    {"up to Sync", ">P Ee >B >E >S", "1/0"},
    {"and then it goes on", ">P Ee >B >S >P >S Zr 1p Zr", "idle"},
    {"a Query behind an error is skipped, too", ">P >Q >S Ee Zr", "idle"},
    {"COMMIT fails at Sync", ">P >B >E >S 1p 2o Cd Ee Zr", "idle"},
    // A Close in the place of a Parse.
    {"a Parse of what is there", ">K >B >E >S 3P 2o Da Cd Zr", "idle"},
    {"... is skipped with the rest", ">B >K >S Ee Zr", "idle"},
    {"... while skipping", ">B Ee >K >S Zr", "idle"},
    // A block opened in front of a Query.
    {"BEGIN, Query, Sync", ">~P >~B >~E >G 1p 2o Cd To Da Cd Zo", "1/0"},
    {"... to the end", ">~P >~B >~E >G 1p 2o Cd To Da Cd Zo Zr", "idle"},
    {"... the Query fails", ">~P >~B >~E >G 1p 2o Cd Ee Zo Zr", "idle"},
    {"... BEGIN fails: one ReadyForQuery", ">~P >~B >~E >G Ee Zr", "idle"},
    {"... at its Execute", ">~P >~B >~E >G 1p 2o Ee Zr", "idle"},
    {"... a server that copies in after all", ">G Gi >x Cd Zr", "idle"},
    {"... ReadyForQuery without an answer", ">~P >~B >~E >G 1p 2o Cd Z!", "2/1"},
    {"an error out of turn", "Ee", "idle"},
    {"... and what was sent then", "Ee >Q Cd Zr", "idle"},
    // COPY.
    {"COPY TO by a query", ">Q Ha da da ca Cd Zr", "idle"},
    {"COPY TO by Execute", ">P >B >E >S 1p 2o Ha da ca Cd Zr", "idle"},
    {"COPY TO fails midway", ">E >S Ha da Ee Zr", "idle"},
    {"COPY BOTH", ">Q Wa da", "1/1"},
    {"COPY FROM by a query", ">Q Gi", "1/1 copy"},
    {"its end", ">Q Gi >x", "1/1"},
    {"... answered", ">Q Gi >x Cd Zr", "idle"},
    {"CopyFail", ">Q Gi >x Ee Zr", "idle"},
    {"the server gives up first", ">Q Gi Ee >x Zr", "idle"},
    {"the end comes too late", ">Q Gi Ee Zr >x", "idle"},
    {"two in one query", ">Q Gi >x Cd Gi >x Cd Zr", "idle"},
    {"data was sent ahead", ">Q >x Gi Cd Zr", "idle"},
    {"the copy fails before the data that was sent ahead", ">Q >x Ee Zr", "idle"},
    {"COPY FROM by Execute", ">P >B >E 1p 2o Gi >x >S Cd Zr", "idle"},
    {"a Sync behind the end", ">E Gi >x >S", "1/1"},
    {"Sync during the copy is swallowed", ">E Gi >S", "0/1 unsynced copy"},
    {"... and another one is needed", ">E Gi >S >x >S Cd Zr", "idle"},
    {"a Sync sent ahead is swallowed", ">P >B >E >S 1p 2o Gi", "0/1 unsynced copy"},
    {"... and another one is needed", ">P >B >E >S 1p 2o Gi >x >S Cd Zr", "idle"},
    {"all of it sent ahead", ">E >S >x >S Gi", "1/1"},
    {"... answered", ">E >S >x >S Gi Cd Zr", "idle"},
    {"all of it sent ahead, and it fails at once", ">E >S >x >S Ee Zr", "1/0"},
    {"... answered", ">E >S >x >S Ee Zr Zr", "idle"},
    {"a Sync behind a copying query is swallowed", ">Q >S Gi >x Cd Zr", "idle"},
    {"an extended copy fails", ">E Gi Ee", "idle unsynced skipping"},
    {"... and Sync ends that", ">E Gi Ee >x >S Zr", "idle"},
    // The Sync was on its way when the server failed: to us swallowed, for the server the end of the error.
    {"a Sync crosses with the error", ">E Gi >S Ee Zr", "idle"},
    {"... and the next batch", ">E Gi >S Ee Zr >P >S 1p Zr", "idle"},
    {"CopyDone without a copy", ">x", "idle"},
    {"CopyDone in a batch without a copy", ">P >x >S 1p Zr", "idle"},
    // Out of turn.
    {"nothing was asked", "1! 2! 3! t! n! T! D! H! G! C! I! s! V!", "idle"},
    {"no tags of a server's", ">Q ?! 0! P!", "1/1"},
    {"not what a Query is answered with", ">Q 1! 2! 3! t! n! s! V!", "1/1"},
    {"not what a Parse is answered with", ">P 2! 3! t! n! T! D! C! I! s! G! H! V! Z!", "0/0 unsynced"},
    {"not what a Bind is answered with", ">B 1! 3! t! n! T! D! C! Z!", "0/0 unsynced"},
    {"not what an Execute is answered with", ">E 1! 2! 3! t! n! V! Z!", "0/1 unsynced"},
    {"not what a Close is answered with", ">C 1! 2! C! Z!", "0/0 unsynced"},
    {"not what a Sync is answered with", ">S 1! 2! 3! t! n! T! D! C! G! V!", "1/0"},
    {"not what a FunctionCall is answered with", ">F 1! D! C! T! G!", "1/1"},
    {"a portal has no parameters to describe", ">p t!", "0/0 unsynced"},
};

TEST(ReplyTracker, Table) {
  for (const Row& row : kRows) {
    ReplyTracker tracker;
    play(tracker, row.script);
    EXPECT_EQ(state_of(tracker), row.state) << row.what << ": " << row.script;
  }
}

TEST(ReplyTracker, TellsWhatIsAnswered) {
  struct Answered {
    const char* script;
    Sent of;
    bool hidden;
  };
  for (const Answered& row : {Answered{">P 1p", Sent::Parse, false}, Answered{">~P 1p", Sent::Parse, true}, Answered{">~C 3c", Sent::Close, true},
                              Answered{">~C >~P >P >S 3c 1p", Sent::Parse, true}, Answered{">~C >~P >P >S 3c 1p 1p", Sent::Parse, false},
                              Answered{">Q To Da", Sent::Query, false}, Answered{">B >E 2o Da", Sent::Execute, false}, Answered{">~P >B >S Ee", Sent::Parse, true},
                              Answered{">P >B >S 1p Ee", Sent::Bind, false}, Answered{">F Va", Sent::FunctionCall, false}, Answered{">d to no", Sent::DescribeStatement, false},
                              Answered{">S Zr", Sent::Sync, false}}) {
    ReplyTracker tracker;
    const Progress progress = play(tracker, row.script);
    EXPECT_EQ(progress.of, row.of) << row.script;
    EXPECT_EQ(progress.hidden, row.hidden) << row.script;
  }
}

TEST(ReplyTracker, CountsWhatAnErrorSkips) {
  struct Skipped {
    const char* script;
    std::uint32_t parses;
    std::uint32_t closes;
  };
  for (const Skipped& row : {Skipped{">Q Ee", 0, 0}, Skipped{">P >S Ee", 1, 0}, Skipped{">~C >~P >P >B >E >C >S Ee", 2, 2}, Skipped{">~C >~P >P >S 3c Ee", 2, 0},
                             Skipped{">P >B >S >P >C >S 1p Ee", 0, 0}, Skipped{">P >S >P >C >S Ee Zr Ee", 1, 1}, Skipped{">P >C Ee", 1, 1}, Skipped{"Ee", 0, 0}}) {
    ReplyTracker tracker;
    const Progress progress = play(tracker, row.script);
    EXPECT_EQ(progress.skipped_parses, row.parses) << row.script;
    EXPECT_EQ(progress.skipped_closes, row.closes) << row.script;
  }
}

TEST(ReplyTracker, ClearForgetsAll) {
  ReplyTracker tracker;
  play(tracker, ">P >Q >E Ee >B");
  tracker.clear();
  EXPECT_EQ(state_of(tracker), "idle");
  play(tracker, ">Q Gi");
  tracker.clear();
  EXPECT_EQ(state_of(tracker), "idle");
}

// The queue is a vector with a moving start: it must come through being moved.
TEST(ReplyTracker, LongPipelines) {
  ReplyTracker tracker;
  constexpr int kBatches = 5000;
  for (int i = 0; i < kBatches; ++i) play(tracker, ">P >B >E >S");
  EXPECT_EQ(tracker.exchanges(), static_cast<std::uint32_t>(kBatches));
  for (int i = 0; i < kBatches; ++i) {
    ASSERT_EQ(tracker.executing_count(), static_cast<std::uint32_t>(kBatches - i));
    play(tracker, i % 3 == 0 ? "Ee Zr" : "1p 2o Cd Zr");
  }
  EXPECT_EQ(state_of(tracker), "idle");
  for (int i = 0; i < kBatches; ++i) play(tracker, ">Q >Q Cd Zr");
  EXPECT_EQ(tracker.exchanges(), static_cast<std::uint32_t>(kBatches));
}

// Whatever a server sends: no crash, and what is counted stays within what was sent.
TEST(ReplyTracker, AnyRepliesToAnything) {
  EXPECT_TRUE(rc::check("counters stay consistent", [] {
    ReplyTracker tracker;
    std::uint32_t exchanges = 0;
    std::uint32_t executing = 0;
    for (const int step : *rc::gen::container<std::vector<int>>(rc::gen::inRange(0, 512))) {
      if (step < 256) {
        const auto what = static_cast<Sent>(step % 10);
        tracker.sent(what, step % 3 == 0);
        exchanges += what == Sent::Sync || what == Sent::Query || what == Sent::FunctionCall ? 1 : 0;
        executing += what == Sent::Execute || what == Sent::Query || what == Sent::FunctionCall ? 1 : 0;
      } else {
        constexpr std::string_view kTags = "123tnTDdHWcGCIsVZZZEE";
        const bool was_idle = tracker.idle();
        const auto before = tracker.exchanges();
        const char tag = step < 500 ? kTags[static_cast<std::size_t>(step) % kTags.size()] : static_cast<char>(step - 500);
        const Progress progress = tracker.feed(tag);
        if (progress.event == Progress::Event::Ready && !was_idle) RC_ASSERT(tracker.exchanges() == before - 1);
        if (progress.event == Progress::Event::Unexpected) RC_ASSERT(tracker.exchanges() == before);
      }
      RC_ASSERT(tracker.exchanges() <= exchanges);
      RC_ASSERT(tracker.executing_count() <= executing);
      if (tracker.idle()) RC_ASSERT(tracker.exchanges() == 0 && tracker.executing_count() == 0);
    }
    // Ready and errors drain it, come what may.
    for (int i = 0; i < 2000 && !tracker.idle(); ++i) {
      tracker.feed('E');
      tracker.feed('Z');
    }
    RC_ASSERT(tracker.idle() && tracker.exchanges() == 0 && tracker.executing_count() == 0);
  }));
}

// A server that plays by the rules is never suspected, whatever the client sends and wherever errors fall.
TEST(ReplyTracker, AnOrderlyServerIsNeverUnexpected) {
  EXPECT_TRUE(rc::check("an orderly server is understood", [] {
    const auto messages = *rc::gen::container<std::vector<int>>(rc::gen::inRange(0, 1000));
    ReplyTracker tracker;
    bool failed = false;  // the server skips to Sync
    const auto feed = [&](std::string_view tags) {
      for (const char tag : tags) RC_ASSERT(tracker.feed(tag).event != Progress::Event::Unexpected);
    };
    for (const int message : messages) {
      static constexpr Sent kMessages[] = {Sent::Parse, Sent::Bind, Sent::DescribeStatement, Sent::DescribePortal, Sent::Execute, Sent::Close, Sent::Sync, Sent::Query};
      const Sent what = kMessages[message % 8];
      const bool fails = message % 5 == 0;
      tracker.sent(what, false);
      if (what == Sent::Sync) {
        failed = false;
        feed("Z");
      } else if (failed) {
        continue;
      } else if (what == Sent::Query) {
        feed(fails ? "TDEZ" : "TDDCZ");
      } else if (fails) {
        failed = true;
        feed("E");
      } else {
        constexpr std::string_view kAnswers[] = {"1", "2", "tT", "n", "DDC", "3"};
        feed(kAnswers[message % 8]);
      }
      RC_ASSERT(tracker.skipping() == failed);
      RC_ASSERT(tracker.idle());
    }
  }));
}

// An error tells which of the messages it is about.
TEST(ReplyTracker, an_error_has_the_label_of_what_failed) {
  ReplyTracker tracker;
  tracker.sent(Sent::Parse, true, 7);
  tracker.sent(Sent::Bind, false, 8);
  tracker.sent(Sent::Execute);
  tracker.sent(Sent::Sync);
  EXPECT_EQ(tracker.feed('1').event, Progress::Event::Parsed);
  const Progress failed = tracker.feed('E');
  EXPECT_EQ(failed.label, 8U);
  EXPECT_EQ(failed.of, Sent::Bind);
  EXPECT_EQ(tracker.feed('Z').event, Progress::Event::Ready);
  tracker.sent(Sent::Query);
  EXPECT_EQ(tracker.feed('E').label, 0U);
}

}  // namespace
}  // namespace weir::child
