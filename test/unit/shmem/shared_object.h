// An object in memory that forked processes share, and forked processes themselves, for the tests of this folder.
#pragma once

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <new>
#include <utility>

namespace weir::shmem {

// Starts as zeros, as the segment does; with CONSTRUCT the object is constructed.
template <typename T>
class Shared {
 public:
  enum class Start { Zeros, Construct };
  explicit Shared(Start start = Start::Zeros) {
    void* memory = mmap(nullptr, sizeof(T), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) std::abort();
    object_ = start == Start::Construct ? new (memory) T() : std::launder(static_cast<T*>(memory));
  }
  ~Shared() { munmap(static_cast<void*>(object_), sizeof(T)); }
  Shared(const Shared&) = delete;
  Shared& operator=(const Shared&) = delete;
  T& operator*() const { return *object_; }
  T* operator->() const { return object_; }

 private:
  T* object_;
};

// A forked process that runs WORK and ends; killed and reaped at the latest with this object.
class Fork {
 public:
  template <typename Work>
  explicit Fork(Work&& work) : pid_(fork()) {
    if (pid_ < 0) std::abort();
    if (pid_ == 0) {
      prctl(PR_SET_PDEATHSIG, SIGKILL);
      std::forward<Work>(work)();
      _exit(0);
    }
  }
  ~Fork() {
    if (pid_ <= 0) return;
    kill(pid_, SIGKILL);
    wait();
  }
  Fork(const Fork&) = delete;
  Fork& operator=(const Fork&) = delete;
  pid_t pid() const { return pid_; }
  // The wait status.
  int wait() {
    int status = 0;
    if (waitpid(std::exchange(pid_, 0), &status, 0) < 0) std::abort();
    return status;
  }
  bool ended_well() {
    const int status = wait();
    return WIFEXITED(status) && WEXITSTATUS(status) == 0;
  }
  bool was_killed() {
    const int status = wait();
    return WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL;
  }

 private:
  pid_t pid_;
};

// Ends loops that wait for another process, which a busy machine may keep waiting.
class Deadline {
 public:
  bool over() const { return std::chrono::steady_clock::now() > end_; }

 private:
  std::chrono::steady_clock::time_point end_ = std::chrono::steady_clock::now() + std::chrono::seconds(30);
};

// For the middle of a step that its process shall not survive.
inline void die() { kill(getpid(), SIGKILL); }

}  // namespace weir::shmem
