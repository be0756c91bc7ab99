// What a server sends on a WebSocket, in pieces of any size: no frame is larger than we bear, and after an error the
// reader is not asked again.
#include <cstdint>
#include <cstdlib>

#include "http/websocket_frame.h"
#include "tests/fuzz/pieces.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  constexpr std::size_t kLargest = 1000;
  fuzz::Pieces pieces(data, size);
  http::FrameReader reader(kLargest);
  while (!pieces.empty()) {
    reader.add(pieces.next());
    for (auto frame = reader.next();; frame = reader.next()) {
      if (!frame) return 0;
      if (!*frame) break;
      if ((*frame)->payload.size() > kLargest) std::abort();
    }
  }
  return 0;
}
