#include "common/shmem/catalog_facts.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <string>
#include <thread>

namespace weir::shmem {

// Reaches in where a writer could die or fall asleep.
struct CatalogFactsTest {
  static bool claim_only(const CatalogFacts& facts, std::size_t words) { return facts.claim(words).offset != 0; }
  static std::vector<std::uint64_t> image(std::uint64_t hash) { return {0, 0, 0, hash, 1, 0, 0, 0}; }
  // A writer that claims now and publishes when asked.
  struct Sleeper {
    CatalogFacts::Claim claim;
    std::vector<std::uint64_t> image;
  };
  static Sleeper sleeper(const CatalogFacts& facts) {
    Sleeper sleeper{facts.claim(8), image(7)};
    return sleeper;
  }
  static bool wake(const CatalogFacts& facts, Sleeper& sleeper) { return facts.publish(sleeper.claim, sleeper.image); }
  // What it would do if it had passed the check just before the table moved on.
  static void scribble(const CatalogFacts& facts, const Sleeper& sleeper) {
    std::uint64_t* slot = facts.slot_at(sleeper.claim.generation, sleeper.claim.offset);
    for (std::size_t i = 0; i < 8; ++i) slot[i] = 0xDEADBEEFCAFEBABE * (i + 1);
  }
};

namespace {

class Mapping {
 public:
  explicit Mapping(std::size_t bytes) : bytes_(bytes) {
    memory_ = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (memory_ == MAP_FAILED) std::abort();
  }
  ~Mapping() { munmap(memory_, bytes_); }
  Mapping(const Mapping&) = delete;
  Mapping& operator=(const Mapping&) = delete;
  std::span<std::byte> span() const { return {static_cast<std::byte*>(memory_), bytes_}; }

