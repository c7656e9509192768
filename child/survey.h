// Asks all children what they have at hand (common/shmem/report_desk.h), for the console, and answers the others who ask.
// Whoever does not answer within a second is left out and named.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "common/admin/census.h"
#include "common/base/clock.h"
#include "common/base/event.h"

namespace weir::child {

class Worker;

class Survey {
 public:
  using Done = std::function<void(admin::Census&)>;

  explicit Survey(Worker& worker);

  // WANTED: bits of admin::Asked. DONE is told once, later, with the pools merged.
  void ask(std::uint32_t wanted, const void* asker, Done done);
  void withdraw(const void* asker);

  // Another process has woken this one: gives and takes answers. One load if there is nothing of that.
  void on_wake();
  // Once a second: an answer that nobody wants any more is forgotten.
  void sweep();

 private:
  struct Asker {
    std::uint32_t wanted = 0;
    const void* who = nullptr;  // null: withdrawn
    Done done;
  };
  struct Awaited {
    int slot = 0;
    std::int32_t pid = 0;
  };
  enum class Heard { Yes, NotYet, Never };

  void begin_round();
  void finish_round();
  void collect();
  Heard hear(const Awaited& child);
  void answer_others();

  Worker& worker_;
  std::vector<Asker> round_;  // of the round under way
  std::vector<Asker> next_;
  std::vector<Awaited> awaited_;
  admin::Census census_;
  std::uint64_t number_ = 0;
  std::uint32_t wanted_ = 0;
  Monotonic deadline_{};
  Timer timer_;
  std::uint64_t announced_ = 0;          // wishes of others as last looked at
  std::vector<std::uint64_t> answered_;  // by slot: the last wish
  bool published_ = false;
};

}  // namespace weir::child
