#include "test/support/cluster.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <stdexcept>

#include "test/support/connection.h"
#include "test/support/wait.h"

namespace weir::test {
namespace fs = std::filesystem;
namespace {

const char* const kSettings = R"(
listen_addresses = '127.0.0.1'
max_connections = 200
shared_buffers = 64MB
max_wal_size = 2GB
wal_keep_size = 256MB
wal_level = logical
fsync = off
full_page_writes = off
synchronous_commit = local
hot_standby_feedback = on
wal_retrieve_retry_interval = 200ms
wal_receiver_status_interval = 1s
autovacuum = off
jit = off
track_functions = none
log_min_messages = warning
timezone = 'UTC'
log_timezone = 'UTC'
)";

const char* const kHba = R"(
local all         all                       trust
host  all         weir_md5    127.0.0.1/32  md5
host  all         weir_scram  127.0.0.1/32  scram-sha-256
host  all         weir_clear  127.0.0.1/32  password
host  all         weir_reject 127.0.0.1/32  reject
host  all         all         127.0.0.1/32  trust
host  replication all         127.0.0.1/32  trust
)";

std::string node_folder(const std::string& folder, int node) {
  return folder + "/n" + std::to_string(node);
}

void must_run(std::vector<std::string> argv, const std::string& folder) {
  SpawnOptions options;
  options.argv = std::move(argv);
  options.folder = folder;
  options.environment = {{"LC_ALL", "C.UTF-8"}, {"HOME", folder}};
  const Output output = run(options);
  if (output.code != 0)
    throw std::runtime_error(options.argv[0] + " failed:\n" + output.out);
}

// What a ctest run shares: where the template is, and folder and ports of the shared cluster.
std::string state_file() {
  const char* set = std::getenv("PGWEIR_TEST_CLUSTER");
  return set != nullptr ? set : WEIR_BINARY_DIR "/test-cluster";
}

struct SharedState {
  std::string template_folder;
  std::string folder;
  std::array<int, kNodes> ports{};
};

bool read_state(SharedState& state) {
  std::ifstream file(state_file());
  file >> state.template_folder >> state.folder;
  for (int& port : state.ports)
    file >> port;
  return static_cast<bool>(file) && fs::exists(state.template_folder);
}

// A cleanly stopped cluster with all objects, to be copied: n0, and standbys that differ by
// standby.signal alone.
std::string make_template() {
  const std::string folder = make_folder("template");
  const std::string n0 = node_folder(folder, 0);
  const std::string& bin = postgres_bin();
  must_run({bin + "/initdb", "-D", n0, "-U", "postgres", "-A", "trust", "-E", "UTF8",
            "--locale=C.UTF-8", "--no-sync"},
           folder);
  std::ofstream(n0 + "/postgresql.conf", std::ios::app) << kSettings;
  write_file(n0 + "/pg_hba.conf", kHba);
  const std::string port = std::to_string(reserve_port());
  must_run({bin + "/pg_ctl", "-s", "-w", "-D", n0, "-l", folder + "/log", "-o",
            "-p " + port + " -k " + folder, "start"},
           folder);
  // The servers' user may not be let into the folder of the sources.
  write_file(folder + "/objects.sql", read_file(WEIR_SOURCE_DIR "/test/support/objects.sql"));
  must_run({bin + "/psql", "-Xq", "-v", "ON_ERROR_STOP=1", "-h", folder, "-p", port, "-U",
            "postgres", "-d", "postgres", "-f", folder + "/objects.sql"},
           folder);
  must_run({bin + "/pg_ctl", "-s", "-w", "-D", n0, "-m", "fast", "stop"}, folder);
  return folder;
}

bool process_of_pid_file_runs(const std::string& data_folder) {
  const int pid = std::atoi(read_file(data_folder + "/postmaster.pid").c_str());
  return pid > 0 && process_exists(pid);
}

} // namespace

