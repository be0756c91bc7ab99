// The bytes of a watch with its initial list, cut into reads of one size. Whatever they are, a list that is not whole
// is never shown, and a list in pages can be taken afterwards.
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "kube/list_watch.h"
#include "kube/store.h"

namespace {

base::Result<std::string> decode(const json::Value& object) {
  return std::string(TRY(object["spec"]["value"].string_or("")));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  std::string_view rest(reinterpret_cast<const char*>(data), size);
  const auto cut = static_cast<std::size_t>(static_cast<unsigned char>(rest.front())) + 1;
  rest.remove_prefix(1);

  runtime::Signal changed;
  kube::Store<std::string> store(decode, changed);
  kube::ListWatch steps({}, store, 1);
  const base::TimePoint now{std::chrono::hours(1)};
  (void)steps.next(now);
  steps.opened(now);
  bool going_on = true;
  for (std::string_view part = rest; going_on && !part.empty(); part.remove_prefix(std::min(cut, part.size()))) {
    going_on = steps.heard(part.substr(0, cut), now);
    if (!store.latest()->complete && !store.latest()->objects.empty()) std::abort();
  }
  if (going_on) steps.ended(now);
  steps.listed(rest, now);
  return 0;
}
