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
  using Done = std::function<void()>;
  // DONE is called once: at the server's EOF, an error, or after a time limit. Null if no connection could be begun.
  static std::unique_ptr<CancelRequest> start(Worker& worker, int node, std::int32_t pid, std::string_view key, Done done);
  ~CancelRequest() = default;

 private:
  CancelRequest(Worker& worker, UniqueFd fd, std::string packet, Done done);
  void on_readable() override;
  void on_drained() override;
  void finish();

  Worker& worker_;
  std::string packet_;
  Done done_;
  Stream stream_;
  Timer deadline_;
  bool sent_ = false;
};

}  // namespace weir::child
