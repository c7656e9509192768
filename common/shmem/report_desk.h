// How one child asks all others what they have at hand, and gets their answers: nothing is kept for it while nobody asks.
//
// Every slot has a desk. On it lie the wish of its child (a number and what is wanted), its answer to the wishes of others
// (one text, for all who ask at the time), and what it has acknowledged to whom. Only the slot's child writes on its desk,
// and the parent once that child is dead. The one who asks writes its wish and wakes all children; each of them writes one
// answer that holds what any open wish wants, acknowledges the wishes, and wakes those who asked. A child that does not
// answer is not waited for for ever: that is for the one who asks.
//
// The text is bytes as relaxed atomic words between two counts of a version; a reader whose copy was written meanwhile
// reads again. It is another process's word: whoever reads it checks it like bytes from outside.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "common/base/bytes.h"

namespace weir::shmem {

// All zeros: no wish, no answer.
struct ReportHead {
  std::atomic<std::uint64_t> wish{0};     // number of the wish, 0: none
  std::atomic<std::uint32_t> wanted{0};   // bits of what is wanted
  std::atomic<std::uint32_t> holds{0};    // bits of what the text holds
  std::atomic<std::uint64_t> version{0};  // of the text; odd: it is being written
  std::atomic<std::uint64_t> size{0};     // of the text, bytes
};

class ReportDesk {
 public:
  using Word = std::atomic<std::uint64_t>;
  // ACKNOWLEDGED: one word a slot. WORDS: whole pages.
  ReportDesk(ReportHead& head, std::span<Word> acknowledged, std::span<Word> words) : head_(head), acknowledged_(acknowledged), words_(words) {}

  // ---- the slot's child
  void wish(std::uint64_t number, std::uint32_t wanted);
  void wish_no_more() { head_.wish.store(0, std::memory_order_release); }
  // HOLDS: bits of what TEXT has in it. False: it is too long, and the desk holds nothing then.
  bool publish(std::uint32_t holds, Bytes text);
  void acknowledge(int asker, std::uint64_t number) { acknowledged_[static_cast<std::size_t>(asker)].store(number, std::memory_order_release); }
  // The text is gone, and its pages are the system's again.
  void forget();

  // ---- anybody
  struct Wish {
    std::uint64_t number = 0;  // 0: none
    std::uint32_t wanted = 0;
  };
  Wish wish() const;
  std::uint64_t acknowledged(int asker) const { return acknowledged_[static_cast<std::size_t>(asker)].load(std::memory_order_acquire); }
  // False: it is being written, or was written while it was read each time. Else the text, and what it holds.
  bool read(std::string& text, std::uint32_t& holds) const;

 private:
  ReportHead& head_;
  std::span<Word> acknowledged_;
  std::span<Word> words_;
};

}  // namespace weir::shmem
