// Bytes as messages of an API server: an object of each kind that it writes so, a page of a list, a stream of events in
// reads of one size. An object is decoded as the JSON that it stands for; a list that is not whole is never shown.
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "api/endpoint_slice.h"
#include "api/node.h"
#include "api/pod.h"
#include "api/service.h"
#include "kube/list_watch.h"
#include "kube/page.h"
#include "kube/store.h"
#include "tests/fuzz/pieces.h"

namespace {

template <typename T>
void the_same(std::string_view bytes, base::Result<T> (*decode)(const json::Value&)) {
  json::Reader messages;
  const auto message = messages.parse(bytes, T::kMessage);
  if (!message) return;
  json::Reader texts;
  const auto text = texts.parse(message->text());
  if (!text) std::abort();
  const auto from_message = decode(*message);
  const auto from_text = decode(*text);
  if (from_message.has_value() != from_text.has_value()) std::abort();
  if (from_message && *from_message != *from_text) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  fuzz::Pieces pieces(data, size);
  const std::string_view whole = pieces.rest();
  the_same(whole, api::decode_service);
  the_same(whole, api::decode_node);
  the_same(whole, api::decode_pod);
  the_same(whole, api::decode_endpoint_slice);
  (void)kube::next_page(whole);

  runtime::Signal changed;
  kube::Store<api::Service> store(api::decode_service, changed);
  kube::ListWatch steps({.selection = {}, .schema = &api::Service::kMessage}, store, 1);
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
