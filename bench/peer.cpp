#include "bench/peer.h"

#include <cstdlib>

namespace bench {

base::Result<std::string> peer_program() {
  const char* const path = std::getenv("IPRULE_PEER");  // NOLINT(concurrency-mt-unsafe): nobody sets any.
  if (path == nullptr) return base::fail(base::Fault::absent, "IPRULE_PEER is not set: run it by `make bench`");
  return std::string(path);
}

}  // namespace bench