 private:
  void* memory_;
  std::size_t bytes_;
};

// The one fact that may be known of name number N in an epoch: whatever a reader sees must be this.
std::vector<SchemaFact> expected(const std::string& own_schema, std::uint64_t n) {
  return {{"public", n % 2 == 0, n % 3 == 0, false, n % 7 == 0, n % 11 == 0, n % 2 == 0 ? "a\nb" : ""},
          {own_schema, true, false, n % 5 == 0, false, true, own_schema, false, false, false, n % 2 == 1}};
}

std::string schema_of(std::uint64_t epoch, std::uint64_t n) {
  return "s" + std::to_string(epoch) + "_" + std::string(n % 40, 'x') + std::to_string(n);
}

bool insert_number(const CatalogFacts& facts, std::uint64_t n, std::uint32_t now = 0) {
  const std::uint64_t epoch = facts.epoch();
  const std::string schema = schema_of(epoch, n);
  const auto schemas = expected(schema, n);
  return facts.insert(epoch, "db", FactKind::Relation, "table" + std::to_string(n), schemas, now);
}

// -1: wrong; 0: not known; 1: known and right.
int check_number(const CatalogFacts& facts, std::uint64_t n, std::vector<std::uint64_t>& buffer) {
  const std::uint64_t before = facts.epoch();
  const CatalogAnswer answer = facts.find("db", FactKind::Relation, "table" + std::to_string(n), 0, 0, buffer);
  if (answer.known == Known::Unknown) return answer.schemas.empty() ? 0 : -1;
  if (answer.schemas.size() != 2) return -1;
  const std::uint64_t after = facts.epoch();
  for (std::uint64_t epoch = before; epoch <= after; ++epoch) {
    const std::string schema = schema_of(epoch, n);
    const auto right = expected(schema, n);
    bool same = true;
    for (std::size_t i = 0; i < 2; ++i) {
      same = same && answer.schemas[i].schema == right[i].schema && answer.schemas[i].plain == right[i].plain &&
             answer.schemas[i].plain_to_write == right[i].plain_to_write &&
             answer.schemas[i].builtin == right[i].builtin && answer.schemas[i].quiet == right[i].quiet &&
             answer.schemas[i].late == right[i].late && answer.schemas[i].reads_itself == right[i].reads_itself &&
             answer.schemas[i].writes_itself == right[i].writes_itself && answer.schemas[i].tells_time == right[i].tells_time && answer.schemas[i].path_doubts == right[i].path_doubts;
    }
    if (same) return 1;
  }
  return -1;
}

class Table : public testing::Test {
 protected:
  Mapping mapping_{64 * 1024};
  CatalogFacts facts_ = CatalogFacts::create(mapping_.span());
  std::vector<std::uint64_t> buffer_;
};

TEST_F(Table, NothingIsKnownAtFirst) {
  EXPECT_TRUE(facts_.valid());
  EXPECT_EQ(check_number(facts_, 1, buffer_), 0);
}

TEST_F(Table, AFactIsFoundAsItWasWritten) {
  ASSERT_TRUE(insert_number(facts_, 30));
  EXPECT_EQ(check_number(facts_, 30, buffer_), 1);
  EXPECT_EQ(check_number(facts_, 31, buffer_), 0);
}

TEST_F(Table, AnotherProcessMappingSeesIt) {
  ASSERT_TRUE(insert_number(facts_, 1));
  const CatalogFacts other = CatalogFacts::attach(mapping_.span());
  ASSERT_TRUE(other.valid());
  EXPECT_EQ(check_number(other, 1, buffer_), 1);
}

TEST_F(Table, NoSchemaIsAFactToo) {
  ASSERT_TRUE(facts_.insert(facts_.epoch(), "db", FactKind::Function, "f", {}, 0));
  const CatalogAnswer answer = facts_.find("db", FactKind::Function, "f", 0, 0, buffer_);
  EXPECT_EQ(answer.known, Known::Yes);
  EXPECT_TRUE(answer.schemas.empty());
}

TEST_F(Table, ThatNobodyHasANameIsSoonAskedAgain) {
  ASSERT_TRUE(facts_.insert(facts_.epoch(), "db", FactKind::Relation, "t", {}, 100));
  const auto known = [&](std::uint32_t now) {
    return facts_.find("db", FactKind::Relation, "t", now, 0, buffer_).known == Known::Yes;
  };
  EXPECT_TRUE(known(100 + CatalogFacts::kAbsentSeconds));
  EXPECT_FALSE(known(101 + CatalogFacts::kAbsentSeconds));
}

TEST_F(Table, DatabaseKindAndNameAreAllPartOfTheKey) {
  const SchemaFact fact{"s", true, true, true};
  ASSERT_TRUE(facts_.insert(facts_.epoch(), "ab", FactKind::Relation, "c", std::span(&fact, 1), 0));
  const auto known = [&](std::string_view database, FactKind kind, std::string_view name) {
    return facts_.find(database, kind, name, 0, 0, buffer_).known == Known::Yes;
  };
  EXPECT_TRUE(known("ab", FactKind::Relation, "c"));
  EXPECT_FALSE(known("a", FactKind::Relation, "bc"));
  EXPECT_FALSE(known("abc", FactKind::Relation, ""));
  EXPECT_FALSE(known("ab", FactKind::Function, "c"));
  EXPECT_FALSE(known("ab", FactKind::Operator, "c"));
  EXPECT_FALSE(known("ab", FactKind::Type, "c"));
  EXPECT_FALSE(known("ab", FactKind::Relation, "C"));
  EXPECT_FALSE(known("ab", FactKind::Relation, std::string_view("c\0", 2)));
}

TEST_F(Table, TheNewestFactCounts) {
  const SchemaFact first{"s", true, false, false};
  const SchemaFact second{"s", false, false, false};
  ASSERT_TRUE(facts_.insert(facts_.epoch(), "d", FactKind::Relation, "t", std::span(&first, 1), 0));
  ASSERT_TRUE(facts_.insert(facts_.epoch(), "d", FactKind::Relation, "t", std::span(&second, 1), 0));
  EXPECT_FALSE(facts_.find("d", FactKind::Relation, "t", 0, 0, buffer_).schemas.at(0).plain);
}

TEST_F(Table, ABumpForgetsAll) {
  ASSERT_TRUE(insert_number(facts_, 1));
  facts_.bump_epoch();
  EXPECT_EQ(check_number(facts_, 1, buffer_), 0);
  ASSERT_TRUE(insert_number(facts_, 1));
  EXPECT_EQ(check_number(facts_, 1, buffer_), 1);
}

TEST_F(Table, AnAnswerThatAChangeOvertookIsNeverFound) {
  const std::uint64_t asked = facts_.epoch();
  facts_.bump_epoch();
  const SchemaFact fact{"s", true, true, false};
  EXPECT_FALSE(facts_.insert(asked, "d", FactKind::Relation, "t", std::span(&fact, 1), 0));
  EXPECT_EQ(facts_.find("d", FactKind::Relation, "t", 0, 0, buffer_).known, Known::Unknown);
}

TEST_F(Table, FactsAgeOnlyWhereALimitIsGiven) {
  ASSERT_TRUE(insert_number(facts_, 1, 100));
  const auto known = [&](std::uint32_t now, std::uint32_t limit) {
    return facts_.find("db", FactKind::Relation, "table1", now, limit, buffer_).known == Known::Yes;
  };
  EXPECT_TRUE(known(1000, 0));
  EXPECT_TRUE(known(110, 10));
  EXPECT_FALSE(known(111, 10));
  EXPECT_TRUE(known(90, 10));  // a clock that another process read a moment earlier
}

TEST_F(Table, TooManySchemasBecomeAnySchema) {
  std::vector<SchemaFact> many(CatalogFacts::kMaxSchemas + 1, SchemaFact{"s", true, true, true});
  ASSERT_TRUE(facts_.insert(facts_.epoch(), "d", FactKind::Relation, "t", many, 0));
  const CatalogAnswer answer = facts_.find("d", FactKind::Relation, "t", 0, 0, buffer_);
  ASSERT_EQ(answer.schemas.size(), 1U);
  EXPECT_TRUE(answer.schemas[0].schema.empty());
  EXPECT_FALSE(answer.schemas[0].plain || answer.schemas[0].plain_to_write || answer.schemas[0].builtin);
}

TEST_F(Table, AFactLargerThanAQuarterOfAHalfBecomesAnySchema) {
  const std::string wide(200, 'w');
  std::vector<SchemaFact> big(60, SchemaFact{wide, true, true, true});
  ASSERT_TRUE(facts_.insert(facts_.epoch(), "d", FactKind::Relation, "t", big, 0));
  EXPECT_TRUE(facts_.find("d", FactKind::Relation, "t", 0, 0, buffer_).schemas.at(0).schema.empty());
}

TEST_F(Table, OverlongNamesAreRefused) {
  const std::string name(CatalogFacts::kMaxNameBytes + 1, 'n');
  EXPECT_FALSE(facts_.insert(facts_.epoch(), "d", FactKind::Relation, name, {}, 0));
  EXPECT_FALSE(facts_.insert(facts_.epoch(), name, FactKind::Relation, "n", {}, 0));
  EXPECT_EQ(facts_.find("d", FactKind::Relation, name, 0, 0, buffer_).known, Known::Unknown);
}

TEST_F(Table, AFullTableBeginsAnewAndKeepsTheHalfBefore) {
  std::uint64_t n = 0;
  while (facts_.generation() == 1) ASSERT_TRUE(insert_number(facts_, n++));
  EXPECT_EQ(check_number(facts_, n - 1, buffer_), 1);  // the first of the new generation
  EXPECT_EQ(check_number(facts_, n - 2, buffer_), 1);  // the last of the one before
  while (facts_.generation() == 2) ASSERT_TRUE(insert_number(facts_, n++));
  EXPECT_EQ(check_number(facts_, 0, buffer_), 0);
  for (std::uint64_t i = 0; i < n; ++i) EXPECT_GE(check_number(facts_, i, buffer_), 0) << i;
}

TEST_F(Table, AWriterThatDiedBeforePublishingLeavesOnlyAnUnusedSlot) {
  ASSERT_TRUE(insert_number(facts_, 1));
  ASSERT_TRUE(CatalogFactsTest::claim_only(facts_, 20));
  ASSERT_TRUE(insert_number(facts_, 2));
  EXPECT_EQ(check_number(facts_, 1, buffer_), 1);
  EXPECT_EQ(check_number(facts_, 2, buffer_), 1);
}

TEST_F(Table, AWriterThatSleptThroughTwoGenerationsIsTurnedAway) {
  auto sleeper = CatalogFactsTest::sleeper(facts_);
  std::uint64_t n = 0;
  while (facts_.generation() == 1) ASSERT_TRUE(insert_number(facts_, n++));
  EXPECT_TRUE(CatalogFactsTest::wake(facts_, sleeper));  // its half is still there
  while (facts_.generation() < 3) ASSERT_TRUE(insert_number(facts_, n++));
  EXPECT_FALSE(CatalogFactsTest::wake(facts_, sleeper));
}

TEST_F(Table, ScribblingOverASlotMakesFactsUnknownButNeverWrong) {
  const auto sleeper = CatalogFactsTest::sleeper(facts_);
  std::uint64_t n = 0;
  while (facts_.generation() < 3) ASSERT_TRUE(insert_number(facts_, n++));
  for (int i = 0; i < 100; ++i) ASSERT_TRUE(insert_number(facts_, n++));
  CatalogFactsTest::scribble(facts_, sleeper);
  int known = 0;
  for (std::uint64_t i = 0; i < n; ++i) {
    const int found = check_number(facts_, i, buffer_);
    ASSERT_GE(found, 0) << i;
    known += found;
  }
  EXPECT_GT(known, 90);
}

TEST(CatalogFacts, AnyBytesInTheArenaAreHarmless) {
  for (unsigned seed = 1; seed <= 200; ++seed) {
    Mapping mapping(CatalogFacts::kMinBytes);
    const CatalogFacts facts = CatalogFacts::create(mapping.span());
    std::uint64_t n = 0;
    for (; n < 60; ++n) ASSERT_TRUE(insert_number(facts, n));
    std::srand(seed);
    for (int i = 0; i < 64; ++i) {
      const std::size_t at = 64 + static_cast<std::size_t>(std::rand()) % (CatalogFacts::kMinBytes - 64);
      mapping.span()[at] = static_cast<std::byte>(std::rand());
    }
    std::vector<std::uint64_t> buffer;
    for (std::uint64_t i = 0; i < n; ++i) ASSERT_GE(check_number(facts, i, buffer), 0) << "seed " << seed;
  }
}

TEST(CatalogFacts, WithoutATableNothingIsKept) {
  const CatalogFacts none;
  std::vector<std::uint64_t> buffer;
  EXPECT_FALSE(none.valid());
  EXPECT_FALSE(insert_number(none, 1));
  EXPECT_EQ(check_number(none, 1, buffer), 0);
  none.bump_epoch();
  EXPECT_EQ(none.epoch(), 0U);
}

TEST(CatalogFacts, SmallUnalignedOrForeignMemoryIsNoTable) {
  alignas(8) static std::byte memory[CatalogFacts::kMinBytes + 16] = {};
  EXPECT_FALSE(CatalogFacts::create(std::span(memory).first(CatalogFacts::kMinBytes - 1)).valid());
  EXPECT_FALSE(CatalogFacts::create(std::span(memory).subspan(1)).valid());
  EXPECT_FALSE(CatalogFacts::attach(memory).valid());
  EXPECT_TRUE(CatalogFacts::create(memory).valid());
  EXPECT_TRUE(CatalogFacts::attach(memory).valid());
}

TEST(CatalogFacts, TheViewOfRoutingAppliesTheAgeLimit) {
  Mapping mapping(CatalogFacts::kMinBytes);
  const CatalogFacts facts = CatalogFacts::create(mapping.span());
  SharedCatalog catalog(facts);
  ASSERT_TRUE(insert_number(facts, 4, 50));
  catalog.set_now(70);
  EXPECT_EQ(catalog.find("db", FactKind::Relation, "table4").known, Known::Yes);
  catalog.set_max_age(10);
  EXPECT_EQ(catalog.find("db", FactKind::Relation, "table4").known, Known::Unknown);
  EXPECT_EQ(catalog.epoch(), facts.epoch());
}

// Four processes write and read the same small table at once, forgetting now and then; one of them is killed at a
// random moment and replaced, many times. Nobody ever reads anything but what somebody wrote.
[[noreturn]] void work(const CatalogFacts& facts, unsigned seed, int rounds) {
  std::vector<std::uint64_t> buffer;
  int known = 0;
  for (int i = 0; i < rounds; ++i) {
    seed = seed * 1664525 + 1013904223;
    const std::uint64_t n = (seed >> 8) % 400;
    if (i % 3 == 0) insert_number(facts, n);
    if (i % 2000 == 1999) facts.bump_epoch();
    const int found = check_number(facts, n, buffer);
    if (found < 0) _exit(1);
    known += found;
  }
  _exit(known > 0 ? 0 : 2);
}

pid_t start(const CatalogFacts& facts, unsigned seed, int rounds) {
  const pid_t pid = fork();
  if (pid == 0) work(facts, seed, rounds);
  return pid;
}

TEST(CatalogFacts, WritersMayDieAnywhere) {
  Mapping mapping(CatalogFacts::kMinBytes);
  const CatalogFacts facts = CatalogFacts::create(mapping.span());
  std::vector<pid_t> steady;
  for (unsigned i = 0; i < 3; ++i) steady.push_back(start(facts, i + 1, 60000));
  for (unsigned i = 0; i < 60; ++i) {
    const pid_t victim = start(facts, 100 + i, 1 << 30);
    ASSERT_GT(victim, 0);
    std::this_thread::sleep_for(std::chrono::microseconds(200 + 137 * i));
    kill(victim, SIGKILL);
    int status = 0;
    ASSERT_EQ(waitpid(victim, &status, 0), victim);
    EXPECT_TRUE(WIFSIGNALED(status)) << "it ended by itself: it read something wrong";
  }
  for (const pid_t pid : steady) {
    int status = 0;
    ASSERT_EQ(waitpid(pid, &status, 0), pid);
    EXPECT_TRUE(WIFEXITED(status));
    EXPECT_EQ(WEXITSTATUS(status), 0);
  }
  EXPECT_GT(facts.generation(), 10U) << "the table was never full: the test tests nothing";
  std::vector<std::uint64_t> buffer;
  ASSERT_TRUE(insert_number(facts, 9));
  EXPECT_EQ(check_number(facts, 9, buffer), 1);
}

}  // namespace
}  // namespace weir::shmem
