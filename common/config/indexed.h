// Parameters with a number at the end: backend_hostname0, health_check_period1, hostname2, ...
#pragma once

#include <map>
#include <set>
#include <span>
#include <string>
#include <string_view>

#include "common/config/config.h"

namespace weir::config {

struct NumberedParameter {
  enum class Part { Backend, PerNode, Later };
  std::string_view name;  // without the number
  Part part;
  std::string_view default_text;  // PerNode: that of the parameter without a number
  std::string_view documentation;
};
std::span<const NumberedParameter> numbered_parameters();

class Indexed {
 public:
  enum class Outcome { Set, Later, Bad, Unknown };

  // Remembers NAME = VALUE. Bad: MESSAGE says why.
  Outcome set(const std::string& name, const std::string& value, std::string& message);
  // Puts the nodes into CONFIG; those without a value of their own take the parameter without a number.
  void apply(Config& config) const;

  // Was the host of this node said, be it as an empty one?
  bool has_host(int id) const { return hosts_.contains(id); }

  static bool is_indexed(std::string_view name);
  // "backend_hostnam0" -> "backend_hostname0"; empty if nothing is near or NAME does not end in a number.
  static std::string nearest(std::string_view name);

 private:
  static Outcome set_flags(BackendConfig& node, const std::string& value, std::string& message);
  Outcome set_backend(const std::string& base, int id, const std::string& value, std::string& message);
  Outcome set_override(const std::string& base, int id, const std::string& value, std::string& message);

  std::map<int, BackendConfig> nodes_;
  std::set<int> hosts_;
  std::map<int, std::map<std::string, std::int64_t>> overrides_;
};

}  // namespace weir::config
