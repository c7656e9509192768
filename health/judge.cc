#include "health/judge.h"

#include <algorithm>
#include <string_view>

namespace weir::health {

NodeHealth judge(NodeHealth health, shmem::Answer answer, int retries) {
  switch (answer) {
    case shmem::Answer::Ok: return {true, 0};
    // A live postmaster that has no slot for us, or does not like our password: nothing is wrong with the node.
    case shmem::Answer::Saturated:
    case shmem::Answer::BadCredentials:
    case shmem::Answer::WrongRole: return {health.up || answer != shmem::Answer::Saturated, 0};
    case shmem::Answer::Refused:
    case shmem::Answer::Starting:
    case shmem::Answer::Stopping: return {false, 0};
    case shmem::Answer::Silent:
    case shmem::Answer::Unresolved: {
      const int silent = health.silent + 1;
      return {health.up && silent <= std::max(retries, 1), silent};
    }
    case shmem::Answer::None: return health;
  }
  return health;
}

const char* answer_text(shmem::Answer answer) {
  switch (answer) {
    case shmem::Answer::None: return "not checked yet";
    case shmem::Answer::Ok: return "";
    case shmem::Answer::Saturated: return "all its connection slots are taken";
    case shmem::Answer::Starting: return "it is starting up, recovering or shutting down";
    case shmem::Answer::Stopping: return "it is shutting down";
    case shmem::Answer::Refused: return "it refuses connections";
    case shmem::Answer::Silent: return "it does not answer";
    case shmem::Answer::WrongRole: return "it is not what it should be";
    case shmem::Answer::BadCredentials: return "it does not let the check user in";
    case shmem::Answer::Unresolved: return "its host name cannot be resolved";
  }
  return "";
}

shmem::Answer answer_of_sqlstate(const char* sqlstate) {
  const std::string_view state(sqlstate);
  if (state == "53300") return shmem::Answer::Saturated;
  if (state == "57P03") return shmem::Answer::Starting;
  if (state.starts_with("57P")) return shmem::Answer::Stopping;
  if (state.starts_with("28") || state.starts_with("3D") || state.starts_with("42")) return shmem::Answer::BadCredentials;
  return shmem::Answer::Starting;
}

}  // namespace weir::health
