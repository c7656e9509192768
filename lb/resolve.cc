#include "lb/resolve.h"

#include <algorithm>
#include <utility>

#include "lb/builtin.h"
#include "lb/catalog_query.h"

namespace weir::lb {
namespace {

using parser::Name;
using parser::Statement;
using parser::StatementKind;
using shmem::FactKind;

constexpr std::size_t kMaxNames = 400;       // of one text
constexpr std::size_t kMaxNameBytes = 63;    // the server cuts longer ones

// What one name means for a read on a standby (`verdict`, `reason`) and for the session's state (`effect`).
struct Judgement {
  Verdict verdict = Verdict::Plain;
  Reason reason = Reason::PlainRead;
  Verification effect = Verification::Harmless;
  bool session_lock = false;
  bool must_ask = false;  // the catalogue has not been asked for it
};

Judgement doubt(Reason reason, Verification effect) { return {Verdict::Doubt, reason, effect, false, false}; }

Judgement ask() { return {Verdict::Unknown, Reason::CatalogPending, Verification::Unknown, false, true}; }

bool is_ascii(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) { return static_cast<unsigned char>(c) < 0x80; });
}

// As PostgreSQL's pg_utf8_islegal: the shortest form only, no surrogates, at most U+10FFFF.
bool is_utf8(std::string_view text) {
  std::size_t i = 0;
  const auto byte = [&](std::size_t at) { return static_cast<unsigned char>(text[at]); };
  while (i < text.size()) {
    const unsigned char lead = byte(i);
    const std::size_t length = lead < 0x80 ? 1 : lead < 0xC2 ? 0 : lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : lead < 0xF5 ? 4 : 0;
    if (length == 0 || text.size() - i < length) return false;
    for (std::size_t k = 1; k < length; ++k) {
      if ((byte(i + k) & 0xC0) != 0x80) return false;
    }
    if (length >= 3) {
      const unsigned char second = byte(i + 1);
      if ((lead == 0xE0 && second < 0xA0) || (lead == 0xED && second > 0x9F)) return false;
      if ((lead == 0xF0 && second < 0x90) || (lead == 0xF4 && second > 0x8F)) return false;
    }
    i += length;
  }
  return true;
}

bool in_system_schema(std::string_view schema) {
  return schema == "pg_catalog" || schema == "information_schema" || schema.starts_with("pg_toast");
}

class Judge {
 public:
  Judge(const ResolveInput& input, const Policy& policy, const shmem::CatalogView& catalog)
      : input_(input), policy_(policy), catalog_(catalog) {}

  Judgement judge(NameUse use, const Name& name) const {
    switch (use) {
      case NameUse::Read:
      case NameUse::Written:
        return relation(name, use == NameUse::Written);
      case NameUse::Function:
        return function(name);
      case NameUse::Operator:
        return operator_(name);
      case NameUse::Type:
        return type(name);
      case NameUse::EventTriggers:
        return event_triggers();
    }
    return doubt(Reason::UnknownRelation, Verification::Opaque);
  }

 private:
  // The server would look for another name than the catalogue is asked for.
  bool cannot_ask(const Name& name) const {
    if (name.name.empty() || name.name.size() > kMaxNameBytes || name.schema.size() > kMaxNameBytes) return true;
    if (is_ascii(name.name) && is_ascii(name.schema)) return false;
    // One name that the server cannot read would make the question fail for all the others asked with it.
    return input_.foreign_encoding || !is_utf8(name.name) || !is_utf8(name.schema);
  }

  // True if an object of SCHEMA may be what NAME means. Every schema of the path counts, not only the first that has
  // the name: the server skips those that the user may not use. An empty SCHEMA stands for any.
  bool may_mean(const Name& name, std::string_view schema) const {
    if (schema.empty()) return true;
    if (!name.schema.empty()) return schema == name.schema;
    if (!input_.search_path_known || schema == "pg_catalog") return true;
    return std::find(input_.search_path.begin(), input_.search_path.end(), schema) != input_.search_path.end();
  }

