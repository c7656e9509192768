#include "common/wire/frontend.h"

#include "common/base/byte_reader.h"

namespace weir::wire {
namespace {

// A count and that many format codes of two bytes each.
void skip_formats(ByteReader& reader) {
  const std::size_t count = reader.u16();
  reader.take(count * 2);
}

// A count and that many values, each with its length (-1: NULL). False: a length is negative.
bool skip_values(ByteReader& reader, std::size_t& count) {
  count = reader.u16();
  for (std::size_t i = 0; i < count && reader.ok(); ++i) {
    const std::int32_t length = reader.i32();
    if (length < -1) return false;
    if (length > 0) reader.take(static_cast<std::size_t>(length));
  }
  return true;
}

template <typename T>
std::optional<T> whole(const ByteReader& reader, T value) {
  if (!reader.ok() || !reader.at_end()) return std::nullopt;
  return value;
}

std::optional<std::string_view> only_text(Bytes body) {
  ByteReader reader(body);
  const std::string_view text = reader.cstring();
  return whole(reader, text);
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
  const auto text = only_text(body);
  if (!text) return std::nullopt;
  return QueryMessage{*text};
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
  message.rest = reader.rest();
  skip_formats(reader);
  const Bytes values = reader.rest();
  if (!skip_values(reader, message.value_count)) return std::nullopt;
  if (reader.ok()) message.values = values.first(values.size() - reader.remaining()).subspan(2);
  skip_formats(reader);
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

std::optional<FunctionCallMessage> parse_function_call(Bytes body) {
  ByteReader reader(body);
  FunctionCallMessage message;
  message.function = reader.u32();
  skip_formats(reader);
  if (!skip_values(reader, message.argument_count)) return std::nullopt;
  reader.u16();  // the format of the result
  return whole(reader, message);
}

std::optional<std::string_view> parse_copy_fail(Bytes body) { return only_text(body); }
std::optional<std::string_view> parse_password(Bytes body) { return only_text(body); }

std::optional<SaslInitialResponse> parse_sasl_initial(Bytes body) {
  ByteReader reader(body);
  SaslInitialResponse message;
  message.mechanism = reader.cstring();
  const std::int32_t length = reader.i32();
  if (length < -1) return std::nullopt;
  if (length >= 0) message.data = as_text(reader.take(static_cast<std::size_t>(length)));
  return whole(reader, message);
}

}  // namespace weir::wire
