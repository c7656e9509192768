#include "common/wire/startup.h"

#include "common/base/byte_reader.h"
#include "common/base/sqlstate.h"

namespace weir::wire {
namespace {

constexpr std::uint32_t kCancelCode = 80877102;
constexpr std::uint32_t kSslCode = 80877103;
constexpr std::uint32_t kGssCode = 80877104;

StartupResult violation(std::string message, std::string_view state = sqlstate::kProtocolViolation) {
  StartupResult result;
  result.kind = StartupResult::Kind::Violation;
  result.error = make_fatal(state, std::move(message));
  return result;
}

StartupResult parse_parameters(ByteReader reader, std::uint32_t version, std::size_t size) {
  StartupResult result;
  result.kind = StartupResult::Kind::Startup;
  result.size = size;
  result.startup.major = static_cast<int>(version >> 16U);
  result.startup.minor = static_cast<int>(version & 0xffffU);
  while (true) {
    const std::string_view name = reader.cstring();
    if (!reader.ok()) break;
    if (name.empty()) {
      if (!reader.at_end()) break;
      return result;
    }
    const std::string_view value = reader.cstring();
    if (!reader.ok()) break;
    if (name.starts_with("_pq_.")) {
      result.startup.unknown_options.push_back(name);
    } else {
      result.startup.params.emplace_back(name, value);
    }
  }
  return violation("invalid startup packet layout: expected terminator as last byte");
}

}  // namespace

StartupResult parse_startup(Bytes bytes) {
  if (bytes.size() < 4) return {};
  ByteReader head(bytes);
  const std::uint32_t length = head.u32();
  if (length < 8 || length > kMaxStartupPacket) return violation("invalid length of startup packet");
  if (bytes.size() < 8) return {};
  const std::uint32_t code = head.u32();
  if (bytes.size() < length) {
    // A wrong version shows before the rest has come.
    if (code == kSslCode || code == kGssCode) return violation("invalid length of startup packet");
    return {};
  }
  ByteReader body(bytes.first(length).subspan(8));
  StartupResult result;
  result.size = length;
  switch (code) {
    case kSslCode:
    case kGssCode:
      if (length != 8) return violation("invalid length of startup packet");
      result.kind = code == kSslCode ? StartupResult::Kind::SslRequest : StartupResult::Kind::GssRequest;
      return result;
    case kCancelCode:
      result.kind = StartupResult::Kind::CancelRequest;
      result.cancel.pid = body.i32();
      result.cancel.key = body.rest();
      if (!body.ok() || result.cancel.key.size() < 4 || result.cancel.key.size() > 256) return violation("invalid length of cancel request packet");
      return result;
    default: break;
  }
  if (code >> 16U != 3) {
    return violation("unsupported frontend protocol " + std::to_string(code >> 16U) + "." + std::to_string(code & 0xffffU) + ": server supports 3.0 to 3.0",
                     sqlstate::kFeatureNotSupported);
  }
  return parse_parameters(body, code, length);
}

Result<std::vector<std::pair<std::string, std::string>>> parse_options(std::string_view text) {
  std::vector<std::string> words;
  std::size_t i = 0;
  const auto blank = [](char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\v' || c == '\f'; };
  while (i < text.size()) {
    while (i < text.size() && blank(text[i])) ++i;
    if (i == text.size()) break;
    std::string word;
    while (i < text.size() && !blank(text[i])) {
      if (text[i] == '\\' && i + 1 < text.size()) ++i;
      word += text[i++];
    }
    words.push_back(std::move(word));
  }
  std::vector<std::pair<std::string, std::string>> options;
  for (std::size_t w = 0; w < words.size(); ++w) {
    std::string setting;
    if (words[w] == "-c" && w + 1 < words.size()) {
      setting = words[++w];
    } else if (words[w].starts_with("-c") && words[w].size() > 2) {
      setting = words[w].substr(2);
    } else if (words[w].starts_with("--") && words[w].size() > 2) {
      setting = words[w].substr(2);
    } else {
      return fail(make_fatal(sqlstate::kFeatureNotSupported, "unsupported options startup parameter \"" + words[w] + "\"", {},
                             "Only -c name=value and --name=value are supported."));
    }
    const std::size_t equals = setting.find('=');
    if (equals == std::string::npos || equals == 0) {
      return fail(make_fatal(sqlstate::kSyntaxError, "-c " + setting + " requires a value"));
    }
    std::string name = setting.substr(0, equals);
    for (char& c : name) c = c == '-' ? '_' : c;
    options.emplace_back(std::move(name), setting.substr(equals + 1));
  }
  return options;
}

}  // namespace weir::wire
