// A server connection goes from one child to another that waits for it, without a new login: the descriptor travels over a
// socket that the parent has made, and beside it what is known of the connection. Semantics, rule 22.
//
// The giver marks the lease and sends; the taker adopts the lease in the ledger, which is the moment from which the connection is
// its own, and wakes the giver, which then closes its descriptor. Who is too slow has lost: the giver takes the lease back and closes
// the connection, and nobody can adopt it any more. A sibling that dies or stops in between loses nothing but that connection.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "child/backend.h"
#include "child/state_image.h"
#include "common/auth/backend_auth.h"
#include "common/base/bytes.h"
#include "common/base/event.h"
#include "common/base/unique_fd.h"
#include "common/ledger/ledger.h"

namespace weir::child {

// What travels beside the descriptor: all that a child knows of an idle connection in plain text that is lent by the transaction.
struct Parcel {
  int giver = -1;  // child slot
  ledger::LeaseId lease = -1;
  int node = -1;
  std::string database;
  std::string user;
  std::int32_t backend_pid = 0;
  std::string cancel_key;
  auth::AskedMethod method = auth::AskedMethod::Unknown;
  bool has_statements = false;   // prepared under names that only the giver knows
  bool has_drawn = false;        // somebody may have drawn from sequences there
  std::int64_t connected_ms = 0; // monotonic, as is the next
  std::int64_t sent_ms = 0;      // older than HandOver::kPatience it is void: the giver has it back, and its lease may be another's
  std::uint64_t uses = 0;
  std::uint64_t login_change = 0;
  std::vector<std::pair<std::string, std::string>> parameters;  // ParameterStatus
  StateImage image;
  bool operator==(const Parcel& other) const;
};

// One datagram; longer parcels are not sent.
inline constexpr std::size_t kMaxParcelBytes = 32U << 10U;

std::string encode_parcel(const Parcel& parcel);
// Nothing: these bytes are no parcel. Every length is checked, and what is told within the bounds that a server's word has.
std::optional<Parcel> decode_parcel(Bytes bytes);

class HandOver {
 public:
  // A sibling has so long to take it.
  static constexpr Milliseconds kPatience{200};

  explicit HandOver(Worker& worker);
  ~HandOver();
  void start();

  // Sends the idle BACKEND, which is no longer in its group's list, to the one who called. False: that is not possible, and it is
  // still the caller's.
  bool give(std::unique_ptr<Backend>& backend, const ledger::CallIn& call);
  // Looks whether what was given has arrived; when this process is woken.
  void check();
  bool busy() const { return !given_.empty(); }

 private:
  struct Given {
    std::unique_ptr<Backend> backend;
    Monotonic at{};
  };
  struct Arrived {
    Parcel parcel;
    UniqueFd fd;
  };

  bool may_give(const Backend& backend) const;
  void receive(Bytes bytes, UniqueFd fd);
  void take_in();
  // False: the ledger was busy.
  bool adopt(Arrived& arrived);

  Worker& worker_;
  Timer timer_;
  std::vector<Given> given_;
  std::deque<Arrived> arrived_;
};

}  // namespace weir::child
