// Hand-made facts and a catalogue that answers from a list, for the tests of lb.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "common/shmem/catalog_view.h"
#include "parser/facts.h"

namespace weir::lb {

// Answers what it was told; everything else is not known, or, once `closed`, known not to exist.
class FakeCatalog : public shmem::CatalogView {
 public:
  struct Object {
    std::string schema;
    bool plain = false;
    bool plain_to_write = false;
    bool builtin = false;
    bool quiet = false;
    bool late = false;
    std::string path_doubts = {};
    bool reads_itself = false;
    bool writes_itself = false;
    bool draws_nothing = false;
    bool tells_time = false;
  };

  void add(shmem::FactKind kind, const std::string& name, Object object) {
    objects_[{kind, name}].push_back(std::move(object));
  }
  void add_nothing(shmem::FactKind kind, const std::string& name) { objects_[{kind, name}]; }
  void close() { closed_ = true; }

  // Shorthands.
  void table(const std::string& schema, const std::string& name) {
    add(shmem::FactKind::Relation, name, {schema, true, true, false, false, false, {}, true, true, true});
  }
  void view(const std::string& schema, const std::string& name) {
    add(shmem::FactKind::Relation, name, {schema, false, false, false});
  }
  void builtin_function(const std::string& name) {
    add(shmem::FactKind::Function, name, {"pg_catalog", false, false, true});
  }
  void user_function(const std::string& schema, const std::string& name) {
    add(shmem::FactKind::Function, name, {schema, false, false, false});
  }
  void builtin_operator(const std::string& name) {
    add(shmem::FactKind::Operator, name, {"pg_catalog", false, false, true});
  }

  shmem::CatalogAnswer find(std::string_view database, shmem::FactKind kind, std::string_view name) const override {
    if (database != "db") return {};
    const auto found = objects_.find({kind, std::string(name)});
    if (found == objects_.end()) return {closed_ ? shmem::Known::Yes : shmem::Known::Unknown, {}};
    shmem::CatalogAnswer answer{shmem::Known::Yes, {}};
    for (const Object& object : found->second) {
      answer.schemas.push_back({object.schema, object.plain, object.plain_to_write, object.builtin, object.quiet,
                                object.late, object.path_doubts, object.reads_itself, object.writes_itself, object.draws_nothing, object.tells_time});
    }
    return answer;
  }

 private:
  std::map<std::pair<shmem::FactKind, std::string>, std::vector<Object>> objects_;
  bool closed_ = false;
};

inline parser::Statement statement_of(parser::StatementKind kind) {
  parser::Statement statement;
  statement.kind = kind;
  return statement;
}

inline parser::StatementFacts facts_of(parser::Statement statement) {
  parser::StatementFacts facts;
  facts.statements.push_back(std::move(statement));
  return facts;
}

}  // namespace weir::lb
