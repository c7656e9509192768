#include "test/support/process.h"

#include <fcntl.h>
#include <grp.h>
#include <pwd.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>
#include <stdexcept>
#include <utility>

#include "test/support/wait.h"

extern char** environ;

namespace weir::test {
namespace fs = std::filesystem;

const RunAs& run_as() {
  static const RunAs value = [] {
    if (geteuid() != 0)
      return RunAs{geteuid(), getegid(), false};
    const passwd* entry = getpwnam("postgres");
    if (entry == nullptr)
      throw std::runtime_error("run as root, the tests need the user postgres");
    return RunAs{entry->pw_uid, entry->pw_gid, true};
  }();
  return value;
}

void give_to_server_user(const std::string& path) {
  if (run_as().other && lchown(path.c_str(), run_as().uid, run_as().gid) != 0) {
    throw std::runtime_error("chown " + path + ": " + std::strerror(errno));
  }
}

namespace {

std::vector<std::string> environment_of(const SpawnOptions& options) {
  std::vector<std::string> result;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string text = *entry;
    if (options.environment.count(text.substr(0, text.find('='))) == 0)
      result.push_back(text);
  }
  for (const auto& [name, value] : options.environment)
    result.push_back(name + "=" + value);
  return result;
}

std::vector<char*> pointers(std::vector<std::string>& texts) {
  std::vector<char*> result;
  for (std::string& text : texts)
    result.push_back(text.data());
  result.push_back(nullptr);
  return result;
}

// In the new process: only calls that are safe after a fork.
[[noreturn]] void become(const SpawnOptions& options, char* const* argv, char* const* env,
                         int output) {
  setsid();
  const int null = open("/dev/null", O_RDONLY | O_CLOEXEC);
  dup2(null, STDIN_FILENO);
  if (output >= 0) {
    dup2(output, STDOUT_FILENO);
    dup2(output, STDERR_FILENO);
  }
  if (options.as_server_user && run_as().other) {
    if (setgroups(0, nullptr) != 0 || setgid(run_as().gid) != 0 || setuid(run_as().uid) != 0)
      _exit(126);
  }
  if (options.death_signal != 0)
    prctl(PR_SET_PDEATHSIG, options.death_signal);
  if (chdir(options.folder.c_str()) != 0)
    _exit(126);
  execve(argv[0], argv, env);
  _exit(127);
}

pid_t spawn(const SpawnOptions& options, int output) {
  std::vector<std::string> arguments = options.argv;
  std::vector<std::string> environment = environment_of(options);
  const std::vector<char*> argv = pointers(arguments);
  const std::vector<char*> env = pointers(environment);
  run_as();
  const pid_t pid = fork();
  if (pid < 0)
    throw std::runtime_error(std::string("fork: ") + std::strerror(errno));
  if (pid == 0)
    become(options, argv.data(), env.data(), output);
  return pid;
}

} // namespace

ChildProcess::ChildProcess(const SpawnOptions& options) {
  int output = -1;
  if (!options.output.empty()) {
    output = open(options.output.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
    if (output < 0)
      throw std::runtime_error(options.output + ": " + std::strerror(errno));
  }
  pid_ = spawn(options, output);
  if (output >= 0)
    close(output);
}

ChildProcess::ChildProcess(ChildProcess&& other) noexcept
    : pid_(std::exchange(other.pid_, -1)), status_(std::exchange(other.status_, std::nullopt)) {}

ChildProcess& ChildProcess::operator=(ChildProcess&& other) noexcept {
  if (this != &other) {
    kill_and_reap();
    pid_ = std::exchange(other.pid_, -1);
    status_ = std::exchange(other.status_, std::nullopt);
  }
  return *this;
}

ChildProcess::~ChildProcess() {
  kill_and_reap();
}

std::optional<int> ChildProcess::status() {
  if (pid_ > 0 && !status_) {
    int status = 0;
    if (waitpid(pid_, &status, WNOHANG) == pid_)
      status_ = status;
  }
  return status_;
}

bool ChildProcess::running() {
  return pid_ > 0 && !status();
}

std::optional<int> ChildProcess::wait() {
  wait_until([this] { return !running(); });
  return status_;
}

void ChildProcess::signal(int number) const {
  if (pid_ > 0 && !status_)
    ::kill(pid_, number);
}

void ChildProcess::kill_and_reap() {
  if (!running())
    return;
  ::kill(pid_, SIGKILL);
  int status = 0;
  if (waitpid(pid_, &status, 0) == pid_)
    status_ = status;
}

Output run(const SpawnOptions& options) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0)
    throw std::runtime_error(std::string("pipe: ") + std::strerror(errno));
  const pid_t pid = spawn(options, ends[1]);
  close(ends[1]);
  Output result;
  char buffer[8192];
  ssize_t n = 0;
  while ((n = read(ends[0], buffer, sizeof buffer)) > 0)
    result.out.append(buffer, static_cast<std::size_t>(n));
  close(ends[0]);
  int status = 0;
  waitpid(pid, &status, 0);
  result.code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  return result;
}

