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
  Bytes data;                                  // MD5: the salt; SASLContinue, SASLFinal: the mechanism's data
  std::vector<std::string_view> mechanisms;    // SASL
};
struct ParameterStatus {
  std::string_view name;
  std::string_view value;
};
struct BackendKeyData {
  std::int32_t pid = 0;
  Bytes key;
};
// Fields of ErrorResponse and NoticeResponse; SEVERITY is the untranslated one where the server sends it.
struct ErrorFields {
  std::string_view severity;
  std::string_view sqlstate;
  std::string_view message;
  std::string_view detail;
  std::string_view hint;
  Error to_error() const;
};
struct DataRow {
  std::vector<std::optional<std::string_view>> values;
};

std::optional<Authentication> parse_authentication(Bytes body);
std::optional<ParameterStatus> parse_parameter_status(Bytes body);
std::optional<BackendKeyData> parse_backend_key_data(Bytes body);
// 'I', 'T' or 'E'.
std::optional<char> parse_ready_for_query(Bytes body);
std::optional<std::string_view> parse_command_complete(Bytes body);
std::optional<ErrorFields> parse_error_fields(Bytes body);
std::optional<DataRow> parse_data_row(Bytes body);

}  // namespace weir::wire
