#include "test/support/raw_client.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <cerrno>
#include <cstring>
#include <stdexcept>

namespace weir::test {
namespace msg {

std::string int16(int value) {
  return {static_cast<char>((value >> 8) & 0xff), static_cast<char>(value & 0xff)};
}

std::string int32(std::int64_t value) {
  return {static_cast<char>((value >> 24) & 0xff), static_cast<char>((value >> 16) & 0xff),
          static_cast<char>((value >> 8) & 0xff), static_cast<char>(value & 0xff)};
}

std::string cstring(std::string_view text) {
  return std::string(text) + '\0';
}

std::string tagged(char tag, std::string_view body) {
  std::string out(1, tag);
  out += int32(static_cast<std::int64_t>(body.size()) + 4);
  out += body;
  return out;
}

namespace {
std::string untagged(std::string_view body) {
  return int32(static_cast<std::int64_t>(body.size()) + 4) + std::string(body);
}
} // namespace

std::string startup(const Parameters& parameters, std::uint32_t version) {
  std::string body = int32(version);
  for (const auto& [name, value] : parameters)
    body += cstring(name) + cstring(value);
  return untagged(body + '\0');
}

std::string ssl_request() {
  return untagged(int32(80877103));
}
std::string gss_request() {
  return untagged(int32(80877104));
}
std::string cancel_request(std::uint32_t pid, std::string_view secret) {
  return untagged(int32(80877102) + int32(pid) + std::string(secret));
}
std::string query(std::string_view sql) {
  return tagged('Q', cstring(sql));
}

std::string parse(std::string_view statement, std::string_view sql, const std::vector<int>& types) {
  std::string body = cstring(statement) + cstring(sql) + int16(static_cast<int>(types.size()));
  for (const int type : types)
    body += int32(type);
  return tagged('P', body);
}

std::string bind(std::string_view portal, std::string_view statement,
                 const std::vector<std::optional<std::string>>& values) {
  std::string body =
      cstring(portal) + cstring(statement) + int16(0) + int16(static_cast<int>(values.size()));
  for (const auto& value : values) {
    body += int32(value ? static_cast<std::int64_t>(value->size()) : -1);
    if (value)
      body += *value;
  }
  return tagged('B', body + int16(0));
}

std::string describe(char kind, std::string_view name) {
  return tagged('D', std::string(1, kind) + cstring(name));
}
std::string close(char kind, std::string_view name) {
  return tagged('C', std::string(1, kind) + cstring(name));
}
std::string execute(std::string_view portal, int rows) {
  return tagged('E', cstring(portal) + int32(rows));
}
std::string sync() {
  return tagged('S', "");
}
std::string flush() {
  return tagged('H', "");
}
std::string copy_data(std::string_view bytes) {
  return tagged('d', bytes);
}
std::string copy_done() {
  return tagged('c', "");
}
std::string copy_fail(std::string_view reason) {
  return tagged('f', cstring(reason));
}

std::string function_call(int oid, const std::vector<std::string>& text_arguments) {
  std::string body = int32(oid) + int16(0) + int16(static_cast<int>(text_arguments.size()));
  for (const std::string& argument : text_arguments) {
    body += int32(static_cast<std::int64_t>(argument.size())) + argument;
  }
  return tagged('F', body + int16(0));
}

std::string password(std::string_view text) {
  return tagged('p', cstring(text));
}
std::string terminate() {
  return tagged('X', "");
}

} // namespace msg

namespace {
std::int32_t read_int32(std::string_view bytes) {
  std::uint32_t value = 0;
  for (std::size_t i = 0; i < 4; ++i)
    value = (value << 8U) | static_cast<unsigned char>(bytes.at(i));
  return static_cast<std::int32_t>(value);
}
} // namespace

std::string Message::field(char code) const {
  for (std::size_t at = 0; at < body.size() && body[at] != '\0';) {
    const std::size_t end = body.find('\0', at + 1);
    if (end == std::string::npos)
      return "";
    if (body[at] == code)
      return body.substr(at + 1, end - at - 1);
    at = end + 1;
  }
  return "";
}

std::vector<std::optional<std::string>> Message::values() const {
  std::vector<std::optional<std::string>> result;
  for (std::size_t at = 2; at + 4 <= body.size();) {
    const std::int32_t length = read_int32(std::string_view(body).substr(at));
    at += 4;
    if (length < 0) {
      result.emplace_back(std::nullopt);
    } else {
      result.emplace_back(body.substr(at, static_cast<std::size_t>(length)));
      at += static_cast<std::size_t>(length);
    }
  }
  return result;
}

std::string outline(const std::vector<Message>& messages) {
  std::string out;
  for (const Message& message : messages) {
    if (!out.empty())
      out += ' ';
    out += message.tag;
    if (message.tag == 'Z' && !message.body.empty())
      out += std::string(":") + message.body[0];
    if (message.tag == 'E')
      out += ":" + message.field('C');
    if (message.tag == 'C')
      out += ":" + message.body.substr(0, message.body.size() - 1);
    if (message.tag == 'D') {
      for (const auto& value : message.values())
        out += ":" + value.value_or("NULL").substr(0, 40);
    }
  }
  return out;
}

RawClient::RawClient(int port) : fd_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  address.sin_port = htons(static_cast<std::uint16_t>(port));
  if (::connect(fd_.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
    throw std::runtime_error(std::string("connect: ") + std::strerror(errno));
  }
  const int one = 1;
  setsockopt(fd_.get(), IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
}

RawClient::RawClient(const std::string& socket_path)
    : fd_(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::strncpy(address.sun_path, socket_path.c_str(), sizeof address.sun_path - 1);
  if (::connect(fd_.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
    throw std::runtime_error(std::string("connect: ") + std::strerror(errno));
  }
}

void RawClient::login(const std::string& user, const std::string& database, msg::Parameters more) {
  msg::Parameters parameters{{"user", user}, {"database", database}};
  parameters.insert(parameters.end(), more.begin(), more.end());
  send(msg::startup(parameters));
  welcome = read_to_ready();
  for (const Message& message : welcome) {
    if (message.tag == 'E')
      throw std::runtime_error("login: " + message.field('C') + " " + message.field('M'));
    if (message.tag == 'K') {
      backend_pid = static_cast<std::uint32_t>(read_int32(message.body));
      backend_secret = message.body.substr(4);
    }
  }
  if (welcome.empty() || welcome.back().tag != 'Z')
    throw std::runtime_error("login: " + outline(welcome));
}

bool RawClient::send(std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t n = ::send(fd_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (n < 0 && errno == EINTR)
      continue;
    if (n < 0)
      return false;
    bytes.remove_prefix(static_cast<std::size_t>(n));
  }
  return true;
}

std::size_t RawClient::send_some(std::string_view bytes) {
  const ssize_t n = ::send(fd_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
  return n > 0 ? static_cast<std::size_t>(n) : 0;
}

// Reads more into the buffer; false at the deadline or the end of the stream.
bool RawClient::fill(std::chrono::steady_clock::time_point deadline) {
  if (closed_)
    return false;
  const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(
      deadline - std::chrono::steady_clock::now());
  pollfd what{fd_.get(), POLLIN, 0};
  if (left.count() < 0 || ::poll(&what, 1, static_cast<int>(left.count())) <= 0)
    return false;
  if (start_ > 0 && start_ * 2 >= buffer_.size()) {
    buffer_.erase(0, start_);
    start_ = 0;
  }
  constexpr std::size_t kRead = 256U << 10U;
  const std::size_t old = buffer_.size();
  buffer_.resize(old + kRead);
  const ssize_t n = ::recv(fd_.get(), buffer_.data() + old, kRead, 0);
  buffer_.resize(old + (n > 0 ? static_cast<std::size_t>(n) : 0));
  if (n <= 0)
    closed_ = true;
  return n > 0;
}

std::optional<Message> RawClient::read(std::chrono::milliseconds patience) {
  const auto deadline = std::chrono::steady_clock::now() + patience;
  const auto available = [this] { return buffer_.size() - start_; };
  while (available() < 5) {
    if (!fill(deadline))
      return std::nullopt;
  }
  const std::size_t total =
      1 + static_cast<std::uint32_t>(read_int32(std::string_view(buffer_).substr(start_ + 1)));
  while (available() < total) {
    if (!fill(deadline))
      return std::nullopt;
  }
  Message message{buffer_[start_], buffer_.substr(start_ + 5, total - 5)};
  start_ += total;
  return message;
}

std::vector<Message> RawClient::read_to_ready(std::chrono::milliseconds patience) {
  return read_to('Z', patience);
}

std::vector<Message> RawClient::read_to(char tag, std::chrono::milliseconds patience) {
  const auto deadline = std::chrono::steady_clock::now() + patience;
  std::vector<Message> messages;
  for (;;) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(
        deadline - std::chrono::steady_clock::now());
    auto message = read(left);
    if (!message)
      return messages;
    messages.push_back(std::move(*message));
    if (messages.back().tag == tag)
      return messages;
  }
}

std::optional<char> RawClient::read_byte(std::chrono::milliseconds patience) {
  const std::string bytes = read_bytes(1, patience);
  if (bytes.empty())
    return std::nullopt;
  return bytes[0];
}

std::string RawClient::read_bytes(std::size_t max, std::chrono::milliseconds patience) {
  if (start_ == buffer_.size() && !fill(std::chrono::steady_clock::now() + patience))
    return "";
  std::string bytes = buffer_.substr(start_, max);
  start_ += bytes.size();
  return bytes;
}

bool RawClient::silent(std::chrono::milliseconds time) {
  return start_ == buffer_.size() && !fill(std::chrono::steady_clock::now() + time) && !closed_;
}

bool RawClient::wait_closed(std::chrono::milliseconds patience) {
  const auto deadline = std::chrono::steady_clock::now() + patience;
  while (!closed_ && fill(deadline)) {
  }
  return closed_;
}

void RawClient::half_close() {
  ::shutdown(fd_.get(), SHUT_WR);
}

} // namespace weir::test
