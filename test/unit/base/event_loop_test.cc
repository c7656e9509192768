#include "common/base/event_loop.h"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <thread>

#include "common/base/event.h"

namespace weir {
namespace {

// What happens is timed by when it happens, not by when the loop began to wait for it.
TEST(EventLoop, NowIsTheTimeOfTheEvent) {
  EventLoop loop;
  std::array<int, 2> ends{};
  ASSERT_EQ(socketpair(AF_UNIX, SOCK_STREAM, 0, ends.data()), 0);
  constexpr std::chrono::milliseconds kWait{50};
  const Monotonic before = loop.now();
  Monotonic seen{};
  FdEvent readable;
  readable.watch_read(loop, ends[0], [&] {
    seen = loop.now();
    loop.stop();
  });
  readable.arm();
  std::thread writer([&] {
    std::this_thread::sleep_for(kWait);
    EXPECT_EQ(write(ends[1], "x", 1), 1);
  });
  loop.run();
  writer.join();
  EXPECT_GE(seen - before, kWait);
  close(ends[0]);
  close(ends[1]);
}

}  // namespace
}  // namespace weir
