#include "child/statement_registry.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <utility>

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

std::string_view definition_of(Bytes parse) {
  const std::size_t offset = name_offset(parse);
  return as_text(parse.subspan(offset + name_size(parse, offset) + 1));
}

char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

void append_length(std::string& out, std::size_t length) {
  for (int shift = 24; shift >= 0; shift -= 8) out += static_cast<char>(static_cast<std::uint32_t>(length) >> static_cast<unsigned>(shift) & 0xffU);
}

// Where OLD_NAME ends in a digit and another follows, a longer name begins like it.
std::string renamed(std::string_view text, std::string_view old_name, std::string_view new_name) {
  std::string out;
  while (true) {
    const std::size_t at = text.find(old_name);
    if (at == std::string_view::npos) break;
    const std::size_t end = at + old_name.size();
    const bool any_end = old_name.back() < '0' || old_name.back() > '9';
    const bool whole = any_end || end == text.size() || text[end] < '0' || text[end] > '9';
    out += text.substr(0, at);
    out += whole ? new_name : old_name;
    text.remove_prefix(end);
  }
  out += text;
  return out;
}

}  // namespace

std::string StatementRegistry::server_name(std::uint64_t number) const { return fmt::format("{}{:08x}_{}", kServerNamePrefix, tag_, number); }

std::shared_ptr<SharedStatement> StatementRegistry::make(std::string definition) {
  auto made = std::make_shared<SharedStatement>();
  made->number = ++numbers_;
  made->server_name = server_name(made->number);
  made->definition = std::move(definition);
  return made;
}

SharedStatementPtr StatementRegistry::alone(Bytes parse) { return make(std::string(definition_of(parse))); }

bool StatementRegistry::seen_before(Bytes parse) {
  constexpr std::size_t kPlaces = 8192;
  if (seen_.empty()) seen_.resize(kPlaces);
  const std::size_t hash = std::hash<std::string_view>()(definition_of(parse)) | 1U;
  return std::exchange(seen_[(hash >> 1U) % kPlaces], hash) == hash;
}

SharedStatementPtr StatementRegistry::intern(Bytes parse, std::string_view settings) {
  std::string definition(definition_of(parse));
  std::string key;
  if (!settings.empty()) ((key = definition) += '\0') += settings;  // a definition ends in types, whose number it tells
  std::weak_ptr<const SharedStatement>& slot = statements_[settings.empty() ? definition : key];
  if (SharedStatementPtr known = slot.lock()) return known;
  auto made = make(std::move(definition));
  slot = made;
  if (statements_.size() > swept_at_) {
    std::erase_if(statements_, [](const auto& entry) { return entry.second.expired(); });
    swept_at_ = std::max<std::size_t>(256, 2 * statements_.size());
  }
  return made;
}

bool names_a_moment(std::string_view text) {
  static constexpr std::string_view kWords[] = {"now", "today", "tomorrow", "yesterday"};
  if (text.find('\'') == std::string_view::npos && text.find('$') == std::string_view::npos) return false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char first = lower(text[i]);
    if (first == '\\') return true;  // an escape may spell anything
    if (first != 'n' && first != 't' && first != 'y') continue;
    for (const std::string_view word : kWords) {
      if (text.size() - i < word.size()) continue;
      if (!std::equal(word.begin(), word.end(), text.begin() + static_cast<std::ptrdiff_t>(i), [](char a, char b) { return a == lower(b); })) continue;
      const bool call = i + word.size() < text.size() && text[i + word.size()] == '(';  // now() is of each execution
      if (!call) return true;
    }
  }
  return false;
}

std::string rename_in_error(Bytes message, std::string_view old_name, std::string_view new_name) {
  std::string fields;
  ByteReader reader(message.subspan(std::min(kHeader, message.size())));
  while (true) {
    const char code = static_cast<char>(reader.u8());
    if (!reader.ok()) return std::string(as_text(message));
    fields += code;
    if (code == '\0') break;
    const std::string_view text = reader.cstring();
    if (!reader.ok()) return std::string(as_text(message));
    if (code == 'M') {
      fields += renamed(text, old_name, new_name);
    } else {
      fields += text;
    }
    fields += '\0';
  }
  std::string out(1, as_text(message)[0]);
  append_length(out, fields.size() + 4);
  return out + fields;
}

void encode_renamed(std::string& out, Bytes message, std::string_view name) {
  const std::size_t offset = name_offset(message);
  const std::size_t old_size = name_size(message, offset);
  const std::string_view text = as_text(message);
  out += text[0];
  append_length(out, message.size() - 1 - old_size + name.size());
  out += text.substr(kHeader, offset - kHeader);
  out += name;
  out += text.substr(offset + old_size);
}

}  // namespace weir::child
