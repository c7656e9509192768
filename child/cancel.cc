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
  return std::unique_ptr<CancelRequest>(new CancelRequest(worker, std::move(fd), std::move(packet), [over = std::move(done)](End how) { over(how != End::InDoubt); }));
}

std::unique_ptr<CancelRequest> CancelRequest::start_at(Worker& worker, std::string_view address, int port, std::int32_t pid, std::string_view key,
                                                       std::function<void(bool)> done) {
  UniqueFd fd = connect_socket(address, port);
  if (!fd.valid()) return nullptr;
  std::string packet;
  wire::encode_cancel_request(packet, pid, as_bytes(key));
  return std::unique_ptr<CancelRequest>(new CancelRequest(worker, std::move(fd), std::move(packet), [over = std::move(done)](End how) { over(how == End::Delivered); }));
}

CancelRequest::CancelRequest(Worker& worker, UniqueFd fd, std::string packet, std::function<void(End)> done)
    : worker_(worker), packet_(std::move(packet)), done_(std::move(done)), stream_(worker.loop(), std::move(fd), *this) {
  stream_.await_connect();
  deadline_.set(worker.loop(), [this] { finish(sent_ ? End::InDoubt : End::NotSent); });
  deadline_.arm(std::chrono::seconds(10));
}

void CancelRequest::on_drained() {
  if (sent_) return;
  if (stream_.connect_error() != 0) return finish(End::NotSent);
  sent_ = true;
  stream_.resume_reading();
  if (!stream_.write(packet_)) finish(End::InDoubt);
}

// A server says nothing and closes. Other ends leave open what it has done, or will do.
void CancelRequest::on_readable() {
  std::array<std::byte, 64> bytes;
  const Stream::ReadResult got = stream_.read(bytes);
  if (got.outcome == Stream::Outcome::WouldBlock) return;
  finish(got.outcome == Stream::Outcome::Closed ? End::Delivered : End::InDoubt);
}

void CancelRequest::finish(End how) {
  deadline_.disarm();
  stream_.close();
  auto done = std::move(done_);
  done_ = nullptr;
  if (done) done(how);
}

}  // namespace weir::child