  Judgement relation(const Name& name, bool written) const {
    if (name.schema.starts_with("pg_temp")) return doubt(Reason::TempObjects, Verification::Opaque);
    if (in_system_schema(name.schema)) return doubt(Reason::SystemCatalog, Verification::Harmless);
    if (cannot_ask(name)) return doubt(encoding_or(Reason::UnknownRelation), Verification::Opaque);
    const shmem::CatalogAnswer answer = catalog_.find(input_.database, FactKind::Relation, name.name);
    if (answer.known == shmem::Known::Unknown) return ask();
    bool found = false;
    Judgement result;
    for (const shmem::SchemaFact& fact : answer.schemas) {
      if (!may_mean(name, fact.schema)) continue;
      found = true;
      const bool system = fact.builtin || in_system_schema(fact.schema);
      if (system) {
        result.verdict = Verdict::Doubt;
        result.reason = Reason::SystemCatalog;
      } else if (!fact.plain && result.verdict == Verdict::Plain) {
        result.verdict = Verdict::Doubt;
        result.reason = Reason::NotPlainRelation;
      }
      const bool harmless = system || fact.plain_to_write || (!written && fact.plain);
      if (!harmless) result.effect = Verification::Opaque;
    }
    // Made by an open transaction, temporary, or a mistake: the primary says which.
    if (!found) return doubt(Reason::UnknownRelation, Verification::Unknown);
    return result;
  }

  Judgement function(const Name& name) const {
    const FunctionListing listing = policy_.function_listing(name.schema, name.name);
    if (listing == FunctionListing::ReadOnly) return {};
    Judgement result = function_by_catalog(name);
    if (listing == FunctionListing::Write) {
      result.verdict = Verdict::Doubt;
      result.reason = Reason::WriteFunctionList;
    }
    return result;
  }

  Judgement function_by_catalog(const Name& name) const {
    if (cannot_ask(name)) return doubt(encoding_or(Reason::UnknownFunction), Verification::Opaque);
    const shmem::CatalogAnswer answer = catalog_.find(input_.database, FactKind::Function, name.name);
    if (answer.known == shmem::Known::Unknown) return ask();
    bool found = false;
    for (const shmem::SchemaFact& fact : answer.schemas) {
      // A function of that name in a schema off the path counts too: the path may differ where the text runs.
      const bool meant = name.schema.empty() || fact.schema.empty() || fact.schema == name.schema;
      if (!meant) continue;
      found = true;
      if (!fact.builtin) return doubt(Reason::UserFunction, Verification::Opaque);
    }
    if (!found) return doubt(Reason::UnknownFunction, Verification::Unknown);
    switch (builtin_function(name.name)) {
      case BuiltinFunction::Harmless:
        return {};
      case BuiltinFunction::NeedsPrimary:
        break;
      case BuiltinFunction::SessionLock: {
        Judgement lock = doubt(Reason::VolatileFunction, Verification::Harmless);
        lock.session_lock = true;
        return lock;
      }
      case BuiltinFunction::OpaqueEffect:
        return doubt(Reason::VolatileFunction, Verification::Opaque);
    }
    return doubt(Reason::VolatileFunction, Verification::Harmless);
  }

