// The sample files and the reference, made from the parameter table.
#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "common/config/describe.h"
#include "common/config/indexed.h"
#include "common/config/loader.h"
#include "common/config/parameter.h"
#include "common/config/units.h"

namespace weir::config {
namespace {

constexpr std::string_view kMadeFrom = "Made by weir_describe from common/config/parameters.def: change it there.";

// All defaults, from an empty file.
const Config& defaults() {
  static const LoadOutcome outcome =
      load_with({"pgweir.conf", {}, {}}, [](const std::string&) { return std::string(); });
  return *outcome.config;
}

// Groups in the table's order, each once.
std::vector<std::string_view> groups() {
  std::vector<std::string_view> names;
  for (const Parameter& parameter : parameters()) {
    if (std::find(names.begin(), names.end(), parameter.group) == names.end()) names.push_back(parameter.group);
  }
  return names;
}

// VALUE in single quotes, as the lexer takes it apart again.
std::string quote(std::string_view value) {
  std::string text = "'";
  for (char c : value) {
    if (c == '\'') text += '\'';
    text += c;
  }
  return text + "'";
}

std::string default_in_file(const Parameter& parameter) {
  const std::string value = show_parameter(defaults(), parameter);
  switch (parameter.kind) {
    case Kind::BOOL:
    case Kind::INT:
    case Kind::REAL:
    case Kind::OCTAL: return value;
    default: return quote(value);
  }
}

// "on or off", "0 to 65535", "a, b, c": what a value may be.
std::string values_of(const Parameter& parameter) {
  const auto number = [](double value) { return fmt::format("{}", static_cast<std::int64_t>(value)); };
  switch (parameter.kind) {
    case Kind::BOOL: return "on or off";
    case Kind::INT:
    case Kind::REAL: {
      std::string range = parameter.maximum >= 2147483647.0
                              ? fmt::format("{} or more", number(parameter.minimum))
                              : fmt::format("{} to {}", number(parameter.minimum), number(parameter.maximum));
      return parameter.unit.empty() ? range : fmt::format("{}, in {}", range, parameter.unit);
    }
    case Kind::OCTAL: return "a mode in octal";
    case Kind::ENUM:
    case Kind::LIST: {
      std::string words;
      for (const Choice& choice : choices_of(parameter)) words += (words.empty() ? "" : ", ") + choice.word;
      if (parameter.kind == Kind::ENUM) return words;
      return words.empty() ? "a list by commas" : "a list by commas of " + words;
    }
    case Kind::QUERIES: return "a list by semicolons";
    case Kind::TEXT: return "a text";
    case Kind::SECRET: return "a secret";
  }
  return {};
}

std::string_view change_of(const Parameter& parameter) {
  switch (parameter.context) {
    case Context::Startup: return "restart";
    case Context::Reload: return "reload";
    case Context::Session: return "reload";  // a session cannot set parameters of pgweir's yet
  }
  return {};
}

std::string_view effect_of(const Parameter& parameter) {
  switch (parameter.effect) {
    case Effect::Now: return "";
    case Effect::Later: return "Not yet in effect. ";
    case Effect::Retired: return "Accepted and without effect: ";
  }
  return {};
}

std::string aliases_of(const Parameter& parameter) {
  std::string names;
  for (const std::string& alias : split_list(parameter.aliases, ',')) {
    const std::size_t colon = alias.find(':');
    names += (names.empty() ? "" : ", ") + alias.substr(0, colon);
    if (colon != std::string::npos) names += " (in " + alias.substr(colon + 1) + ")";
  }
  return names;
}

// TEXT as comment lines of at most 100 columns.
std::string comment(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    std::size_t end = text.size();
    if (end > 98) {
      end = text.rfind(' ', 98);
      if (end == std::string_view::npos || end == 0) end = text.size();
    }
    out += fmt::format("# {}\n", text.substr(0, end));
    text.remove_prefix(std::min(text.size(), end + 1));
  }
  return out;
}

std::string default_of(const NumberedParameter& numbered) {
  if (numbered.part == NumberedParameter::Part::PerNode || numbered.name.starts_with("health_check")) {
    return show_parameter(defaults(), *find_parameter(numbered.name));
  }
  return std::string(numbered.default_text);
}

}  // namespace

