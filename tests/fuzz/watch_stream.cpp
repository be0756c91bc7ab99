// The bytes of a watch, in JSON.
#include <cstdint>
#include <string>

#include "tests/fuzz/followed_stream.h"

namespace {

base::Result<std::string> decode(const json::Value& object) {
  return std::string(TRY(object["spec"]["value"].string_or("")));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  fuzz::follow_stream<std::string>(fuzz::Pieces(data, size), decode, nullptr);
  return 0;
}
