#include "common/admin/show_processes.h"

#include <gtest/gtest.h>

#include "common/admin/show_pools.h"
#include "test/unit/admin/show_support.h"

namespace weir::admin {
namespace {

using shmem::BackendRow;
using shmem::ClientPhase;
using shmem::SessionRow;

SessionRow client(int slot, const char* user, ClientPhase phase, char status = 'I', std::int64_t connected_at = 1) {
  SessionRow row;
  row.in_use = true;
  row.slot = slot;
  row.state = static_cast<std::uint8_t>(phase);
  row.status = status;
  row.connected_at = connected_at;
  if (phase != ClientPhase::Startup) row.database.assign("app");
  row.user.assign(user);
  row.peer.assign("192.0.2.7");
  row.peer_port = 40000 + slot;
  return row;
}

BackendRow backend(int node, const char* user, int session = -1) {
  BackendRow row;
  row.in_use = true;
  row.node = node;
  row.pid = 900 + node;
  row.client_connected = session >= 0;
  row.session = session;
  row.created_at = 1'000'000'000;
  row.uses = 5;
  row.database.assign("app");
  row.user.assign(user);
  return row;
}

ProcessFacts process() {
  ProcessFacts facts;
  facts.pid = 4242;
  facts.started_at = 1'000'000'000;
  facts.served = 17;
  facts.clients = 2;
  facts.waiting = 1;
  return facts;
}

Rowset processes_of(const ProcessFacts& facts) {
  const ProcessFacts list[] = {facts};
  Rowset rows = show_processes(list);
  expect_sound(rows);
  return rows;
}

Rowset pools_of(const ProcessFacts& facts, std::int64_t now = 0) {
  const ProcessFacts list[] = {facts};
  Rowset rows = show_pools(list, now);
  expect_sound(rows);
  return rows;
}

TEST(ShowProcesses, columns) {
  EXPECT_EQ(names_of(processes_columns()),
            (Names{"pool_pid", "start_time", "client_connection_count", "database", "username",
                   "backend_connection_time", "pool_counter", "status", "clients", "waiting", "draining", "busy_percent", "asleep",
                   "moved_away"}));
  EXPECT_EQ(type_of(processes_columns(), "pool_pid"), kInt4);
  EXPECT_EQ(type_of(processes_columns(), "client_connection_count"), kInt8);
  EXPECT_EQ(type_of(processes_columns(), "pool_counter"), kInt8);
}

TEST(ShowProcesses, values) {
  const TimeZone zone("UTC");
  ProcessFacts facts = process();
  facts.sessions = {client(0, "alice", ClientPhase::Idle, 'I', 100), client(1, "bob", ClientPhase::Idle, 'I', 300),
                    client(2, "carol", ClientPhase::Idle, 'I', 200), client(3, "", ClientPhase::Startup, 'I', 400)};
  facts.backends = {backend(0, "alice"), backend(1, "bob")};
  facts.backends[1].created_at = 999'999'999;
  facts.busy = 996;
  facts.asleep = 2;
  facts.moved_away = 5;
  const Rowset rows = processes_of(facts);
  ASSERT_EQ(rows.rows.size(), 1U);
  EXPECT_EQ(cell(rows, 0, "pool_pid"), "4242");
  EXPECT_EQ(cell(rows, 0, "start_time"), "2001-09-09 01:46:40");
  EXPECT_EQ(cell(rows, 0, "client_connection_count"), "17");
  EXPECT_EQ(cell(rows, 0, "database"), "app");
  EXPECT_EQ(cell(rows, 0, "username"), "bob") << "the newest that has logged in";
  EXPECT_EQ(cell(rows, 0, "backend_connection_time"), "2001-09-09 01:46:39");
  EXPECT_EQ(cell(rows, 0, "pool_counter"), "10");
  EXPECT_EQ(cell(rows, 0, "clients"), "2");
  EXPECT_EQ(cell(rows, 0, "waiting"), "1");
  EXPECT_EQ(cell(rows, 0, "draining"), "false");
  EXPECT_EQ(cell(rows, 0, "busy_percent"), "100");
  EXPECT_EQ(cell(rows, 0, "asleep"), "2");
  EXPECT_EQ(cell(rows, 0, "moved_away"), "5");
}

TEST(ShowProcesses, a_child_without_clients) {
  ProcessFacts facts = process();
  facts.draining = true;
  const Rowset rows = processes_of(facts);
  EXPECT_EQ(cell(rows, 0, "database"), "");
  EXPECT_EQ(cell(rows, 0, "username"), "");
  EXPECT_EQ(cell(rows, 0, "backend_connection_time"), "");
  EXPECT_EQ(cell(rows, 0, "pool_counter"), "0");
  EXPECT_EQ(cell(rows, 0, "status"), "Wait for connection");
  EXPECT_EQ(cell(rows, 0, "draining"), "true");
  EXPECT_TRUE(show_processes({}).rows.empty());
}

TEST(ShowProcesses, status_of_a_client) {
  struct Case {
    ClientPhase phase;
    char status;
    const char* text;
  };
  for (const Case& c : {Case{ClientPhase::Startup, 'I', "Connecting"}, Case{ClientPhase::Idle, 'I', "Idle"},
                        Case{ClientPhase::Idle, 'T', "Idle in transaction"},
                        Case{ClientPhase::Idle, 'E', "Idle in transaction"},
                        Case{ClientPhase::AwaitBackend, 'I', "Execute command"},
                        Case{ClientPhase::AwaitPrimary, 'I', "Execute command"},
                        Case{ClientPhase::Preparing, 'I', "Execute command"},
                        Case{ClientPhase::InExchange, 'T', "Execute command"},
                        Case{ClientPhase::Closing, 'I', "Wait for connection"},
                        Case{static_cast<ClientPhase>(200), 'I', "Wait for connection"}}) {
    EXPECT_EQ(client_status_text(client(0, "u", c.phase, c.status)), c.text) << static_cast<int>(c.phase);
  }
}

TEST(ShowProcesses, status_is_that_of_the_busiest_client) {
  ProcessFacts facts = process();
  const auto status = [&] { return cell(processes_of(facts), 0, "status"); };
  facts.sessions = {client(0, "", ClientPhase::Startup)};
  EXPECT_EQ(status(), "Connecting");
  facts.sessions.push_back(client(1, "u", ClientPhase::Idle));
  EXPECT_EQ(status(), "Idle");
  facts.sessions.insert(facts.sessions.begin(), client(2, "u", ClientPhase::Idle, 'T'));
  EXPECT_EQ(status(), "Idle in transaction");
  facts.sessions.push_back(client(3, "u", ClientPhase::InExchange));
  EXPECT_EQ(status(), "Execute command");
}

TEST(ShowPools, columns) {
  EXPECT_EQ(names_of(pools_columns()),
            (Names{"pool_pid", "start_time", "client_connection_count", "pool_id", "backend_id", "database", "username",
                   "backend_connection_time", "client_connection_time", "client_disconnection_time",
                   "client_idle_duration", "majorversion", "minorversion", "pool_counter", "pool_backendpid",
                   "pool_connected", "status", "load_balance_node", "client_host", "client_port", "statement"}));
  EXPECT_EQ(type_of(pools_columns(), "pool_backendpid"), kInt4);
  EXPECT_EQ(type_of(pools_columns(), "load_balance_node"), kInt4);
  EXPECT_EQ(type_of(pools_columns(), "client_port"), kText) << "it may be empty";
}

TEST(ShowPools, values) {
  const TimeZone zone("UTC");
  ProcessFacts facts = process();
  SessionRow idle = client(7, "alice", ClientPhase::Idle, 'T');
  idle.state_since = 5000;
  facts.sessions = {client(6, "other", ClientPhase::InExchange), idle};
  facts.backends = {backend(1, "alice", 7)};
  facts.backends[0].load_balance_node = true;
  facts.backends[0].client_since = 1'000'000'001;
  facts.backends[0].client_until = 1'000'000'000;
  const Rowset rows = pools_of(facts, 5060);
  ASSERT_EQ(rows.rows.size(), 1U);
  EXPECT_EQ(cell(rows, 0, "pool_pid"), "4242");
  EXPECT_EQ(cell(rows, 0, "client_connection_count"), "17");
  EXPECT_EQ(cell(rows, 0, "pool_id"), "0");
  EXPECT_EQ(cell(rows, 0, "backend_id"), "1");
  EXPECT_EQ(cell(rows, 0, "database"), "app");
  EXPECT_EQ(cell(rows, 0, "username"), "alice");
  EXPECT_EQ(cell(rows, 0, "backend_connection_time"), "2001-09-09 01:46:40");
  EXPECT_EQ(cell(rows, 0, "client_connection_time"), "2001-09-09 01:46:41");
  EXPECT_EQ(cell(rows, 0, "client_disconnection_time"), "2001-09-09 01:46:40");
  EXPECT_EQ(cell(rows, 0, "client_idle_duration"), "60");
  EXPECT_EQ(cell(rows, 0, "majorversion"), "3");
  EXPECT_EQ(cell(rows, 0, "minorversion"), "0");
  EXPECT_EQ(cell(rows, 0, "pool_counter"), "5");
  EXPECT_EQ(cell(rows, 0, "pool_backendpid"), "901");
  EXPECT_EQ(cell(rows, 0, "pool_connected"), "1");
  EXPECT_EQ(cell(rows, 0, "status"), "Idle in transaction");
  EXPECT_EQ(cell(rows, 0, "load_balance_node"), "1");
  EXPECT_EQ(cell(rows, 0, "client_host"), "192.0.2.7");
  EXPECT_EQ(cell(rows, 0, "client_port"), "40007");
  EXPECT_EQ(cell(rows, 0, "statement"), "");
}

TEST(ShowPools, a_connection_without_a_client) {
  ProcessFacts facts = process();
  facts.sessions = {client(7, "alice", ClientPhase::InExchange)};
  facts.backends = {backend(0, "alice")};
  facts.backends[0].session = 7;  // left over from the client before
  const Rowset rows = pools_of(facts, 5060);
  EXPECT_EQ(cell(rows, 0, "pool_connected"), "0");
  EXPECT_EQ(cell(rows, 0, "status"), "Wait for connection");
  EXPECT_EQ(cell(rows, 0, "client_host"), "");
  EXPECT_EQ(cell(rows, 0, "client_port"), "");
  EXPECT_EQ(cell(rows, 0, "client_idle_duration"), "0");
  EXPECT_EQ(cell(rows, 0, "client_disconnection_time"), "");
}

TEST(ShowPools, a_client_that_is_not_told_or_gone) {
  ProcessFacts facts = process();
  facts.backends = {backend(0, "alice", 3)};
  EXPECT_EQ(cell(pools_of(facts, 5060), 0, "status"), "Execute command");
  EXPECT_EQ(cell(pools_of(facts, 5060), 0, "client_host"), "");
}

TEST(ShowPools, client_of_a_unix_socket_and_times_that_go_backwards) {
  ProcessFacts facts = process();
  SessionRow local = client(7, "alice", ClientPhase::Idle);
  local.peer.assign("[local]");
  local.peer_port = 0;
  local.state_since = 9000;
  facts.sessions = {local};
  facts.backends = {backend(0, "alice", 7)};
  const Rowset rows = pools_of(facts, 5060);
  EXPECT_EQ(cell(rows, 0, "client_host"), "[local]");
  EXPECT_EQ(cell(rows, 0, "client_port"), "");
  EXPECT_EQ(cell(rows, 0, "client_idle_duration"), "0");
  EXPECT_EQ(cell(rows, 0, "status"), "Idle");
}

// (pool_id, backend_id) tells connections of one child apart, and the nodes of one owner share a pool_id.
TEST(ShowPools, pool_ids) {
  ProcessFacts facts = process();
  facts.backends = {backend(0, "alice"), backend(1, "alice"), backend(0, "bob"),
                    backend(0, "alice"), backend(2, "alice"), backend(1, "alice")};
  const Rowset rows = pools_of(facts);
  std::vector<std::string> ids;
  for (std::size_t i = 0; i < rows.rows.size(); ++i) {
    ids.push_back(cell(rows, i, "pool_id") + "/" + cell(rows, i, "backend_id"));
  }
  EXPECT_EQ(ids, (Names{"0/0", "0/1", "1/0", "2/0", "0/2", "2/1"}));
  // Each child counts for itself.
  const ProcessFacts both[] = {facts, facts};
  const Rowset two = show_pools(both);
  ASSERT_EQ(two.rows.size(), 12U);
  EXPECT_EQ(cell(two, 6, "pool_id"), "0");
}

}  // namespace
}  // namespace weir::admin
