// Bodies of the client messages that must be read, as views into the bytes given. Nothing: the message violates the
// protocol (a field runs over the end, a length is below -1, bytes are left over). Counts of parameters, types and
// format codes are unsigned on the wire: up to 65535.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "common/base/byte_reader.h"
#include "common/base/bytes.h"

namespace weir::wire {

struct QueryMessage {
  std::string_view text;
};
struct ParseMessage {
  std::string_view name;
  std::string_view query;
  Bytes types;  // four bytes an oid

  std::size_t type_count() const { return types.size() / 4; }
};
// Format codes and values are checked for their lengths, not for what they mean.
struct BindMessage {
  std::string_view portal;
  std::string_view statement;
  Bytes rest;  // what follows the two names
  std::size_t value_count = 0;
  Bytes values;  // each behind its length
};
struct DescribeMessage {
  char kind = 'S';  // 'S' statement, 'P' portal
  std::string_view name;
};
using CloseMessage = DescribeMessage;
struct ExecuteMessage {
  std::string_view portal;
  std::int32_t max_rows = 0;  // 0 or less: all
};
struct FunctionCallMessage {
  std::uint32_t function = 0;  // its oid
  std::size_t argument_count = 0;
};
struct SaslInitialResponse {
  std::string_view mechanism;
  std::optional<std::string_view> data;  // nothing: the client waits for a challenge first
};

// Whether IS_WANTED(text) of a value of MESSAGE, in whatever format; NULLs have none.
template <typename IsWanted>
bool any_value(const BindMessage& message, IsWanted is_wanted) {
  ByteReader reader(message.values);
  for (std::size_t i = 0; i < message.value_count; ++i) {
    const std::int32_t length = reader.i32();
    if (length >= 0 && is_wanted(as_text(reader.take(static_cast<std::size_t>(length))))) return true;
  }
  return false;
}

std::optional<QueryMessage> parse_query(Bytes body);
std::optional<ParseMessage> parse_parse(Bytes body);
std::optional<BindMessage> parse_bind(Bytes body);
std::optional<DescribeMessage> parse_describe(Bytes body);
std::optional<CloseMessage> parse_close(Bytes body);
std::optional<ExecuteMessage> parse_execute(Bytes body);
std::optional<FunctionCallMessage> parse_function_call(Bytes body);
// The reason that the client gives.
std::optional<std::string_view> parse_copy_fail(Bytes body);
// What a message 'p' means depends on what was asked. The body of a SASLResponse is the mechanism's data as it is.
std::optional<std::string_view> parse_password(Bytes body);
std::optional<SaslInitialResponse> parse_sasl_initial(Bytes body);

}  // namespace weir::wire
