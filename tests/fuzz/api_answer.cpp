// The body of an answer. Of a failed one: a Status, or anything; the error is one line of bounded length. Of the
// question which kinds there are: whatever it says, an answer or an error.
#include <cstdint>
#include <cstdlib>
#include <string>

#include "kube/discovery.h"
#include "kube/error.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string body(reinterpret_cast<const char*>(data), size);
  const kube::Error error = kube::error_of(http::Response{.status = 500, .headers = {}, .body = body});
  if (!error.status || error.status->code != 500) std::abort();
  if (error.message().size() > body.size() + 300) std::abort();
  if (const auto offer = kube::decode_offer(body); offer && *offer) (void)(*offer)->has({"apps", "v1", "daemonsets"});
  return 0;
}
