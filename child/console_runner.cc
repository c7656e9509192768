#include "child/console_runner.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "child/leases.h"
#include "child/survey.h"
#include "child/worker.h"
#include "common/admin/console_show.h"
#include "common/base/log.h"
#include "common/base/sqlstate.h"
#include "common/shmem/mapping.h"

namespace weir::child {
namespace {

constexpr Milliseconds kRetry{5};
constexpr std::chrono::seconds kPatience{1};
constexpr int kPoolTries = 50;

using Kind = admin::ConsoleCommand::Kind;

Error notice(std::string message, std::string detail = {}) {
  Error error = make_error(sqlstate::kSuccessfulCompletion, std::move(message), std::move(detail));
  error.severity = Severity::Notice;
  return error;
}

Error silence(const std::vector<std::int32_t>& pids) {
  std::string list;
  for (const std::int32_t pid : pids) list += fmt::format("{}{}", list.empty() ? "" : ", ", pid);
  Error error = make_error(sqlstate::kWarning, fmt::format("child process{} {} {} not answered: what {} is missing", pids.size() == 1 ? "" : "es", list, pids.size() == 1 ? "has" : "have", pids.size() == 1 ? "it has" : "they have"),
                           "The console waits a second for an answer.");
  error.severity = Severity::Notice;
  return error;
}

ledger::OverrideKind kind_of(config::Section section) {
  switch (section) {
    case config::Section::Users: return ledger::OverrideKind::User;
    case config::Section::Databases: return ledger::OverrideKind::Database;
    default: return ledger::OverrideKind::Pool;
  }
}

}  // namespace

std::vector<admin::Column> command_columns(const admin::ConsoleCommand& command) {
  if (command.kind == Kind::Show) return admin::console_columns(command.show);
  if (command.kind == Kind::ShowParameter) return {{command.name}};
  return {};
}

ConsoleRunner::ConsoleRunner(Worker& worker) : worker_(worker) {
  retry_.set(worker.loop(), [this] { try_to_set(); });
}

ConsoleRunner::~ConsoleRunner() { abandon(); }

void ConsoleRunner::abandon() {
  done_ = nullptr;
  retry_.disarm();
  worker_.survey().withdraw(this);
}

void ConsoleRunner::finish(Result<LocalAnswer> answer) {
  const Done done = std::exchange(done_, nullptr);
  if (done) done(std::move(answer));
}

void ConsoleRunner::run(const admin::ConsoleCommand& command, Done done) {
  command_ = command;
  done_ = std::move(done);
  switch (command.kind) {
    case Kind::Empty: return finish(LocalAnswer{});
    case Kind::Show: {
      const admin::Asked asked = admin::asked_by(command.show);
      if (asked != admin::Asked::Nothing) return worker_.survey().ask(static_cast<std::uint32_t>(asked), this, [this](admin::Census& census) { show(census); });
      admin::Census nothing;
      return show(nothing);
    }
    case Kind::ShowParameter: return finish(LocalAnswer{{command_columns(command), {admin::Row{command.value}}}, {}, {}});
    case Kind::Ignored: return finish(LocalAnswer{{}, "SET", {notice("SET ignored")}});
    case Kind::Block: return finish(LocalAnswer{{}, command.name, {notice("the console has no transactions")}});
    case Kind::SetLimits: give_up_at_ = worker_.loop().now() + kPatience; return try_to_set();
  }
}

// ---------------------------------------------------------------------------------------------------------------- SHOW

void ConsoleRunner::show(admin::Census& census) {
  LocalAnswer answer;
  if (command_.show == admin::ConsoleShow::Help) {
    answer.tag = "SHOW";
    answer.notices.push_back(notice("Console usage", admin::console_help()));
    return finish(std::move(answer));
  }
  if (!census.silent.empty()) answer.notices.push_back(silence(census.silent));
  answer.rows = admin::console_rows(command_.show, view(census));
  finish(std::move(answer));
}

admin::ConsoleView ConsoleRunner::view(admin::Census& census) {
  admin::ConsoleView view;
  shmem::Mapping& mapping = *worker_.context().mapping;
  view.config = &worker_.config();
  view.nodes = &worker_.nodes();
  view.census = std::move(census);
  for (int slot = 0; slot < mapping.children(); ++slot) {
    const bool there = mapping.child_row(slot).pid.load(std::memory_order_relaxed) != 0;
    if (there) ++view.children;
    // A slot that never had a child is not touched.
    if (there || mapping.child_row(slot).restarts.load(std::memory_order_relaxed) > 0) {
      admin::add_traffic(view.traffic, mapping.databases(slot), monotonic_milliseconds(worker_.loop().now()));
    }
  }
  // Nothing, while another process is at work there.
  for (int i = 0; i < kPoolTries && view.leases.empty(); ++i) view.leases = worker_.context().ledger->pools();
  std::uint64_t epoch = 0;
  for (int i = 0; i < kPoolTries && !worker_.context().ledger->read_overrides(view.overrides, epoch); ++i) {
  }
  return view;
}

// ----------------------------------------------------------------------------------------------------------------- SET

void ConsoleRunner::try_to_set() {
  if (!done_) return;
  switch (set_limits()) {
    case ledger::Outcome::Done: return finish(LocalAnswer{{}, "SET", {}});
    case ledger::Outcome::Full:
      return finish(fail(make_error(sqlstate::kProgramLimitExceeded, "there is no room for another limit", fmt::format("At most {} databases, users and pools can have limits set at run time.", ledger::Ledger::kMaxOverrides),
                                    "Set those that are not needed any more to -1; SHOW LIMITS lists all.")));
    default: break;
  }
  if (worker_.loop().now() >= give_up_at_) {
    return finish(fail(make_error(sqlstate::kLockNotAvailable, "the limits cannot be set now", "Another process has the account of the connections for itself.", "Try again in a moment.")));
  }
  retry_.arm(kRetry);
}

ledger::Outcome ConsoleRunner::set_limits() {
  ledger::Ledger& ledger = *worker_.context().ledger;
  std::vector<ledger::Override> all;
  std::uint64_t epoch = 0;
  if (!ledger.read_overrides(all, epoch)) return ledger::Outcome::Busy;
  ledger::Override wanted{kind_of(command_.section), command_.database, command_.user, {}};
  const auto known = std::find_if(all.begin(), all.end(), [&](const ledger::Override& one) { return one.kind == wanted.kind && one.database == wanted.database && one.user == wanted.user; });
  if (known != all.end()) wanted.limits = known->limits;
  // It was read already when the command was, by the same rules.
  static_cast<void>(config::parse_runtime_limits(command_.section, command_.limits, wanted.limits));
  const ledger::Outcome outcome = ledger.set_override(wanted, epoch);
  if (outcome != ledger::Outcome::Done) return outcome;
  log::print(log::Level::Log, {}, "the console has set {} {}{}{}: {}", command_.section == config::Section::Users ? "user" : command_.section == config::Section::Databases ? "database" : "pool",
             command_.user, command_.section == config::Section::Pools ? "." : "", command_.database, command_.limits);
  worker_.limits_were_set();
  return outcome;
}

}  // namespace weir::child
