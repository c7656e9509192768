// The protocol of a client of the admin console, simple and extended (without parameters). It stands in the place of
// routing, backends and exchanges: nothing of it ever goes to a server.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "child/console.h"
#include "child/console_runner.h"
#include "common/admin/console_command.h"
#include "common/base/bytes.h"

namespace weir::child {

class ClientSession;
class Worker;

class ConsoleClient {
 public:
  ConsoleClient(Worker& worker, ClientSession& session, ConsoleAccess access);

  // Bytes of the client; returns how many were taken (0: more are needed, or a command is under way).
  std::size_t take(Bytes bytes);
  // A command is under way: console_answered() of the session follows.
  bool busy() const { return busy_; }
  // The session ends: nothing calls back any more.
  void abandon() { runner_.abandon(); }

 private:
  struct Portal {
    admin::ConsoleCommand command;
    std::vector<std::int16_t> formats;
    std::optional<LocalAnswer> answer;  // once it was executed
    std::size_t next = 0;               // row
  };

  bool take_message(char tag, Bytes body);
  void query(std::string_view text);
  void take_extended(char tag, Bytes body);
  bool parse(Bytes body);
  bool bind(Bytes body);
  bool describe(Bytes body);
  bool execute(Bytes body);
  bool close(Bytes body);
  void send_rows(Portal& portal, std::size_t limit);
  void run(const admin::ConsoleCommand& command, std::function<void(LocalAnswer&)> done);
  void refuse(Error error);
  void ready();

  Worker& worker_;
  ClientSession& session_;
  const ConsoleAccess access_;
  ConsoleRunner runner_;
  std::map<std::string, admin::ConsoleCommand, std::less<>> statements_;
  std::map<std::string, Portal, std::less<>> portals_;
  bool extended_ = false;  // what is under way came by Execute
  bool skip_ = false;      // an error: up to Sync
  bool busy_ = false;
  bool taking_ = false;
};

}  // namespace weir::child
