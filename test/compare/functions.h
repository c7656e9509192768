// The built-in functions of a server and calls of them with arguments of the right types.
#pragma once

#include <string>
#include <vector>

#include "test/compare/random.h"
#include "test/support/connection.h"

namespace weir::compare {

struct BuiltIn {
  std::string name;
  std::vector<std::string> types; // of its arguments, as regtype writes them
  char kind = 'f';                // prokind: function, aggregate or window
  bool set = false;               // returns rows
  bool differs = false;           // its answer differs by nature: differs_by_nature
};

// All of pg_catalog that can be called from SQL with values made by literal(), except those that
// would harm the server or the run.
std::vector<BuiltIn> built_ins(test::Connection& connection);

// A literal of TYPE with its cast, polymorphic types included; "" for a type that cannot be made.
std::string literal(Random& random, const std::string& type);
// The same without its cast, as a parameter has it.
std::string bare_literal(Random& random, const std::string& type);

// A call of FUNCTION, as an expression or, of window functions, with OVER.
std::string call(Random& random, const BuiltIn& function);

// Functions whose answer is another one in each call, session, database or node by what they are:
// only their place and the shape of their answer are compared.
bool differs_by_nature(const std::string& name);

} // namespace weir::compare
