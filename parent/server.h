// The running parent: owns configuration, shared memory, listening sockets, node table and all processes.
#pragma once

#include <memory>

#include "common/base/event.h"
#include "common/base/result.h"
#include "common/config/config.h"
#include "common/ledger/ledger.h"
#include "common/process/role_context.h"
#include "common/shmem/mapping.h"
#include "parent/listen_sockets.h"
#include "parent/node_table_writer.h"
#include "parent/supervisor.h"

namespace weir::parent {

class Server {
 public:
  // PASSWORD_KEY decrypts AES secrets; empty: there is none.
  Server(std::shared_ptr<const config::Config> config, int ready_pipe, std::string password_key);
  // Everything that can go wrong at a start.
  Status prepare();
  // Until it is stopped; the exit code.
  int run();

 private:
  void watch_signals();
  void on_wake();
  void tick();
  void stop(StopMode mode);
  void reload();
  void nodes_changed();
  void announce_ready();
  std::string pid_file() const;

  std::shared_ptr<const config::Config> config_;
  int ready_pipe_;
  EventLoop loop_;
  std::unique_ptr<shmem::Mapping> mapping_;
  std::unique_ptr<ledger::Ledger> ledger_;
  ListenSockets sockets_;
  std::vector<Wake> wakes_;
  std::vector<process::ParcelChannel> parcels_;
  process::RoleContext context_;
  std::unique_ptr<NodeTableWriter> nodes_;
  std::unique_ptr<Supervisor> supervisor_;
  SignalEvent on_chld_, on_term_, on_int_, on_quit_, on_hup_, on_usr1_, on_usr2_;
  FdEvent on_wake_;
  Timer tick_;
  bool ready_ = false;
  int exit_code_ = 0;
  int waits_ = 0;  // seconds without a usable node
};

}  // namespace weir::parent
