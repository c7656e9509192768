// Random SQL over the objects of schema.sql: expressions, reads and writes. What a text means is
// not known here, nor whether it is valid: both sides must say the same of it.
#pragma once

#include <string>
#include <vector>

#include "test/compare/functions.h"
#include "test/compare/random.h"
#include "test/support/connection.h"

namespace weir::compare {

// A read with all names that calm statements use: once it runs on a standby, their facts are known.
std::string plain_names();

class Grammar {
public:
  Grammar(Random& random, const std::vector<BuiltIn>& built_ins)
      : random_(random), built_ins_(built_ins) {}

  // Calm: most statements are valid and can be answered by a standby. Otherwise anything goes.
  void calm(bool on) { calm_ = on; }
  // Constants may become parameters while ROW is set; nullptr: never.
  void parameters(test::Row* row) { parameters_ = row; }
  // Something since the last call of take_differs() whose value differs in each call.
  bool take_differs();

  std::string read();          // SELECT, VALUES, TABLE, WITH, set operations
  std::string function_read(); // of built-in functions
  std::string write();
  std::string ddl();      // in the schema "scratch", and what reads it
  std::string relation(); // a name that FROM takes, without an alias
  std::string expression(int depth);
  std::string decorated(const std::string& sql); // with comments, case and blanks

private:
  std::string constant();
  std::string condition(int depth);
  std::string plain_call(int depth);
  std::string user_call(int depth);
  std::string column();
  std::string from();
  std::string core();
  std::string with_read();
  std::string ordered(const std::string& sql);
  const std::string& pick(const std::vector<std::string>& from) { return random_.pick(from); }

  Random& random_;
  const std::vector<BuiltIn>& built_ins_;
  test::Row* parameters_ = nullptr;
  bool differs_ = false;
  bool calm_ = false;
};

} // namespace weir::compare
