// Bodies of the client messages that must be read, as views into the bytes given. Nothing: the message violates the
// protocol (a field runs over the end, a count is negative, bytes are left over).
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "common/base/bytes.h"

namespace weir::wire {

struct QueryMessage {
  std::string_view text;
};
struct ParseMessage {
  std::string_view name;
  std::string_view query;
  Bytes types;  // four bytes an oid
};
struct BindMessage {
  std::string_view portal;
  std::string_view statement;
};
struct DescribeMessage {
  char kind = 'S';  // 'S' statement, 'P' portal
  std::string_view name;
};
using CloseMessage = DescribeMessage;
struct ExecuteMessage {
  std::string_view portal;
  std::int32_t max_rows = 0;
};
struct SaslInitialResponse {
  std::string_view mechanism;
  std::string_view data;
};

std::optional<QueryMessage> parse_query(Bytes body);
std::optional<ParseMessage> parse_parse(Bytes body);
std::optional<BindMessage> parse_bind(Bytes body);
std::optional<DescribeMessage> parse_describe(Bytes body);
std::optional<CloseMessage> parse_close(Bytes body);
std::optional<ExecuteMessage> parse_execute(Bytes body);
bool valid_function_call(Bytes body);
std::optional<std::string_view> parse_password(Bytes body);
std::optional<SaslInitialResponse> parse_sasl_initial(Bytes body);

}  // namespace weir::wire
