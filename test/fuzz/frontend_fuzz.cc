// Bodies of client messages. Input: a tag ('p' with a password, 'i' for SASLInitialResponse), then the body.
#include <cstddef>
#include <cstdint>
#include <string>

#include "common/base/check.h"
#include "common/wire/encode.h"
#include "common/wire/frame.h"
#include "common/wire/frontend.h"

namespace {

using namespace weir;

Bytes body(const std::string& message) { return as_bytes(message).subspan(wire::kHeaderSize); }

// ENCODED holds the one message that BYTES are the body of.
void same(const std::string& encoded, Bytes bytes) { WEIR_CHECK(as_text(body(encoded)) == as_text(bytes)); }

void named(char tag, Bytes bytes) {
  std::string out;
  if (const auto message = tag == 'D' ? wire::parse_describe(bytes) : wire::parse_close(bytes)) {
    wire::encode_describe(out, message->kind, message->name);
    same(out, bytes);
  }
}

void bind(Bytes bytes) {
  const auto message = wire::parse_bind(bytes);
  if (!message) return;
  WEIR_CHECK(message->portal.size() + message->statement.size() + 2 + message->rest.size() == bytes.size());
  WEIR_CHECK(message->rest.size() >= 6 + 4 * message->value_count);
}

void parse(Bytes bytes) {
  const auto message = wire::parse_parse(bytes);
  if (!message) return;
  std::string out;
  wire::encode_parse(out, message->name, message->query);
  const auto again = wire::parse_parse(body(out));
  WEIR_CHECK(again && again->name == message->name && again->query == message->query && again->type_count() == 0);
  WEIR_CHECK(message->types.size() == 4 * message->type_count());
}

void sasl_initial(Bytes bytes) {
  const auto message = wire::parse_sasl_initial(bytes);
  if (!message || !message->data) return;
  std::string out;
  wire::encode_sasl_initial(out, message->mechanism, *message->data);
  same(out, bytes);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const Bytes bytes(reinterpret_cast<const std::byte*>(data) + 1, size - 1);
  std::string out;
  switch (static_cast<char>(data[0])) {
    case 'Q':
      if (const auto message = wire::parse_query(bytes)) {
        wire::encode_query(out, message->text);
        same(out, bytes);
      }
      break;
    case 'P': parse(bytes); break;
    case 'B': bind(bytes); break;
    case 'D':
    case 'C': named(static_cast<char>(data[0]), bytes); break;
    case 'E':
      if (const auto message = wire::parse_execute(bytes)) {
        wire::encode_execute(out, message->portal, message->max_rows);
        same(out, bytes);
      }
      break;
    case 'F':
      if (const auto message = wire::parse_function_call(bytes)) {
        WEIR_CHECK(bytes.size() >= 10 + 4 * message->argument_count);
      }
      break;
    case 'f': wire::parse_copy_fail(bytes); break;
    case 'p':
      if (const auto password = wire::parse_password(bytes)) {
        wire::encode_password(out, *password);
        same(out, bytes);
      }
      break;
    case 'i': sasl_initial(bytes); break;
    default: break;
  }
  return 0;
}
