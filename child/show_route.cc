#include "child/show_route.h"

#include <cmath>

namespace weir::child {
namespace {

void add_line(std::string& text, std::string_view line) {
  if (!text.empty()) text += '\n';
  text += line;
}

std::string name_line(const lb::NameFact& fact) {
  std::string line(lb::use_text(fact.use));
  line += ' ';
  if (!fact.name.schema.empty()) (line += fact.name.schema) += '.';
  line += fact.name.name;
  switch (fact.verdict) {
    case lb::Verdict::Plain: return line + ": known, harmless";
    case lb::Verdict::Doubt: return ((line += ": known, ") += lb::reason_name(fact.reason));
    case lb::Verdict::Unknown: break;
  }
  return line + ": not known yet";
}

std::string facts_text(const RouteAnswer& answer) {
  std::string text;
  for (const lb::NameFact& fact : answer.names) add_line(text, name_line(fact));
  if (answer.more_names) add_line(text, "more names than are told here");
  for (const std::string_view word : answer.session) add_line(text, "session: " + std::string(word));
  if (answer.dry_run) add_line(text, "routing_dry_run: it would be sent to the primary all the same");
  return text;
}

std::string explanation(const lb::Target& target) {
  std::string text = lb::reason_text(target.reason);
  if (target.cause != target.reason) (text += ": ") += lb::reason_text(target.cause);
  return text;
}

bool has_weight(const shmem::Node& node) { return std::isfinite(node.weight) && node.weight > 0; }

}  // namespace

std::vector<int> route_nodes(const lb::Target& target, const shmem::NodeView& view, int held, int reader,
                             const lb::NodeSet& excluded) {
  const std::vector<int> primary = view.primary >= 0 ? std::vector<int>{view.primary} : std::vector<int>{};
  switch (target.scope) {
    case lb::Scope::Local: return {};
    case lb::Scope::Primary: return primary;
    case lb::Scope::SameNode: return held >= 0 ? std::vector<int>{held} : primary;
    case lb::Scope::Node: {
      const bool usable = lb::eligible_node(view, target.node) && !excluded.test(static_cast<std::size_t>(target.node));
      return usable ? std::vector<int>{target.node} : primary;
    }
    case lb::Scope::AnyReadable: break;
  }
  const lb::Candidates candidates = target.prefer_standby ? lb::Candidates::Standbys : lb::Candidates::Readable;
  if (reader >= 0 && lb::eligible_node(view, reader, candidates) && !excluded.test(static_cast<std::size_t>(reader))) return {reader};
  const lb::NodeSet allowed = lb::eligible(view, candidates) & ~excluded;
  std::vector<int> nodes;
  for (std::size_t id = 0; id < allowed.size(); ++id) {
    if (allowed.test(id) && has_weight(view.nodes[id])) nodes.push_back(static_cast<int>(id));
  }
  return nodes.empty() ? primary : nodes;
}

std::vector<admin::Column> route_columns() {
  return {{"target"}, {"nodes"}, {"reason"}, {"explanation"}, {"cause"}, {"statements", admin::kInt4}, {"facts"}};
}

admin::Rowset show_route(const RouteAnswer& answer) {
  std::string nodes;
  for (const int id : answer.nodes) nodes += (nodes.empty() ? "" : ",") + std::to_string(id);
  return {route_columns(),
          {admin::Row{std::string(lb::scope_text(answer.target)), std::move(nodes), lb::reason_name(answer.target.reason),
                      explanation(answer.target), lb::reason_name(answer.target.cause),
                      std::to_string(answer.statements), facts_text(answer)}}};
}

}  // namespace weir::child
