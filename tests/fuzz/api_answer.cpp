// The body of a failed answer: a Status, or anything. The error is one line of bounded length.
#include <cstdint>
#include <cstdlib>
#include <string>

#include "kube/error.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string body(reinterpret_cast<const char*>(data), size);
  const kube::Error error = kube::error_of(http::Response{.status = 500, .headers = {}, .body = body});
  if (!error.status || error.status->code != 500) std::abort();
  if (error.message().size() > body.size() + 300) std::abort();
  return 0;
}
