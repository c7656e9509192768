#include "lb/redirect.h"

#include <cstddef>
#include <utility>

#include "common/base/sqlstate.h"

namespace weir::lb {
namespace {

Redirect redirect_of(const config::RedirectEntry& entry) {
  using To = config::RedirectEntry::To;
  switch (entry.to) {
    case To::Primary: return {Redirect::To::Primary, -1, entry.ratio};
    case To::Standby: return {Redirect::To::Standby, -1, entry.ratio};
    case To::Node: break;
  }
  return {Redirect::To::Node, entry.node, entry.ratio};
}

bool holds(const NodeSet& nodes, int node) {
  return node >= 0 && static_cast<std::size_t>(node) < nodes.size() && nodes.test(static_cast<std::size_t>(node));
}

NodeSet without(NodeSet nodes, int node) {
  if (holds(nodes, node)) nodes.reset(static_cast<std::size_t>(node));
  return nodes;
}

// One of SOME, and if there are none the node INSTEAD where it is allowed.
RedirectChoice one_of(const NodeSet& some, int instead, const NodeSet& allowed) {
  if (some.none() && holds(allowed, instead)) return {instead, {}};
  return {-1, some};
}

}  // namespace

void RedirectLists::compile_into(Entries& entries, const std::vector<std::string>& texts, const char* parameter,
                                 std::string& problems) {
  for (const std::string& text : texts) {
    if (text.empty()) continue;
    const auto entry = config::parse_redirect(text);
    auto pattern = entry ? config::Pattern::compile(entry->pattern) : Result<config::Pattern>(fail(entry.error()));
    if (pattern) {
      entries.push_back({std::move(*pattern), redirect_of(*entry)});
      continue;
    }
    if (!problems.empty()) problems += "; ";
    problems += std::string(parameter) + ": " + pattern.error().message;
  }
}

Result<RedirectLists> RedirectLists::compile(const RedirectSettings& settings) {
  RedirectLists lists;
  std::string problems;
  compile_into(lists.app_names_, settings.app_name_redirect_preference_list, "app_name_redirect_preference_list",
               problems);
  compile_into(lists.databases_, settings.database_redirect_preference_list, "database_redirect_preference_list",
               problems);
  compile_into(lists.users_, settings.user_redirect_preference_list, "user_redirect_preference_list", problems);
  if (!problems.empty()) {
    return fail(make_error(sqlstate::kInvalidParameterValue, "invalid redirect", std::move(problems)));
  }
  return lists;
}

const RedirectLists::Entry* RedirectLists::first_match(const Entries& entries, std::string_view name) {
  for (const Entry& entry : entries) {
    if (entry.pattern.matches(name)) return &entry;
  }
  return nullptr;
}

Redirect RedirectLists::find(std::string_view app_name, std::string_view database, std::string_view user) const {
  const Entry* entry = app_name.empty() ? nullptr : first_match(app_names_, app_name);
  if (entry == nullptr) entry = first_match(databases_, database);
  if (entry == nullptr) entry = first_match(users_, user);
  return entry != nullptr ? entry->redirect : Redirect{};
}

RedirectChoice apply_redirect(const Redirect& redirect, double unit, int primary, const NodeSet& allowed) {
  const bool counts = unit < redirect.ratio;
  const NodeSet standbys = without(allowed, primary);
  switch (redirect.to) {
    case Redirect::To::None: break;
    case Redirect::To::Primary:
      return one_of(counts && holds(allowed, primary) ? NodeSet{} : standbys, primary, allowed);
    case Redirect::To::Standby:
      return one_of(counts || !holds(allowed, primary) ? standbys : NodeSet{}, primary, allowed);
    case Redirect::To::Node:
      if (counts && holds(allowed, redirect.node)) return {redirect.node, {}};
      return one_of(without(allowed, redirect.node), redirect.node, allowed);
  }
  return {-1, allowed};
}

}  // namespace weir::lb
