#include "child/statement_registry.h"

#include <algorithm>

#include "common/base/byte_reader.h"
#include "common/base/check.h"

namespace weir::child {
namespace {

constexpr std::size_t kHeader = 5;  // tag and length

// Where the statement's name begins in MESSAGE.
std::size_t name_offset(Bytes message) {
  switch (static_cast<char>(message[0])) {
    case 'P': return kHeader;
    case 'B': return kHeader + ByteReader(message.subspan(kHeader)).cstring().size() + 1;
    default: return kHeader + 1;  // Describe and Close: 'S'
  }
}

std::size_t name_size(Bytes message, std::size_t offset) { return ByteReader(message.subspan(offset)).cstring().size(); }

}  // namespace

SharedStatementPtr StatementRegistry::intern(Bytes parse) {
  const std::size_t offset = name_offset(parse);
  std::string definition(as_text(parse.subspan(offset + name_size(parse, offset) + 1)));
  std::weak_ptr<const SharedStatement>& slot = statements_[definition];
  if (SharedStatementPtr known = slot.lock()) return known;
  auto made = std::make_shared<SharedStatement>();
  made->number = ++numbers_;
  made->server_name = std::string(kServerNamePrefix) + std::to_string(made->number);
  made->definition = std::move(definition);
  slot = made;
  if (statements_.size() > swept_at_) {
    std::erase_if(statements_, [](const auto& entry) { return entry.second.expired(); });
    swept_at_ = std::max<std::size_t>(256, 2 * statements_.size());
  }
  return made;
}

void encode_renamed(std::string& out, Bytes message, std::string_view name) {
  const std::size_t offset = name_offset(message);
  const std::size_t old_size = name_size(message, offset);
  const std::string_view text = as_text(message);
  const auto length = static_cast<std::uint32_t>(message.size() - 1 - old_size + name.size());
  out += text[0];
  for (int shift = 24; shift >= 0; shift -= 8) out += static_cast<char>(length >> static_cast<unsigned>(shift) & 0xffU);
  out += text.substr(kHeader, offset - kHeader);
  out += name;
  out += text.substr(offset + old_size);
}

}  // namespace weir::child
