// Builds each message that pgweir originates, appended to OUT. Texts must not contain NUL where the message ends them
// by one; lists have at most 32767 members. Towards servers first, then towards clients.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "common/base/bytes.h"
#include "common/base/error.h"

namespace weir::wire {

using TextValue = std::optional<std::string_view>;

// StartupMessage of protocol 3.0.
void encode_startup(std::string& out, std::span<const std::pair<std::string, std::string>> parameters);
void encode_ssl_request(std::string& out);
void encode_cancel_request(std::string& out, std::int32_t pid, Bytes key);
void encode_query(std::string& out, std::string_view sql);
void encode_parse(std::string& out, std::string_view name, std::string_view sql);
// All parameters and results as text.
void encode_bind(std::string& out, std::string_view portal, std::string_view statement,
                 std::span<const TextValue> values);
void encode_describe(std::string& out, char kind, std::string_view name);
void encode_close(std::string& out, char kind, std::string_view name);
void encode_execute(std::string& out, std::string_view portal, std::int32_t max_rows);
void encode_sync(std::string& out);
void encode_flush(std::string& out);
void encode_terminate(std::string& out);
void encode_password(std::string& out, std::string_view password);
void encode_sasl_initial(std::string& out, std::string_view mechanism, std::string_view data);
void encode_sasl_response(std::string& out, std::string_view data);

void encode_authentication_ok(std::string& out);
void encode_authentication_cleartext(std::string& out);
void encode_authentication_md5(std::string& out, std::span<const std::byte, 4> salt);
void encode_authentication_sasl(std::string& out, std::span<const std::string_view> mechanisms);
void encode_authentication_sasl_continue(std::string& out, std::string_view data);
void encode_authentication_sasl_final(std::string& out, std::string_view data);
void encode_parameter_status(std::string& out, std::string_view name, std::string_view value);
void encode_backend_key_data(std::string& out, std::uint32_t pid, std::uint32_t key);
void encode_ready_for_query(std::string& out, char status);
// Fields S, V, C, M and, if there are any, D and H.
void encode_error(std::string& out, const Error& error);
void encode_notice(std::string& out, const Error& notice);
struct ColumnDescription {
  std::string_view name;
  std::uint32_t type_oid = 25;
  std::int16_t type_size = -1;
};
void encode_row_description(std::string& out, std::span<const ColumnDescription> columns, std::int16_t format = 0);
void encode_data_row(std::string& out, std::span<const TextValue> values);
void encode_command_complete(std::string& out, std::string_view tag);
void encode_empty_query_response(std::string& out);
void encode_parse_complete(std::string& out);
void encode_bind_complete(std::string& out);
void encode_close_complete(std::string& out);
void encode_no_data(std::string& out);
void encode_portal_suspended(std::string& out);
void encode_parameter_description(std::string& out, std::span<const std::uint32_t> oids);
// The newest minor version of protocol 3 that is spoken, and the options that are not known.
void encode_negotiate_protocol_version(std::string& out, std::int32_t minor, std::span<const std::string_view> options);

}  // namespace weir::wire
