// The text of an address or prefix. What is accepted survives its own text, and a prefix has no host bits.
#include "net/prefix.h"

#include <cstdint>
#include <cstdlib>
#include <string_view>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  if (const auto address = net::Address::parse(text)) {
    if (net::Address::parse(address->text()).value() != *address) std::abort();
  }
  if (const auto prefix = net::Prefix::parse(text)) {
    if (net::Prefix::parse(prefix->text()).value() != *prefix) std::abort();
    if (prefix->address().masked(prefix->length()) != prefix->address()) std::abort();
  }
  return 0;
}
