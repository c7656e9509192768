// Bodies of the server messages that must be read, as views into the bytes given. Nothing: the message is invalid.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "common/base/bytes.h"
#include "common/base/error.h"

namespace weir::wire {

// AuthenticationXXX by its code: 0 Ok, 3 CleartextPassword, 5 MD5Password, 10 SASL, 11 SASLContinue, 12 SASLFinal.
struct Authentication {
  std::int32_t code = 0;
  Bytes data;                                // MD5: the salt of 4 bytes; otherwise what follows the code
  std::vector<std::string_view> mechanisms;  // SASL
};
struct ParameterStatus {
  std::string_view name;
  std::string_view value;
};
struct BackendKeyData {
  std::int32_t pid = 0;
  Bytes key;  // 4 bytes, up to 256 since protocol 3.2
};
// Fields of ErrorResponse and NoticeResponse; those that the server did not send are empty. SEVERITY is the
// untranslated one where the server sends it (since PostgreSQL 9.6).
struct ErrorFields {
  std::string_view severity;
  std::string_view sqlstate;
  std::string_view message;
  std::string_view detail;
  std::string_view hint;

  // XX000 stands in for an SQLSTATE that is none, ERROR for a severity that is none.
  Error to_error() const;
};
struct Column {
  std::string_view name;
  std::uint32_t table_oid = 0;
  std::int16_t table_column = 0;
  std::uint32_t type_oid = 0;
  std::int16_t type_size = 0;
  std::int32_t type_modifier = -1;
  std::int16_t format = 0;  // 0 text, 1 binary
};
struct RowDescription {
  std::vector<Column> columns;
};
struct DataRow {
  std::vector<std::optional<std::string_view>> values;  // nothing: NULL
};
struct NotificationResponse {
  std::int32_t pid = 0;
  std::string_view channel;
  std::string_view payload;
};
// CopyInResponse, CopyOutResponse, CopyBothResponse.
struct CopyResponse {
  std::int8_t format = 0;  // of the whole: 0 text, 1 binary
  Bytes column_formats;    // two bytes a column
};
struct NegotiateProtocolVersion {
  std::int32_t minor = 0;                 // the newest that the server speaks
  std::vector<std::string_view> options;  // those that it does not know
};

std::optional<Authentication> parse_authentication(Bytes body);
std::optional<ParameterStatus> parse_parameter_status(Bytes body);
std::optional<BackendKeyData> parse_backend_key_data(Bytes body);
// 'I', 'T' or 'E'.
std::optional<char> parse_ready_for_query(Bytes body);
std::optional<std::string_view> parse_command_complete(Bytes body);
std::optional<ErrorFields> parse_error_fields(Bytes body);
std::optional<RowDescription> parse_row_description(Bytes body);
std::optional<DataRow> parse_data_row(Bytes body);
std::optional<NotificationResponse> parse_notification(Bytes body);
std::optional<CopyResponse> parse_copy_response(Bytes body);
std::optional<NegotiateProtocolVersion> parse_negotiate_protocol_version(Bytes body);

}  // namespace weir::wire
