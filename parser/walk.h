// Visits every message of a protobuf-c tree by its descriptor, so that no kind of node can be forgotten: what is new in
// a grammar is visited like everything else.
#pragma once

#include <protobuf-c/protobuf-c.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string_view>

namespace weir::parser {

// The field of MESSAGE called NAME, as a message; null if there is none or it is not set.
const ProtobufCMessage* message_field(const ProtobufCMessage* message, std::string_view name);

// Calls VISIT with each message directly below MESSAGE, and TEXT with each string field, in the order of the fields.
// Leaves out the field called SKIP.
void for_each_child(const ProtobufCMessage* message, std::string_view skip,
                    const std::function<void(const ProtobufCMessage*)>& visit,
                    const std::function<void(std::string_view)>& text);

}  // namespace weir::parser
