// The process tree: processes are killed, stopped, reloaded; what is left of them afterwards is
// nothing.
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <set>

#include "test/support/pgweir.h"
#include "test/support/raw_client.h"
#include "test/support/wait.h"

namespace weir::test {
namespace {

namespace fs = std::filesystem;
using msg::query;

class ProcessTest : public ::testing::Test {
protected:
  static bool serves(const Pgweir& weir) {
    Connection client(weir.conninfo());
    return client.ok() && client.exec("SELECT v FROM plain WHERE id = 1").value() == "row 1";
  }
  static Output command(Pgweir& weir, std::vector<std::string> more) {
    SpawnOptions options;
    options.argv = {weir.binary(), "-f", weir.config_file()};
    options.argv.insert(options.argv.end(), more.begin(), more.end());
    options.folder = weir.folder();
    options.output = weir.folder() + "/command";
    options.death_signal = 0; // what it starts in the background stays
    fs::remove(options.output);
    ChildProcess process(options);
    // Meanwhile the server is reaped when it ends, as its parent does.
    wait_until([&] {
      weir.running();
      return !process.running();
    });
    const auto status = process.status();
    return {status && WIFEXITED(*status) ? WEXITSTATUS(*status) : -1, read_file(options.output)};
  }
  Cluster& cluster_ = Cluster::shared();
};

TEST_F(ProcessTest, the_tree) {
  Pgweir weir(cluster_, {{"num_init_children", "3"}});
  expect_soon("three children and health", [&] {
    return weir.processes_named("child").size() == 3 && weir.processes_named("health").size() == 1;
  });
  EXPECT_EQ(std::stoi(read_file(weir.pid_file())), weir.pid());
  for (const pid_t pid : weir.processes()) {
    const auto tree = process_tree(weir.pid());
    EXPECT_NE(std::find(tree.begin(), tree.end(), pid), tree.end());
  }
}

TEST_F(ProcessTest, a_killed_child_is_replaced_and_only_its_clients_notice) {
  Pgweir weir(cluster_, {{"num_init_children", "4"}});
  std::vector<std::unique_ptr<RawClient>> clients;
  for (int i = 0; i < 40; ++i) {
    clients.push_back(std::make_unique<RawClient>(weir.port()));
    clients.back()->login();
  }
  const auto before = weir.processes_named("child");
  ASSERT_EQ(before.size(), 4U);
  ::kill(before[0], SIGKILL);
  expect_soon("four children again", [&] {
    const auto now = weir.processes_named("child");
    return now.size() == 4 && now != before;
  });
  int alive = 0;
  for (auto& client : clients) {
    client->send(query("SELECT 1"));
    if (outline(client->read_to_ready()) == "T D:1 C:SELECT 1 Z:I")
      ++alive;
  }
  EXPECT_LT(alive, 40);
  EXPECT_GE(alive, 20);
  EXPECT_TRUE(serves(weir));
  const auto after = weir.processes_named("child");
  for (std::size_t i = 1; i < before.size(); ++i) {
    EXPECT_NE(std::find(after.begin(), after.end(), before[i]), after.end())
        << "a sibling went too";
  }
}

TEST_F(ProcessTest, rows_of_a_killed_child_are_reclaimed) {
  Pgweir weir(cluster_, {{"num_init_children", "1"}, {"max_client_conn", "5"}});
  for (int round = 0; round < 4; ++round) {
    std::vector<std::unique_ptr<RawClient>> clients;
    for (int i = 0; i < 5; ++i) {
      clients.push_back(std::make_unique<RawClient>(weir.port()));
      ASSERT_NO_THROW(clients.back()->login()) << "round " << round << " client " << i;
    }
    const auto children = weir.processes_named("child");
    ASSERT_EQ(children.size(), 1U);
    ::kill(children[0], SIGKILL);
    for (auto& client : clients)
      EXPECT_TRUE(client->wait_closed());
    expect_soon("the next child", [&] {
      const auto now = weir.processes_named("child");
      return now.size() == 1 && now != children;
    });
  }
}

TEST_F(ProcessTest, a_killed_health_process_is_replaced) {
  Pgweir weir(cluster_);
  for (int round = 0; round < 3; ++round) {
    expect_soon("health", [&] { return weir.processes_named("health").size() == 1; });
    const auto before = weir.processes_named("health");
    ::kill(before[0], SIGKILL);
    expect_soon("another health", [&] {
      const auto now = weir.processes_named("health");
      return now.size() == 1 && now != before;
    });
    EXPECT_TRUE(serves(weir));
  }
}

TEST_F(ProcessTest, crash_signals_are_survived) {
  // Under AddressSanitizer too the signal is what ends the process, and no report that would count as a fault.
  const char* before_options = std::getenv("ASAN_OPTIONS");
  const std::string options = before_options != nullptr ? before_options : "";
  ::setenv("ASAN_OPTIONS", (options + ":handle_segv=0:handle_abort=0").c_str(), 1);
  Pgweir weir(cluster_);
  ::setenv("ASAN_OPTIONS", options.c_str(), 1);
  for (const int number : {SIGSEGV, SIGABRT, SIGTERM, SIGQUIT, SIGINT}) {
    expect_soon("two children", [&] { return weir.processes_named("child").size() == 2; });
    const auto before = weir.processes_named("child");
    for (const pid_t pid : before)
      ::kill(pid, number);
    expect_soon("two new children", [&] {
      const auto now = weir.processes_named("child");
      return now.size() == 2 &&
             std::find_first_of(now.begin(), now.end(), before.begin(), before.end()) == now.end();
    });
    EXPECT_TRUE(serves(weir)) << number;
  }
  ASSERT_TRUE(weir.running());
}

TEST_F(ProcessTest, a_child_that_keeps_dying_is_retried_with_back_off) {
  Pgweir weir(cluster_, {{"num_init_children", "1"}});
  std::set<pid_t> seen;
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(5);
  while (std::chrono::steady_clock::now() < end) {
    for (const pid_t pid : process_tree(weir.pid())) {
      if (pid == weir.pid() || command_line(pid).find("health") != std::string::npos)
        continue;
      seen.insert(pid);
      ::kill(pid, SIGKILL);
    }
  }
  EXPECT_GE(seen.size(), 3U);
  EXPECT_LE(seen.size(), 60U); // without back-off: hundreds
  expect_soon("served again", [&] { return serves(weir); });
}

TEST_F(ProcessTest, killed_parent_takes_all_along_and_the_next_start_cleans_up) {
  Pgweir weir(cluster_);
  ASSERT_TRUE(serves(weir));
  RawClient client(weir.port());
  client.login();
  client.send(query("SELECT pg_sleep(60)"));
  weir.signal(SIGKILL);
  weir.wait_end();
  expect_soon("all its processes end", [&] { return weir.processes().empty(); });
  EXPECT_TRUE(client.wait_closed());
  EXPECT_TRUE(fs::exists(weir.pid_file())); // nobody was left to remove them
  EXPECT_TRUE(fs::exists(weir.socket_path()));
  // A stale pid file must not be mistaken for readiness.
  fs::remove(weir.pid_file());
  write_file(weir.pid_file(), "999999\n");
  weir.launch();
  expect_soon("ready again",
              [&] { return std::atoi(read_file(weir.pid_file()).c_str()) == weir.pid(); });
  EXPECT_TRUE(serves(weir));
  EXPECT_TRUE(Connection(weir.socket_conninfo()).ok());
}

TEST_F(ProcessTest, a_second_start_is_refused) {
  Pgweir weir(cluster_);
  const Output second = command(weir, {"-n"});
  EXPECT_NE(second.code, 0);
  EXPECT_NE(second.out.find(std::to_string(weir.pid())), std::string::npos) << second.out;
  EXPECT_TRUE(serves(weir));
  EXPECT_EQ(std::stoi(read_file(weir.pid_file())), weir.pid());
  EXPECT_TRUE(Connection(weir.socket_conninfo()).ok());
}

TEST_F(ProcessTest, a_port_in_use_is_one_line) {
  Pgweir weir(cluster_);
  Pgweir other(cluster_, {{"port", std::to_string(weir.port())}}, Pgweir::Unstarted{});
  other.launch();
  const auto status = other.wait_end();
  ASSERT_TRUE(status.has_value());
  EXPECT_TRUE(WIFEXITED(*status) && WEXITSTATUS(*status) != 0);
  EXPECT_NE(other.log().find(std::to_string(weir.port())), std::string::npos) << other.log();
  EXPECT_FALSE(fs::exists(other.pid_file()));
  EXPECT_TRUE(other.processes().empty());
  EXPECT_TRUE(serves(weir));
}

// --- stopping

TEST_F(ProcessTest, smart_stop_waits_for_clients) {
  Pgweir weir(cluster_);
  RawClient client(weir.port());
  client.login();
  weir.signal(SIGTERM);
  expect_soon("no new clients",
              [&] { return !Connection(weir.conninfo() + " connect_timeout=2").ok(); });
  for (const std::string& where : {weir.conninfo(), weir.socket_conninfo()}) {
    const auto before = std::chrono::steady_clock::now();
    EXPECT_FALSE(Connection(where + " connect_timeout=20").ok());
    EXPECT_LT(std::chrono::steady_clock::now() - before, std::chrono::seconds(10)) << "no silence";
  }
  EXPECT_EQ(outline(client.ask(query("SELECT v FROM plain WHERE id = 1"))),
            "T D:row 1 C:SELECT 1 Z:I");
  EXPECT_TRUE(weir.running());
  client.send(msg::terminate());
  const auto status = weir.wait_end();
  ASSERT_TRUE(status.has_value());
  EXPECT_EQ(*status, 0);
  weir.expect_nothing_left();
}

TEST_F(ProcessTest, who_is_not_logged_in_at_a_smart_stop_comes_too_late) {
  Pgweir weir(cluster_);
  RawClient client(weir.port());
  client.login();
  RawClient late(weir.port());
  late.send(msg::ssl_request());
  ASSERT_EQ(late.read_byte(), 'N') << "a child has it";
  weir.signal(SIGTERM);
  expect_soon("no new clients",
              [&] { return !Connection(weir.conninfo() + " connect_timeout=2").ok(); });
  late.send(msg::startup({{"user", "app"}, {"database", "app"}}));
  const auto answer = late.read();
  ASSERT_TRUE(answer.has_value());
  EXPECT_EQ(answer->field('C'), "57P03");
  EXPECT_TRUE(late.wait_closed());
  client.send(msg::terminate());
  EXPECT_EQ(weir.wait_end(), 0);
}

TEST_F(ProcessTest, out_of_descriptors_is_a_line_a_second_and_passes) {
  rlimit wide{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &wide), 0);
  const rlimit tight{100, wide.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &tight), 0); // for what is started now
  Pgweir weir(cluster_, {{"num_init_children", "1"}});
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &wide), 0);
  ASSERT_TRUE(serves(weir));
  const pid_t child = weir.processes_named("child").at(0);
  std::vector<std::unique_ptr<RawClient>> crowd;
  for (int i = 0; i < 110; ++i)
    crowd.push_back(std::make_unique<RawClient>(weir.port()));
  const auto lines = [&] {
    const std::string log = weir.log();
    std::size_t count = 0;
    for (std::size_t at = 0; (at = log.find("cannot accept a client", at)) != std::string::npos; ++at)
      ++count;
    return count;
  };
  const auto begun = std::chrono::steady_clock::now();
  expect_soon("it is said again", [&] { return lines() >= 3; });
  EXPECT_GT(std::chrono::steady_clock::now() - begun, std::chrono::seconds(1));
  crowd.clear();
  expect_soon("served again", [&] { return serves(weir); });
  EXPECT_EQ(weir.processes_named("child").at(0), child);
}