std::string sample_conf() {
  std::string out = comment(
      "Sample configuration of pgweir with every parameter and its default. Form: name = value; texts in single "
      "quotes, "
      "# begins a comment, include 'file' reads another file. Times take us, ms, s, min, h, d, sizes B, kB, MB, GB, "
      "TB. "
      "The environment (PGWEIR_PORT=6432) overrides this file, the command line overrides both.");
  out += comment(kMadeFrom);
  for (std::string_view group : groups()) {
    out += fmt::format("\n# ---- {} ----\n", group);
    for (const Parameter& parameter : parameters()) {
      if (parameter.group != group) continue;
      out += "\n" + comment(fmt::format("{}{}", effect_of(parameter), parameter.documentation));
      if (parameter.effect != Effect::Retired) {
        out += comment(fmt::format("({}; a change takes a {})", values_of(parameter), change_of(parameter)));
      }
      out += fmt::format("#{} = {}\n", parameter.name, default_in_file(parameter));
    }
  }
  out += "\n# ---- Nodes: the number at the end is the node's, from 0 to 127 ----\n";
  for (const NumberedParameter& numbered : numbered_parameters()) {
    const bool later = numbered.part == NumberedParameter::Part::Later;
    out += "\n" + comment(fmt::format("{}{}", later ? "Not yet in effect. " : "", numbered.documentation));
    out += fmt::format("#{}0 = {}\n", numbered.name, quote(default_of(numbered)));
  }
  return out;
}

std::string minimal_conf() {
  return "# A primary and two standbys: reads are spread over all three, everything else goes to the primary, "
         "whichever\n"
         "# of them that is. All other parameters have defaults, see pgweir.conf.sample.\n"
         "listen_addresses = 'localhost'\n"
         "port = 9999\n"
         "unix_socket_directories = '/tmp'\n"
         "pid_file_name = 'pgweir.pid'        # relative names are beside this file\n"
         "pool_passwd = 'pool_passwd'         # lines user:secret, or PgBouncer's \"user\" \"secret\"\n"
         "\n"
         "# For checks of the nodes and look-ups in the catalogue; a member of pg_monitor.\n"
         "sr_check_user = 'pgweir'\n"
         "sr_check_database = 'postgres'\n"
         "\n"
         "backend_hostname0 = '192.0.2.10'\n"
         "backend_port0 = 5432\n"
         "backend_weight0 = 1\n"
         "\n"
         "backend_hostname1 = '192.0.2.11'\n"
         "backend_port1 = 5432\n"
         "backend_weight1 = 1\n"
         "\n"
         "backend_hostname2 = '192.0.2.12'\n"
         "backend_port2 = 5432\n"
         "backend_weight2 = 1\n";
}

namespace {

// A cell of a table: no bar may stand in it.
std::string cell(std::string_view text) {
  std::string out;
  for (char c : text) {
    if (c == '|') out += '\\';
    out += c;
  }
  return out;
}

std::string row(const Parameter& parameter) {
  const std::string aliases = aliases_of(parameter);
  return fmt::format("| `{}`{} | `{}` | {} | {} | {}{} |\n", parameter.name,
                     aliases.empty() ? "" : fmt::format(" (also `{}`)", aliases), cell(default_in_file(parameter)),
                     cell(values_of(parameter)), change_of(parameter), effect_of(parameter),
                     cell(parameter.documentation));
}

constexpr std::string_view kPageHead = R"(
# Parameters

The file has the form of a `pgpool.conf`: `name = value` (or `name value`), one a line, `#` begins a comment. A value is
a bare word, a number with an optional unit, or a text in single quotes, in which `''` or `\'` is a quote and any other
backslash stays, as in Pgpool-II. `include 'file'` reads another file, relative to the one that it stands in, up to 10
deep. When a parameter comes twice the later one counts.

- Times take `us`, `ms`, `s`, `min`, `h`, `d`; sizes `B`, `kB`, `MB`, `GB`, `TB`. Without a unit a number has the unit
  given below. A time that is not 0 is never rounded to 0. Whole numbers may be written `0x1F`.
- Switches take `on`/`off`, `true`/`false`, `yes`/`no`, `1`/`0` and beginnings of them that are unambiguous.
- In lists a backslash before the comma or semicolon takes its meaning away (`'a\,b'`).
- Behind the parameters may stand sections, `[databases]`, `[users]`, `[pools]`, `[tenants]` and `[peers]`, with lines
  `name = key=value key=value`: see the last table.
- The environment overrides the file: `PGWEIR_NUM_INIT_CHILDREN=2` sets `num_init_children`. The command line overrides
  both. `pgweir --show-config FILE` tells each value and where it comes from. A `PGWEIR_` name that is no parameter is
  ignored with a notice.
- An unknown name is an error, and all errors of a file are reported at once, each with file and line.
- A reload takes over everything or nothing. Where the column "change" says restart, the old value stays in effect until
  then, and the log says so.
)";

constexpr std::string_view kSectionsHead = R"(
## Sections

Behind the parameters a line `[databases]` begins a section of lines `name = key=value key=value`; a value with blanks stands
in single quotes. A key that is not said, or a size of -1, leaves it to the next level: the pool's line in `[pools]`, the
user's, the database's, the parameter of that name. The name is that of a database (`*` for all without a line), a user, a
pool as `user.database`, a peer's number.

