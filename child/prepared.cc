#include "child/prepared.h"

#include <algorithm>

namespace weir::child {

std::string_view PreparedStatement::text() const {
  if (parse_message.size() < 5 + name.size() + 1) return {};
  const std::string_view rest = std::string_view(parse_message).substr(5 + name.size() + 1);
  return rest.substr(0, rest.find('\0'));
}

PreparedPtr StatementNames::find(std::string_view name) const {
  for (auto it = pending_.rbegin(); it != pending_.rend(); ++it) {
    if (!it->hidden && it->name == name) return it->statement;
  }
  const auto it = names_.find(name);
  return it != names_.end() ? it->second : nullptr;
}

PreparedPtr StatementNames::find_parsed(std::string_view name) const {
  PreparedPtr found = find(name);
  return found != nullptr && found->by_sql ? nullptr : found;
}

bool StatementNames::is_by_sql(std::string_view name) const {
  const PreparedPtr found = find(name);
  return found != nullptr && found->by_sql;
}

bool StatementNames::is_pending(std::string_view name) const {
  for (const Pending& pending : pending_) {
    if (pending.statement != nullptr && !pending.shared && pending.name == name) return true;
  }
  return false;
}

void StatementNames::define(PreparedPtr statement) {
  std::string name = statement->name;
  names_.insert_or_assign(std::move(name), std::move(statement));
}

void StatementNames::parse_sent(PreparedPtr statement, bool hidden, bool shared) {
  std::string name = statement->name;
  pending_.push_back({std::move(statement), std::move(name), hidden, shared});
}

bool StatementNames::is_shared_pending(std::uint64_t number) const {
  return std::any_of(pending_.begin(), pending_.end(), [number](const Pending& pending) {
    return pending.shared && pending.statement->shared->number == number;
  });
}

std::string StatementNames::name_of_shared(std::uint64_t number) const {
  const auto is = [number](const PreparedPtr& statement) { return statement != nullptr && statement->shared != nullptr && statement->shared->number == number; };
  const auto sent = std::find_if(pending_.rbegin(), pending_.rend(), [&](const Pending& pending) { return is(pending.statement); });
  if (sent != pending_.rend()) return sent->name;
  const auto known = std::find_if(names_.begin(), names_.end(), [&](const auto& entry) { return is(entry.second); });
  return known != names_.end() ? known->first : std::string();
}

bool StatementNames::has_unrepeatable() const {
  return std::any_of(names_.begin(), names_.end(), [](const auto& entry) {
    const PreparedStatement& statement = *entry.second;
    return !statement.by_sql && !statement.name.empty() && statement.parse_message.empty();
  });
}

void StatementNames::close_sent(std::string name, bool hidden) { pending_.push_back({nullptr, std::move(name), hidden, false}); }

void StatementNames::succeeded(Backend& backend) {
  if (pending_.empty()) return;
  Pending done = std::move(pending_.front());
  pending_.pop_front();
  if (done.statement != nullptr) {
    if (done.shared) {
      backend.shared.insert_or_assign(done.statement->shared->number, ++backend.shared_uses);
    } else {
      backend.prepared.insert_or_assign(done.name, done.statement->generation);
    }
    if (!done.hidden) names_.insert_or_assign(std::move(done.name), std::move(done.statement));
  } else {
    backend.prepared.erase(done.name);
    if (!done.hidden) names_.erase(done.name);
  }
}

void StatementNames::skipped(std::uint32_t count) {
  for (; count > 0 && !pending_.empty(); --count) pending_.pop_front();
}

void StatementNames::forget_unnamed() { names_.erase(std::string()); }
void StatementNames::forget(std::string_view name) {
  if (const auto it = names_.find(name); it != names_.end()) names_.erase(it);
}
void StatementNames::forget_all() { names_.clear(); }

}  // namespace weir::child
