// The SQLSTATEs that pgweir originates or recognises (PostgreSQL manual, appendix "PostgreSQL Error Codes").
#pragma once

#include <string_view>

namespace weir::sqlstate {

inline constexpr std::string_view kSuccessfulCompletion = "00000";
inline constexpr std::string_view kWarning = "01000";
inline constexpr std::string_view kFeatureNotSupported = "0A000";
inline constexpr std::string_view kConnectionException = "08000";
inline constexpr std::string_view kConnectionFailure = "08006";
inline constexpr std::string_view kProtocolViolation = "08P01";
inline constexpr std::string_view kInvalidParameterValue = "22023";
inline constexpr std::string_view kActiveSqlTransaction = "25001";
inline constexpr std::string_view kReadOnlyTransaction = "25006";
inline constexpr std::string_view kInFailedTransaction = "25P02";
inline constexpr std::string_view kIdleInTransactionTimeout = "25P03";
inline constexpr std::string_view kTransactionTimeout = "25P04";
inline constexpr std::string_view kInvalidSavepoint = "3B001";
inline constexpr std::string_view kInvalidSqlStatementName = "26000";
inline constexpr std::string_view kInvalidAuthorization = "28000";
inline constexpr std::string_view kInvalidPassword = "28P01";
inline constexpr std::string_view kInvalidCatalogName = "3D000";
inline constexpr std::string_view kInvalidCursorName = "34000";
inline constexpr std::string_view kSerializationFailure = "40001";
inline constexpr std::string_view kStatementCompletionUnknown = "40003";
inline constexpr std::string_view kDeadlockDetected = "40P01";
inline constexpr std::string_view kSyntaxError = "42601";
inline constexpr std::string_view kInsufficientPrivilege = "42501";
inline constexpr std::string_view kNameTooLong = "42622";
inline constexpr std::string_view kUndefinedObject = "42704";
inline constexpr std::string_view kDuplicatePreparedStatement = "42P05";
inline constexpr std::string_view kOutOfMemory = "53200";
inline constexpr std::string_view kTooManyConnections = "53300";
inline constexpr std::string_view kProgramLimitExceeded = "54000";
inline constexpr std::string_view kCantChangeRuntimeParam = "55P02";
inline constexpr std::string_view kLockNotAvailable = "55P03";
inline constexpr std::string_view kOperatorIntervention = "57000";
inline constexpr std::string_view kQueryCanceled = "57014";
inline constexpr std::string_view kAdminShutdown = "57P01";
inline constexpr std::string_view kCrashShutdown = "57P02";
inline constexpr std::string_view kCannotConnectNow = "57P03";
inline constexpr std::string_view kDatabaseDropped = "57P04";
inline constexpr std::string_view kIdleSessionTimeout = "57P05";
inline constexpr std::string_view kInternalError = "XX000";

}  // namespace weir::sqlstate
