#include "child/cancel.h"

#include "child/worker.h"
#include "common/wire/encode.h"

namespace weir::child {

std::unique_ptr<CancelRequest> CancelRequest::start(Worker& worker, int node, std::int32_t pid, std::string_view key, Done done) {
  const shmem::Node& where = worker.nodes().nodes[static_cast<std::size_t>(node)];
  const std::string_view address = where.address.view().empty() ? where.hostname.view() : where.address.view();
  UniqueFd fd = connect_socket(address, where.port);
  if (!fd.valid()) return nullptr;
  std::string packet;
  wire::encode_cancel_request(packet, pid, as_bytes(key));
  return std::unique_ptr<CancelRequest>(new CancelRequest(worker, std::move(fd), std::move(packet), std::move(done)));
}

CancelRequest::CancelRequest(Worker& worker, UniqueFd fd, std::string packet, Done done)
    : worker_(worker), packet_(std::move(packet)), done_(std::move(done)), stream_(worker.loop(), std::move(fd), *this) {
  stream_.await_connect();
  deadline_.set(worker.loop(), [this] { finish(); });
  deadline_.arm(std::chrono::seconds(10));
}

void CancelRequest::on_drained() {
  if (sent_) return;
  sent_ = true;
  stream_.resume_reading();
  if (stream_.connect_error() != 0 || !stream_.write(packet_)) finish();
}

void CancelRequest::on_readable() {
  std::array<std::byte, 64> bytes;
  if (stream_.read(bytes).outcome != Stream::Outcome::WouldBlock) finish();
}

void CancelRequest::finish() {
  deadline_.disarm();
  stream_.close();
  Done done = std::move(done_);
  done_ = nullptr;
  if (done) done();
}

}  // namespace weir::child
