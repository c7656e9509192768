#include "common/wire/backend.h"

#include <utility>

#include "common/base/byte_reader.h"
#include "common/base/sqlstate.h"

namespace weir::wire {
namespace {

template <typename T>
std::optional<T> whole(const ByteReader& reader, T value) {
  if (!reader.ok() || !reader.at_end()) return std::nullopt;
  return value;
}

// A count that says how many parts of at least SMALLEST bytes follow: nothing if there is no room for so many, so that
// nobody makes us reserve more than was sent.
std::optional<std::size_t> count_of(ByteReader& reader, std::int64_t count, std::size_t smallest) {
  if (!reader.ok() || count < 0 || static_cast<std::size_t>(count) > reader.remaining() / smallest) return std::nullopt;
  return static_cast<std::size_t>(count);
}

}  // namespace

Error ErrorFields::to_error() const {
  const std::string_view state = sqlstate.size() == 5 ? sqlstate : sqlstate::kInternalError;
  Error error = make_error(state, std::string(message), std::string(detail), std::string(hint));
  if (severity == "WARNING") error.severity = Severity::Warning;
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
    case 3: return whole(reader, std::move(message));
    case 5: message.data = reader.take(4); return whole(reader, std::move(message));
    case 10:
      while (true) {
        const std::string_view mechanism = reader.cstring();
        if (mechanism.empty()) break;  // also when there is no NUL any more
        message.mechanisms.push_back(mechanism);
      }
      return whole(reader, std::move(message));
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
  return whole(reader, tag);
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

std::optional<RowDescription> parse_row_description(Bytes body) {
  ByteReader reader(body);
  const auto count = count_of(reader, reader.i16(), 19);
  if (!count) return std::nullopt;
  RowDescription row;
  row.columns.resize(*count);
  for (Column& column : row.columns) {
    column.name = reader.cstring();
    column.table_oid = reader.u32();
    column.table_column = reader.i16();
    column.type_oid = reader.u32();
    column.type_size = reader.i16();
    column.type_modifier = reader.i32();
    column.format = reader.i16();
  }
  return whole(reader, std::move(row));
}

std::optional<DataRow> parse_data_row(Bytes body) {
  ByteReader reader(body);
  const auto count = count_of(reader, reader.i16(), 4);
  if (!count) return std::nullopt;
  DataRow row;
  row.values.resize(*count);
  for (auto& value : row.values) {
    const std::int32_t length = reader.i32();
    if (length < -1) return std::nullopt;
    if (length >= 0) value = as_text(reader.take(static_cast<std::size_t>(length)));
  }
  return whole(reader, std::move(row));
}

std::optional<NotificationResponse> parse_notification(Bytes body) {
  ByteReader reader(body);
  NotificationResponse message;
  message.pid = reader.i32();
  message.channel = reader.cstring();
  message.payload = reader.cstring();
  return whole(reader, message);
}

std::optional<CopyResponse> parse_copy_response(Bytes body) {
  ByteReader reader(body);
  CopyResponse message;
  message.format = static_cast<std::int8_t>(reader.u8());
  const auto count = count_of(reader, reader.i16(), 2);
  if (!count || message.format < 0 || message.format > 1) return std::nullopt;
  message.column_formats = reader.take(*count * 2);
  return whole(reader, message);
}

std::optional<NegotiateProtocolVersion> parse_negotiate_protocol_version(Bytes body) {
  ByteReader reader(body);
  NegotiateProtocolVersion message;
  // Servers before 18 send the minor number alone, later ones the whole version.
  message.minor = reader.i32() & 0xffff;
  const auto count = count_of(reader, reader.i32(), 1);
  if (!count) return std::nullopt;
  for (std::size_t i = 0; i < *count && reader.ok(); ++i) message.options.push_back(reader.cstring());
  return whole(reader, std::move(message));
}

}  // namespace weir::wire
