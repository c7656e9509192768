// The bytes of a Parcel: see hand_over.h.
#include "child/hand_over.h"
#include "child/reported_parameters.h"
#include "common/base/byte_reader.h"
#include "common/shmem/node_view.h"

namespace weir::child {
namespace {

constexpr std::uint32_t kMagic = 0x57504331;  // of this very build's children: no versions
constexpr std::size_t kMaxSettings = 1000;

void put(std::string& out, std::uint64_t value, int bytes) {
  for (int i = bytes - 1; i >= 0; --i) out += static_cast<char>(value >> (8U * static_cast<unsigned>(i)) & 0xffU);
}

void put(std::string& out, std::string_view text) {
  put(out, text.size(), 4);
  out += text;
}

std::uint64_t read_u64(ByteReader& reader) {
  const std::uint64_t high = reader.u32();
  return high << 32U | reader.u32();
}

std::string read_text(ByteReader& reader) {
  const std::uint32_t size = reader.u32();
  return std::string(as_text(reader.take(size)));
}

bool is_name(const std::string& text) { return !text.empty() && text.find('\0') == std::string::npos; }

}  // namespace

bool Parcel::operator==(const Parcel& other) const { return encode_parcel(*this) == encode_parcel(other); }

std::string encode_parcel(const Parcel& parcel) {
  std::string out;
  put(out, kMagic, 4);
  put(out, static_cast<std::uint32_t>(parcel.giver), 4);
  put(out, static_cast<std::uint32_t>(parcel.lease), 4);
  put(out, static_cast<std::uint32_t>(parcel.node), 4);
  put(out, parcel.database);
  put(out, parcel.user);
  put(out, static_cast<std::uint32_t>(parcel.backend_pid), 4);
  put(out, parcel.cancel_key);
  put(out, static_cast<std::uint64_t>(parcel.method), 1);
  put(out, (parcel.has_statements ? 1U : 0U) | (parcel.has_drawn ? 2U : 0U), 1);
  put(out, static_cast<std::uint64_t>(parcel.connected_ms), 8);
  put(out, static_cast<std::uint64_t>(parcel.sent_ms), 8);
  put(out, parcel.uses, 8);
  put(out, parcel.login_change, 8);
  put(out, parcel.parameters.size(), 4);
  for (const auto& [name, value] : parcel.parameters) {
    put(out, name);
    put(out, value);
  }
  put(out, parcel.image.settings.size(), 4);
  for (const StateImage::Setting& setting : parcel.image.settings) {
    put(out, setting.parameter);
    put(out, setting.replay);
  }
  return out;
}

std::optional<Parcel> decode_parcel(Bytes bytes) {
  ByteReader reader(bytes);
  if (bytes.size() > kMaxParcelBytes || reader.u32() != kMagic) return std::nullopt;
  Parcel parcel;
  parcel.giver = reader.i32();
  parcel.lease = reader.i32();
  parcel.node = reader.i32();
  parcel.database = read_text(reader);
  parcel.user = read_text(reader);
  parcel.backend_pid = reader.i32();
  parcel.cancel_key = read_text(reader);
  const std::uint8_t method = reader.u8();
  const std::uint8_t flags = reader.u8();
  parcel.connected_ms = static_cast<std::int64_t>(read_u64(reader));
  parcel.sent_ms = static_cast<std::int64_t>(read_u64(reader));
  parcel.uses = read_u64(reader);
  parcel.login_change = read_u64(reader);
  if (!reader.ok() || method > static_cast<std::uint8_t>(auth::AskedMethod::Scram) || flags > 3) return std::nullopt;
  parcel.method = static_cast<auth::AskedMethod>(method);
  parcel.has_statements = (flags & 1U) != 0;
  parcel.has_drawn = (flags & 2U) != 0;
  const std::uint32_t parameters = reader.u32();
  if (parameters > ReportedParameters::kMaxNames) return std::nullopt;
  for (std::uint32_t i = 0; i < parameters && reader.ok(); ++i) {
    std::string name = read_text(reader);
    parcel.parameters.emplace_back(std::move(name), read_text(reader));
  }
  const std::uint32_t settings = reader.u32();
  if (settings > kMaxSettings) return std::nullopt;
  for (std::uint32_t i = 0; i < settings && reader.ok(); ++i) {
    StateImage::Setting setting;
    setting.parameter = read_text(reader);
    setting.replay = read_text(reader);
    if (!is_name(setting.parameter) || !is_name(setting.replay)) return std::nullopt;
    parcel.image.settings.push_back(std::move(setting));
  }
  const bool sound = parcel.giver >= 0 && parcel.lease >= 0 && parcel.node >= 0 && parcel.node < shmem::kMaxNodes && is_name(parcel.database) &&
                     is_name(parcel.user) && parcel.backend_pid > 0 && parcel.connected_ms >= 0 && parcel.sent_ms >= 0;
  if (!reader.ok() || !reader.at_end() || !sound) return std::nullopt;
  return parcel;
}

}  // namespace weir::child
