#include "lb/judge.h"

#include <algorithm>
#include <string>

#include "lb/builtin.h"
#include "lb/catalog_query.h"

namespace weir::lb {
namespace {

using parser::Name;
using shmem::FactKind;

constexpr std::size_t kMaxNameBytes = 63;  // the server cuts longer ones

Judgement doubt(Reason reason, Verification effect) {
  Judgement result;
  result.verdict = Verdict::Doubt;
  result.reason = reason;
  result.effect = effect;
  result.draws = result.beyond = true;
  return result;
}

Judgement ask() {
  Judgement result = doubt(Reason::CatalogPending, Verification::Unknown);
  result.verdict = Verdict::Unknown;
  result.must_ask = true;
  return result;
}

// Of two meanings of a name the worse counts, each in its own respect. The first doubt names the reason.
void add(Judgement& sum, const Judgement& one) {
  if (one.verdict == Verdict::Doubt && sum.verdict == Verdict::Plain) {
    sum.verdict = one.verdict;
    sum.reason = one.reason;
  }
  if (one.effect == Verification::Opaque) sum.effect = Verification::Opaque;
  sum.session_lock = sum.session_lock || one.session_lock;
  sum.late = sum.late || one.late;
  sum.draws = sum.draws || one.draws;
  sum.clock = sum.clock || one.clock;
  sum.beyond = sum.beyond || one.beyond;
}

// A value of regclass and its kin is a name, looked up when the text runs: on every node the same, but for temporary
// objects.
Judgement names_objects() {
  Judgement result;
  result.late = true;
  return result;
}

Judgement system_relation(std::string_view schema, std::string_view name) {
  Judgement result;
  if (!system_relation_is_plain(schema, name)) result = doubt(Reason::SystemCatalog, Verification::Harmless);
  result.late = true;
  result.beyond = true;
  return result;
}

Judgement own_function(std::string_view name) {
  Judgement result;
  switch (builtin_function(name)) {
    case BuiltinFunction::Harmless:
      break;
    case BuiltinFunction::NeedsPrimary:
      result = doubt(Reason::VolatileFunction, Verification::Harmless);
      break;
    case BuiltinFunction::SessionLock:
      result = doubt(Reason::VolatileFunction, Verification::Harmless);
      result.session_lock = true;
      break;
    case BuiltinFunction::OpaqueEffect:
      result = doubt(Reason::VolatileFunction, Verification::Opaque);
      break;
  }
  result.draws = false;  // nextval() and its kin are told by their names
  result.late = looks_names_up(name);
  result.beyond = result.late || builtin_function(name) == BuiltinFunction::OpaqueEffect;
  return result;
}

bool is_ascii(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) { return static_cast<unsigned char>(c) < 0x80; });
}

// Bytes of the character that begins with LEAD; 0: none does.
std::size_t utf8_length(unsigned char lead) {
  if (lead < 0x80) return 1;
  if (lead < 0xC2 || lead >= 0xF5) return 0;
  if (lead < 0xE0) return 2;
  return lead < 0xF0 ? 3 : 4;
}

