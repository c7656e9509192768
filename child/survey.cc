#include "child/survey.h"

#include <algorithm>
#include <utility>

#include "child/census.h"
#include "child/worker.h"
#include "common/base/log.h"
#include "common/shmem/mapping.h"

namespace weir::child {
namespace {

constexpr std::chrono::seconds kPatience{1};
// In which children that have gone are noticed, and answers that were being written.
constexpr Milliseconds kLook{20};

}  // namespace

Survey::Survey(Worker& worker) : worker_(worker) {
  timer_.set(worker.loop(), [this] { collect(); });
  answered_.resize(static_cast<std::size_t>(worker.context().mapping->children()));
}

void Survey::ask(std::uint32_t wanted, const void* asker, Done done) {
  next_.push_back({wanted, asker, std::move(done)});
  if (round_.empty()) begin_round();
}

void Survey::withdraw(const void* asker) {
  for (auto* askers : {&round_, &next_}) {
    for (Asker& one : *askers) {
      if (one.who == asker) one.who = nullptr;
    }
  }
}

void Survey::begin_round() {
  round_ = std::exchange(next_, {});
  wanted_ = 0;
  for (const Asker& asker : round_) wanted_ |= asker.wanted;
  census_ = {};
  awaited_.clear();
  shmem::Mapping& mapping = *worker_.context().mapping;
  const int own = worker_.context().slot;
  number_ = mapping.next_wish();
  mapping.report_desk(own).wish(number_, wanted_);
  mapping.announce_wish();
  for (int slot = 0; slot < mapping.children(); ++slot) {
    const shmem::ChildRow& row = mapping.child_row(slot);
    const std::int32_t pid = row.pid.load(std::memory_order_relaxed);
    const auto state = row.state.load(std::memory_order_relaxed);
    if (slot == own || pid == 0 || (state != shmem::ChildState::Running && state != shmem::ChildState::Draining)) continue;
    awaited_.push_back({slot, pid});
    worker_.wake_child(slot);
  }
  deadline_ = worker_.loop().now() + kPatience;
  take_census(worker_, wanted_, census_);
  // Nobody is told of anything while it still asks.
  timer_.arm(awaited_.empty() ? Milliseconds{0} : kLook);
}

void Survey::collect() {
  if (round_.empty()) return;
  std::erase_if(awaited_, [this](const Awaited& child) {
    const Heard heard = hear(child);
    if (heard == Heard::Never) census_.silent.push_back(child.pid);
    return heard != Heard::NotYet;
  });
  if (!awaited_.empty() && worker_.loop().now() >= deadline_) {
    for (const Awaited& child : awaited_) census_.silent.push_back(child.pid);
    awaited_.clear();
  }
  if (awaited_.empty()) return finish_round();
  if (!timer_.armed()) timer_.arm(kLook);
}

Survey::Heard Survey::hear(const Awaited& child) {
  shmem::Mapping& mapping = *worker_.context().mapping;
  // Its clients are gone with it.
  if (mapping.child_row(child.slot).pid.load(std::memory_order_relaxed) != child.pid) return Heard::Yes;
  const shmem::ReportDesk desk = mapping.report_desk(child.slot);
  if (desk.acknowledged(worker_.context().slot) != number_) return Heard::NotYet;
  std::string text;
  std::uint32_t holds = 0;
  if (!desk.read(text, holds)) return Heard::NotYet;
  if ((holds & wanted_) != wanted_) return Heard::Never;
  if (const Status status = admin::decode_census(as_bytes(text), census_); !status) {
    log::warning("child {} has reported something that is not understood: {}", child.pid, status.error().one_line());
    return Heard::Never;
  }
  return Heard::Yes;
}

void Survey::finish_round() {
  timer_.disarm();
  worker_.context().mapping->report_desk(worker_.context().slot).wish_no_more();
  admin::merge_pools(census_.pools);
  const auto by_age = [](const admin::SocketFacts& a, const admin::SocketFacts& b) { return a.connected_at < b.connected_at; };
  std::stable_sort(census_.clients.begin(), census_.clients.end(), by_age);
  std::stable_sort(census_.servers.begin(), census_.servers.end(), by_age);
  // One that is told may ask again, or withdraw another.
  for (std::size_t i = 0; i < round_.size(); ++i) {
    if (round_[i].who == nullptr) continue;
    admin::Census copy = census_;
    const Done done = std::move(round_[i].done);
    round_[i].who = nullptr;
    done(copy);
  }
  round_.clear();
  census_ = {};
  if (!next_.empty()) begin_round();
}

void Survey::on_wake() {
  const std::uint64_t announced = worker_.context().mapping->announced_wishes();
  if (std::exchange(announced_, announced) != announced) answer_others();
  if (!round_.empty()) collect();
}

void Survey::answer_others() {
  shmem::Mapping& mapping = *worker_.context().mapping;
  const int own = worker_.context().slot;
  std::uint32_t wanted = 0;
  std::vector<std::pair<int, std::uint64_t>> askers;
  for (int slot = 0; slot < mapping.children(); ++slot) {
    if (slot == own || mapping.child_row(slot).pid.load(std::memory_order_relaxed) == 0) continue;
    const shmem::ReportDesk::Wish wish = mapping.report_desk(slot).wish();
    if (wish.number == 0) continue;
    wanted |= wish.wanted;  // also of those who have an answer and may not have read it yet
    if (std::exchange(answered_[static_cast<std::size_t>(slot)], wish.number) != wish.number) askers.emplace_back(slot, wish.number);
  }
  if (askers.empty()) return;
  admin::Census own_census;
  take_census(worker_, wanted, own_census);
  std::string text;
  admin::encode_census(text, own_census);
  shmem::ReportDesk desk = mapping.report_desk(own);
  if (!desk.publish(wanted, as_bytes(text))) log::warning("there is more to report to the console than fits: {} bytes", text.size());
  published_ = true;
  for (const auto& [slot, number] : askers) {
    desk.acknowledge(slot, number);
    worker_.wake_child(slot);
  }
}

void Survey::sweep() {
  if (!published_) return;
  shmem::Mapping& mapping = *worker_.context().mapping;
  for (int slot = 0; slot < mapping.children(); ++slot) {
    const bool there = slot != worker_.context().slot && mapping.child_row(slot).pid.load(std::memory_order_relaxed) != 0;
    if (there && mapping.report_desk(slot).wish().number != 0) return;
  }
  published_ = false;
  mapping.report_desk(worker_.context().slot).forget();
}

}  // namespace weir::child
