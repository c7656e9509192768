// The redirect lists: where the reads of an application, a database or a user go. They choose among the nodes that
// routing allows for a read and never add one.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/result.h"
#include "common/config/pattern.h"
#include "common/config/redirect.h"
#include "lb/eligible.h"

namespace weir::lb {

// The entry that counts for a session.
struct Redirect {
  enum class To : std::uint8_t { None, Primary, Standby, Node };
  To to = To::None;
  int node = -1;     // with To::Node
  double ratio = 1;  // how often it counts
  bool operator==(const Redirect&) const = default;
};

// The three lists as configured.
struct RedirectSettings {
  std::vector<std::string> app_name_redirect_preference_list;
  std::vector<std::string> database_redirect_preference_list;
  std::vector<std::string> user_redirect_preference_list;
};

class RedirectLists {
 public:
  // Fails (22023) if an entry cannot be read; the detail names each such entry and its parameter. Empty ones do not
  // count.
  static Result<RedirectLists> compile(const RedirectSettings& settings);

  bool empty() const { return app_names_.empty() && databases_.empty() && users_.empty(); }

  // The first entry that matches, of the list of applications, else of databases, else of users: as Pgpool-II has it.
  // APP_NAME is that of the startup packet; an empty one is looked for in no list.
  Redirect find(std::string_view app_name, std::string_view database, std::string_view user) const;

 private:
  struct Entry {
    config::Pattern pattern;
    Redirect redirect;
  };
  using Entries = std::vector<Entry>;

  static void compile_into(Entries& entries, const std::vector<std::string>& texts, const char* parameter,
                           std::string& problems);
  static const Entry* first_match(const Entries& entries, std::string_view name);

  Entries app_names_;
  Entries databases_;
  Entries users_;
};

// What a redirect leaves to choose from.
struct RedirectChoice {
  int node = -1;  // this one, whatever its weight
  NodeSet nodes;  // with node -1: one of these by the usual rules; none: the primary
};

// One draw of REDIRECT's ratio, over the nodes ALLOWED for this read. UNIT is uniform in [0, 1): below the ratio the
// redirect counts. As in Pgpool-II, where it does not count (or its node is not allowed now), a redirect to a node
// means any other node, one to the primary a standby, and one to the standbys the primary.
RedirectChoice apply_redirect(const Redirect& redirect, double unit, int primary, const NodeSet& allowed);

}  // namespace weir::lb
