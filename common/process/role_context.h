// What the parent hands to a freshly forked process, and nothing else: no globals.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "common/base/unique_fd.h"
#include "common/base/wake.h"

namespace weir::config {
struct Config;
}
namespace weir::shmem {
class Mapping;
}
namespace weir::ledger {
class Ledger;
}

namespace weir::process {

// A listening socket, made by the parent before the first fork and shared by all children.
struct ListenSocket {
  UniqueFd fd;
  bool is_unix = false;
};

// A socket for datagrams to one child, which siblings hand server connections over.
struct ParcelChannel {
  UniqueFd receive;  // that child's
  UniqueFd send;     // all others'
};

struct RoleContext {
  std::shared_ptr<const config::Config> config;
  std::uint64_t config_generation = 0;  // of `config`: a role that was forked behind a newer one has missed its SIGHUP
  shmem::Mapping* mapping = nullptr;   // the one shared segment; write only the parts that your role owns
  ledger::Ledger* ledger = nullptr;    // of server connections; each process has its own object for the one region
  int slot = -1;                       // row in the child table (role child), else -1
  std::vector<ListenSocket>* sockets = nullptr;
  // One eventfd a process: [0] parent, [1] health, [2 + slot] children. Wake others through it, watch your own.
  std::vector<Wake>* wakes = nullptr;
  std::vector<ParcelChannel>* parcels = nullptr;  // by child slot

  std::string password_key;  // decrypts AES secrets; empty: there is none
  std::string salt_seed;     // random: what clients are told of a user's salt is the same in every child

  static constexpr std::size_t kParentWake = 0;
  static constexpr std::size_t kHealthWake = 1;
  static constexpr std::size_t kFirstChildWake = 2;
};

}  // namespace weir::process
