#include "common/wire/backend.h"

#include "common/base/byte_reader.h"
#include "common/base/sqlstate.h"

namespace weir::wire {

Error ErrorFields::to_error() const {
  Error error = make_error(sqlstate.size() == 5 ? sqlstate : std::string_view(sqlstate::kInternalError), std::string(message), std::string(detail), std::string(hint));
  if (severity == "FATAL") error.severity = Severity::Fatal;
  if (severity == "PANIC") error.severity = Severity::Panic;
  return error;
}

std::optional<Authentication> parse_authentication(Bytes body) {
  ByteReader reader(body);
  Authentication message;
  message.code = reader.i32();
  if (!reader.ok()) return std::nullopt;
  switch (message.code) {
    case 0:
    case 3: return reader.at_end() ? std::optional(message) : std::nullopt;
    case 5:
      message.data = reader.take(4);
      return reader.ok() && reader.at_end() ? std::optional(message) : std::nullopt;
    case 10:
      while (true) {
        const std::string_view mechanism = reader.cstring();
        if (!reader.ok()) return std::nullopt;
        if (mechanism.empty()) break;
        message.mechanisms.push_back(mechanism);
      }
      return reader.at_end() ? std::optional(message) : std::nullopt;
    default: message.data = reader.rest(); return message;
  }
}

std::optional<ParameterStatus> parse_parameter_status(Bytes body) {
  ByteReader reader(body);
  ParameterStatus message;
  message.name = reader.cstring();
  message.value = reader.cstring();
  if (!reader.ok() || !reader.at_end() || message.name.empty()) return std::nullopt;
  return message;
}

std::optional<BackendKeyData> parse_backend_key_data(Bytes body) {
  ByteReader reader(body);
  BackendKeyData message;
  message.pid = reader.i32();
  message.key = reader.rest();
  if (!reader.ok() || message.key.size() < 4 || message.key.size() > 256) return std::nullopt;
  return message;
}

std::optional<char> parse_ready_for_query(Bytes body) {
  if (body.size() != 1) return std::nullopt;
  const char status = static_cast<char>(body[0]);
  if (status != 'I' && status != 'T' && status != 'E') return std::nullopt;
  return status;
}

std::optional<std::string_view> parse_command_complete(Bytes body) {
  ByteReader reader(body);
  const std::string_view tag = reader.cstring();
  if (!reader.ok() || !reader.at_end()) return std::nullopt;
  return tag;
}

std::optional<ErrorFields> parse_error_fields(Bytes body) {
  ByteReader reader(body);
  ErrorFields fields;
  std::string_view localized;
  while (true) {
    const char field = static_cast<char>(reader.u8());
    if (!reader.ok()) return std::nullopt;
    if (field == '\0') break;
    const std::string_view value = reader.cstring();
    if (!reader.ok()) return std::nullopt;
    switch (field) {
      case 'V': fields.severity = value; break;
      case 'S': localized = value; break;
      case 'C': fields.sqlstate = value; break;
      case 'M': fields.message = value; break;
      case 'D': fields.detail = value; break;
      case 'H': fields.hint = value; break;
      default: break;
    }
  }
  if (!reader.at_end()) return std::nullopt;
  if (fields.severity.empty()) fields.severity = localized;
  return fields;
}

std::optional<DataRow> parse_data_row(Bytes body) {
  ByteReader reader(body);
  const std::int16_t count = reader.i16();
  if (!reader.ok() || count < 0) return std::nullopt;
  DataRow row;
  row.values.reserve(static_cast<std::size_t>(count));
  for (std::int16_t i = 0; i < count; ++i) {
    const std::int32_t length = reader.i32();
    if (!reader.ok() || length < -1) return std::nullopt;
    if (length < 0) {
      row.values.emplace_back(std::nullopt);
    } else {
      row.values.emplace_back(as_text(reader.take(static_cast<std::size_t>(length))));
    }
  }
  if (!reader.ok() || !reader.at_end()) return std::nullopt;
  return row;
}

}  // namespace weir::wire
