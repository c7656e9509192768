// Runs generated sessions through pgweir and directly on the primary, and tells where they differ.
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <map>
#include <string>

#include <unistd.h>

#include "test/compare/script.h"
#include "test/compare/world.h"

namespace weir::compare {
namespace {

struct Options {
  std::uint64_t seed = 1;
  long statements = 5000; // ends after so many
  long script = -1;       // this one alone
  long first = 0;
  long faults = 20; // gives up after so many
  bool verbose = false;
};

constexpr const char* kUsage =
    "usage: compare [--seed N] [--statements N] [--first SCRIPT] [--script SCRIPT] [--faults N] "
    "[--verbose]\n"
    "Needs the test cluster (test_cluster start) or makes one. A fault tells its seed and script:\n"
    "--seed N --script SCRIPT runs that one again. PGWEIR_TEST_BINARY names another pgweir.\n";

bool parse(int argc, char** argv, Options& options) {
  for (int i = 1; i < argc; ++i) {
    const std::string name = argv[i];
    if (name == "--verbose") {
      options.verbose = true;
      continue;
    }
    if (i + 1 == argc)
      return false;
    const char* value = argv[++i];
    if (name == "--seed") {
      options.seed = std::strtoull(value, nullptr, 10);
    } else if (name == "--statements") {
      options.statements = std::strtol(value, nullptr, 10);
    } else if (name == "--script") {
      options.script = std::strtol(value, nullptr, 10);
    } else if (name == "--first") {
      options.first = std::strtol(value, nullptr, 10);
    } else if (name == "--faults") {
      options.faults = std::strtol(value, nullptr, 10);
    } else {
      return false;
    }
  }
  return true;
}

struct Exchange {
  Step step;
  Heard one;   // through pgweir
  Heard other; // directly
};

std::string show_route(const std::string& sql) {
  std::string out = "SHOW ROUTE '";
  for (const char c : sql)
    out += c == '\'' ? "''" : std::string(1, c);
  return out + "'";
}

// A server connection that was used before may have its temporary schema already, a new one has
// none.
bool lacks_temp_schema(const Heard& heard) {
  return heard.text().find("schema \"pg_temp\" does not exist") != std::string::npos;
}

class Run {
public:
  Run(World& world, const Options& options, const std::vector<BuiltIn>& built_ins)
      : world_(world), options_(options), built_ins_(built_ins) {}

  void script(long index) {
    Random random(script_seed(options_.seed, static_cast<std::uint64_t>(index)));
    ScriptMaker maker(random, built_ins_);
    int steps = 0;
    constexpr int kOddOf = 8;
    const std::string user = maker.begin(index % kOddOf == kOddOf - 1, steps);
    warm();
    std::vector<Exchange> done;
    bool loose = false; // something whose value differs by nature was kept by the session
    std::string found = play(maker, steps, user, done, loose);
    const std::string left = world_.restore();
    if (found.empty() && !left.empty() && !loose)
      found = "the databases differ afterwards:\n" + left;
    const auto lines = placed();
    if (!found.empty() || options_.verbose)
      tell(index, user, found, done, lines);
    if (!found.empty())
      ++faults_;
  }

  // Ends with the sessions closed; the answer is "" or what differed.
  std::string play(ScriptMaker& maker, int steps, const std::string& user,
                   std::vector<Exchange>& done, bool& loose) {
    Speaker through = world_.through(user);
    Speaker directly = world_.directly(user);
    if (!through.ok() || !directly.ok())
      return through.error() + directly.error();
    char state = 'I';
    std::string found;
    while (found.empty() && static_cast<int>(done.size()) < steps) {
      done.push_back({maker.step(state), {}, {}});
      Exchange& exchange = done.back();
      const auto began = std::chrono::steady_clock::now();
      exchange.one = through.say(exchange.step);
      const auto between = std::chrono::steady_clock::now();
      exchange.other = directly.say(exchange.step);
      through_time_ += between - began;
      direct_time_ += std::chrono::steady_clock::now() - between;
      world_.neutral(exchange.one);
      world_.neutral(exchange.other);
      found = difference(exchange.one, exchange.other, exchange.step.shape_only || loose);
      if (exchange.other.stuck)
        return ""; // it takes too long for anybody
      if (!found.empty() && lacks_temp_schema(exchange.other))
        return ""; // known of every pool; what follows may differ for the same reason
      loose = loose || (exchange.step.shape_only && keeps(exchange.step));
      state = exchange.other.state;
      ++exchanges_;
      statements_ += static_cast<long>(exchange.step.statements.size());
    }
    return found;
  }

  long statements() const { return statements_; }
  long faults() const { return faults_; }

