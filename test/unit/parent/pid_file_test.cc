#include "parent/pid_file.h"

#include <gtest/gtest.h>
#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <string>

#include "test/unit/parent/scratch_file.h"

namespace weir::parent {
namespace {

// A process of the name given, alive until the end of the scope.
class Sleeper {
 public:
  explicit Sleeper(const char* name) {
    int started[2];
    if (::pipe2(started, O_CLOEXEC) != 0) std::abort();
    pid_ = ::fork();
    if (pid_ == 0) {
      ::execl("/bin/sleep", name, "600", nullptr);
      _exit(1);
    }
    ::close(started[1]);
    char end = 0;
    if (::read(started[0], &end, 1) != 0) std::abort();  // closed by exec: the name is there
    ::close(started[0]);
  }
  ~Sleeper() { end(); }
  Sleeper(const Sleeper&) = delete;
  Sleeper& operator=(const Sleeper&) = delete;

  pid_t pid() const { return pid_; }
  void end() {
    if (ended_) return;
    ended_ = true;
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }

 private:
  pid_t pid_ = 0;
  bool ended_ = false;
};

TEST(PidFile, WhatIsWrittenIsFound) {
  const ScratchDirectory scratch;
  const Sleeper sleeper("pgweir: parent");
  ASSERT_TRUE(write_pid_file(scratch.path("pid"), sleeper.pid()));
  EXPECT_EQ(scratch.read("pid"), std::to_string(sleeper.pid()) + "\n");
  EXPECT_FALSE(scratch.has("pid.new")) << "the scratch file is gone";
  EXPECT_EQ(running_pid(scratch.path("pid"), true), sleeper.pid());
  EXPECT_TRUE(scratch.has("pid")) << "a file that is right stays";
}

TEST(PidFile, AnOldOneIsReplaced) {
  const ScratchDirectory scratch;
  scratch.write("pid", "a longer text than any pid has\nin several lines\n");
  scratch.write("pid.new", "left by one that died here");
  ASSERT_TRUE(write_pid_file(scratch.path("pid"), 4711));
  EXPECT_EQ(scratch.read("pid"), "4711\n");
}

TEST(PidFile, NoPlaceForIt) {
  const ScratchDirectory scratch;
  const Status status = write_pid_file(scratch.path("none/pid"), 4711);
  ASSERT_FALSE(status);
  EXPECT_NE(status.error().message.find("none/pid"), std::string::npos);
}

TEST(PidFile, NoFile) {
  const ScratchDirectory scratch;
  EXPECT_EQ(running_pid(scratch.path("pid"), true), 0);
}

TEST(PidFile, ThePidOfADeadProcess) {
  const ScratchDirectory scratch;
  Sleeper sleeper("pgweir: parent");
  sleeper.end();
  scratch.write("pid", std::to_string(sleeper.pid()) + "\n");
  EXPECT_EQ(running_pid(scratch.path("pid"), false), 0);
  EXPECT_TRUE(scratch.has("pid"));
  EXPECT_EQ(running_pid(scratch.path("pid"), true), 0);
  EXPECT_FALSE(scratch.has("pid"));
}

TEST(PidFile, AnotherProgramHasTheNumberNow) {
  const ScratchDirectory scratch;
  const Sleeper sleeper("something else");
  scratch.write("pid", std::to_string(sleeper.pid()) + "\n");
  EXPECT_EQ(running_pid(scratch.path("pid"), true), 0);
  EXPECT_FALSE(scratch.has("pid"));
}

TEST(PidFile, PgpoolCountsToo) {
  const ScratchDirectory scratch;
  const Sleeper sleeper("/usr/sbin/pgpool");
  scratch.write("pid", std::to_string(sleeper.pid()));
  EXPECT_EQ(running_pid(scratch.path("pid"), true), sleeper.pid());
}

// After a restart of the machine, or in a container, the number may be this process's own.
TEST(PidFile, ItsOwnNumberIsStale) {
  const ScratchDirectory scratch;
  scratch.write("pid", std::to_string(::getpid()) + "\n");
  EXPECT_EQ(running_pid(scratch.path("pid"), false), 0);
}

// A number at or below zero would be a signal to many.
TEST(PidFile, NoPidAtAll) {
  const ScratchDirectory scratch;
  for (const char* text : {"", "\n", "pgweir\n", "0\n", "-1\n", "-4711\n", "99999999999999999999999\n", "4294967297\n"}) {
    scratch.write("pid", text);
    EXPECT_EQ(running_pid(scratch.path("pid"), false), 0) << text;
    EXPECT_EQ(running_pid(scratch.path("pid"), true), 0) << text;
    EXPECT_FALSE(scratch.has("pid")) << text;
  }
}

}  // namespace
}  // namespace weir::parent
