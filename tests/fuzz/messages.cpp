// Bytes as messages of an API server: an object of each kind that it writes so, a page of a list, a stream of events in
// reads of one size. An object is decoded as the JSON that it stands for.
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "api/endpoint_slice.h"
#include "api/node.h"
#include "api/pod.h"
#include "api/service.h"
#include "kube/page.h"
#include "tests/fuzz/followed_stream.h"

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
  const fuzz::Pieces pieces(data, size);
  const std::string_view whole = pieces.rest();
  the_same(whole, api::decode_service);
  the_same(whole, api::decode_node);
  the_same(whole, api::decode_pod);
  the_same(whole, api::decode_endpoint_slice);
  (void)kube::next_page(whole);
  fuzz::follow_stream<api::Service>(pieces, api::decode_service, &api::Service::kMessage);
  return 0;
}
