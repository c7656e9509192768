// Bodies of server messages. Input: a tag, then the body.
#include <cstddef>
#include <cstdint>
#include <string>

#include "common/base/check.h"
#include "common/wire/backend.h"
#include "common/wire/encode.h"
#include "common/wire/frame.h"

namespace {

using namespace weir;

Bytes body(const std::string& message) { return as_bytes(message).subspan(wire::kHeaderSize); }
void same(const std::string& encoded, Bytes bytes) { WEIR_CHECK(as_text(body(encoded)) == as_text(bytes)); }

void authentication(Bytes bytes) {
  const auto message = wire::parse_authentication(bytes);
  if (!message) return;
  WEIR_CHECK(message->code != 5 || message->data.size() == 4);
  std::string out;
  if (message->code == 10) {
    wire::encode_authentication_sasl(out, message->mechanisms);
    same(out, bytes);
  }
}

void error_fields(Bytes bytes) {
  const auto fields = wire::parse_error_fields(bytes);
  if (!fields) return;
  const Error error = fields->to_error();
  WEIR_CHECK(error.sqlstate.size() == 5);
  std::string out;
  wire::encode_error(out, error);
  const auto again = wire::parse_error_fields(body(out));
  WEIR_CHECK(again && again->to_error() == error);
}

void rows(char tag, Bytes bytes) {
  if (tag == 'T') {
    const auto row = wire::parse_row_description(bytes);
    WEIR_CHECK(!row || 2 + row->columns.size() * 19 <= bytes.size());
    return;
  }
  const auto row = wire::parse_data_row(bytes);
  if (!row) return;
  std::string out;
  wire::encode_data_row(out, row->values);
  // Any negative length is NULL to nobody but -1 to us, so what is accepted has one spelling.
  same(out, bytes);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const Bytes bytes(reinterpret_cast<const std::byte*>(data) + 1, size - 1);
  const char tag = static_cast<char>(data[0]);
  std::string out;
  switch (tag) {
    case 'R': authentication(bytes); break;
    case 'S':
      if (const auto message = wire::parse_parameter_status(bytes)) {
        wire::encode_parameter_status(out, message->name, message->value);
        same(out, bytes);
      }
      break;
    case 'K':
      if (const auto key = wire::parse_backend_key_data(bytes)) WEIR_CHECK(key->key.size() + 4 == bytes.size());
      break;
    case 'Z': wire::parse_ready_for_query(bytes); break;
    case 'C':
      if (const auto text = wire::parse_command_complete(bytes)) WEIR_CHECK(text->size() + 1 == bytes.size());
      break;
    case 'E':
    case 'N': error_fields(bytes); break;
    case 'T':
    case 'D': rows(tag, bytes); break;
    case 'A': wire::parse_notification(bytes); break;
    case 'G':
    case 'H':
    case 'W':
      if (const auto copy = wire::parse_copy_response(bytes)) {
        WEIR_CHECK(copy->column_formats.size() + 3 == bytes.size());
      }
      break;
    case 'v':
      if (const auto negotiate = wire::parse_negotiate_protocol_version(bytes)) {
        WEIR_CHECK(negotiate->options.size() + 8 <= bytes.size());
      }
      break;
    default: break;
  }
  return 0;
}
