#include "parser/walk.h"

namespace weir::parser {
namespace {

const void* at(const ProtobufCMessage* message, unsigned offset) {
  return reinterpret_cast<const std::byte*>(message) + offset;
}

bool is_set(const ProtobufCMessage* message, const ProtobufCFieldDescriptor& field) {
  if ((field.flags & PROTOBUF_C_FIELD_FLAG_ONEOF) == 0) return true;
  return *static_cast<const std::uint32_t*>(at(message, field.quantifier_offset)) == field.id;
}

}  // namespace

const ProtobufCMessage* message_field(const ProtobufCMessage* message, std::string_view name) {
  const ProtobufCMessageDescriptor& descriptor = *message->descriptor;
  for (unsigned i = 0; i < descriptor.n_fields; ++i) {
    const ProtobufCFieldDescriptor& field = descriptor.fields[i];
    if (field.type != PROTOBUF_C_TYPE_MESSAGE || field.label == PROTOBUF_C_LABEL_REPEATED || name != field.name) continue;
    return is_set(message, field) ? *static_cast<const ProtobufCMessage* const*>(at(message, field.offset)) : nullptr;
  }
  return nullptr;
}

void for_each_child(const ProtobufCMessage* message, std::string_view skip,
                    const std::function<void(const ProtobufCMessage*)>& visit,
                    const std::function<void(std::string_view)>& text) {
  const ProtobufCMessageDescriptor& descriptor = *message->descriptor;
  for (unsigned i = 0; i < descriptor.n_fields; ++i) {
    const ProtobufCFieldDescriptor& field = descriptor.fields[i];
    const bool is_message = field.type == PROTOBUF_C_TYPE_MESSAGE;
    if ((!is_message && field.type != PROTOBUF_C_TYPE_STRING) || (!skip.empty() && skip == field.name)) continue;
    if (field.label == PROTOBUF_C_LABEL_REPEATED) {
      const std::size_t count = *static_cast<const std::size_t*>(at(message, field.quantifier_offset));
      const void* const* values = *static_cast<const void* const* const*>(at(message, field.offset));
      for (std::size_t k = 0; k < count; ++k) {
        if (values[k] == nullptr) continue;
        if (is_message) {
          visit(static_cast<const ProtobufCMessage*>(values[k]));
        } else {
          text(static_cast<const char*>(values[k]));
        }
      }
    } else if (is_set(message, field)) {
      const void* value = *static_cast<const void* const*>(at(message, field.offset));
      if (value == nullptr) continue;
      if (is_message) {
        visit(static_cast<const ProtobufCMessage*>(value));
      } else {
        text(static_cast<const char*>(value));
      }
    }
  }
}

}  // namespace weir::parser
