#pragma once

#include <chrono>
#include <cstdlib>
#include <string_view>
#include <utility>

#include "kube/list_watch.h"
#include "kube/store.h"
#include "tests/fuzz/pieces.h"

namespace fuzz {

// The bytes of a watch with its initial list, in reads of one size. Whatever they are, a list that is not whole is
// never shown, and a list in pages can be taken afterwards.
template <typename T>
void follow_stream(Pieces pieces, typename kube::Store<T>::Decoder decode, const json::Schema* schema) {
  const std::string_view whole = pieces.rest();
  runtime::Signal changed;
  kube::Store<T> store(std::move(decode), changed);
  kube::ListWatch steps({.selection = {}, .schema = schema}, store, 1);
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
}

}  // namespace fuzz
