#include "child/state_image.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "child/session_state.h"
#include "parser/classify.h"

namespace weir::child {
namespace {

using Values = std::map<std::string, std::string>;  // of parameters that differ from those of a fresh login

// What a server makes of a SET, RESET or set_config() outside a block.
void run(Values& values, const std::string& text) {
  const parser::StatementFacts facts = parser::classify(text);
  for (const parser::Statement& statement : facts.statements) {
    for (const parser::SetChange& change : statement.sets) {
      if (change.parameter == "session_authorization") values.erase("role");
      if (change.action == parser::SetAction::ResetAll) {
        std::erase_if(values, [](const auto& v) { return !is_identity(v.first); });
      } else if (change.action == parser::SetAction::Reset || change.to_default) {
        values.erase(change.parameter);
      } else {
        values[change.parameter] = change.literal;
      }
    }
  }
}

void carry_out(Values& values, const Replay& replay) {
  RC_ASSERT(!replay.discard_all && !replay.reset_all);
  if (replay.reset_identity) {
    values.erase("session_authorization");
    values.erase("role");
  }
  for (const auto& [name, value] : replay.parameters) values[name] = value;
  for (const std::string& statement : replay.statements) run(values, statement);
}

std::vector<std::string> random_sets() {
  static const std::vector<std::string> kTexts = {
      "SET work_mem = '1MB'",      "SET work_mem = '2MB'",  "RESET work_mem",           "SET search_path = 'a'", "SELECT set_config('app.user', 'bob', false)",
      "RESET \"app.user\"",        "SET ROLE reader",       "RESET ROLE",               "RESET ALL",             "SET SESSION AUTHORIZATION someone",
      "SET application_name = 'x'", "SET ROLE writer",      "SET work_mem TO DEFAULT"};
  return *rc::gen::container<std::vector<std::string>>(rc::gen::elementOf(kTexts));
}

// A session that has run TEXTS, one after the other, and the values that a server has then.
Values play(SessionState& state, const std::vector<std::string>& texts) {
  const SessionState::Parameters startup = *rc::gen::elementOf(std::vector<SessionState::Parameters>{{}, {{"application_name", "psql"}}});
  state.set_startup_parameters(startup);
  Values values;
  for (const auto& [name, value] : startup) values[name] = value;
  for (const std::string& text : texts) {
    const parser::StatementFacts facts = parser::classify(text);
    state.on_completed(facts.statements.front(), "SET");
    state.on_ready('I', false);
    run(values, text);
    for (const auto& [name, value] : startup) values.try_emplace(name, value);  // pgweir sets them again
  }
  return values;
}

TEST(StateImage, from_any_state_to_any_other) {
  EXPECT_TRUE(rc::check("a connection that one session has left is brought to what another one wants", [] {
    StateImages images;
    SessionState one;
    SessionState other;
    Values values = play(one, random_sets());
    const Values wanted = play(other, random_sets());
    const StateImagePtr from = images.intern(one.image());
    const StateImagePtr to = images.intern(other.image());
    carry_out(values, difference(from.get(), to.get()));
    RC_ASSERT(values == wanted);
    carry_out(values, difference(to.get(), nullptr));
    RC_ASSERT(values.empty());
    carry_out(values, difference(nullptr, from.get()));
    RC_ASSERT(difference(from.get(), from.get()).empty());
  }));
}

TEST(StateImage, equal_images_are_one) {
  StateImages images;
  const StateImagePtr one = images.intern({{{"work_mem", "SET work_mem = '1MB'"}}});
  EXPECT_EQ(one, images.intern({{{"work_mem", "SET work_mem = '1MB'"}}}));
  EXPECT_NE(one, images.intern({{{"work_mem", "SET work_mem = '2MB'"}}}));
  EXPECT_NE(images.intern({{{"a", "bc"}}}), images.intern({{{"ab", "c"}}}));
  EXPECT_EQ(images.intern({}), nullptr);
}

TEST(StateImage, images_that_nobody_has_are_forgotten) {
  StateImages images;
  for (int i = 0; i < 1000; ++i) images.intern({{{"work_mem", std::to_string(i)}}});
  EXPECT_LE(images.size(), 65U);
}

TEST(StateImage, parameters_are_set_with_the_rights_of_the_login) {
  const StateImage from{{{"role", "SET ROLE reader"}}};
  const StateImage to{{{"work_mem", "SET work_mem = '1MB'"}, {"role", "SET ROLE reader"}}};
  const Replay replay = difference(&from, &to);
  EXPECT_TRUE(replay.reset_identity);
  EXPECT_EQ(replay.statements, (std::vector<std::string>{"SET work_mem = '1MB'", "SET ROLE reader"}));
}

}  // namespace
}  // namespace weir::child
