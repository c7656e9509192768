// The words by which the routing tables speak of sessions and targets.
#pragma once

#include <functional>
#include <map>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "lb/policy.h"
#include "lb/session_routing.h"
#include "lb/target.h"

namespace weir::lb {

// Parts of TEXT between separators, without blanks at their ends.
inline std::vector<std::string> split(const std::string& text, char separator) {
  std::vector<std::string> parts;
  std::istringstream in(text);
  for (std::string part; std::getline(in, part, separator);) {
    const auto first = part.find_first_not_of(' ');
    const auto last = part.find_last_not_of(' ');
    parts.push_back(first == std::string::npos ? "" : part.substr(first, last - first + 1));
  }
  return parts;
}

inline void apply_session_word(SessionRouting& session, PolicySettings& settings, const std::string& word) {
  const std::map<std::string, std::function<void()>> words = {
      {"-", [] {}},
      {"T", [&] { session.transaction_status = 'T'; }},
      {"E", [&] { session.transaction_status = 'E'; }},
      {"standby", [&] { session.block_on_standby = true; }},
      {"held", [&] { session.transaction_status = 'T'; session.block_held = true; }},
      {"ro", [&] { session.block_modes.read_only = parser::Tristate::Yes; }},
      {"rw", [&] { session.block_modes.read_only = parser::Tristate::No; }},
      {"rr", [&] { session.block_modes.isolation = parser::TransactionModes::Isolation::RepeatableRead; }},
      {"aside", [&] { session.transaction_status = 'T'; session.reads_aside = true; }},
      {"kept", [&] { session.transactions_kept = true; }},
      {"readskept", [&] { session.reads_kept = true; }},
      {"unusual", [&] { session.unusual_isolation = true; }},
      {"serializable", [&] { session.unusual_isolation = session.serializable_default = true; }},
      {"temp", [&] { session.may_have_temp = true; }},
      {"tempx", [&] {
         session.may_have_temp = session.temp_names_known = true;
         session.temp_names = {"x", "t", "text"};
       }},
      {"opaque", [&] { session.opaque_state = true; }},
      {"cursor", [&] { session.open_cursor = true; }},
      {"listening", [&] { session.listening = true; }},
      {"strings", [&] { session.nonstandard_strings = true; }},
      {"encoding", [&] { session.unsafe_encoding = true; }},
      {"replication", [&] { session.replication = true; }},
      {"writes", [&] { session.unverified_writes.push_back({"", "t"}); }},
      {"effects", [&] { session.unverified_effects = true; }},
      {"pinned", [&] { session.pinned = true; }},
      {"timezone", [&] { session.session_parameters = {"application_name", "timezone"}; }},
      {"off", [&] { settings.load_balance_mode = false; }},
  };
  const auto found = words.find(word);
  if (found == words.end()) throw std::runtime_error("no such word for a session: " + word);
  found->second();
}

// "Scope[=node][+standby] <tab> Reason [<tab> Cause]"
inline std::string target_text(const Target& target) {
  std::string text(enum_name(target.scope));
  if (target.scope == Scope::Node) text += "=" + std::to_string(target.node);
  if (target.aside) text += "+aside";
  if (target.prefer_standby) text += "+standby";
  text += std::string("\t") + reason_name(target.reason);
  if (target.cause != target.reason) text += std::string("\t") + reason_name(target.cause);
  return text;
}

}  // namespace weir::lb
