// One object as JSON, read as each kind. What one kind accepts is written and read again unchanged.
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "api/agent.h"
#include "api/endpoint_slice.h"
#include "api/iprule.h"
#include "api/iprule_config.h"
#include "api/node.h"
#include "api/node_state.h"
#include "api/pod.h"
#include "api/published_config.h"
#include "api/service.h"

namespace {

template <typename Decode>
void round_trip(const json::Value& object, Decode decode) {
  auto first = decode(object);
  if (!first) return;
  first->meta.generation = 0;  // These three are the server's to write, so they are not written.
  first->meta.created = first->meta.deleted = meta::Time();
  json::Reader reader;
  const auto again = decode(reader.parse(encode(*first)).value());
  if (!again || *again != *first) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  json::Reader reader;
  const auto object = reader.parse(std::string_view(reinterpret_cast<const char*>(data), size));
  if (!object) return 0;
  round_trip(*object, api::decode_iprule);
  round_trip(*object, api::decode_iprule_config);
  round_trip(*object, api::decode_agent);
  round_trip(*object, api::decode_node_state);
  (void)api::decode_published_config(*object);
  (void)api::decode_service(*object);
  (void)api::decode_node(*object);
  (void)api::decode_pod(*object);
  (void)api::decode_endpoint_slice(*object);
  if (const auto rule = api::decode_iprule(*object)) (void)api::accept(*rule);
  return 0;
}