TEST_F(ProcessTest, smart_stop_without_clients_is_at_once) {
  Pgweir weir(cluster_);
  ASSERT_TRUE(serves(weir));
  weir.stop(SIGTERM);
}

TEST_F(ProcessTest, fast_stop_tells_the_clients) {
  Pgweir weir(cluster_);
  RawClient idle(weir.port());
  idle.login();
  RawClient busy(weir.port());
  busy.login();
  busy.send(query("SELECT pg_sleep(60)"));
  weir.stop(SIGINT);
  for (RawClient* client : {&idle, &busy}) {
    const auto message = client->read();
    ASSERT_TRUE(message.has_value());
    EXPECT_EQ(message->field('C'), "57P01");
    EXPECT_EQ(message->field('S'), "FATAL");
    EXPECT_TRUE(client->wait_closed());
  }
}

TEST_F(ProcessTest, immediate_stop) {
  Pgweir weir(cluster_);
  RawClient busy(weir.port());
  busy.login();
  busy.send(query("SELECT pg_sleep(60)"));
  weir.signal(SIGQUIT);
  ASSERT_TRUE(weir.wait_end().has_value());
  EXPECT_TRUE(busy.wait_closed());
  weir.expect_nothing_left();
}

TEST_F(ProcessTest, fast_after_smart) {
  Pgweir weir(cluster_);
  RawClient client(weir.port());
  client.login();
  weir.signal(SIGTERM);
  expect_soon("no new clients",
              [&] { return !Connection(weir.conninfo() + " connect_timeout=2").ok(); });
  weir.stop(SIGINT);
  EXPECT_TRUE(client.wait_closed());
}

