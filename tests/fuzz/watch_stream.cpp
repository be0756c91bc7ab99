// The bytes of a watch with its initial list, cut into reads of one size. Whatever they are, a list that is not whole
// is never shown, and a list in pages can be taken afterwards.
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "kube/list_watch.h"
#include "kube/store.h"
#include "tests/fuzz/pieces.h"

namespace {

base::Result<std::string> decode(const json::Value& object) {
  return std::string(TRY(object["spec"]["value"].string_or("")));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  fuzz::Pieces pieces(data, size);
  const std::string_view whole = pieces.rest();
  runtime::Signal changed;
  kube::Store<std::string> store(decode, changed);
  kube::ListWatch steps({}, store, 1);
  const base::TimePoint now{std::chrono::hours(1)};
  (void)steps.next(now);
  steps.listed(R"({"metadata":{"resourceVersion":"1"},"items":[]})", now);  // The next list comes by a stream.
  steps.list_again();
  (void)steps.next(now);
  steps.opened(now);
  bool going_on = true;
  while (going_on && !pieces.empty()) {
    going_on = steps.heard(pieces.next(), now);
    if (store.latest()->lists == 1 && !store.latest()->objects.empty()) std::abort();
  }
  if (going_on) steps.ended(now);
  steps.listed(whole, now);
  return 0;
}
