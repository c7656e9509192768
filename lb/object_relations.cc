#include "lb/object_relations.h"

#include <utility>

#include "common/base/sqlstate.h"

namespace weir::lb {
namespace {

// One side of an entry, from AT up to an unescaped colon or the end; AT is left there. Blanks at its ends are dropped.
std::string read_side(std::string_view text, std::size_t& at) {
  std::string side;
  std::size_t keep = 0;  // up to here nothing is a blank to be dropped
  for (; at < text.size() && text[at] != ':'; ++at) {
    const bool escape = text[at] == '\\' && at + 1 < text.size() &&
                        (text[at + 1] == ':' || text[at + 1] == ' ' || text[at + 1] == '\\');
    if (escape) ++at;
    if (text[at] == ' ' && !escape) {
      if (!side.empty()) side += ' ';
      continue;
    }
    side += text[at];
    keep = side.size();
  }
  side.resize(keep);
  return side;
}

std::string name_of(std::string_view side) {
  const bool function = side.ends_with("()");
  if (function) side.remove_suffix(2);
  if (const auto dot = side.rfind('.'); dot != std::string_view::npos) side.remove_prefix(dot + 1);
  return side.empty() ? std::string() : adaptive_name(side, function);
}

}  // namespace

std::string adaptive_name(std::string_view name, bool function) {
  std::string out(name);
  for (char& c : out) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  if (function) out += "()";
  return out;
}

Result<ObjectRelations> ObjectRelations::compile(const std::vector<std::string>& entries) {
  ObjectRelations relations;
  std::string problems;
  for (const std::string& text : entries) {
    if (text.find_first_not_of(' ') == std::string::npos) continue;
    std::size_t at = 0;
    std::string object = name_of(read_side(text, at));
    const bool colon = at < text.size();
    if (colon) ++at;
    std::string dependent = name_of(read_side(text, at));
    if (!colon || object.empty() || dependent.empty() || at < text.size()) {
      if (!problems.empty()) problems += "; ";
      problems += "\"" + text + "\" is not object:dependent";
      continue;
    }
    relations.objects_[dependent] = true;
    relations.dependents_[std::move(object)].push_back(std::move(dependent));
  }
  if (problems.empty()) return relations;
  return fail(make_error(sqlstate::kInvalidParameterValue, "invalid dml_adaptive_object_relationship_list", std::move(problems)));
}

const std::vector<std::string>* ObjectRelations::dependents(std::string_view name) const {
  const auto it = dependents_.find(name);
  return it != dependents_.end() ? &it->second : nullptr;
}

}  // namespace weir::lb
