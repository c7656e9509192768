#include "child/replay_messages.h"

#include <optional>
#include <string_view>
#include <vector>

#include "common/wire/encode.h"

namespace weir::child {
namespace {

void run(std::string& out, std::string_view sql, const std::vector<std::optional<std::string_view>>& values = {}) {
  wire::encode_parse(out, "", sql);
  wire::encode_bind(out, "", "", values);
  wire::encode_execute(out, "", 0);
}

void restore(std::string& out, const SessionState::Parameters& parameters, bool local) {
  if (parameters.empty()) return;
  std::string sql = "SELECT pg_catalog.set_config(p.n, p.v, ";
  sql += local ? "true" : "false";
  sql += ") FROM (VALUES ";
  std::vector<std::optional<std::string_view>> values;
  for (const auto& [name, value] : parameters) {
    if (!values.empty()) sql += ", ";
    sql += "($" + std::to_string(values.size() + 1) + "::pg_catalog.text, $" + std::to_string(values.size() + 2) + "::pg_catalog.text)";
    values.emplace_back(name);
    values.emplace_back(value);
  }
  // Parameters of applications ("app.user") are not in pg_settings; RESET makes them empty.
  sql +=
      ") AS p(n, v) LEFT JOIN pg_catalog.pg_settings AS s ON pg_catalog.lower(s.name) = p.n "
      "WHERE CASE WHEN s.name IS NULL THEN coalesce(pg_catalog.current_setting(p.n, true), '') = '' ELSE s.source <> 'session' END";
  run(out, sql, values);
}

}  // namespace

ReplayMessages replay_messages(const Replay& replay) {
  ReplayMessages messages;
  if (replay.discard_all) {
    wire::encode_query(messages.bytes, "DISCARD ALL");
    ++messages.ready;
    messages.discards = true;
  }
  const std::size_t before = messages.bytes.size();
  if (replay.reset_identity) {
    run(messages.bytes, "RESET SESSION AUTHORIZATION");
    run(messages.bytes, "RESET ROLE");
  }
  if (replay.reset_all) run(messages.bytes, "RESET ALL");
  if (!replay.parameters.empty()) {
    std::string sql = "SELECT ";
    std::vector<std::optional<std::string_view>> values;
    for (const auto& [name, value] : replay.parameters) {
      if (!values.empty()) sql += ", ";
      sql += "pg_catalog.set_config($" + std::to_string(values.size() + 1) + ", $" + std::to_string(values.size() + 2) + ", false)";
      values.emplace_back(name);
      values.emplace_back(value);
    }
    run(messages.bytes, sql, values);
  }
  for (const std::string& statement : replay.statements) run(messages.bytes, statement);
  if (messages.bytes.size() > before) {
    wire::encode_close(messages.bytes, 'S', "");  // nothing of this is the client's to run
    wire::encode_sync(messages.bytes);
    ++messages.ready;
  }
  return messages;
}

std::string restore_messages(const SessionState::Parameters& parameters, const SessionState::Parameters& local) {
  std::string out;
  restore(out, parameters, false);
  restore(out, local, true);
  wire::encode_close(out, 'S', "");
  wire::encode_sync(out);
  return out;
}

}  // namespace weir::child
