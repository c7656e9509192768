// Carries a cancel request to a server: a connection of its own that says CancelRequest and waits for the end. The
// backend meant is kept from other clients until then (rule 24).
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "common/base/event.h"
#include "common/base/stream.h"

namespace weir::child {

class Worker;

class CancelRequest final : private StreamHandler {
 public:
  // TOLD: the server has taken the request and closed the connection, or it never got it. Else it may act on it yet.
  using Done = std::function<void(bool told)>;
  // DONE is called once: at the server's EOF, an error, or after a time limit. Null if no connection could be begun.
  static std::unique_ptr<CancelRequest> start(Worker& worker, int node, std::int32_t pid, std::string_view key, Done done);
  // ... to a numeric address or a socket directory. DELIVERED: the other side has closed the connection.
  static std::unique_ptr<CancelRequest> start_at(Worker& worker, std::string_view address, int port, std::int32_t pid, std::string_view key,
                                                 std::function<void(bool delivered)> done);
  ~CancelRequest() = default;

 private:
  enum class End : std::uint8_t { NotSent, Delivered, InDoubt };
  CancelRequest(Worker& worker, UniqueFd fd, std::string packet, std::function<void(End)> done);
  void on_readable() override;
  void on_drained() override;
  void finish(End how);

  Worker& worker_;
  std::string packet_;
  std::function<void(End)> done_;
  Stream stream_;
  Timer deadline_;
  bool sent_ = false;
};

}  // namespace weir::child