TEST_F(ProcessTest, servers_are_let_go_when_pgweir_stops) {
  Cluster cluster;
  {
    Pgweir weir(cluster);
    RawClient client(weir.port());
    client.login();
    client.send(query("SELECT pg_sleep(60)"));
    weir.stop(SIGINT);
  }
  expect_soon("no connection of pgweir's is left", [&] {
    Connection super(cluster.conninfo(0, "postgres", "postgres"));
    return super.value(
               "SELECT count(*) FROM pg_stat_activity WHERE usename IN ('app', 'weir_check')") ==
           "0";
  });
}

TEST_F(ProcessTest, commands_stop_and_reload) {
  for (const char* mode : {"smart", "s", "fast", "f", "immediate", "i"}) {
    Pgweir weir(cluster_);
    const Output output = command(weir, {"-m", mode, "stop"});
    EXPECT_EQ(output.code, 0) << mode << output.out;
    ASSERT_TRUE(weir.wait_end().has_value()) << mode;
    weir.expect_nothing_left();
  }
  Pgweir weir(cluster_);
  EXPECT_NE(command(weir, {"-m", "sideways", "stop"}).code, 0);
  EXPECT_EQ(command(weir, {"reload"}).code, 0);
  weir.stop();
  EXPECT_NE(command(weir, {"stop"}).code, 0) << "nothing runs";
  EXPECT_NE(command(weir, {"reload"}).code, 0) << "nothing runs";
}

