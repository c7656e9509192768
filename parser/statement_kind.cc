#include "parser/statement_kind.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace weir::parser {
namespace {

// Sorted by name. Ddl is what may change the catalogue.
constexpr std::pair<std::string_view, StatementKind> kKinds[] = {
    {"AlterCollationStmt", StatementKind::Ddl},
    {"AlterDatabaseRefreshCollStmt", StatementKind::Ddl},
    {"AlterDatabaseSetStmt", StatementKind::Ddl},
    {"AlterDatabaseStmt", StatementKind::Ddl},
    {"AlterDefaultPrivilegesStmt", StatementKind::Ddl},
    {"AlterDomainStmt", StatementKind::Ddl},
    {"AlterEnumStmt", StatementKind::Ddl},
    {"AlterEventTrigStmt", StatementKind::Ddl},
    {"AlterExtensionContentsStmt", StatementKind::Ddl},
    {"AlterExtensionStmt", StatementKind::Ddl},
    {"AlterFdwStmt", StatementKind::Ddl},
    {"AlterForeignServerStmt", StatementKind::Ddl},
    {"AlterFunctionStmt", StatementKind::Ddl},
    {"AlterObjectDependsStmt", StatementKind::Ddl},
    {"AlterObjectSchemaStmt", StatementKind::Ddl},
    {"AlterOpFamilyStmt", StatementKind::Ddl},
    {"AlterOperatorStmt", StatementKind::Ddl},
    {"AlterOwnerStmt", StatementKind::Ddl},
    {"AlterPolicyStmt", StatementKind::Ddl},
    {"AlterPublicationStmt", StatementKind::Ddl},
    {"AlterRoleSetStmt", StatementKind::Ddl},
    {"AlterRoleStmt", StatementKind::Ddl},
    {"AlterSeqStmt", StatementKind::Ddl},
    {"AlterStatsStmt", StatementKind::Ddl},
    {"AlterSubscriptionStmt", StatementKind::Ddl},
    {"AlterSystemStmt", StatementKind::OtherWrite},
    {"AlterTSConfigurationStmt", StatementKind::Ddl},
    {"AlterTSDictionaryStmt", StatementKind::Ddl},
    {"AlterTableMoveAllStmt", StatementKind::Ddl},
    {"AlterTableSpaceOptionsStmt", StatementKind::Ddl},
    {"AlterTableStmt", StatementKind::Ddl},
    {"AlterTypeStmt", StatementKind::Ddl},
    {"AlterUserMappingStmt", StatementKind::Ddl},
    {"CallStmt", StatementKind::Call},
    {"CheckPointStmt", StatementKind::OtherWrite},
    {"ClosePortalStmt", StatementKind::CloseCursor},
    {"ClusterStmt", StatementKind::OtherWrite},
    {"CommentStmt", StatementKind::Ddl},
    {"CompositeTypeStmt", StatementKind::Ddl},
    {"ConstraintsSetStmt", StatementKind::OtherWrite},
    {"CopyStmt", StatementKind::CopyOther},
    {"CreateAmStmt", StatementKind::Ddl},
    {"CreateCastStmt", StatementKind::Ddl},
    {"CreateConversionStmt", StatementKind::Ddl},
    {"CreateDomainStmt", StatementKind::Ddl},
    {"CreateEnumStmt", StatementKind::Ddl},
    {"CreateEventTrigStmt", StatementKind::Ddl},
    {"CreateExtensionStmt", StatementKind::Ddl},
    {"CreateFdwStmt", StatementKind::Ddl},
    {"CreateForeignServerStmt", StatementKind::Ddl},
    {"CreateForeignTableStmt", StatementKind::Ddl},
    {"CreateFunctionStmt", StatementKind::Ddl},
    {"CreateOpClassStmt", StatementKind::Ddl},
    {"CreateOpFamilyStmt", StatementKind::Ddl},
    {"CreatePLangStmt", StatementKind::Ddl},
    {"CreatePolicyStmt", StatementKind::Ddl},
    {"CreatePublicationStmt", StatementKind::Ddl},
    {"CreateRangeStmt", StatementKind::Ddl},
    {"CreateRoleStmt", StatementKind::Ddl},
    {"CreateSchemaStmt", StatementKind::Ddl},
    {"CreateSeqStmt", StatementKind::Ddl},
    {"CreateStatsStmt", StatementKind::Ddl},
    {"CreateStmt", StatementKind::Ddl},
    {"CreateSubscriptionStmt", StatementKind::Ddl},
    {"CreateTableAsStmt", StatementKind::Ddl},
    {"CreateTableSpaceStmt", StatementKind::Ddl},
    {"CreateTransformStmt", StatementKind::Ddl},
    {"CreateTrigStmt", StatementKind::Ddl},
    {"CreateUserMappingStmt", StatementKind::Ddl},
    {"CreatedbStmt", StatementKind::Ddl},
    {"DeallocateStmt", StatementKind::Deallocate},
    {"DeclareCursorStmt", StatementKind::DeclareCursor},
    {"DefineStmt", StatementKind::Ddl},
    {"DeleteStmt", StatementKind::Delete},
    {"DiscardStmt", StatementKind::Discard},
    {"DoStmt", StatementKind::Do},
    {"DropOwnedStmt", StatementKind::Ddl},
    {"DropRoleStmt", StatementKind::Ddl},
    {"DropStmt", StatementKind::Ddl},
    {"DropSubscriptionStmt", StatementKind::Ddl},
    {"DropTableSpaceStmt", StatementKind::Ddl},
    {"DropUserMappingStmt", StatementKind::Ddl},
    {"DropdbStmt", StatementKind::Ddl},
    {"ExecuteStmt", StatementKind::Execute},
    {"ExplainStmt", StatementKind::Explain},
    {"FetchStmt", StatementKind::Fetch},
    {"GrantRoleStmt", StatementKind::Ddl},
    {"GrantStmt", StatementKind::Ddl},
    {"ImportForeignSchemaStmt", StatementKind::Ddl},
    {"IndexStmt", StatementKind::Ddl},
    {"InsertStmt", StatementKind::Insert},
    {"ListenStmt", StatementKind::Listen},
    {"LoadStmt", StatementKind::Load},
    {"LockStmt", StatementKind::Lock},
    {"MergeStmt", StatementKind::Merge},
    {"NotifyStmt", StatementKind::Notify},
    {"PLAssignStmt", StatementKind::Unknown},
    {"PrepareStmt", StatementKind::Prepare},
    {"RawStmt", StatementKind::Unknown},
    {"ReassignOwnedStmt", StatementKind::Ddl},
    {"RefreshMatViewStmt", StatementKind::OtherWrite},
    {"ReindexStmt", StatementKind::OtherWrite},
    {"RenameStmt", StatementKind::Ddl},
    {"ReplicaIdentityStmt", StatementKind::Ddl},
    {"ReturnStmt", StatementKind::Unknown},
    {"RuleStmt", StatementKind::Ddl},
    {"SecLabelStmt", StatementKind::Ddl},
    {"SelectStmt", StatementKind::Select},
    {"SetOperationStmt", StatementKind::Ddl},
    {"TransactionStmt", StatementKind::Unknown},
    {"TruncateStmt", StatementKind::Ddl},
    {"UnlistenStmt", StatementKind::Unlisten},
    {"UpdateStmt", StatementKind::Update},
    {"VacuumStmt", StatementKind::Vacuum},
    {"VariableSetStmt", StatementKind::Set},
    {"VariableShowStmt", StatementKind::Show},
    {"ViewStmt", StatementKind::Ddl},
};

const std::pair<std::string_view, StatementKind>* find(std::string_view node) {
  const auto* it =
      std::lower_bound(std::begin(kKinds), std::end(kKinds), node,
                       [](const auto& row, std::string_view name) { return row.first < name; });
  return it != std::end(kKinds) && it->first == node ? it : nullptr;
}

} // namespace

StatementKind statement_kind(std::string_view node) {
  const auto* row = find(node);
  return row != nullptr ? row->second : StatementKind::Unknown;
}

bool knows_statement(std::string_view node) {
  return find(node) != nullptr;
}

} // namespace weir::parser
