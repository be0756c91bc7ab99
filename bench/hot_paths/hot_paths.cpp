// hot_paths NAME: goes once through one of the paths that every change in a cluster takes, for a counter of
// instructions to watch; prints the number of allocations on it. Instructions do not depend on what else the machine
// does, so a slow-down shows in every run.
#include <atomic>
#include <cstdlib>
#include <functional>
#include <map>
#include <new>
#include <string_view>
#include <valgrind/callgrind.h>

#include <fmt/format.h>

#include "api/service.h"
#include "bench/samples.h"
#include "json/reader.h"
#include "kube/message_test.h"
#include "kube/watch.h"
#include "plan/diff.h"

namespace {

std::atomic<std::uint64_t> allocations = 0;

// Only what stands inside is counted.
template <typename Work>
void counted(Work work) {
  const std::uint64_t before = allocations;
  CALLGRIND_TOGGLE_COLLECT;
  work();
  CALLGRIND_TOGGLE_COLLECT;
  fmt::print("{}\n", allocations - before);
}

void decode_events() {
  std::string stream;
  for (std::uint32_t i = 0; i < 1'000; ++i) {
    stream += fmt::format(R"({{"type":"MODIFIED","object":{}}})", bench::service_json(i)) + "\n";
  }
  counted([&] {
    kube::Framer framer;
    json::Reader reader;
    framer.feed(stream);
    for (int i = 0; i < 1'000; ++i) {
      const auto document = framer.next(reader);
      if (!document || !*document) std::abort();
      const auto event = kube::decode_event(**document);
      if (!event || !api::decode_service(event->object.value())) std::abort();
    }
  });
}

void decode_messages() {
  std::string stream;
  for (std::uint32_t i = 0; i < 1'000; ++i)
    stream += kube::event_message("MODIFIED", "Service", bench::service_message(i));
  counted([&] {
    kube::EventReader events(&api::Service::kMessage);
    json::Reader reader;
    events.feed(stream);
    for (int i = 0; i < 1'000; ++i) {
      const auto event = events.next(reader);
      if (!event || !*event || !api::decode_service((*event)->object.value())) std::abort();
    }
  });
}

void find_desired() {
  const auto sample = bench::many_services(2'000, 100);
  counted([&] {
    if (sample.desired().configs.empty()) std::abort();
  });
}

void plan_changes() {
  const state::Observation observed = state::Verified{bench::many_rules(4'000)};
  state::NetState desired = bench::many_rules(4'000);
  for (std::size_t i = 0; i < 10; ++i) desired.rules[i * 399].table = 200;
  counted([&] {
    if (plan::diff(observed, desired, {}).ops.size() != 20) std::abort();
  });
}

}  // namespace

void* operator new(std::size_t size) {
  ++allocations;
  if (void* const memory = std::malloc(size)) return memory;  // NOLINT(cppcoreguidelines-no-malloc)
  throw std::bad_alloc();
}
void operator delete(void* memory) noexcept {
  std::free(memory);  // NOLINT(cppcoreguidelines-no-malloc)
}
void operator delete(void* memory, std::size_t) noexcept {
  std::free(memory);  // NOLINT(cppcoreguidelines-no-malloc)
}

int main(int count, char** argv) {
  const std::map<std::string_view, std::function<void()>> paths = {
      {"decode", decode_events}, {"messages", decode_messages}, {"intent", find_desired}, {"plan", plan_changes}};
  const auto path = count == 2 ? paths.find(argv[1]) : paths.end();
  if (path == paths.end()) {
    fmt::print(stderr, "usage: hot_paths decode|messages|intent|plan\n");
    return 2;
  }
  path->second();
  return 0;
}
