// JSON text. What is accepted can be walked to its last value, every path leads somewhere, and its own text is accepted
// again with the same text.
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "json/reader.h"

namespace {

void walk(const json::Value& value) {
  if (const auto items = value.items()) {
    for (const json::Value& item : *items) walk(item);
  }
  if (const auto members = value.members()) {
    for (const json::Member& member : *members) {
      if (!value[member.key].exists()) std::abort();
      walk(member.value);
    }
  }
  (void)value.string();
  (void)value.boolean();
  (void)value.integer<std::uint32_t>();
  (void)value.path();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  json::Reader reader;
  const auto value = reader.parse(std::string_view(reinterpret_cast<const char*>(data), size));
  if (!value) return 0;
  walk(*value);
  const std::string text = value->text();
  json::Reader again;
  const auto same = again.parse(text);
  if (!same || same->text() != text) std::abort();
  return 0;
}
