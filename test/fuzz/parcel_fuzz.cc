// What a sibling sends beside a descriptor: a parcel whose every part is within bounds, and which is the same when it is encoded again; or
// nothing.
#include <cstddef>
#include <cstdint>

#include "child/hand_over.h"
#include "common/base/check.h"
#include "common/shmem/node_view.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace weir;
  const Bytes bytes(reinterpret_cast<const std::byte*>(data), size);
  const auto parcel = child::decode_parcel(bytes);
  if (!parcel) return 0;
  WEIR_CHECK(size <= child::kMaxParcelBytes && parcel->giver >= 0 && parcel->lease >= 0 && parcel->backend_pid > 0);
  WEIR_CHECK(parcel->node >= 0 && parcel->node < shmem::kMaxNodes && !parcel->database.empty() && !parcel->user.empty());
  WEIR_CHECK(as_text(bytes) == child::encode_parcel(*parcel));
  return 0;
}
