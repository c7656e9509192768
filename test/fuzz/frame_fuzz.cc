// Tagged messages out of a stream that comes in pieces. Input: direction in the first bit, then the size of the pieces
// in the first byte's rest, then the stream.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "common/base/check.h"
#include "common/wire/frame.h"

namespace {

using namespace weir;
using wire::FrameStatus;

// Where messages begin and end when no more than PIECE bytes come at a time; the last pair is where it stopped.
std::vector<std::pair<std::size_t, std::size_t>> frames(wire::Direction direction, Bytes stream, std::size_t piece) {
  std::vector<std::pair<std::size_t, std::size_t>> found;
  std::size_t begin = 0;
  std::size_t have = 0;
  while (true) {
    const wire::FrameHeader header = wire::peek_frame(direction, stream.subspan(begin, have - begin));
    if (header.status == FrameStatus::Violation) break;
    if (header.status == FrameStatus::Ok && header.total() <= have - begin) {
      WEIR_CHECK(header.total() >= wire::kHeaderSize);
      found.emplace_back(begin, header.total());
      begin += header.total();
      continue;
    }
    if (have == stream.size()) break;
    have += std::min(piece, stream.size() - have);
  }
  found.emplace_back(begin, 0);
  return found;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const auto direction = (data[0] & 1U) != 0 ? wire::Direction::FromServer : wire::Direction::FromClient;
  const std::size_t piece = std::size_t{data[0]} / 2 + 1;
  const Bytes stream(reinterpret_cast<const std::byte*>(data) + 1, size - 1);
  WEIR_CHECK(frames(direction, stream, piece) == frames(direction, stream, stream.size() + 1));
  return 0;
}
