// What a credential plugin prints. It is somebody to be, or an error that repeats nothing of it.
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "kube/exec_plugin.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  constexpr std::string_view kSecret = "s3cr3t";  // In every token and key of the corpus.
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  for (const char* const version : {"client.authentication.k8s.io/v1", "client.authentication.k8s.io/v1beta1"}) {
    const auto credential = kube::decode_exec_credential(text, version);
    if (!credential) {
      if (credential.error().message().contains(kSecret)) std::abort();
      continue;
    }
    if (credential->token.empty() && credential->certificate.empty()) std::abort();
    if (credential->certificate.empty() != credential->key.empty()) std::abort();
  }
  return 0;
}
