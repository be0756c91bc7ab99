// A kubeconfig file. Choosing any of its contexts gives a configuration or an error.
#include "kube/kubeconfig.h"

#include <cstdint>
#include <string_view>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto parsed = kube::Kubeconfig::parse({reinterpret_cast<const char*>(data), size}, "/folder");
  if (!parsed) return 0;
  (void)parsed->choose("");
  for (const auto& [name, context] : parsed->contexts) (void)parsed->choose(name);
  return 0;
}

// libfyaml 0.7.12 loses a token of some texts it refuses; that is not ours to find again.
extern "C" const char* __lsan_default_suppressions();
extern "C" const char* __lsan_default_suppressions() {
  return "leak:libfyaml";
}
