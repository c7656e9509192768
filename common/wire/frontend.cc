#include "common/wire/frontend.h"

#include "common/base/byte_reader.h"

namespace weir::wire {
namespace {

// COUNT format codes of two bytes each.
bool skip_formats(ByteReader& reader) {
  const std::size_t count = reader.u16();  // the server reads it unsigned: up to 65535 parameters
  reader.take(count * 2);
  return reader.ok();
}

// COUNT values, each with its length (-1: NULL).
bool skip_values(ByteReader& reader) {
  const std::size_t count = reader.u16();
  for (std::size_t i = 0; i < count; ++i) {
    const std::int32_t length = reader.i32();
    if (!reader.ok() || length < -1) return false;
    if (length > 0) reader.take(static_cast<std::size_t>(length));
  }
  return reader.ok();
}

template <typename T>
std::optional<T> whole(const ByteReader& reader, T value) {
  if (!reader.ok() || !reader.at_end()) return std::nullopt;
  return value;
}

std::optional<DescribeMessage> kind_and_name(Bytes body) {
  ByteReader reader(body);
  DescribeMessage message;
  message.kind = static_cast<char>(reader.u8());
  message.name = reader.cstring();
  if (message.kind != 'S' && message.kind != 'P') return std::nullopt;
  return whole(reader, message);
}

}  // namespace

std::optional<QueryMessage> parse_query(Bytes body) {
  ByteReader reader(body);
  const QueryMessage message{reader.cstring()};
  return whole(reader, message);
}

std::optional<ParseMessage> parse_parse(Bytes body) {
  ByteReader reader(body);
  ParseMessage message;
  message.name = reader.cstring();
  message.query = reader.cstring();
  const std::size_t count = reader.u16();
  message.types = reader.take(count * 4);
  return whole(reader, message);
}

std::optional<BindMessage> parse_bind(Bytes body) {
  ByteReader reader(body);
  BindMessage message;
  message.portal = reader.cstring();
  message.statement = reader.cstring();
  if (!skip_formats(reader) || !skip_values(reader) || !skip_formats(reader)) return std::nullopt;
  return whole(reader, message);
}

std::optional<DescribeMessage> parse_describe(Bytes body) { return kind_and_name(body); }
std::optional<CloseMessage> parse_close(Bytes body) { return kind_and_name(body); }

std::optional<ExecuteMessage> parse_execute(Bytes body) {
  ByteReader reader(body);
  ExecuteMessage message;
  message.portal = reader.cstring();
  message.max_rows = reader.i32();
  return whole(reader, message);
}

bool valid_function_call(Bytes body) {
  ByteReader reader(body);
  reader.u32();
  if (!skip_formats(reader) || !skip_values(reader)) return false;
  reader.u16();
  return reader.ok() && reader.at_end();
}

std::optional<std::string_view> parse_password(Bytes body) {
  ByteReader reader(body);
  const std::string_view password = reader.cstring();
  return whole(reader, password);
}

std::optional<SaslInitialResponse> parse_sasl_initial(Bytes body) {
  ByteReader reader(body);
  SaslInitialResponse message;
  message.mechanism = reader.cstring();
  const std::int32_t length = reader.i32();
  if (!reader.ok() || length < -1) return std::nullopt;
  if (length > 0) message.data = as_text(reader.take(static_cast<std::size_t>(length)));
  return whole(reader, message);
}

}  // namespace weir::wire
