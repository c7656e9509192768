// Random sessions: what a client may do one after another on one connection.
#pragma once

#include <string>
#include <vector>

#include "test/compare/grammar.h"
#include "test/compare/say.h"

namespace weir::compare {

class ScriptMaker {
public:
  ScriptMaker(Random& random, const std::vector<BuiltIn>& built_ins)
      : random_(random), grammar_(random, built_ins) {}
  // Begins a script: who the user is and how many steps it has. An odd one changes the catalogue
  // and binds its session to the primary sooner or later; what all sessions know of names is then
  // asked anew.
  std::string begin(bool odd, int& steps);
  // The next step, after one that left the session in STATE ('I', 'T', 'E').
  Step step(char state);

private:
  std::string statement();
  std::string simple_only();
  std::string transaction();
  std::string session();
  std::string temp();
  std::string cursor();
  std::string prepared();
  std::string opaque();
  std::string explain();
  std::string copy();
  std::string several();
  Step extended(Style style);
  const std::string& pick(const std::vector<std::string>& from) { return random_.pick(from); }

  Random& random_;
  Grammar grammar_;
  bool in_block_ = false;
  // What this script leans to, so that scripts differ more than statements do.
  int reads_ = 0;
  int functions_ = 0;
  int writes_ = 0;
  int blocks_ = 0;
  int session_ = 0;
  int odd_ = 0; // of what binds a session to the primary: temporary objects, DO, DDL
};

} // namespace weir::compare