| key | sections | meaning |
|---|---|---|
)";

std::string sections_part() {
  static constexpr std::pair<Section, const char*> kNames[] = {
      {Section::Databases, "databases"}, {Section::Users, "users"}, {Section::Pools, "pools"}, {Section::Peers, "peers"}};
  std::string out(kSectionsHead);
  for (const SectionKey& key : section_keys()) {
    std::string where;
    for (const auto& [section, name] : kNames) {
      if ((key.sections & static_cast<unsigned>(section)) != 0) where += fmt::format("{}{}", where.empty() ? "" : ", ", name);
    }
    out += fmt::format("| `{}`{}{} | {} | {}{} |\n", key.name, key.aliases.empty() ? "" : fmt::format(" (also `{}`)", key.aliases),
                       key.unit.empty() ? "" : fmt::format(", {}", key.unit), where, key.in_effect ? "" : "Not yet in effect. ", cell(key.documentation));
  }
  return out;
}

}  // namespace

std::string parameters_page() {
  std::string out = fmt::format("<!-- {} -->", kMadeFrom);
  out += kPageHead;
  for (std::string_view group : groups()) {
    out += fmt::format("\n## {}\n\n| name | default | values | change | meaning |\n|---|---|---|---|---|\n", group);
    for (const Parameter& parameter : parameters()) {
      if (parameter.group == group) out += row(parameter);
    }
  }
  out +=
      "\n## Nodes\n\nThe number of the node, 0 to 127, stands behind the name: `backend_hostname0`. A node is there "
      "when its "
      "port is not 0.\n\n| name | default | meaning |\n|---|---|---|\n";
  for (const NumberedParameter& numbered : numbered_parameters()) {
    const bool later = numbered.part == NumberedParameter::Part::Later;
    out += fmt::format("| `{}N` | `{}` | {}{} |\n", numbered.name, quote(default_of(numbered)),
                       later ? "Not yet in effect. " : "", cell(numbered.documentation));
  }
  return out + sections_part();
}

namespace {

// TEXT for a manual page: backslashes and hyphens as themselves, no line that looks like a request.
std::string roff(std::string_view text) {
  std::string out;
  if (text.starts_with('.') || text.starts_with('\'')) out += "\\&";
  for (char c : text) {
    if (c == '\\') {
      out += "\\e";
    } else if (c == '-') {
      out += "\\-";
    } else {
      out += c;
    }
  }
  return out;
}

constexpr std::string_view kManualHead = R"(.TH PGWEIR.CONF 5 "" "pgweir" "pgweir"
.SH NAME
pgweir.conf \- configuration of pgweir
.SH DESCRIPTION
One parameter a line,
.IR "name " = " value" ,
with # before comments. Texts stand in single quotes. Times take us, ms, s, min, h, d and sizes B, kB, MB, GB, TB.
.B include
\&'file' reads another file. An environment variable PGWEIR_NAME overrides the file, the command line overrides both.
An unknown name is an error.
.PP
A change takes a reload unless "restart" is said below.
)";

}  // namespace

std::string manual_page() {
  std::string out = fmt::format(".\\\" {}\n", kMadeFrom);
  out += kManualHead;
  for (std::string_view group : groups()) {
    std::string title(group);
    std::transform(title.begin(), title.end(), title.begin(),
                   [](char c) { return c >= 'a' && c <= 'z' ? static_cast<char>(c - 32) : c; });
    out += fmt::format(".SH {}\n", title);
    for (const Parameter& parameter : parameters()) {
      if (parameter.group != group) continue;
      out += fmt::format(".TP\n.BR {} \" = {}\"\n", parameter.name, roff(default_in_file(parameter)));
      out += roff(fmt::format("{}{}", effect_of(parameter), parameter.documentation)) + "\n";
      if (parameter.effect == Effect::Retired) continue;
      const std::string aliases = aliases_of(parameter);
      out += roff(fmt::format("Values: {}.{}{}", values_of(parameter),
                              parameter.context == Context::Startup ? " A change takes a restart." : "",
                              aliases.empty() ? "" : fmt::format(" Also called {}.", aliases))) +
             "\n";
    }
  }
  out += ".SH NODES\nThe number of the node, 0 to 127, stands behind the name.\n";
  for (const NumberedParameter& numbered : numbered_parameters()) {
    const bool later = numbered.part == NumberedParameter::Part::Later;
    out += fmt::format(".TP\n.BI {} N\n{}{}\n", numbered.name, later ? "Not yet in effect. " : "",
                       roff(numbered.documentation));
  }
  return out + ".SH SEE ALSO\n.BR pgweir (1)\n";
}

}  // namespace weir::config
