#include "common/wire/encode.h"

#include "common/base/byte_writer.h"

namespace weir::wire {
namespace {

// Writes tag and length around what FILL appends.
template <typename Fill>
void message(std::string& out, char tag, Fill fill) {
  ByteWriter writer(out);
  writer.u8(static_cast<std::uint8_t>(tag));
  const std::size_t start = out.size();
  writer.u32(0);
  fill(writer);
  writer.patch_u32(start, static_cast<std::uint32_t>(out.size() - start));
}

void empty(std::string& out, char tag) {
  message(out, tag, [](ByteWriter&) {});
}

void values_with_length(ByteWriter& writer, std::span<const TextValue> values) {
  writer.i16(static_cast<std::int16_t>(values.size()));
  for (const TextValue& value : values) {
    if (!value) {
      writer.i32(-1);
    } else {
      writer.i32(static_cast<std::int32_t>(value->size())).raw(*value);
    }
  }
}

void authentication(std::string& out, std::int32_t code, std::string_view data = {}) {
  message(out, 'R', [&](ByteWriter& writer) { writer.i32(code).raw(data); });
}

void fields(std::string& out, char tag, const Error& error) {
  message(out, tag, [&](ByteWriter& writer) {
    const std::string_view severity = severity_text(error.severity);
    writer.u8('S').cstring(severity).u8('V').cstring(severity);
    writer.u8('C').cstring(error.sqlstate).u8('M').cstring(error.message);
    if (!error.detail.empty()) writer.u8('D').cstring(error.detail);
    if (!error.hint.empty()) writer.u8('H').cstring(error.hint);
    writer.u8(0);
  });
}

}  // namespace

void encode_startup(std::string& out, std::span<const std::pair<std::string, std::string>> parameters) {
  ByteWriter writer(out);
  const std::size_t start = out.size();
  writer.u32(0).u32(3U << 16U);
  for (const auto& [name, value] : parameters) writer.cstring(name).cstring(value);
  writer.u8(0);
  writer.patch_u32(start, static_cast<std::uint32_t>(out.size() - start));
}

void encode_ssl_request(std::string& out) { ByteWriter(out).u32(8).u32(80877103); }

void encode_cancel_request(std::string& out, std::int32_t pid, Bytes key) {
  ByteWriter(out).u32(static_cast<std::uint32_t>(12 + key.size())).u32(80877102).i32(pid).raw(key);
}

void encode_query(std::string& out, std::string_view sql) {
  message(out, 'Q', [&](ByteWriter& writer) { writer.cstring(sql); });
}

void encode_parse(std::string& out, std::string_view name, std::string_view sql) {
  message(out, 'P', [&](ByteWriter& writer) { writer.cstring(name).cstring(sql).i16(0); });
}

void encode_bind(std::string& out, std::string_view portal, std::string_view statement,
                 std::span<const TextValue> values) {
  message(out, 'B', [&](ByteWriter& writer) {
    writer.cstring(portal).cstring(statement).i16(0);
    values_with_length(writer, values);
    writer.i16(0);
  });
}

void encode_describe(std::string& out, char kind, std::string_view name) {
  message(out, 'D', [&](ByteWriter& writer) { writer.u8(static_cast<std::uint8_t>(kind)).cstring(name); });
}

void encode_close(std::string& out, char kind, std::string_view name) {
  message(out, 'C', [&](ByteWriter& writer) { writer.u8(static_cast<std::uint8_t>(kind)).cstring(name); });
}

void encode_execute(std::string& out, std::string_view portal, std::int32_t max_rows) {
  message(out, 'E', [&](ByteWriter& writer) { writer.cstring(portal).i32(max_rows); });
}

void encode_sync(std::string& out) { empty(out, 'S'); }
void encode_flush(std::string& out) { empty(out, 'H'); }
void encode_terminate(std::string& out) { empty(out, 'X'); }

void encode_password(std::string& out, std::string_view password) {
  message(out, 'p', [&](ByteWriter& writer) { writer.cstring(password); });
}

void encode_sasl_initial(std::string& out, std::string_view mechanism, std::string_view data) {
  message(out, 'p', [&](ByteWriter& writer) {
    writer.cstring(mechanism).i32(static_cast<std::int32_t>(data.size())).raw(data);
  });
}

void encode_sasl_response(std::string& out, std::string_view data) {
  message(out, 'p', [&](ByteWriter& writer) { writer.raw(data); });
}

void encode_authentication_ok(std::string& out) { authentication(out, 0); }
void encode_authentication_cleartext(std::string& out) { authentication(out, 3); }
void encode_authentication_md5(std::string& out, std::span<const std::byte, 4> salt) {
  authentication(out, 5, as_text(salt));
}
void encode_authentication_sasl(std::string& out, std::span<const std::string_view> mechanisms) {
  message(out, 'R', [&](ByteWriter& writer) {
    writer.i32(10);
    for (std::string_view mechanism : mechanisms) writer.cstring(mechanism);
    writer.u8(0);
  });
}
void encode_authentication_sasl_continue(std::string& out, std::string_view data) { authentication(out, 11, data); }
void encode_authentication_sasl_final(std::string& out, std::string_view data) { authentication(out, 12, data); }

void encode_parameter_status(std::string& out, std::string_view name, std::string_view value) {
  message(out, 'S', [&](ByteWriter& writer) { writer.cstring(name).cstring(value); });
}

void encode_backend_key_data(std::string& out, std::uint32_t pid, std::uint32_t key) {
  message(out, 'K', [&](ByteWriter& writer) { writer.u32(pid).u32(key); });
}

void encode_ready_for_query(std::string& out, char status) {
  message(out, 'Z', [&](ByteWriter& writer) { writer.u8(static_cast<std::uint8_t>(status)); });
}

void encode_error(std::string& out, const Error& error) { fields(out, 'E', error); }
void encode_notice(std::string& out, const Error& notice) { fields(out, 'N', notice); }

void encode_row_description(std::string& out, std::span<const ColumnDescription> columns, std::int16_t format) {
  message(out, 'T', [&](ByteWriter& writer) {
    writer.i16(static_cast<std::int16_t>(columns.size()));
    for (const ColumnDescription& column : columns) {
      writer.cstring(column.name).u32(0).i16(0).u32(column.type_oid).i16(column.type_size).i32(-1).i16(format);
    }
  });
}

void encode_data_row(std::string& out, std::span<const TextValue> values) {
  message(out, 'D', [&](ByteWriter& writer) { values_with_length(writer, values); });
}

void encode_command_complete(std::string& out, std::string_view tag) {
  message(out, 'C', [&](ByteWriter& writer) { writer.cstring(tag); });
}

void encode_empty_query_response(std::string& out) { empty(out, 'I'); }
void encode_parse_complete(std::string& out) { empty(out, '1'); }
void encode_bind_complete(std::string& out) { empty(out, '2'); }
void encode_close_complete(std::string& out) { empty(out, '3'); }
void encode_no_data(std::string& out) { empty(out, 'n'); }
void encode_portal_suspended(std::string& out) { empty(out, 's'); }

void encode_parameter_description(std::string& out, std::span<const std::uint32_t> oids) {
  message(out, 't', [&](ByteWriter& writer) {
    writer.i16(static_cast<std::int16_t>(oids.size()));
    for (std::uint32_t oid : oids) writer.u32(oid);
  });
}

void encode_negotiate_protocol_version(std::string& out, std::int32_t minor,
                                       std::span<const std::string_view> options) {
  message(out, 'v', [&](ByteWriter& writer) {
    writer.i32((3 << 16) | minor).i32(static_cast<std::int32_t>(options.size()));
    for (std::string_view option : options) writer.cstring(option);
  });
}

}  // namespace weir::wire