const std::string& postgres_bin() {
  static const std::string path = [] {
    if (const char* set = std::getenv("PGWEIR_TEST_PG_BIN"))
      return std::string(set);
    std::vector<int> versions;
    std::error_code ignored;
    for (const auto& entry : fs::directory_iterator("/usr/lib/postgresql", ignored)) {
      if (fs::exists(entry.path() / "bin/initdb"))
        versions.push_back(std::atoi(entry.path().filename().c_str()));
    }
    if (versions.empty())
      throw std::runtime_error("no PostgreSQL server in /usr/lib/postgresql");
    return "/usr/lib/postgresql/" +
           std::to_string(*std::max_element(versions.begin(), versions.end())) + "/bin";
  }();
  return path;
}

Cluster& Cluster::shared() {
  static const std::unique_ptr<Cluster> cluster = [] {
    SharedState state;
    if (!read_state(state)) {
      auto own = std::make_unique<Cluster>();
      return own;
    }
    std::unique_ptr<Cluster> attached(new Cluster(Attached{}));
    attached->folder_ = state.folder;
    attached->ports_ = state.ports;
    return attached;
  }();
  return *cluster;
}

Cluster::Cluster() : owner_(true) {
  SharedState state;
  if (!read_state(state)) {
    template_ = make_template();
    state.template_folder = template_;
    synchronous_ = true; // run by hand without the fixtures: may have to stand for the shared one
  }
  copy_template(state.template_folder);
  for (int node = 0; node < kNodes; ++node)
    launch(node);
  for (int node = 0; node < kNodes; ++node)
    start(node);
  wait_streaming();
}

Cluster::~Cluster() {
  if (!owner_)
    return;
  for (int node = kNodes - 1; node >= 0; --node) {
    if (servers_.at(static_cast<std::size_t>(node)).running())
      kill_hard(node);
  }
  if (::testing::Test::HasFailure()) {
    std::printf("logs of the test's servers: %s\n", folder_.c_str());
    for (int node = 0; node < kNodes; ++node)
      remove_folder(node_folder(folder_, node));
  } else {
    remove_folder(folder_);
  }
  if (!template_.empty())
    remove_folder(template_);
}

void Cluster::copy_template(const std::string& from) {
  folder_ = make_folder("c");
  for (int node = 0; node < kNodes; ++node) {
    ports_.at(static_cast<std::size_t>(node)) = reserve_port();
    must_run({"/bin/cp", "-a", "--reflink=auto", node_folder(from, 0), node_folder(folder_, node)},
             folder_);
    if (node != 0)
      write_file(node_folder(folder_, node) + "/standby.signal", "");
  }
}

std::vector<std::string> Cluster::server_command(int node) const {
  const std::string name = "n" + std::to_string(node);
  std::vector<std::string> argv{postgres_bin() + "/postgres",
                                "-D",
                                node_folder(folder_, node),
                                "-p",
                                std::to_string(port(node)),
                                "-k",
                                folder_,
                                "-c",
                                "cluster_name=" + name};
  argv.insert(argv.end(), {"-c", "primary_conninfo=host=127.0.0.1 port=" + std::to_string(port(0)) +
                                     " user=postgres application_name=" + name});
  if (synchronous_)
    argv.insert(argv.end(), {"-c", "synchronous_standby_names=2 (n1, n2)"});
  return argv;
}

std::string Cluster::conninfo(int node, const std::string& user,
                              const std::string& database) const {
  return "host=127.0.0.1 port=" + std::to_string(port(node)) + " user=" + user +
         " dbname=" + database + " connect_timeout=30 gssencmode=disable";
}

void Cluster::launch(int node) {
  ChildProcess& server = servers_.at(static_cast<std::size_t>(node));
  if (server.running())
    return;
  SpawnOptions options;
  options.argv = server_command(node);
  options.folder = folder_;
  options.environment = {{"LC_ALL", "C.UTF-8"}};
  options.output = folder_ + "/log" + std::to_string(node);
  options.death_signal = SIGQUIT; // immediate shutdown
  server = ChildProcess(options);
}

bool Cluster::answers(int node) const {
  return PQping(conninfo(node, "postgres", "postgres").c_str()) == PQPING_OK;
}

void Cluster::start(int node) {
  launch(node);
  if (!wait_until([&] { return answers(node); }))
    throw std::runtime_error("server does not start:\n" + log(node));
}

void Cluster::stop(int node) {
  ChildProcess& server = servers_.at(static_cast<std::size_t>(node));
  server.signal(SIGINT);
  if (!server.wait())
    throw std::runtime_error("server does not stop:\n" + log(node));
}

