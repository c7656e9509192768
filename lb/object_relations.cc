#include "lb/object_relations.h"

#include <utility>

#include "common/base/sqlstate.h"
#include "common/config/object_pair.h"

namespace weir::lb {
namespace {

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
    const auto pair = config::parse_object_pair(text);
    std::string object = pair ? name_of(pair->first) : std::string();
    std::string dependent = pair ? name_of(pair->second) : std::string();
    if (object.empty() || dependent.empty()) {
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
