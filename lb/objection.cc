#include "lb/objection.h"

#include <algorithm>
#include <array>

namespace weir::lb {
namespace {

using parser::Statement;
using parser::StatementKind;

constexpr std::array<std::string_view, 14> kSameEverywhere = {
    "block_size",          "integer_datetimes",  "lc_collate",       "lc_ctype",
    "max_function_args",   "max_identifier_length", "max_index_keys", "segment_size",
    "server_encoding",     "server_version",     "server_version_num", "wal_block_size",
    "data_checksums",      "wal_segment_size",
};

}  // namespace

// Every kind is named, so that a new one must be.
std::optional<Reason> objection_of_kind(StatementKind kind) {
  switch (kind) {
    case StatementKind::Empty:
    case StatementKind::Select:
    case StatementKind::CopyOut:
    case StatementKind::Show:
      return std::nullopt;
    case StatementKind::Unknown:
      return Reason::Unparsable;
    case StatementKind::CopyOther:
      return Reason::CopyOther;
    case StatementKind::Set:
    case StatementKind::Reset:
    case StatementKind::Discard:
      return Reason::SessionChange;
    case StatementKind::SetTransaction:
    case StatementKind::Commit:
    case StatementKind::Rollback:
    case StatementKind::Savepoint:
    case StatementKind::Release:
    case StatementKind::RollbackTo:
    case StatementKind::TwoPhase:
      return Reason::TransactionControl;
    case StatementKind::Begin:
      return Reason::BeginReadWrite;
    case StatementKind::Insert:
    case StatementKind::Update:
    case StatementKind::Delete:
    case StatementKind::Merge:
    case StatementKind::OtherWrite:
      return Reason::Write;
    case StatementKind::Prepare:
    case StatementKind::Execute:
    case StatementKind::Deallocate:
      return Reason::SqlPrepare;
    case StatementKind::DeclareCursor:
    case StatementKind::Fetch:
    case StatementKind::CloseCursor:
      return Reason::Cursor;
    case StatementKind::Listen:
    case StatementKind::Unlisten:
    case StatementKind::Notify:
      return Reason::Notifications;
    case StatementKind::Lock:
    case StatementKind::Explain:
    case StatementKind::Vacuum:
      return Reason::Utility;
    case StatementKind::Call:
    case StatementKind::Do:
    case StatementKind::Load:
      return Reason::OpaqueStatement;
    case StatementKind::Ddl:
      return Reason::Ddl;
    case StatementKind::PoolShow:
      return Reason::LocalCommand;
  }
  return Reason::Unparsable;
}

std::optional<Reason> objection_of_text(const SessionRouting& session) {
  if (session.replication) return Reason::ReplicationConnection;
  if (session.unsafe_encoding) return Reason::UnsafeEncoding;
  if (session.nonstandard_strings) return Reason::NonstandardStrings;
  return std::nullopt;
}

std::optional<Reason> objection_of_session(const SessionRouting& session) {
  if (session.may_have_temp && !session.temp_names_known) return Reason::TempObjects;
  if (session.opaque_state) return Reason::OpaqueState;
  if (session.open_cursor) return Reason::OpenCursor;
  if (session.listening) return Reason::Listening;
  if (!session.unverified_writes.empty()) return Reason::UnverifiedWrites;
  if (session.unverified_effects) return Reason::UnverifiedEffects;
  if (session.reads_kept) return Reason::ReadsKept;
  if (session.serializable_default) return Reason::SerializableDefault;
  if (session.pinned) return Reason::Pinned;
  return std::nullopt;
}

std::optional<Reason> objection_of_features(const Statement& statement) {
  if (statement.modifying_cte) return Reason::ModifyingCte;
  if (statement.creates_temp || statement.mentions_temp) return Reason::TempObjects;
  if (statement.select_into) return Reason::SelectInto;
  if (statement.row_locks) return Reason::RowLocks;
  if (!statement.written_relations.empty()) return Reason::Write;
  if (statement.opaque_effects) return Reason::OpaqueStatement;
  if (!statement.sets.empty()) return Reason::SessionChange;
  return std::nullopt;
}

// An unqualified name may mean a temporary relation before any other, and so may the name of a type: a relation's row
// type and the array of it ("_name" or "name[]"). Functions and operators are never looked for among temporary objects.
bool may_name_temp(const Statement& statement, const SessionRouting& session) {
  const auto is_temp = [&](std::string_view name) {
    return std::find(session.temp_names.begin(), session.temp_names.end(), name) != session.temp_names.end();
  };
  const auto relation = [&](const parser::Name& name) { return name.schema.empty() && is_temp(name.name); };
  const auto type = [&](const parser::Name& name) {
    if (!name.schema.empty()) return false;
    std::string_view base = name.name;
    while (base.ends_with("[]")) base.remove_suffix(2);
    return is_temp(base) || (base.starts_with('_') && is_temp(base.substr(1)));
  };
  return std::any_of(statement.relations.begin(), statement.relations.end(), relation) ||
         std::any_of(statement.types.begin(), statement.types.end(), type);
}

bool same_everywhere(std::string_view parameter) {
  return std::find(kSameEverywhere.begin(), kSameEverywhere.end(), parameter) != kSameEverywhere.end();
}

}  // namespace weir::lb
