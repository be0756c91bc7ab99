// A YAML stream. Whatever it is, the documents that come out are valid JSON.
#include "json/yaml.h"

#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "json/reader.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto documents = json::from_yaml(std::string_view(reinterpret_cast<const char*>(data), size));
  if (!documents) return 0;
  json::Reader reader;
  for (const std::string& document : *documents) {
    if (!reader.parse(document)) std::abort();
  }
  return 0;
}

// libfyaml 0.7.12 loses a token of some texts it refuses; that is not ours to find again.
extern "C" const char* __lsan_default_suppressions();
extern "C" const char* __lsan_default_suppressions() {
  return "leak:libfyaml";
}
