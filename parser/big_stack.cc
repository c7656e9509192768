#include "parser/big_stack.h"

#include <pthread.h>
#include <sys/mman.h>

#include <csignal>
#include <cstddef>

namespace weir::parser {
namespace {

// A term costs up to 2 KB of stack (measured with protobuf unpacking), and 64 KB of text have at most 32,768 of them:
// sixteen times that.
constexpr std::size_t kStackSize = std::size_t{1} << 30U;
constexpr std::size_t kGuard = std::size_t{1} << 16U;

// The mapping lives as long as the thread: one for each call, since deep texts are rare and untouched pages cost nothing.
class Stack {
 public:
  Stack() : base_(::mmap(nullptr, kStackSize, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0)) {
    if (base_ != MAP_FAILED) ::mprotect(base_, kGuard, PROT_NONE);
  }
  ~Stack() {
    if (base_ != MAP_FAILED) ::munmap(base_, kStackSize);
  }
  Stack(const Stack&) = delete;
  Stack& operator=(const Stack&) = delete;
  bool valid() const { return base_ != MAP_FAILED; }
  void* bottom() const { return static_cast<std::byte*>(base_) + kGuard; }
  std::size_t size() const { return kStackSize - kGuard; }

 private:
  void* base_;
};

void* entry(void* work) {
  (*static_cast<const std::function<void()>*>(work))();
  return nullptr;
}

}  // namespace

bool run_on_big_stack(const std::function<void()>& work) {
  const Stack stack;
  if (!stack.valid()) return false;
  pthread_attr_t attributes;
  if (pthread_attr_init(&attributes) != 0) return false;
  bool started = pthread_attr_setstack(&attributes, stack.bottom(), stack.size()) == 0;
  // Signals are for the thread that runs the event loop.
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  pthread_t thread{};
  started = started && pthread_create(&thread, &attributes, entry, const_cast<std::function<void()>*>(&work)) == 0;
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  pthread_attr_destroy(&attributes);
  if (started) pthread_join(thread, nullptr);
  return started;
}

}  // namespace weir::parser
