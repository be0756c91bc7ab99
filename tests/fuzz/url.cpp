// A server's address. What is understood must survive its own text.
#include "http/url.h"

#include <cstdint>
#include <cstdlib>
#include <string_view>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto url = http::Url::parse({reinterpret_cast<const char*>(data), size});
  if (url && http::Url::parse(url->text()).value() != *url) std::abort();
  return 0;
}
