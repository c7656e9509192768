#include "common/admin/show_parameters.h"

#include <algorithm>
#include <cctype>
#include <string>
#include <utility>

#include "common/base/sqlstate.h"
#include "common/config/describe.h"
#include "common/config/indexed.h"
#include "common/config/parameter.h"
#include "common/config/units.h"

namespace weir::admin {
namespace {

using config::Description;

std::string shown_value(const Description& item) {
  const config::Parameter* parameter = config::find_parameter(item.name);
  if (parameter != nullptr && parameter->kind == config::Kind::SECRET) return "*****";
  if (item.unit.empty()) return item.value;
  const auto number = config::parse_integer(item.value, item.unit);
  return number ? config::in_largest_unit(*number, item.unit) : item.value;
}

bool has_number(std::string_view name) { return !name.empty() && std::isdigit(static_cast<unsigned char>(name.back())) != 0; }

// NAME without the number at its end.
std::string_view base_of(std::string_view name) {
  while (has_number(name)) name.remove_suffix(1);
  return name;
}

bool is_numbered(std::string_view name) {
  const auto numbered = config::numbered_parameters();
  return std::any_of(numbered.begin(), numbered.end(), [&](const auto& parameter) { return parameter.name == name; });
}

std::string_view group_of(const Description& item) {
  const config::Parameter* parameter = config::find_parameter(item.name);
  return parameter != nullptr ? parameter->group : std::string_view();
}

// Is ITEM one of the list that NAME stands for?
bool listed(const Description& item, std::string_view name) {
  const std::string_view text = item.name;
  if (name == "all") return true;
  if (name == "backend") return has_number(text) && text.starts_with("backend_");
  if (name == "watchdog") return group_of(item) == "Watchdog";
  if (name == "heartbeat") return text.find("heartbeat") != std::string_view::npos;
  if (name == "health_check") return text.starts_with("health_check_");
  return has_number(text) && base_of(text) == name;
}

bool is_group(std::string_view name) {
  return name == "all" || name == "backend" || name == "watchdog" || name == "heartbeat" || name == "health_check" ||
         is_numbered(name);
}

Rowset list(const std::vector<Description>& items, std::string_view name) {
  Rowset out{{{"item"}, {"value"}, {"description"}}, {}};
  for (const Description& item : items) {
    if (listed(item, name)) out.rows.push_back(Row{item.name, shown_value(item), item.text});
  }
  return out;
}

}  // namespace

Error no_such_parameter(std::string_view name) {
  constexpr std::size_t kLongestShown = 64;
  const std::string shown(name.substr(0, kLongestShown));
  const std::string near = config::nearest_parameter(name);
  return make_error(sqlstate::kUndefinedObject, "config variable \"" + shown + "\" not found", {},
                    near.empty() ? "PGPOOL SHOW ALL lists what there is." : "Perhaps you meant \"" + near + "\".");
}

Result<Rowset> show_parameters(const config::Config& config, std::string_view name) {
  const std::vector<Description> items = config::describe(config);
  const config::Parameter* parameter = config::find_parameter(name);
  if (parameter == nullptr && is_group(name)) return list(items, name);
  const std::string_view wanted = parameter != nullptr ? parameter->name : name;
  const auto item = std::find_if(items.begin(), items.end(), [&](const Description& each) { return each.name == wanted; });
  if (item == items.end()) return fail(no_such_parameter(name));
  return Rowset{{{item->name}}, {Row{shown_value(*item)}}};
}

}  // namespace weir::admin
