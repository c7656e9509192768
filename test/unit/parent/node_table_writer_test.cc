#include "parent/node_table_writer.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace weir::parent {
namespace {

using shmem::Answer;
using shmem::NodeAdmin;
using shmem::NodeRole;
using shmem::NodeStatus;
using shmem::NodeView;
using shmem::Observation;

std::vector<config::BackendConfig> backends(std::size_t count) {
  std::vector<config::BackendConfig> made(count);
  for (std::size_t id = 0; id < count; ++id) {
    made[id].hostname = "host" + std::to_string(id);
    made[id].port = 5432 + static_cast<std::int64_t>(id);
    made[id].weight = 1;
  }
  return made;
}

// One letter a node: P writable, S standby, u up with its role unknown; p, s, d the same three, down; ? not checked yet,
// q and t a writable server and a standby that do not answer but are not down yet.
std::vector<Observation> observed(const std::string& letters) {
  std::vector<Observation> made;
  for (const char letter : letters) {
    Observation seen;
    const bool writable = letter == 'P' || letter == 'p' || letter == 'q';
    const bool standby = letter == 'S' || letter == 's' || letter == 't';
    seen.in_recovery = static_cast<std::int8_t>(writable ? 0 : standby ? 1 : -1);
    seen.up = letter == 'P' || letter == 'S' || letter == 'u' || letter == 'q' || letter == 't';
    seen.answer = letter == '?' ? Answer::None : letter == 'q' || letter == 't' ? Answer::Silent : seen.up ? Answer::Ok : Answer::Refused;
    if (seen.answer == Answer::Refused) seen.text.assign("it refuses connections");
    if (seen.answer == Answer::Silent) seen.text.assign("it does not answer");
    seen.address.assign("10.0.0.1");
    made.push_back(seen);
  }
  return made;
}

NodeView next(const NodeView& old, const std::string& letters, Clustering clustering = Clustering::Streaming, bool roles_known = true, std::int64_t now = 100) {
  return next_view(old, backends(letters.size()), clustering, roles_known, observed(letters), now);
}

// The same letters from the view's roles and states: upper case for up, lower case for down, P S U; ? unknown; ! suspect.
std::string told(const NodeView& view) {
  std::string out;
  for (int id = 0; id < view.count; ++id) {
    const shmem::Node& node = view.nodes.at(static_cast<std::size_t>(id));
    const std::size_t role = node.role == NodeRole::Primary ? 0 : node.role == NodeRole::Standby ? 1 : 2;
    switch (node.status) {
      case NodeStatus::Unused: out += '-'; break;
      case NodeStatus::Unknown: out += '?'; break;
      case NodeStatus::Suspect: out += '!'; break;
      case NodeStatus::Up: out += "PSU"[role]; break;
      case NodeStatus::Down: out += "psu"[role]; break;
    }
  }
  return out + " " + std::to_string(view.primary);
}

struct Row {
  const char* what;
  std::vector<std::string> observations;  // one after the other
  const char* told;
};

TEST(NextView, StreamingReplication) {
  for (const Row& row : {
           Row{"no nodes", {""}, " -1"},
           Row{"before the first checks", {"???"}, "??? -1"},
           Row{"all is well", {"PSS"}, "PSS 0"},
           Row{"the primary need not be the first", {"SPS"}, "SPS 1"},
           Row{"the primary is known before the others", {"?P?"}, "?P? 1"},
           Row{"standbys alone", {"SSS"}, "SSS -1"},
           Row{"a standby goes down", {"PSS", "PsS"}, "PsS 0"},
           Row{"... and comes back", {"PSS", "PsS", "PSS"}, "PSS 0"},
           Row{"the primary goes down", {"PSS", "pSS"}, "pSS -1"},
           Row{"... and comes back", {"PSS", "pSS", "PSS"}, "PSS 0"},
           Row{"a failover", {"PSS", "pSS", "pPS"}, "pPS 1"},
           Row{"the old primary comes back as a standby", {"PSS", "pSS", "pPS", "SPS"}, "SPS 1"},
           Row{"a switchover seen at once", {"PSS", "SPS"}, "SPS 1"},
           Row{"the old primary comes back writable", {"PSS", "pPS", "PPS"}, "!PS 1"},
           Row{"the known one stays", {"PSS", "PPS"}, "P!S 0"},
           Row{"... even if it is not the first", {"SPS", "PPS"}, "!PS 1"},
           Row{"two writable ones from the start", {"PPS"}, "!!S -1"},
           Row{"... stay so", {"PPS", "PPS"}, "!!S -1"},
           Row{"... until one is down", {"PPS", "pPS"}, "pPS 1"},
           Row{"... or a standby", {"PPS", "SPS"}, "SPS 1"},
           Row{"the known one of two goes down", {"PSS", "PPS", "pPS"}, "pPS 1"},
           Row{"three writable ones", {"PPP"}, "!!! -1"},
           Row{"a standby does not answer", {"PSS", "PSt"}, "PS! 0"},
           Row{"a role that is not known yet", {"uSS"}, "USS -1"},
           Row{"a role that is not seen any more stays", {"PSS", "PuS"}, "PSS 0"},
           Row{"down, and its role never known", {"dPS"}, "uPS 1"},
           Row{"everything is down", {"PSS", "pss"}, "pss -1"},
       }) {
    NodeView view;
    for (const std::string& letters : row.observations) view = next(view, letters);
    EXPECT_EQ(told(view), row.told) << row.what;
  }
}

// Without roles, the first node that is up is the primary.
TEST(NextView, ByPlace) {
  struct Place {
    const char* what;
    Clustering clustering;
    bool roles_known;
    std::vector<std::string> observations;
    const char* told;
  };
  for (const Place& row : {
           Place{"no user to ask with", Clustering::Streaming, false, {"uuu"}, "PUU 0"},
           Place{"the first is down", Clustering::Streaming, false, {"uuu", "duu"}, "uPU 1"},
           Place{"the first is back", Clustering::Streaming, false, {"uuu", "duu", "uuu"}, "PUU 0"},
           Place{"what was seen before counts no more", Clustering::Streaming, false, {"SPS"}, "PUU 0"},
           Place{"raw", Clustering::Raw, true, {"PPP"}, "PUU 0"},
           Place{"raw, the first is down", Clustering::Raw, true, {"PPP", "pPP"}, "uPU 1"},
           Place{"logical: the others may be read", Clustering::Logical, true, {"PPP"}, "PSS 0"},
           Place{"logical, the first is down", Clustering::Logical, true, {"PPP", "pPP"}, "sPS 1"},
           Place{"nothing is up", Clustering::Raw, true, {"ppp"}, "uuu -1"},
           Place{"nothing was checked yet", Clustering::Logical, true, {"???"}, "??? -1"},
       }) {
    NodeView view;
    for (const std::string& letters : row.observations) view = next(view, letters, row.clustering, row.roles_known);
    EXPECT_EQ(told(view), row.told) << row.what;
  }
}

TEST(NextView, AlwaysPrimary) {
  auto configured = backends(3);
  configured[1].always_primary = true;
  const auto with = [&](const std::string& letters) { return next_view({}, configured, Clustering::Streaming, true, observed(letters), 100); };
  EXPECT_EQ(told(with("SSS")), "SPS 1") << "whatever it says of itself";
  EXPECT_EQ(told(with("PSS")), "!PS 1") << "another writable one is not read";
  EXPECT_EQ(told(with("uuu")), "UPU 1");
  EXPECT_EQ(with("SsS").primary, -1) << "not while it is down";
}

TEST(NextView, Reasons) {
  const NodeView view = next(next({}, "PSS?"), "PPsu");
  EXPECT_EQ(view.nodes[0].reason.view(), "");
  EXPECT_EQ(view.nodes[1].reason.view(), "it is writable, but another node is the primary");
  EXPECT_EQ(view.nodes[2].reason.view(), "it refuses connections");
  EXPECT_EQ(next({}, "?").nodes[0].reason.view(), "not checked yet");
  const NodeView silent = next({}, "Pt");
  EXPECT_EQ(silent.nodes[1].status, NodeStatus::Suspect);
  EXPECT_EQ(silent.nodes[1].reason.view(), "it does not answer");
  EXPECT_EQ(next(view, "PSS?").nodes[1].reason.view(), "") << "gone with its cause";
}

// A live server that has no slot left or does not like the check's password is up all the same.
TEST(NextView, AnswersOfALiveServer) {
  for (const Answer answer : {Answer::Ok, Answer::Saturated, Answer::BadCredentials, Answer::WrongRole}) {
    auto seen = observed("PS");
    seen[1].answer = answer;
    EXPECT_EQ(next_view({}, backends(2), Clustering::Streaming, true, seen, 100).nodes[1].status, NodeStatus::Up) << enum_name(answer);
  }
  for (const Answer answer : {Answer::Starting, Answer::Stopping, Answer::Refused, Answer::Silent, Answer::Unresolved, Answer::Saturated}) {
    auto seen = observed("Ps");
    seen[1].answer = answer;
    EXPECT_EQ(next_view({}, backends(2), Clustering::Streaming, true, seen, 100).nodes[1].status, NodeStatus::Down) << enum_name(answer);
  }
}

TEST(NextView, WhatIsConfigured) {
  auto configured = backends(2);
  configured[1].weight = 2.5;
  configured[1].application_name = "reader";
  configured[1].allow_to_failover = false;
  const NodeView view = next_view({}, configured, Clustering::Streaming, true, observed("PS"), 100);
  EXPECT_EQ(view.nodes[1].hostname.view(), "host1");
  EXPECT_EQ(view.nodes[1].port, 5433);
  EXPECT_EQ(view.nodes[1].weight, 2.5);
  EXPECT_EQ(view.nodes[1].application_name.view(), "reader");
  EXPECT_FALSE(view.nodes[1].allow_to_failover);
  EXPECT_TRUE(view.nodes[0].allow_to_failover);
  EXPECT_EQ(view.nodes[1].address.view(), "10.0.0.1");
  configured[1].weight = 0;
  EXPECT_EQ(next_view(view, configured, Clustering::Streaming, true, observed("PS"), 100).nodes[1].weight, 0) << "a reload";
}

TEST(NextView, WhatIsKept) {
  NodeView old = next({}, "PS");
  old.nodes[1].seen_connected = true;
  old.nodes[1].admin = NodeAdmin::Draining;
  const NodeView view = next(next(old, "Ps"), "PS");
  EXPECT_TRUE(view.nodes[1].seen_connected);
  EXPECT_EQ(view.nodes[1].admin, NodeAdmin::Draining);
  EXPECT_FALSE(view.nodes[0].seen_connected);
}

TEST(NextView, TheTimeOfTheLastChange) {
  const auto at = [](const NodeView& old, const std::string& letters, std::int64_t now) { return next(old, letters, Clustering::Streaming, true, now); };
  NodeView view = at({}, "PS", 100);
  EXPECT_EQ(view.nodes[1].changed_at, 100);
  view = at(view, "PS", 110);
  EXPECT_EQ(view.nodes[1].changed_at, 100);
  view = at(view, "Ps", 120);
  EXPECT_EQ(view.nodes[0].changed_at, 100);
  EXPECT_EQ(view.nodes[1].changed_at, 120);
  view = at(view, "Ps", 130);
  EXPECT_EQ(view.nodes[1].changed_at, 120);
  view = at(view, "SP", 140);
  EXPECT_EQ(view.nodes[0].changed_at, 140) << "a change of role";
  EXPECT_EQ(view.nodes[1].changed_at, 140);
  view = at(view, "PP", 150);
  view = at(view, "PP", 160);
  EXPECT_EQ(view.nodes[0].changed_at, 150) << "a second writable server is marked once";
}

TEST(NextView, HolesAndEnds) {
  auto configured = backends(3);
  configured[1].port = 0;
  NodeView view = next_view({}, configured, Clustering::Streaming, true, observed("PSS"), 100);
  EXPECT_EQ(told(view), "P-S 0");
  // A slot that is given up leaves nothing behind; one that is new is as if never seen.
  view = next_view(view, backends(1), Clustering::Streaming, true, observed("P"), 100);
  EXPECT_EQ(told(view), "P 0");
  EXPECT_EQ(view.nodes[2].status, NodeStatus::Unused);
  EXPECT_EQ(told(next_view(view, backends(3), Clustering::Streaming, true, observed("P"), 100)), "P?? 0") << "fewer observations than nodes";
  EXPECT_EQ(next_view({}, backends(shmem::kMaxNodes + 5), Clustering::Streaming, true, observed("P"), 100).count, shmem::kMaxNodes);
}

}  // namespace
}  // namespace weir::parent
