#include "child/session_snapshot.h"

#include <bit>
#include <string_view>

#include "common/base/byte_reader.h"
#include "common/base/byte_writer.h"

namespace weir::child {
namespace {

// One format for both ways: a Field takes each field in turn, and either writes it or reads it.
class Writer {
 public:
  explicit Writer(std::string& out) : out_(out) {}

  // Small numbers take one byte: seven bits each, the lowest first, the eighth tells that more follow.
  void number(std::uint64_t value) {
    while (value >= 0x80U) {
      out_.u8(static_cast<std::uint8_t>(value | 0x80U));
      value >>= 7U;
    }
    out_.u8(static_cast<std::uint8_t>(value));
  }
  void text(const std::string& value) {
    number(value.size());
    out_.raw(value);
  }

 private:
  ByteWriter out_;
};

class Reader {
 public:
  explicit Reader(Bytes bytes) : in_(bytes) {}

  void number(std::uint64_t& value) {
    value = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
      const std::uint64_t byte = in_.u8();
      value |= (byte & 0x7fU) << shift;
      if ((byte & 0x80U) == 0) return;
    }
    broken_ = true;
  }
  void text(std::string& value) {
    std::uint64_t size = 0;
    number(size);
    value = as_text(in_.take(size));
  }
  // How many elements follow: each takes at least one byte.
  std::size_t count() {
    std::uint64_t count = 0;
    number(count);
    if (count > in_.remaining()) broken_ = true;
    return broken_ ? 0 : static_cast<std::size_t>(count);
  }
  void fail() { broken_ = true; }
  bool done() const { return in_.ok() && !broken_ && in_.at_end(); }