  Judgement operator_(const Name& name) const {
    // BETWEEN, and such as stand for several operators or none.
    if (name.name.find("BETWEEN") != std::string::npos) {
      Judgement worst;
      for (const char* symbol : {"<", "<=", ">=", ">"}) {
        Judgement one = operator_(Name{name.schema, symbol});
        if (one.verdict == Verdict::Doubt || worst.verdict == Verdict::Plain) worst = one;
        if (worst.verdict == Verdict::Doubt) return worst;
      }
      return worst;
    }
    if (cannot_ask(name)) return doubt(Reason::UserOperator, Verification::Opaque);
    const shmem::CatalogAnswer answer = catalog_.find(input_.database, FactKind::Operator, name.name);
    if (answer.known == shmem::Known::Unknown) return ask();
    bool found = false;
    for (const shmem::SchemaFact& fact : answer.schemas) {
      if (!name.schema.empty() && !fact.schema.empty() && fact.schema != name.schema) continue;
      found = true;
      if (!fact.builtin) return doubt(Reason::UserOperator, Verification::Opaque);
    }
    if (!found) return doubt(Reason::UserOperator, Verification::Unknown);
    return {};
  }

  // pg_catalog is searched before all others unless the path says otherwise.
  bool catalog_first(const Name& name) const {
    if (name.schema == "pg_catalog") return true;
    if (!name.schema.empty() || !input_.search_path_known) return false;
    const auto& path = input_.search_path;
    const auto listed = std::find(path.begin(), path.end(), "pg_catalog");
    return listed == path.end() || listed == path.begin();
  }

  Judgement type(const Name& written_name) const {
    Name name = written_name;
    while (name.name.ends_with("[]")) name.name.resize(name.name.size() - 2);
    if (catalog_first(name)) {
      const BuiltinType builtin = builtin_type(name.name);
      if (builtin == BuiltinType::Ordinary) return {};
      if (builtin == BuiltinType::ObjectName) return doubt(Reason::NodeType, Verification::Harmless);
    }
    if (name.schema.starts_with("pg_temp")) return doubt(Reason::TempObjects, Verification::Opaque);
    if (cannot_ask(name)) return doubt(encoding_or(Reason::UserType), Verification::Opaque);
    const shmem::CatalogAnswer answer = catalog_.find(input_.database, FactKind::Type, name.name);
    if (answer.known == shmem::Known::Unknown) return ask();
    bool found = false;
    for (const shmem::SchemaFact& fact : answer.schemas) {
      if (!may_mean(name, fact.schema)) continue;
      found = true;
      if (!fact.builtin && !fact.plain) return doubt(Reason::UserType, Verification::Opaque);
    }
    if (!found) return doubt(Reason::UserType, Verification::Unknown);
    if (builtin_type(name.name) == BuiltinType::ObjectName) return doubt(Reason::NodeType, Verification::Harmless);
    return {};
  }

  Judgement event_triggers() const {
    const shmem::CatalogAnswer answer = catalog_.find(input_.database, FactKind::Function, kEventTriggers);
    if (answer.known == shmem::Known::Unknown) return ask();
    return answer.schemas.empty() ? Judgement{} : doubt(Reason::UserFunction, Verification::Opaque);
  }

  Reason encoding_or(Reason reason) const { return input_.foreign_encoding ? Reason::ForeignEncoding : reason; }

  const ResolveInput& input_;
  const Policy& policy_;
  const shmem::CatalogView& catalog_;
};

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
// ones that do not exist yet, without reading them, unless it is CREATE TABLE AS; other utility commands switch user code
// off or name other things.
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
      : judge_(input, policy, catalog) {
    out_.verdict = Verdict::Plain;
    out_.reason = Reason::PlainRead;
  }

  void add(const Statement& statement) {
    const bool ddl = statement.kind == StatementKind::Ddl;
    if (runs_read_code(statement)) {
      for (const Name& name : statement.relations) use(NameUse::Read, name);
    }
    for (const Name& name : statement.functions) use(NameUse::Function, name);
    for (const Name& name : statement.operators) use(NameUse::Operator, name);
    // DDL names types without running their code.
    if (!ddl) {
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
    if (judgement.effect != Verification::Harmless && use == NameUse::Written) out_.writes_verified = false;
    if (judgement.effect == Verification::Opaque) out_.user_functions = true;
    if (judgement.effect == Verification::Unknown) note_unverified(Unverified{use, name});
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
