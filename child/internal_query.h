// Something that pgweir itself asks of a backend: replayed session state, the reset between two clients, catalogue
// look-ups, facts of a login. Sends bytes, collects what comes until the expected number of ReadyForQuery, calls back.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "child/backend.h"
#include "common/base/error.h"

namespace weir::child {

struct InternalResult {
  std::optional<Error> error;  // the first one
  bool lost = false;           // the connection ended; the backend is closed
  char status = 'I';
  std::vector<std::vector<std::optional<std::string>>> rows;
  std::vector<std::pair<std::string, std::string>> parameters;  // ParameterStatus that came with it
};

class InternalQuery final : public BackendUser {
 public:
  using Done = std::function<void(InternalResult&)>;
  // Rows beyond this many bytes are dropped: pgweir asks for little.
  static constexpr std::size_t kMaxBytes = 4U << 20U;

  // Becomes the backend's user until DONE is called; the object destroys itself afterwards. DONE may hand the backend to
  // another user. A query that is no longer wanted is given up with abandon().
  static InternalQuery* start(Worker& worker, Backend& backend, std::string messages, int ready_expected, Done done);
  // DONE will not be called; the owner must close the backend.
  void abandon();

 private:
  InternalQuery(Worker& worker, Backend& backend, int ready_expected, Done done);

  std::size_t on_backend_bytes(Backend& backend, Bytes bytes) override;
  void on_backend_drained(Backend&) override {}
  void on_backend_lost(Backend& backend, const Error& error) override;
  // False if the server broke the protocol.
  bool take(Backend& backend, char tag, Bytes body);
  void finish();

  Worker& worker_;
  Backend* backend_;
  int ready_expected_;
  Done done_;
  InternalResult result_;
  std::size_t bytes_ = 0;
};

}  // namespace weir::child
