#include "bench/peer.h"

#include <cstdlib>

namespace bench {
namespace {

std::optional<std::string> environment(const char* name) {
  const char* const value = std::getenv(name);  // NOLINT(concurrency-mt-unsafe): nobody sets any.
  if (value == nullptr || *value == '\0') return std::nullopt;
  return value;
}

}  // namespace

base::Result<std::string> peer_program() {
  const auto path = environment("IPRULE_PEER");
  if (!path) return base::fail(base::Fault::absent, "IPRULE_PEER is not set: run it by `make bench`");
  return *path;
}

base::Result<PeerProgram> peer_controller() {
  if (const auto path = environment("PEER_MANAGER")) return PeerProgram{"PEER_MANAGER", {*path}};
  return PeerProgram{"controller-runtime", {TRY(peer_program()), "manager"}};
}

std::optional<PeerProgram> peer_agent() {
  const auto path = environment("PEER_AGENT");
  if (!path) return std::nullopt;
  return PeerProgram{"PEER_AGENT", {*path}};
}

}  // namespace bench
