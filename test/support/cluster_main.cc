// Starts or stops the cluster that the integration tests of a ctest run share.
#include <cstdio>
#include <cstring>
#include <exception>

#include "test/support/cluster.h"

int main(int argc, char** argv) {
  try {
    if (argc == 2 && std::strcmp(argv[1], "start") == 0)
      return weir::test::Cluster::start_shared();
    if (argc == 2 && std::strcmp(argv[1], "stop") == 0)
      return weir::test::Cluster::stop_shared();
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
  std::fprintf(stderr, "usage: %s start|stop\n", argv[0]);
  return 2;
}
