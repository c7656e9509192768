#include "child/internal_query.h"

#include "child/worker.h"
#include "common/base/sqlstate.h"
#include "common/wire/backend.h"
#include "common/wire/frame.h"

namespace weir::child {

InternalQuery::InternalQuery(Worker& worker, Backend& backend, int ready_expected, Done done)
    : worker_(worker), backend_(&backend), ready_expected_(ready_expected), done_(std::move(done)) {}

InternalQuery* InternalQuery::start(Worker& worker, Backend& backend, std::string messages, int ready_expected, Done done) {
  auto* query = new InternalQuery(worker, backend, ready_expected, std::move(done));  // owns itself: see finish()
  backend.set_user(query);
  backend.resume_reading();
  backend.send(messages);  // a broken connection shows at the next read
  return query;
}

void InternalQuery::abandon() {
  if (backend_ != nullptr && backend_->user() == this) backend_->set_user(nullptr);
  backend_ = nullptr;
  done_ = nullptr;
  worker_.loop().destroy_later(std::unique_ptr<InternalQuery>(this));
}

std::size_t InternalQuery::on_backend_bytes(Backend& backend, Bytes bytes) {
  std::size_t taken = 0;
  while (backend_ != nullptr) {
    const Bytes rest = bytes.subspan(taken);
    const wire::FrameHeader header = wire::peek_frame(wire::Direction::FromServer, rest);
    if (header.status == wire::FrameStatus::NeedMore || (header.status == wire::FrameStatus::Ok && header.total() > rest.size() && header.total() <= Worker::kReadSize)) break;
    if (header.status != wire::FrameStatus::Ok || header.total() > rest.size() ||
        !take(backend, header.tag, rest.subspan(5, header.total() - 5))) {
      on_backend_lost(backend, make_error(sqlstate::kProtocolViolation, "the server's answer to a query of pgweir makes no sense"));
      backend.close();
      return bytes.size();
    }
    taken += header.total();
    if (ready_expected_ == 0) {
      // Nothing more was asked: what stands behind must not become the answer to the next user's question.
      if (!only_unasked(bytes.subspan(taken))) {
        on_backend_lost(backend, make_error(sqlstate::kProtocolViolation, "the server answered more than it was asked"));
        backend.close();
        return bytes.size();
      }
      finish();
      break;  // what follows belongs to the next user
    }
  }
  return taken;
}

bool InternalQuery::take(Backend& backend, char tag, Bytes body) {
  switch (tag) {
    case 'Z': {
      const auto ready = wire::parse_ready_for_query(body);
      if (!ready) return false;
      result_.status = *ready;
      backend.status = *ready;
      --ready_expected_;
      return true;
    }
    case 'E': {
      const auto fields = wire::parse_error_fields(body);
      if (!fields) return false;
      if (!result_.error) result_.error = fields->to_error();
      return true;
    }
    case 'S': {
      const auto parameter = wire::parse_parameter_status(body);
      if (!parameter || !backend.parameters.note(parameter->name, parameter->value)) return false;
      if (result_.parameters.size() >= ReportedParameters::kMaxNames) return false;
      result_.parameters.emplace_back(parameter->name, parameter->value);
      return true;
    }
    case 'D': {
      bytes_ += body.size();
      if (bytes_ > kMaxBytes) return true;
      const auto row = wire::parse_data_row(body);
      if (!row) return false;
      std::vector<std::optional<std::string>> values;
      values.reserve(row->values.size());
      for (const auto& value : row->values) {
        values.push_back(value ? std::optional<std::string>(std::string(*value)) : std::nullopt);
      }
      result_.rows.push_back(std::move(values));
      return true;
    }
    default: return true;
  }
}

void InternalQuery::on_backend_lost(Backend&, const Error& error) {
  result_.lost = true;
  if (!result_.error) result_.error = error;
  finish();
}

void InternalQuery::finish() {
  if (backend_ == nullptr) return;
  if (backend_->user() == this) backend_->set_user(nullptr);
  backend_ = nullptr;
  Done done = std::move(done_);
  worker_.loop().destroy_later(std::unique_ptr<InternalQuery>(this));
  if (done) done(result_);
}

}  // namespace weir::child