TEST_F(ProcessTest, daemon) {
  Pgweir weir(cluster_, {{"log_destination", "'stderr'"}}, Pgweir::Unstarted{});
  const Output output = command(weir, {"-D"}); // returns when the server is ready or has failed
  EXPECT_EQ(output.code, 0) << output.out;
  expect_soon("the pid file", [&] { return fs::exists(weir.pid_file()); });
  EXPECT_TRUE(serves(weir));
  const int pid = std::atoi(read_file(weir.pid_file()).c_str());
  EXPECT_GT(pid, 0);
  EXPECT_EQ(command(weir, {"-m", "fast", "stop"}).code, 0);
  expect_soon("it ends", [&] { return !process_exists(pid); });
  weir.expect_nothing_left();
}

// --- reloading

TEST_F(ProcessTest, reload_changes_settings_for_running_sessions) {
  Pgweir weir(cluster_);
  Connection client(weir.conninfo());
  ASSERT_TRUE(weir.reaches_standby(client, "SELECT v FROM plain WHERE id = 1"));
  weir.set("load_balance_mode", "off");
  weir.reload();
  expect_soon("reads on the primary",
              [&] { return weir.node_of(client, "SELECT v FROM plain WHERE id = 1") == 0; });
  weir.set("load_balance_mode", "on");
  weir.reload();
  EXPECT_TRUE(weir.reaches_standby(client, "SELECT v FROM plain WHERE id = 1"));
  weir.set("log_per_node_statement", "off");
  weir.reload();
  expect_soon("no log of statements", [&] { return weir.node_of(client, "SELECT 1") == -1; });
}

TEST_F(ProcessTest, a_reload_with_an_error_changes_nothing) {
  Pgweir weir(cluster_);
  Connection client(weir.conninfo());
  ASSERT_TRUE(weir.reaches_standby(client, "SELECT v FROM plain WHERE id = 1"));
  weir.set("load_balance_mode", "off");
  weir.set("load_balanse_mode", "off");
  weir.set("max_pool", "'many'");
  weir.signal(SIGHUP);
  expect_soon("both errors are logged",
              [&] { return weir.logged("load_balanse_mode") && weir.logged("max_pool"); });
  EXPECT_TRUE(weir.reaches_standby(client, "SELECT v FROM plain WHERE id = 1"));
  EXPECT_TRUE(serves(weir));
}

