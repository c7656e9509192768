// What a server connection holds of a session's state beyond a fresh login: so that a connection that is lent from
// transaction to transaction is brought from what it has to what the next session wants, and not cleared in between.
// Values; equal images of one table are one object, so that they are compared by address.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace weir::child {

struct Replay;

struct StateImage {
  struct Setting {
    std::string parameter;  // canonical, lower case; "role" and "session_authorization" stand last
    std::string replay;     // the statement that sets it
    bool operator==(const Setting&) const = default;
  };
  std::vector<Setting> settings;  // in the order in which they are to be set
};

// Null: a fresh login.
using StateImagePtr = std::shared_ptr<const StateImage>;

// What brings a connection from FROM to TO, outside any transaction block. Parameters are set with the rights of the
// login role; those that TO does not have return to what the login gave them.
Replay difference(const StateImage* from, const StateImage* to);

// The images of one process.
class StateImages {
 public:
  // The one object that is equal to IMAGE; null if it is empty.
  StateImagePtr intern(StateImage image);
  std::size_t size() const { return images_.size(); }

 private:
  void sweep();

  std::unordered_map<std::string, std::weak_ptr<const StateImage>> images_;
  std::size_t swept_at_ = 64;
};

}  // namespace weir::child