 private:
  ByteReader in_;
  bool broken_ = false;
};

void field(Writer& writer, const std::string& value) { writer.text(value); }
void field(Reader& reader, std::string& value) { reader.text(value); }
void field(Writer& writer, std::uint64_t value) { writer.number(value); }
void field(Reader& reader, std::uint64_t& value) { reader.number(value); }
void field(Writer& writer, bool value) { writer.number(value ? 1 : 0); }
void field(Reader& reader, bool& value) {
  std::uint64_t number = 0;
  reader.number(number);
  value = number != 0;
}
void field(Writer& writer, std::uint32_t value) { writer.number(value); }
void field(Reader& reader, std::uint32_t& value) {
  std::uint64_t number = 0;
  reader.number(number);
  value = static_cast<std::uint32_t>(number);
}
void field(Writer& writer, std::int32_t value) { writer.number(static_cast<std::uint32_t>(value)); }
void field(Reader& reader, std::int32_t& value) {
  std::uint32_t number = 0;
  field(reader, number);
  value = static_cast<std::int32_t>(number);
}
void field(Writer& writer, std::int64_t value) { writer.number(static_cast<std::uint64_t>(value)); }
void field(Reader& reader, std::int64_t& value) {
  std::uint64_t number = 0;
  reader.number(number);
  value = static_cast<std::int64_t>(number);
}
void field(Writer& writer, double value) { writer.number(std::bit_cast<std::uint64_t>(value)); }
void field(Reader& reader, double& value) {
  std::uint64_t number = 0;
  reader.number(number);
  value = std::bit_cast<double>(number);
}
// An enumerator, of which LAST is the last.
template <typename Enum>
void choice(Writer& writer, Enum value, Enum) {
  writer.number(static_cast<std::uint64_t>(value));
}
template <typename Enum>
void choice(Reader& reader, Enum& value, Enum last) {
  std::uint64_t number = 0;
  reader.number(number);
  if (number > static_cast<std::uint64_t>(last)) return reader.fail();
  value = static_cast<Enum>(number);
}

template <typename Codec, typename Pair>
void pair_fields(Codec& codec, Pair& pair) {
  field(codec, pair.first);
  field(codec, pair.second);
}
template <typename Codec, typename Entry>
void entry_fields(Codec& codec, Entry& entry) {
  field(codec, entry.parameter);
  field(codec, entry.replay);
  field(codec, entry.literal);
  field(codec, entry.has_literal);
  field(codec, entry.is_reset);
  field(codec, entry.stamp);
}
template <typename Codec, typename Statement>
void statement_fields(Codec& codec, Statement& statement) {
  field(codec, statement.name);
  field(codec, statement.parse_message);
  field(codec, statement.under.state);
  field(codec, statement.under.catalog);
  field(codec, statement.under.local);
  field(codec, statement.generation);
}

template <typename List, typename Each>
void list(Writer& writer, const List& all, Each each) {
  writer.number(all.size());
  for (const auto& one : all) each(writer, one);
}
template <typename List, typename Each>
void list(Reader& reader, List& all, Each each) {
  all.resize(reader.count());
  for (auto& one : all) each(reader, one);
}

constexpr auto kPair = [](auto& codec, auto& pair) { pair_fields(codec, pair); };

template <typename Codec, typename Pair>
void facts_of_pair(Codec& codec, Pair& pair) {
  choice(codec, pair.method, auth::AskedMethod::Scram);
  field(codec, pair.from_primary);
  list(codec, pair.parameters, kPair);
  field(codec, pair.defaults_known);
  list(codec, pair.search_path, [](auto& each, auto& schema) { field(each, schema); });
  for (auto* flag : {&pair.serializable_default, &pair.unusual_isolation, &pair.foreign_role_settings}) field(codec, *flag);
  field(codec, pair.checked_change);
  field(codec, pair.fingerprint);
}

void optional_pair(Writer& writer, const std::optional<SessionSnapshot::Pair>& pair) {
  field(writer, pair.has_value());
  if (pair) facts_of_pair(writer, *pair);
}
void optional_pair(Reader& reader, std::optional<SessionSnapshot::Pair>& pair) {
  bool there = false;
  field(reader, there);
  if (there) facts_of_pair(reader, pair.emplace());
}

template <typename Codec, typename Snapshot>
void fields(Codec& codec, Snapshot& snapshot) {
  for (auto* text : {&snapshot.user, &snapshot.database, &snapshot.application_name, &snapshot.peer, &snapshot.server_database, &snapshot.server_user,
                     &snapshot.secret, &snapshot.client_key}) {
    field(codec, *text);
  }
  field(codec, snapshot.peer_port);
  list(codec, snapshot.fixed, kPair);
  field(codec, snapshot.connected_epoch);
  field(codec, snapshot.cancel_pid);
  field(codec, snapshot.cancel_secret);
  field(codec, snapshot.number);
  choice(codec, snapshot.pool_mode, config::PoolMode::Statement);
  choice(codec, snapshot.secret_from, SessionSnapshot::SecretFrom::Stored);
  list(codec, snapshot.state.startup, kPair);
  list(codec, snapshot.state.entries, [](auto& each, auto& entry) { entry_fields(each, entry); });
  field(codec, snapshot.state.in_packets);
  for (auto* version : {&snapshot.state.version, &snapshot.state.startup_stamp, &snapshot.state.reset_stamp, &snapshot.state.discard_stamp}) field(codec, *version);
  list(codec, snapshot.told, kPair);
  list(codec, snapshot.statements, [](auto& each, auto& statement) { statement_fields(each, statement); });
  field(codec, snapshot.generation);
  field(codec, snapshot.reader_node);
  field(codec, snapshot.redirect_unit);
  for (auto* flag : {&snapshot.unusual_isolation, &snapshot.serializable_default, &snapshot.transactions_kept, &snapshot.reads_kept,
                     &snapshot.asks_sequences}) field(codec, *flag);
  optional_pair(codec, snapshot.pair);
}

}  // namespace

void encode_snapshot(std::string& out, const SessionSnapshot& snapshot) {
  Writer writer(out);
  fields(writer, snapshot);
}

std::optional<SessionSnapshot> decode_snapshot(Bytes bytes) {
  Reader reader(bytes);
  SessionSnapshot snapshot;
  fields(reader, snapshot);
  if (!reader.done()) return std::nullopt;
  return snapshot;
}

}  // namespace weir::child
