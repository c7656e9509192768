// The sockets that clients connect to, made before the first fork.
#pragma once

#include <string>
#include <vector>

#include "common/base/result.h"
#include "common/config/config.h"
#include "common/process/role_context.h"

namespace weir::parent {

class ListenSockets {
 public:
  // All of them or an error that names the one.
  Status open(const config::Config& config);
  ~ListenSockets();
  std::vector<process::ListenSocket>& sockets() { return sockets_; }
  // Takes the socket files away; the parent only.
  void unlink_files();

 private:
  Status open_tcp(const std::string& host, int port, int backlog);
  Status open_unix(const std::string& directory, const config::Config& config, int backlog);

  std::vector<process::ListenSocket> sockets_;
  std::vector<std::string> files_;
};

}  // namespace weir::parent
