#include "lb/resolve.h"

#include <algorithm>
#include <utility>

#include "lb/judge.h"
#include "lb/object_relations.h"

namespace weir::lb {
namespace {

using parser::Name;
using parser::Statement;
using parser::StatementKind;
using shmem::FactKind;

constexpr std::size_t kMaxNames = 400;  // of one text

FactKind fact_kind(NameUse use) {
  switch (use) {
    case NameUse::Read:
    case NameUse::Written:
      return FactKind::Relation;
    case NameUse::Function:
    case NameUse::EventTriggers:
      return FactKind::Function;
    case NameUse::Operator:
      return FactKind::Operator;
    case NameUse::Type:
      return FactKind::Type;
  }
  return FactKind::Relation;
}

void add_missing(std::vector<Missing>& missing, FactKind kind, std::string_view name) {
  Missing entry{kind, std::string(name)};
  if (std::find(missing.begin(), missing.end(), entry) == missing.end()) missing.push_back(std::move(entry));
}

// The names of which the catalogue must be asked to judge USE of NAME.
void add_missing_of(std::vector<Missing>& missing, NameUse use, const Name& name) {
  if (use == NameUse::Operator && name.name.find("BETWEEN") != std::string::npos) {
    for (const char* symbol : {"<", "<=", ">=", ">"}) add_missing(missing, FactKind::Operator, symbol);
    return;
  }
  std::string_view base = name.name;
  while (use == NameUse::Type && base.ends_with("[]")) base.remove_suffix(2);
  add_missing(missing, fact_kind(use), base);
}

// Does the statement run what stands behind the relations that it names as read: views, policies? DDL names them, and
// ones that do not exist yet, without reading them, unless it is CREATE TABLE AS; other utility commands switch user
// code off or name other things.
bool runs_read_code(const Statement& statement) {
  switch (statement.kind) {
    case StatementKind::Ddl:
      return statement.select_into;
    case StatementKind::OtherWrite:
    case StatementKind::Lock:
    case StatementKind::Vacuum:
      return false;
    default:
      return true;
  }
}

// Does the statement run triggers and defaults of the relations that it names as written?
bool runs_write_code(const Statement& statement) {
  switch (statement.kind) {
    case StatementKind::Ddl:
    case StatementKind::Lock:
    case StatementKind::Vacuum:
      return false;
    case StatementKind::Select:
      return !statement.select_into || statement.modifying_cte;
    default:
      return true;
  }
}

class Resolver {
 public:
  Resolver(const ResolveInput& input, const Policy& policy, const shmem::CatalogView& catalog)
      : judge_(input, policy, catalog), relations_(policy.relations()) {
    out_.verdict = Verdict::Plain;
    out_.reason = Reason::PlainRead;
  }

  void add(const Statement& statement) {
    const bool ddl = statement.kind == StatementKind::Ddl;
    // What will run with a temporary relation, a view's query say, is looked at when it is made: nothing tells later.
    const bool temp = statement.creates_temp && statement.temp_use == parser::TempUse::Names;
    if (temp || runs_read_code(statement)) {
      for (const Name& name : statement.relations) use(NameUse::Read, name);
    }
    for (const Name& name : statement.functions) use(NameUse::Function, name);
    for (const Name& name : statement.operators) use(NameUse::Operator, name);
    // DDL names types without running their code.
    if (temp || !ddl) {
      for (const Name& name : statement.types) use(NameUse::Type, name);
    }
    if (runs_write_code(statement)) {
      for (const Name& name : statement.written_relations) use(NameUse::Written, name);
    }
    if (ddl || statement.select_into) use(NameUse::EventTriggers, Name{});
  }

  Resolved take() { return std::move(out_); }

 private:
  void use(NameUse use, const Name& name) {
    if (++names_ > kMaxNames) {
      note_doubt(Reason::TooManyNames);
      out_.reads_beyond = out_.writes_beyond = true;
      out_.user_functions = true;
      out_.writes_verified = false;
      return;
    }
    const Judgement judgement = judge_.judge(use, name);
    if (judgement.verdict == Verdict::Doubt) note_doubt(judgement.reason);
    if (judgement.verdict == Verdict::Unknown && out_.verdict == Verdict::Plain) {
      out_.verdict = Verdict::Unknown;
      out_.reason = judgement.reason;
    }
    if (judgement.must_ask) add_missing_of(out_.missing, use, name);
    if (judgement.session_lock) out_.session_locks = true;
    if (judgement.late) out_.late_names = true;
    if (judgement.clock) out_.tells_time = true;
    if (judgement.draws) out_.draws = true;
    note_reach(use, name, judgement);
    if (judgement.effect != Verification::Harmless && use == NameUse::Written) out_.writes_verified = false;
    if (judgement.effect == Verification::Opaque) out_.user_functions = true;
    if (judgement.effect == Verification::Unknown) note_unverified(Unverified{use, name});
  }

  // What dml_adaptive_object_relationship_list tells of a view or function is believed.
  void note_reach(NameUse use, const Name& name, const Judgement& judgement) {
    const bool function = use == NameUse::Function;
    const bool listed = !relations_.empty() && (function || use == NameUse::Read);
    const std::string told = listed ? adaptive_name(name.name, function) : std::string();
    if (judgement.beyond && use != NameUse::Written && !(listed && relations_.is_dependent(told))) out_.reads_beyond = true;
    const bool plain = judgement.verdict == Verdict::Plain || judgement.reason == Reason::SystemCatalog;
    const bool runs_code = judgement.effect != Verification::Harmless;
    const bool writes = runs_code || (judgement.beyond && (use == NameUse::Written || !plain));
    if (writes && !(function && listed && relations_.is_object(told))) out_.writes_beyond = true;
  }

  void note_doubt(Reason reason) {
    if (out_.verdict == Verdict::Doubt) return;
    out_.verdict = Verdict::Doubt;
    out_.reason = reason;
  }

  void note_unverified(Unverified entry) {
    auto& list = out_.unverified;
    if (std::find(list.begin(), list.end(), entry) == list.end()) list.push_back(std::move(entry));
  }

  Judge judge_;
  const ObjectRelations& relations_;
  Resolved out_;
  std::size_t names_ = 0;
};

}  // namespace

Resolved resolve(const parser::StatementFacts& facts, const ResolveInput& input, const Policy& policy,
                 const shmem::CatalogView& catalog) {
  Resolver resolver(input, policy, catalog);
  for (const Statement& statement : facts.statements) resolver.add(statement);
  return resolver.take();
}

Verification verify(const Unverified& use, const ResolveInput& input, const Policy& policy,
                    const shmem::CatalogView& catalog, std::vector<Missing>* missing) {
  const Judgement judgement = Judge(input, policy, catalog).judge(use.use, use.name);
  if (judgement.must_ask && missing != nullptr) add_missing_of(*missing, use.use, use.name);
  return judgement.effect;
}

}  // namespace weir::lb
