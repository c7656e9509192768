#include "lb/reader.h"

#include <cstddef>

namespace weir::lb {
namespace {

shmem::ReplicationDelay delay_of(const ReaderInputs& in, std::size_t id) {
  return id < in.delays.size() ? in.delays[id] : shmem::ReplicationDelay{};
}

int drawn_node(const ReaderInputs& in) {
  const bool keep = in.kept >= 0 && !in.excluded.test(static_cast<std::size_t>(in.kept)) &&
                    eligible_node(in.view, in.kept, in.candidates);
  if (keep) return in.kept;
  const NodeSet allowed = eligible(in.view, in.candidates) & ~in.excluded;
  const RedirectChoice choice = apply_redirect(in.redirect, in.redirect_unit, in.view.primary, allowed);
  if (choice.node >= 0) return choice.node;
  if (in.loads == nullptr) return choose(in.view, choice.nodes, in.random_unit);
  return choose_by(in.policy.algorithm(), in.view, choice.nodes, *in.loads, in.random_unit);
}

// As far as its delay goes; the primary always.
bool within_delay(const ReaderInputs& in, int id) {
  const DelayLimit& limit = in.policy.delay_limit();
  if (!limit.set() || id < 0 || id == in.view.primary) return true;
  return judge_delay(delay_of(in, static_cast<std::size_t>(id)), limit, in.now) == DelayVerdict::Within;
}

// The standby with weight that is least behind, within the limit; -1: none.
int least_behind(const ReaderInputs& in) {
  const NodeSet standbys = eligible(in.view, Candidates::Standbys) & ~in.excluded;
  const DelayLimit& limit = in.policy.delay_limit();
  int best = -1;
  std::int64_t least = 0;
  for (std::size_t id = 0; id < standbys.size(); ++id) {
    if (!standbys.test(id) || !(in.view.nodes[id].weight > 0)) continue;
    if (!within_delay(in, static_cast<int>(id))) continue;
    const std::int64_t behind = delay_measure(delay_of(in, id), limit);
    if (best >= 0 && behind >= least) continue;
    best = static_cast<int>(id);
    least = behind;
  }
  return best;
}

}  // namespace

bool may_read(const ReaderInputs& in, int id) {
  return eligible_node(in.view, id, in.candidates) && !in.excluded.test(static_cast<std::size_t>(id)) && within_delay(in, id);
}

Reader choose_reader(const ReaderInputs& in) {
  const int drawn = drawn_node(in);
  if (within_delay(in, drawn)) return {drawn, drawn};
  const bool look_around = in.policy.delay_limit().prefer_lower || in.view.primary < 0 || in.candidates == Candidates::Standbys;
  const int instead = look_around ? least_behind(in) : -1;
  return {drawn, instead >= 0 ? instead : in.view.primary};
}

}  // namespace weir::lb