TEST_F(ProcessTest, a_reload_reports_what_needs_a_restart) {
  Pgweir weir(cluster_);
  weir.set("num_init_children", "3");
  weir.signal(SIGHUP);
  expect_soon("it is said", [&] { return weir.logged("num_init_children"); });
  EXPECT_TRUE(serves(weir));
  EXPECT_EQ(weir.processes_named("child").size(), 2U);
}

// What people send to the parent, and what a terminal sends to the whole group.
TEST_F(ProcessTest, signals_for_people_end_no_process) {
  Pgweir weir(cluster_);
  ASSERT_TRUE(serves(weir));
  const std::vector<pid_t> all = weir.processes();
  for (const int number : {SIGUSR1, SIGUSR2, SIGHUP}) {
    for (const pid_t pid : all)
      ::kill(pid, number);
    weir.signal(number);
  }
  expect_soon("the last one was heard", [&] { return weir.logged("reload: done"); });
  EXPECT_TRUE(serves(weir));
  EXPECT_EQ(weir.processes(), all);
  EXPECT_FALSE(weir.logged("was ended by signal"));
}

// --- the command line

TEST_F(ProcessTest, errors_in_the_file_are_named_all_at_once) {
  Pgweir weir(cluster_,
              {{"load_balanse_mode", "on"}, {"max_pool", "'many'"}, {"backend_weight1", "-3"}},
              Pgweir::Unstarted{});
  weir.launch();
  const auto status = weir.wait_end();
  ASSERT_TRUE(status.has_value());
  EXPECT_TRUE(WIFEXITED(*status) && WEXITSTATUS(*status) != 0);
  for (const char* text :
       {"load_balanse_mode", "load_balance_mode", "max_pool", "backend_weight1", "pgweir.conf"}) {
    EXPECT_NE(weir.log().find(text), std::string::npos) << text << "\n" << weir.log();
  }
  SpawnOptions options;
  options.argv = {weir.binary(), "--check-config", weir.config_file()};
  const Output checked = run(options);
  EXPECT_EQ(checked.code, 1);
  EXPECT_NE(checked.out.find("load_balanse_mode"), std::string::npos) << checked.out;
}

TEST_F(ProcessTest, check_config_show_config_version_and_help) {
  Pgweir weir(cluster_, {}, Pgweir::Unstarted{});
  const auto run_it = [&](std::vector<std::string> arguments) {
    SpawnOptions options;
    options.argv = {weir.binary()};
    options.argv.insert(options.argv.end(), arguments.begin(), arguments.end());
    options.environment = {{"PGWEIR_MAX_POOL", "33"}};
    return run(options);
  };
  EXPECT_EQ(run_it({"--check-config", weir.config_file()}).code, 0);
  const Output shown = run_it({"--show-config", weir.config_file()});
  EXPECT_EQ(shown.code, 0);
  EXPECT_NE(shown.out.find("max_pool"), std::string::npos);
  EXPECT_NE(shown.out.find("33"), std::string::npos) << "the environment overrides the file";
  EXPECT_EQ(run_it({"-v"}).code, 0);
  weir.add_file("empty.conf", "");
  const Output empty = run_it({"--check-config", weir.folder() + "/empty.conf"});
  EXPECT_EQ(empty.code, 1);
  EXPECT_NE(empty.out.find("backend_hostname0"), std::string::npos) << empty.out;
  EXPECT_NE(run_it({"-v"}).out.find("pgweir"), std::string::npos);
  EXPECT_EQ(run_it({"-h"}).code, 0);
  EXPECT_NE(run_it({"--no-such-option"}).code, 0);
  EXPECT_NE(run_it({"-f", "/no/such/file", "-n"}).code, 0);
}

TEST_F(ProcessTest, discarding_old_state_at_start) {
  Pgweir weir(cluster_, {}, Pgweir::Unstarted{});
  SpawnOptions options;
  options.argv = {weir.binary(), "-n", "-C", "-D", "-f", weir.config_file()};
  options.folder = weir.folder();
  options.output = weir.folder() + "/log";
  ChildProcess process(options);
  expect_soon("ready", [&] { return fs::exists(weir.pid_file()); });
  EXPECT_TRUE(serves(weir));
  process.signal(SIGINT);
  process.wait();
  weir.expect_nothing_left();
}

} // namespace
} // namespace weir::test
