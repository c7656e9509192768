// Visits every message of a protobuf-c tree by its descriptor, so that no kind of node can be
// forgotten: what is new in a grammar is visited like everything else.
#pragma once

#include <protobuf-c/protobuf-c.h>

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace weir::parser {

// Calls VISIT(const ProtobufCMessage&) for each message directly below MESSAGE and
// TEXT(std::string_view) for each string field, in the order of the fields.
template <typename Visit, typename Text>
void for_each_child(const ProtobufCMessage& message, Visit&& visit, Text&& text) {
  const auto* base = reinterpret_cast<const std::byte*>(&message);
  const ProtobufCMessageDescriptor& type = *message.descriptor;
  for (unsigned i = 0; i < type.n_fields; ++i) {
    const ProtobufCFieldDescriptor& field = type.fields[i];
    const bool is_message = field.type == PROTOBUF_C_TYPE_MESSAGE;
    if (!is_message && field.type != PROTOBUF_C_TYPE_STRING)
      continue;
    const void* const* values = reinterpret_cast<const void* const*>(base + field.offset);
    std::size_t count = 1;
    if (field.label == PROTOBUF_C_LABEL_REPEATED) {
      count = *reinterpret_cast<const std::size_t*>(base + field.quantifier_offset);
      values = static_cast<const void* const*>(*values);
    } else if ((field.flags & PROTOBUF_C_FIELD_FLAG_ONEOF) != 0 &&
               *reinterpret_cast<const std::uint32_t*>(base + field.quantifier_offset) !=
                   field.id) {
      continue;
    }
    for (std::size_t k = 0; k < count; ++k) {
      if (values[k] == nullptr)
        continue;
      if (is_message) {
        visit(*static_cast<const ProtobufCMessage*>(values[k]));
      } else {
        text(std::string_view(static_cast<const char*>(values[k])));
      }
    }
  }
}

} // namespace weir::parser