void Cluster::kill_hard(int node) {
  ChildProcess& server = servers_.at(static_cast<std::size_t>(node));
  if (!server.running())
    return;
  // Frozen first, so that nothing is forked between the look and the kill.
  server.signal(SIGSTOP);
  const std::vector<pid_t> tree = process_tree(server.pid());
  for (const pid_t pid : tree)
    ::kill(pid, SIGKILL);
  server.wait();
  wait_until([&] { return std::none_of(tree.begin(), tree.end(), process_exists); });
  std::error_code ignored;
  fs::remove(node_folder(folder_, node) + "/postmaster.pid", ignored);
}

void Cluster::kill_postmaster(int node) {
  ChildProcess& server = servers_.at(static_cast<std::size_t>(node));
  server.signal(SIGKILL);
  server.wait();
}

void Cluster::freeze(int node) {
  for (const pid_t pid : process_tree(servers_.at(static_cast<std::size_t>(node)).pid()))
    ::kill(pid, SIGSTOP);
}

void Cluster::thaw(int node) {
  for (const pid_t pid : process_tree(servers_.at(static_cast<std::size_t>(node)).pid()))
    ::kill(pid, SIGCONT);
}

void Cluster::promote(int node) {
  Connection connection(conninfo(node, "postgres", "postgres"));
  EXPECT_EQ(connection.value("SELECT pg_promote(true, 60)"), "t");
}

void Cluster::wait_streaming(int standbys) const {
  expect_soon("standbys stream", [&] {
    Connection primary(conninfo(0, "postgres", "postgres"));
    return primary.ok() &&
           primary.exec("SELECT count(*) FROM pg_stat_replication WHERE state = 'streaming'")
                   .value() == std::to_string(standbys);
  });
}

void Cluster::wait_replayed() const {
  Connection primary(conninfo(0, "postgres", "postgres"));
  const std::string lsn = primary.value("SELECT pg_current_wal_insert_lsn()");
  for (int node = 1; node < kNodes; ++node) {
    Connection standby(conninfo(node, "postgres", "postgres"));
    expect_soon("node " + std::to_string(node) + " replays", [&] {
      return standby.exec("SELECT pg_last_wal_replay_lsn() >= '" + lsn + "'").value() == "t";
    });
  }
}

// --- the programs of the fixtures

int Cluster::start_shared() {
  stop_shared();
  SharedState state;
  state.template_folder = make_template();
  Cluster cluster(Attached{});
  cluster.synchronous_ = true;
  cluster.copy_template(state.template_folder);
  for (int node = 0; node < kNodes; ++node) {
    SpawnOptions options;
    options.argv = cluster.server_command(node);
    options.folder = cluster.folder_;
    options.environment = {{"LC_ALL", "C.UTF-8"}};
    options.output = cluster.folder_ + "/log" + std::to_string(node);
    options.death_signal = 0;
    // A servant of nobody: outlives this program until stop_shared().
    // Never destroyed, since that would kill it; still reachable, so that it counts as no leak.
    static auto& kept = *new std::vector<ChildProcess*>; // NOLINT
    auto* server = kept.emplace_back(new ChildProcess(options));
    if (!wait_until([&] { return cluster.answers(node); }) || !server->running()) {
      throw std::runtime_error("server does not start:\n" + cluster.log(node));
    }
  }
  cluster.wait_streaming();
  std::ofstream file(state_file());
  file << state.template_folder << '\n' << cluster.folder_ << '\n';
  for (const int port : cluster.ports_)
    file << port << '\n';
  return file ? 0 : 1;
}

int Cluster::stop_shared() {
  SharedState state;
  if (!read_state(state))
    return 0;
  for (int node = 0; node < kNodes; ++node) {
    const std::string data = node_folder(state.folder, node);
    const int pid = std::atoi(read_file(data + "/postmaster.pid").c_str());
    if (!process_of_pid_file_runs(data) || command_line(pid).find(data) == std::string::npos)
      continue;
    ::kill(pid, SIGQUIT);
    wait_until([&] { return !process_exists(pid); });
  }
  remove_folder(state.folder);
  remove_folder(state.template_folder);
  fs::remove(state_file());
  return 0;
}

} // namespace weir::test