  void summary() const {
    std::printf("%ld statements in %ld exchanges; executed on nodes:", statements_, exchanges_);
    for (const auto& [node, count] : nodes_)
      std::printf(" %d: %ld", node, count);
    std::printf("\n%.1f s through pgweir, %.1f s directly\nreasons:\n", through_time_.count(),
                direct_time_.count());
    for (const auto& [reason, count] : reasons_)
      std::printf("%8ld  node %s)\n", count, reason.c_str());
    std::printf("%ld faults, %ld times cold\n", faults_, cold_);
  }

private:
  static bool keeps(const Step& step) {
    const std::string text = step.text();
    for (const char* word : {"PREPARE", "DECLARE", "INTO", "CREATE", "set_config"}) {
      if (text.find(word) != std::string::npos)
        return true;
    }
    return false;
  }

  // Until the facts of the plain names are known, which DDL of the script before may have made
  // doubtful.
  void warm() {
    for (const char* path : {"SELECT 1", "SET search_path = other, public"}) {
      Speaker speaker = world_.through();
      speaker.say({Style::Simple, {{path, {}}}, false});
      static const std::string sql = show_route(plain_names());
      constexpr int kTries = 150;
      bool known = false;
      Heard heard;
      for (int i = 0; i < kTries && !known; ++i) {
        heard = speaker.say({Style::Simple, {{sql, {}}}, false});
        known = !heard.answers.empty() &&
                heard.answers[0].text().find("not known yet") == std::string::npos;
        if (!known)
          ::usleep(10000);
      }
      if ((!known || heard.answers[0].value() != "any") && cold_ == 0 && !heard.answers.empty())
        std::printf("not known: %s\n", heard.answers[0].text().c_str());
      if (heard.answers.empty() || heard.answers[0].value() != "any")
        ++cold_;
    }
  }

  // New lines of pgweir's log that tell of a statement, counted.
  std::vector<std::string> placed() {
    static const std::string kNode = "DB node id: ";
    std::vector<std::string> found;
    for (std::string& line : world_.log().lines()) {
      const std::size_t at = line.find(kNode);
      if (at == std::string::npos) {
        if (line.find("WARNING") != std::string::npos)
          found.push_back(std::move(line));
        continue;
      }
      if (line.find(" statement: Parse: ") == std::string::npos)
        ++nodes_[std::atoi(line.c_str() + at + kNode.size())];
      const std::size_t who = line.rfind(" [client=");
      const std::size_t reason = line.rfind('(', who);
      if (reason != std::string::npos)
        ++reasons_[line.substr(at + kNode.size(), 1) + " " +
                   line.substr(reason, line.find_first_of(": ", reason) - reason)];
      found.push_back(line.substr(at, who - at));
    }
    return found;
  }

  void tell(long index, const std::string& user, const std::string& found,
            const std::vector<Exchange>& done, const std::vector<std::string>& lines) const {
    std::printf("=== --seed %llu --script %ld as %s: %s\n",
                static_cast<unsigned long long>(options_.seed), index, user.c_str(),
                found.empty() ? "alike" : found.c_str());
    for (std::size_t i = 0; i < done.size(); ++i) {
      std::printf("  %zu %c %s%s\n", i + 1, done[i].other.state, done[i].step.text().c_str(),
                  done[i].step.shape_only ? "  (shape only)" : "");
      if (options_.verbose || i + 1 == done.size()) {
        std::printf("    pgweir:  %s\n", done[i].one.text().c_str());
        std::printf("    primary: %s\n", done[i].other.text().c_str());
      }
    }
    for (const std::string& line : lines)
      std::printf("  > %s\n", line.substr(0, 250).c_str());
    std::fflush(stdout);
  }

  World& world_;
  const Options& options_;
  const std::vector<BuiltIn>& built_ins_;
  long statements_ = 0;
  long exchanges_ = 0;
  long cold_ = 0; // scripts that began with facts unknown
  std::chrono::duration<double> through_time_{};
  std::chrono::duration<double> direct_time_{};
  long faults_ = 0;
  std::map<int, long> nodes_;
  std::map<std::string, long> reasons_;
};

int compare(const Options& options) {
  test::Cluster& cluster = test::Cluster::shared();
  World world(cluster, "cmp" + std::to_string(::getpid()), {{"num_init_children", "1"}});
  std::vector<BuiltIn> functions;
  {
    test::Connection connection(cluster.conninfo(0, "app", world.database()));
    functions = built_ins(connection);
  }
  std::printf("seed %llu, %zu built-in functions\n", static_cast<unsigned long long>(options.seed),
              functions.size());
  Run run(world, options, functions);
  if (options.script >= 0) {
    run.script(options.script);
  } else {
    for (long i = options.first;
         run.statements() < options.statements && run.faults() < options.faults; ++i)
      run.script(i);
  }
  run.summary();
  return run.faults() == 0 ? 0 : 1;
}

} // namespace
} // namespace weir::compare

int main(int argc, char** argv) {
  weir::compare::Options options;
  if (!weir::compare::parse(argc, argv, options)) {
    std::fputs(weir::compare::kUsage, stderr);
    return 2;
  }
  try {
    return weir::compare::compare(options);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "compare: %s\n", error.what());
    return 2;
  }
}
