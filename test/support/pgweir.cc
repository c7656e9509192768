#include "test/support/pgweir.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <sstream>
#include <stdexcept>

#include "test/support/wait.h"

namespace weir::test {
namespace fs = std::filesystem;
namespace {

std::string program_under_test() {
  const char* set = std::getenv("PGWEIR_TEST_BINARY");
  return set != nullptr ? set : WEIR_BINARY_DIR "/pgweir";
}

std::string quoted(const std::string& text) {
  return "'" + text + "'";
}

Settings default_settings(const Cluster& cluster, const std::string& folder, int port) {
  Settings settings{
      {"listen_addresses", "'127.0.0.1'"},
      {"port", std::to_string(port)},
      {"unix_socket_directories", quoted(folder)},
      {"pcp_listen_addresses", "''"},
      {"pcp_socket_dir", quoted(folder)},
      {"pid_file_name", quoted(folder + "/pgweir.pid")},
      {"work_dir", quoted(folder)},
      {"backend_clustering_mode", "streaming_replication"},
      {"num_init_children", "2"},
      {"enable_pool_hba", "off"},
      {"pool_passwd", quoted(folder + "/pool_passwd")},
      {"sr_check_user", "'weir_check'"},
      {"sr_check_database", "'app'"},
      {"health_check_user", "'weir_check'"},
      {"health_check_database", "'app'"},
      {"health_check_period", "1"},
      {"log_per_node_statement", "on"},
      {"log_line_prefix", "'%m [%p] %P '"},
  };
  for (int node = 0; node < kNodes; ++node) {
    const std::string n = std::to_string(node);
    settings["backend_hostname" + n] = "'127.0.0.1'";
    settings["backend_port" + n] = std::to_string(cluster.port(node));
    settings["backend_weight" + n] = node == 0 ? "0" : "1";
  }
  return settings;
}

} // namespace

Pgweir::Pgweir(const Cluster& cluster, const Settings& changes, Unstarted)
    : cluster_(cluster), folder_(make_folder("w")), port_(reserve_port()),
      settings_(default_settings(cluster, folder_, port_)) {
  for (const auto& [name, value] : changes)
    set(name, value);
  write_config();
  // A name of its own tells the processes of this instance from those of all others.
  binary_ = folder_ + "/pgweir";
  std::error_code error;
  fs::create_hard_link(program_under_test(), binary_, error);
  if (error)
    fs::copy_file(program_under_test(), binary_);
}

Pgweir::Pgweir(const Cluster& cluster, const Settings& changes)
    : Pgweir(cluster, changes, Unstarted{}) {
  start();
}

Pgweir::~Pgweir() {
  if (process_.running()) {
    stop();
  } else if (launched_) {
    expect_clean_log();
  }
  for (const pid_t pid : processes())
    ::kill(pid, SIGKILL);
  if (::testing::Test::HasFailure()) {
    const std::string text = log();
    constexpr std::size_t kShown = 6000;
    std::printf("--- end of %s/log:\n%s\n---\n", folder_.c_str(),
                text.substr(text.size() > kShown ? text.size() - kShown : 0).c_str());
  } else {
    remove_folder(folder_);
  }
}

void Pgweir::set(const std::string& name, const std::string& value) {
  if (value.empty()) {
    settings_.erase(name);
  } else {
    settings_[name] = value;
  }
  write_config();
}

void Pgweir::write_config() const {
  std::string text;
  for (const auto& [name, value] : settings_)
    text += name + " = " + value + "\n";
  write_file(config_file(), text);
}

void Pgweir::add_file(const std::string& name, const std::string& text) const {
  write_file(folder_ + "/" + name, text);
  ::chmod((folder_ + "/" + name).c_str(), 0600);
}

void Pgweir::launch() {
  SpawnOptions options;
  options.argv = {binary_, "-n", "-f", config_file()};
  options.folder = folder_;
  options.output = folder_ + "/log";
  launched_ = true;
  process_ = ChildProcess(options);
}

bool Pgweir::wait_ready(std::chrono::milliseconds patience) {
  wait_until([this] { return fs::exists(pid_file()) || !process_.running(); }, patience);
  return process_.running() && fs::exists(pid_file());
}

void Pgweir::start() {
  launch();
  if (!wait_ready())
    throw std::runtime_error("pgweir did not get ready:\n" + log());
  for (int node = 0; node < kNodes; ++node) {
    if (!cluster_.answers(node))
      continue;
    expect_soon("node seen", [&] {
      return logged("node " + std::to_string(node) +
                    " (127.0.0.1:" + settings_.at("backend_port" + std::to_string(node)) + ") is Up");
    });
  }
  if (cluster_.answers(0))
    expect_soon("primary seen", [&] { return logged("is the primary"); });
}

std::string Pgweir::socket_path() const {
  return folder_ + "/.s.PGSQL." + std::to_string(port_);
}

std::string Pgweir::conninfo(const std::string& user, const std::string& database) const {
  return "host=127.0.0.1 port=" + std::to_string(port_) + " user=" + user + " dbname=" + database +
         " connect_timeout=60";
}

std::string Pgweir::socket_conninfo(const std::string& user, const std::string& database) const {
  return "host=" + folder_ + " port=" + std::to_string(port_) + " user=" + user +
         " dbname=" + database + " connect_timeout=60";
}

void Pgweir::reload() {
  write_config();
  SpawnOptions options;
  options.argv = {binary_, "-f", config_file(), "reload"};
  const Output output = run(options);
  EXPECT_EQ(output.code, 0) << output.out;
}

std::vector<pid_t> Pgweir::processes_named(const std::string& word) const {
  std::vector<pid_t> result;
  for (const pid_t each : processes()) {
    const std::string title = command_line(each);
    // The path of the program may hold any word.
    if (each != pid() && title.find(binary_) == std::string::npos &&
        title.find(word) != std::string::npos) {
      result.push_back(each);
    }
  }
  return result;
}

void Pgweir::stop(int number) {
  process_.signal(number);
  const auto status = process_.wait();
  if (!status) {
    ADD_FAILURE() << "pgweir does not stop on signal " << number;
    process_.kill_and_reap();
  } else {
    EXPECT_TRUE(WIFEXITED(*status) && WEXITSTATUS(*status) == 0) << "status " << *status;
  }
  expect_nothing_left();
  expect_clean_log();
}

void Pgweir::expect_nothing_left() const {
  expect_soon("all processes of pgweir are gone", [this] { return processes().empty(); });
  EXPECT_FALSE(fs::exists(socket_path()));
  EXPECT_FALSE(fs::exists(pid_file()));
}

void Pgweir::expect_clean_log() const {
  std::istringstream lines(log());
  for (std::string line; std::getline(lines, line);) {
    for (const char* sign :
         {"AddressSanitizer", "LeakSanitizer", "runtime error:", "check failed", "PANIC"}) {
      if (line.find(sign) != std::string::npos) {
        ADD_FAILURE() << line;
        return;
      }
    }
  }
}

std::vector<NodeStatement> Pgweir::statements(const std::string& mark) const {
  // "... DB node id: 1 backend pid: 4711 statement: SELECT 1", which may be a very long line.
  static constexpr std::string_view kNode = "DB node id: ";
  static constexpr std::string_view kPid = " backend pid: ";
  static constexpr std::string_view kText = " statement: ";
  std::vector<NodeStatement> result;
  std::istringstream lines(log());
  for (std::string line; std::getline(lines, line);) {
    const std::size_t node = line.find(kNode);
    const std::size_t pid = node == std::string::npos ? node : line.find(kPid, node);
    const std::size_t at = pid == std::string::npos ? pid : line.find(kText, pid);
    if (at == std::string::npos)
      continue;
    const std::string text = line.substr(at + kText.size());
    if (text.find(mark) == std::string::npos || text.rfind("Parse: ", 0) == 0)
      continue;
    result.push_back({std::atoi(line.c_str() + node + kNode.size()),
                      std::atoi(line.c_str() + pid + kPid.size()), text});
  }
  return result;
}

std::vector<int> Pgweir::nodes_of(const std::string& mark) const {
  std::vector<int> nodes;
  for (const NodeStatement& statement : statements(mark))
    nodes.push_back(statement.node);
  return nodes;
}

int Pgweir::node_of(Connection& connection, const std::string& sql) {
  static std::atomic<int> serial{0};
  const std::string mark = "mark " + std::to_string(++serial) + " end";
  connection.exec(sql + " /* " + mark + " */");
  const auto nodes = nodes_of(mark);
  return nodes.empty() ? -1 : nodes.back();
}

bool Pgweir::reaches_standby(Connection& connection, const std::string& sql) {
  constexpr std::chrono::seconds kLookups{30};
  return wait_until([&] { return node_of(connection, sql) > 0; }, kLookups);
}

} // namespace weir::test
