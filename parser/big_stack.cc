#include "parser/big_stack.h"

#include <pthread.h>
#include <sys/mman.h>

#include <csignal>

namespace weir::parser {
namespace {

constexpr std::size_t kGuard = std::size_t{64} << 10U; // more than one frame of the parser

// A mapping for each call: deep texts are rare, and untouched pages cost nothing.
class Stack {
public:
  explicit Stack(std::size_t size)
      : size_(size), base_(::mmap(nullptr, size, PROT_READ | PROT_WRITE,
                                  MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0)),
        guarded_(base_ != MAP_FAILED && ::mprotect(base_, kGuard, PROT_NONE) == 0) {}
  ~Stack() {
    if (base_ != MAP_FAILED)
      ::munmap(base_, size_);
  }
  Stack(const Stack&) = delete;
  Stack& operator=(const Stack&) = delete;

  bool valid() const { return guarded_; }
  void* bottom() const { return static_cast<std::byte*>(base_) + kGuard; }
  std::size_t size() const { return size_ - kGuard; }

private:
  std::size_t size_;
  void* base_;
  bool guarded_;
};

class Attributes {
public:
  Attributes() : valid_(pthread_attr_init(&attributes_) == 0) {}
  ~Attributes() {
    if (valid_)
      pthread_attr_destroy(&attributes_);
  }
  Attributes(const Attributes&) = delete;
  Attributes& operator=(const Attributes&) = delete;

  bool set_stack(const Stack& stack) {
    return valid_ && pthread_attr_setstack(&attributes_, stack.bottom(), stack.size()) == 0;
  }
  const pthread_attr_t* get() const { return &attributes_; }

private:
  pthread_attr_t attributes_{};
  bool valid_;
};

void* entry(void* work) {
  (*static_cast<const std::function<void()>*>(work))();
  return nullptr;
}

} // namespace

bool run_on_stack(std::size_t size, const std::function<void()>& work) {
  const Stack stack(size);
  Attributes attributes;
  if (!stack.valid() || !attributes.set_stack(stack))
    return false;
  // Signals are for the thread that runs the event loop: the new one inherits a mask that lets none
  // through.
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  pthread_t thread{};
  const bool started = pthread_create(&thread, attributes.get(), entry,
                                      const_cast<std::function<void()>*>(&work)) == 0;
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  if (started)
    pthread_join(thread, nullptr);
  return started;
}

bool run_on_big_stack(const std::function<void()>& work) {
  return run_on_stack(kBigStack, work);
}

} // namespace weir::parser
