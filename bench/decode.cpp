#include <algorithm>
#include <string_view>

#include <fmt/format.h>

#include "api/service.h"
#include "bench/measure.h"
#include "bench/samples.h"
#include "json/reader.h"
#include "kube/message_test.h"
#include "kube/watch.h"

namespace bench {
namespace {

// What comes at once: a frame of HTTP/2.
constexpr std::size_t kRead = 16'384;

std::string watch_of(std::uint32_t services) {
  std::string stream;
  for (std::uint32_t i = 0; i < services; ++i) {
    stream += fmt::format(R"({{"type":"ADDED","object":{}}})", service_json(i)) + "\n";
  }
  return stream;
}

// From the bytes of a watch to what we keep of each object.
base::Result<double> decode_watch(std::uint32_t services) {
  const std::string stream = watch_of(services);
  return timed([&]() -> base::Status {
    kube::Framer framer;
    json::Reader reader;
    std::uint32_t kept = 0;
    for (std::string_view rest = stream; !rest.empty(); rest.remove_prefix(std::min(rest.size(), kRead))) {
      framer.feed(rest.substr(0, kRead));
      while (const auto document = TRY(framer.next(reader))) {
        const auto event = TRY(kube::decode_event(*document));
        const auto service = TRY(api::decode_service(event.object.value()));
        kept += service.vips.size() == 1 ? 1U : 0U;
      }
    }
    if (kept != services) return base::fail(base::Fault::bug, "not every Service was decoded");
    return {};
  });
}

// The same of a watch in messages.
base::Result<double> decode_messages(std::uint32_t services) {
  std::string stream;
  for (std::uint32_t i = 0; i < services; ++i) stream += kube::event_message("ADDED", "Service", service_message(i));
  return timed([&]() -> base::Status {
    kube::EventReader events(&api::Service::kMessage);
    json::Reader reader;
    std::uint32_t kept = 0;
    for (std::string_view rest = stream; !rest.empty(); rest.remove_prefix(std::min(rest.size(), kRead))) {
      events.feed(rest.substr(0, kRead));
      while (const auto event = TRY(events.next(reader))) {
        const auto service = TRY(api::decode_service(event->object.value()));
        kept += service.vips.size() == 1 ? 1U : 0U;
      }
    }
    if (kept != services) return base::fail(base::Fault::bug, "not every Service was decoded");
    return {};
  });
}

// The same bytes, looked at once: whatever reads them cannot be faster.
base::Result<double> touch(std::uint32_t services) {
  const std::string stream = watch_of(services);
  return timed([&]() -> base::Status {
    json::Reader reader;
    std::size_t start = 0;
    for (std::size_t end = stream.find('\n'); end != std::string::npos; end = stream.find('\n', start)) {
      TRY(reader.parse(std::string_view(stream).substr(start, end - start)));
      start = end + 1;
    }
    return {};
  });
}

std::string list_of(std::uint32_t services) {
  std::string list = R"({"kind":"ServiceList","apiVersion":"v1","metadata":{"resourceVersion":"99999"},"items":[)";
  for (std::uint32_t i = 0; i < services; ++i) list += (i == 0 ? "" : ",") + service_json(i);
  return list + "]}";
}

// The answer to a list, as one document.
base::Result<double> decode_list(std::uint32_t services) {
  const std::string list = list_of(services);
  return timed([&]() -> base::Status {
    json::Reader reader;
    const auto document = TRY(reader.parse(list));
    const auto items = TRY(document["items"].items());
    std::uint32_t kept = 0;
    for (const json::Value& item : items) {
      TRY(kube::identify(item.as_root()));
      const auto service = TRY(api::decode_service(item.as_root()));
      kept += service.vips.size() == 1 ? 1U : 0U;
    }
    if (kept != services) return base::fail(base::Fault::bug, "not every Service was decoded");
    return {};
  });
}

base::Result<double> touch_list(std::uint32_t services) {
  const std::string list = list_of(services);
  return timed([&]() -> base::Status {
    json::Reader reader;
    TRY(reader.parse(list));
    return {};
  });
}

}  // namespace

Group decode_group() {
  return {.name = "decode",
          .promises = {{.name = "10,000 Services from a watch",
                        .ours = [] { return decode_watch(10'000); },
                        .limit = Contender{"parse only", [] { return touch(10'000); }},
                        .budget = 4},
                       {.name = "10,000 Services from a watch in messages",
                        .ours = [] { return decode_messages(10'000); },
                        .peer = Contender{"the same in JSON", [] { return decode_watch(10'000); }},
                        .budget = 1.1,
                        .against_peer = true},
                       {.name = "10,000 Services from a list",
                        .ours = [] { return decode_list(10'000); },
                        .limit = Contender{"parse only", [] { return touch_list(10'000); }},
                        .budget = 4}},
          .growth = {{.name = "n Services from a watch", .least = 5'000, .expected = 1, .work = decode_watch},
                     {.name = "n Services from a list", .least = 5'000, .expected = 1, .work = decode_list}}};
}

}  // namespace bench
