#include "child/prepared.h"

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
    if (pending.statement != nullptr && pending.name == name) return true;
  }
  return false;
}

void StatementNames::define(PreparedPtr statement) {
  std::string name = statement->name;
  names_.insert_or_assign(std::move(name), std::move(statement));
}

void StatementNames::parse_sent(PreparedPtr statement, bool hidden) {
  std::string name = statement->name;
  pending_.push_back({std::move(statement), std::move(name), hidden});
}

void StatementNames::close_sent(std::string name, bool hidden) { pending_.push_back({nullptr, std::move(name), hidden}); }

void StatementNames::succeeded(Backend& backend) {
  if (pending_.empty()) return;
  Pending done = std::move(pending_.front());
  pending_.pop_front();
  if (done.statement != nullptr) {
    backend.prepared.insert_or_assign(done.name, done.statement->generation);
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
