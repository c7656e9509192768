#include "parser/facts.h"

namespace weir::parser {

Statement kind_and_names(const Statement& statement) {
  Statement names;
  names.kind = statement.kind;
  names.relations = statement.relations;
  names.written_relations = statement.written_relations;
  names.functions = statement.functions;
  names.operators = statement.operators;
  names.types = statement.types;
  return names;
}

} // namespace weir::parser