// As PostgreSQL's pg_utf8_islegal: the shortest form only, no surrogates, at most U+10FFFF.
bool is_utf8(std::string_view text) {
  std::size_t i = 0;
  const auto byte = [&](std::size_t at) { return static_cast<unsigned char>(text[at]); };
  while (i < text.size()) {
    const unsigned char lead = byte(i);
    const std::size_t length = utf8_length(lead);
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

}  // namespace

Judgement Judge::judge(NameUse use, const Name& name) const {
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

// The server would look for another name than the catalogue is asked for.
bool Judge::cannot_ask(const Name& name) const {
  if (name.name.empty() || name.name.size() > kMaxNameBytes || name.schema.size() > kMaxNameBytes) return true;
  if (is_ascii(name.name) && is_ascii(name.schema)) return false;
  // One name that the server cannot read would make the question fail for all the others asked with it.
  return input_.foreign_encoding || !is_utf8(name.name) || !is_utf8(name.schema);
}

// True if an object of SCHEMA may be what NAME means. Every schema of the path counts, not only the first that has
// the name: the server skips those that the user may not use. An empty SCHEMA stands for any.
bool Judge::may_mean(const Name& name, std::string_view schema) const {
  if (schema.empty()) return true;
  if (!name.schema.empty()) return schema == name.schema;
  if (!input_.search_path_known || schema == "pg_catalog") return true;
  return std::find(input_.search_path.begin(), input_.search_path.end(), schema) != input_.search_path.end();
}

bool Judge::on_path(std::string_view schema) const {
  const auto& path = input_.search_path;
  return !input_.search_path_known || std::find(path.begin(), path.end(), schema) != path.end();
}

void Judge::add_user_fact(const shmem::SchemaFact& fact, Reason reason, Judgement& result) const {
  bool plain = fact.plain;
  bool quiet = fact.plain || fact.quiet;
  for (std::string_view list = fact.path_doubts; !list.empty();) {
    const std::string_view line = list.substr(0, list.find('\n'));
    list.remove_prefix(std::min(list.size(), line.size() + 1));
    if (line.empty() || !on_path(line.substr(1))) continue;
    plain = false;
    quiet = quiet && line.front() == 'q';
  }
  Judgement one;
  if (!plain) one = doubt(reason, quiet ? Verification::Harmless : Verification::Opaque);
  one.late = fact.late;
  one.clock = fact.tells_time;
  one.beyond = true;
  add(result, one);
}

Judgement Judge::relation(const Name& name, bool written) const {
  // Whether it is there the session knows, and what runs with it was told when it was made.
  if (name.schema.starts_with("pg_temp")) return doubt(Reason::TempObjects, Verification::Unknown);
  if (in_system_schema(name.schema)) return system_relation(name.schema, name.name);
  if (cannot_ask(name)) return doubt(encoding_or(Reason::UnknownRelation), Verification::Opaque);
  const shmem::CatalogAnswer answer = catalog_.find(input_.database, FactKind::Relation, name.name);
  if (answer.known == shmem::Known::Unknown) return ask();
  bool found = false;
  Judgement result;
  for (const shmem::SchemaFact& fact : answer.schemas) {
    if (!may_mean(name, fact.schema)) continue;
    found = true;
    if (fact.builtin || in_system_schema(fact.schema)) {
      add(result, system_relation(fact.schema, name.name));
      continue;
    }
    Judgement one;
    add_user_fact(fact, Reason::NotPlainRelation, one);
    // An unlogged table, say, is no thing for a standby but runs nothing.
    if (fact.plain_to_write) one.effect = Verification::Harmless;
    if (written && !fact.plain_to_write) one.effect = Verification::Opaque;
    one.beyond = written ? !fact.writes_itself : !fact.reads_itself;
    // A view that is no plain read may draw.
    one.draws = written ? !fact.draws_nothing : one.draws && !fact.reads_itself;
    add(result, one);
  }
  // Made by an open transaction, temporary, or a mistake: the primary says which.
  if (!found) return doubt(Reason::UnknownRelation, Verification::Unknown);
  return result;
}

Judgement Judge::function(const Name& name) const {
  const FunctionListing listing = policy_.function_listing(name.schema, name.name);
  if (listing == FunctionListing::ReadOnly) {
    Judgement listed;
    listed.late = true;
    // Believed to write nothing; whether it tells the time is found out.
    const Judgement known = function_by_catalog(name);
    listed.clock = known.clock;
    listed.must_ask = known.must_ask;
    listed.beyond = true;
    return listed;
  }
  Judgement result = function_by_catalog(name);
  if (listing == FunctionListing::Write) {
    result.verdict = Verdict::Doubt;
    result.reason = Reason::WriteFunctionList;
  }
  return result;
}

Judgement Judge::function_by_catalog(const Name& name) const {
  if (name.schema.starts_with("pg_temp")) return doubt(Reason::TempObjects, Verification::Opaque);
  if (cannot_ask(name)) return doubt(encoding_or(Reason::UnknownFunction), Verification::Opaque);
  const shmem::CatalogAnswer answer = catalog_.find(input_.database, FactKind::Function, name.name);
  if (answer.known == shmem::Known::Unknown) return ask();
  bool found = false;
  Judgement result;
  for (const shmem::SchemaFact& fact : answer.schemas) {
    if (!may_mean(name, fact.schema)) continue;
    found = true;
    if (fact.builtin) {
      add(result, own_function(name.name));
    } else {
      add_user_fact(fact, Reason::UserFunction, result);
    }
  }
  if (!found) return doubt(Reason::UnknownFunction, Verification::Unknown);
  return result;
}

Judgement Judge::operator_(const Name& name) const {
  // BETWEEN, and such as stand for several operators or none.
  if (name.name.find("BETWEEN") != std::string::npos) {
    Judgement worst;
    for (const char* symbol : {"<", "<=", ">=", ">"}) {
      const Judgement one = operator_(Name{name.schema, symbol});
      if (one.verdict == Verdict::Unknown) return one;
      add(worst, one);
      if (one.effect != Verification::Harmless) worst.effect = one.effect;
    }
    return worst;
  }
  if (cannot_ask(name)) return doubt(Reason::UserOperator, Verification::Opaque);
  const shmem::CatalogAnswer answer = catalog_.find(input_.database, FactKind::Operator, name.name);
  if (answer.known == shmem::Known::Unknown) return ask();
  bool found = false;
  Judgement result;
  for (const shmem::SchemaFact& fact : answer.schemas) {
    if (!may_mean(name, fact.schema)) continue;
    found = true;
    if (!fact.builtin) add_user_fact(fact, Reason::UserOperator, result);
  }
  if (!found) return doubt(Reason::UserOperator, Verification::Unknown);
  return result;
}

// pg_catalog is searched before all others unless the path says otherwise.
bool Judge::catalog_first(const Name& name) const {
  if (name.schema == "pg_catalog") return true;
  if (!name.schema.empty() || !input_.search_path_known) return false;
  const auto& path = input_.search_path;
  const auto listed = std::find(path.begin(), path.end(), "pg_catalog");
  return listed == path.end() || listed == path.begin();
}

Judgement Judge::type(const Name& written_name) const {
  Name name = written_name;
  while (name.name.ends_with("[]")) name.name.resize(name.name.size() - 2);
  if (catalog_first(name)) {
    const BuiltinType builtin = builtin_type(name.name);
    if (builtin == BuiltinType::Ordinary) return {};
    if (builtin == BuiltinType::ObjectName) return names_objects();
  }
  if (name.schema.starts_with("pg_temp")) return doubt(Reason::TempObjects, Verification::Opaque);
  if (cannot_ask(name)) return doubt(encoding_or(Reason::UserType), Verification::Opaque);
  const shmem::CatalogAnswer answer = catalog_.find(input_.database, FactKind::Type, name.name);
  if (answer.known == shmem::Known::Unknown) return ask();
  bool found = false;
  Judgement result;
  for (const shmem::SchemaFact& fact : answer.schemas) {
    if (!may_mean(name, fact.schema)) continue;
    found = true;
    if (!fact.builtin) add_user_fact(fact, Reason::UserType, result);
  }
  if (!found) return doubt(Reason::UserType, Verification::Unknown);
  if (builtin_type(name.name) == BuiltinType::ObjectName) add(result, names_objects());
  return result;
}

Judgement Judge::event_triggers() const {
  const shmem::CatalogAnswer answer = catalog_.find(input_.database, FactKind::Function, kEventTriggers);
  if (answer.known == shmem::Known::Unknown) return ask();
  return answer.schemas.empty() ? Judgement{} : doubt(Reason::UserFunction, Verification::Opaque);
}

}  // namespace weir::lb
