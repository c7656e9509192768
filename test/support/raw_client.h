// A client that speaks the protocol byte by byte and may break every rule of it. Its encoding is
// written apart from the program's on purpose.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "common/base/unique_fd.h"
#include "test/support/wait.h"

namespace weir::test {

namespace msg {
std::string int16(int value);
std::string int32(std::int64_t value);
std::string cstring(std::string_view text); // with the final zero byte
std::string tagged(char tag, std::string_view body);

using Parameters = std::vector<std::pair<std::string, std::string>>;
std::string startup(const Parameters& parameters, std::uint32_t version = 196608);
std::string ssl_request();
std::string gss_request();
std::string cancel_request(std::uint32_t pid, std::string_view secret);
std::string query(std::string_view sql);
std::string parse(std::string_view statement, std::string_view sql,
                  const std::vector<int>& types = {});
std::string bind(std::string_view portal, std::string_view statement,
                 const std::vector<std::optional<std::string>>& values = {});
std::string describe(char kind, std::string_view name);
std::string close(char kind, std::string_view name);
std::string execute(std::string_view portal, int rows = 0);
std::string sync();
std::string flush();
std::string copy_data(std::string_view bytes);
std::string copy_done();
std::string copy_fail(std::string_view reason);
std::string function_call(int oid, const std::vector<std::string>& text_arguments);
std::string password(std::string_view text);
std::string terminate();
} // namespace msg

struct Message {
  char tag = '\0';
  std::string body;

  // Field of an ErrorResponse or NoticeResponse: 'S' severity, 'C' SQLSTATE, 'M' message, 'D', 'H'.
  std::string field(char code) const;
  // Columns of a DataRow.
  std::vector<std::optional<std::string>> values() const;
};
// "1 2 T D C:SELECT 1 Z:I", "E:42601": the kinds of messages in order, with what tells most.
std::string outline(const std::vector<Message>& messages);

class RawClient {
public:
  RawClient() = default;
  // Connected to 127.0.0.1; throws if refused.
  explicit RawClient(int port);
  // To a Unix socket.
  explicit RawClient(const std::string& socket_path);

  // Startup and all answers up to ReadyForQuery; the role must not need a password.
  void login(const std::string& user = "app", const std::string& database = "app",
             msg::Parameters more = {});

  // All of it, in one write if the kernel takes it. False if the other side is gone.
  bool send(std::string_view bytes);
  // As much as fits without waiting.
  std::size_t send_some(std::string_view bytes);
  // The next message; nullopt at the end of the stream or when the patience runs out (closed()
  // tells which).
  std::optional<Message> read(std::chrono::milliseconds patience = kPatience);
  // Up to and with ReadyForQuery, or the end of the stream.
  std::vector<Message> read_to_ready(std::chrono::milliseconds patience = kPatience);
  // Up to the first message with TAG.
  std::vector<Message> read_to(char tag, std::chrono::milliseconds patience = kPatience);
  // One byte, as the answers to SSLRequest come.
  std::optional<char> read_byte(std::chrono::milliseconds patience = kPatience);
  // Bytes as they come, at most MAX, without framing; empty at the end of the stream.
  std::string read_bytes(std::size_t max, std::chrono::milliseconds patience = kPatience);
  std::vector<Message> ask(std::string_view bytes) {
    send(bytes);
    return read_to_ready();
  }
  // Nothing arrives for that time.
  bool silent(std::chrono::milliseconds time);

  bool closed() const { return closed_; }
  // Waits until the other side has closed the connection, reading what still comes.
  bool wait_closed(std::chrono::milliseconds patience = kPatience);
  void disconnect() { fd_.reset(); }
  void half_close();
  int fd() const { return fd_.get(); }

  std::uint32_t backend_pid = 0; // from BackendKeyData
  std::string backend_secret;
  std::vector<Message> welcome; // answers to the startup packet

private:
  bool fill(std::chrono::steady_clock::time_point deadline);

  UniqueFd fd_;
  std::string buffer_;
  std::size_t start_ = 0;
  bool closed_ = false;
};

} // namespace weir::test