// --- /proc

std::vector<pid_t> all_processes() {
  std::vector<pid_t> result;
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator("/proc", ignored)) {
    const std::string name = entry.path().filename();
    if (name.find_first_not_of("0123456789") == std::string::npos)
      result.push_back(std::stoi(name));
  }
  return result;
}

namespace {

std::string proc_file(pid_t pid, const char* name) {
  return read_file("/proc/" + std::to_string(pid) + "/" + name);
}

// Fields of /proc/PID/stat after the command in brackets: [0] is the state, [1] the parent.
std::vector<std::string> stat_fields(pid_t pid) {
  const std::string text = proc_file(pid, "stat");
  const std::size_t end = text.rfind(')');
  std::vector<std::string> fields;
  if (end == std::string::npos)
    return fields;
  std::istringstream rest(text.substr(end + 1));
  for (std::string field; rest >> field;)
    fields.push_back(field);
  return fields;
}

} // namespace

std::vector<pid_t> processes_of(const std::string& executable) {
  std::vector<pid_t> result;
  for (const pid_t pid : all_processes()) {
    std::error_code error;
    const fs::path target = fs::read_symlink("/proc/" + std::to_string(pid) + "/exe", error);
    if (!error && target == executable && process_exists(pid))
      result.push_back(pid);
  }
  return result;
}

std::vector<pid_t> process_tree(pid_t pid) {
  std::vector<std::pair<pid_t, pid_t>> edges; // child, parent
  for (const pid_t each : all_processes()) {
    const auto fields = stat_fields(each);
    if (fields.size() > 1 && fields[0] != "Z")
      edges.emplace_back(each, std::stoi(fields[1]));
  }
  std::vector<pid_t> tree{pid};
  for (std::size_t i = 0; i < tree.size(); ++i) {
    for (const auto& [child, parent] : edges) {
      if (parent == tree[i])
        tree.push_back(child);
    }
  }
  return tree;
}

bool process_exists(pid_t pid) {
  const auto fields = stat_fields(pid);
  return !fields.empty() && fields[0] != "Z" && fields[0] != "X";
}

std::string command_line(pid_t pid) {
  std::string text = proc_file(pid, "cmdline");
  for (char& c : text) {
    if (c == '\0')
      c = ' ';
  }
  return text;
}

long anonymous_memory_kib(pid_t pid) {
  std::istringstream lines(proc_file(pid, "status"));
  for (std::string line; std::getline(lines, line);) {
    if (line.rfind("RssAnon:", 0) == 0)
      return std::stol(line.substr(8));
  }
  return -1;
}

long cpu_ticks(pid_t pid) {
  const auto fields = stat_fields(pid);
  return fields.size() > 12 ? std::stol(fields[11]) + std::stol(fields[12]) : 0;
}

// --- files

std::string read_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

void write_file(const std::string& path, const std::string& text) {
  std::ofstream file(path, std::ios::binary | std::ios::trunc);
  file << text;
  file.close();
  if (!file)
    throw std::runtime_error("cannot write " + path);
  give_to_server_user(path);
}

namespace {
const std::string& folder_of_all_tests() {
  static const std::string path = [] {
    const char* set = std::getenv("PGWEIR_TEST_DIR");
    std::string folder = set != nullptr ? set : "/tmp/pgweir-test-" + std::to_string(getuid());
    fs::create_directories(folder);
    fs::permissions(folder, fs::perms::owner_all | fs::perms::group_read | fs::perms::group_exec |
                                fs::perms::others_read | fs::perms::others_exec);
    return folder;
  }();
  return path;
}
} // namespace

std::string make_folder(const std::string& name) {
  std::string path = folder_of_all_tests() + "/" + name + "-XXXXXX";
  if (mkdtemp(path.data()) == nullptr)
    throw std::runtime_error("mkdtemp " + path + ": " + std::strerror(errno));
  give_to_server_user(path);
  return path;
}

void remove_folder(const std::string& path) {
  if (path.rfind(folder_of_all_tests() + "/", 0) != 0)
    return; // nothing but what the tests made
  std::error_code ignored;
  fs::remove_all(path, ignored);
}

} // namespace weir::test
