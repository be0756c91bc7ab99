#include <array>
#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <malloc.h>
#include <map>
#include <memory>
#include <random>
#include <set>
#include <string>
#include <thread>
#include <tuple>
#include <utility>

#include <gtest/gtest.h>

#include "api.h"
#include "base/file.h"
#include "kube/reflector.h"
#include "runtime/guarded.h"
#include "testbed/fault_proxy.h"

// Minutes of changes and faults at once: nothing may leak, and in the end all is as if nothing had happened. The seed
// is printed; IPRULE_SOAK says how many seconds (20, and 180 in make test-long).
namespace api_test {
namespace {

namespace fault = testbed::fault;
using testbed::FaultProxy;

constexpr auto kBetweenFaults = 600ms;
constexpr auto kPerFaultMet = 900ms;  // 200 in three minutes; some of what is injected finds no call any more.
constexpr int kObjects = 40;
// What may be in the heap at the end beyond what was there at first: answers that are under way, and buffers.
constexpr std::size_t kSlack = 8U << 20U;

std::chrono::seconds duration() {
  const char* const wanted = std::getenv("IPRULE_SOAK");  // NOLINT(concurrency-mt-unsafe): nobody sets it.
  return std::chrono::seconds(wanted == nullptr ? 20 : std::strtol(wanted, nullptr, 10));
}

std::size_t descriptors() {
  const auto all = std::filesystem::directory_iterator("/proc/self/fd");
  return static_cast<std::size_t>(std::distance(begin(all), end(all)));
}

// Their targets, and the kernel's table of TCP sockets to look them up in.
std::string open_files() {
  std::string out;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) {
    std::error_code gone;
    out += std::filesystem::read_symlink(entry, gone).native() + "\n";
  }
  return out + base::read_file("/proc/self/net/tcp").value_or("");
}

std::size_t heap() {
  const auto info = ::mallinfo2();
  return info.uordblks + info.hblkhd;  // What is large has a mapping of its own.
}

using Values = std::map<std::string, std::string>;

class Soak : public ApiTest {
 protected:
  static kube::Config admin_config() {
    return must(kube::from_kubeconfig({testbed::shared_cluster().admin_kubeconfig()}, ""));
  }

  // Through the proxies, so writes meet faults too; whatever becomes of one, the next is another.
  void write(kube::Client& client, std::mt19937_64& random) {
    const std::string name = fmt::format("m{}", random() % kObjects);
    const auto limit = kube::within(5s);
    if (random() % 8 == 0) {
      (void)client.remove(kConfigMaps, key(name), {}, limit);
    } else {
      (void)client.patch(kConfigMaps, key(name), kube::PatchType::apply, config_map(name, std::to_string(random())),
                         limit);
    }
  }

  void hurt(FaultProxy& proxy, std::mt19937_64& random) {
    static const std::array<testbed::Fault, 11> kFaults = {
        fault::Cut(),
        fault::LoseAnswer(),
        fault::Drop(),
        fault::Delay{.time = 300ms},
        fault::Answer{.status = 500, .body = "broken"},
        fault::Answer{.status = 503, .body = "starting"},
        fault::Answer{.status = 429, .body = "busy", .headers = {{"retry-after", "1"}}},
        fault::Answer{.status = 410, .body = R"({"kind":"Status","code":410,"reason":"Expired"})"},
        fault::Answer{.status = 200, .body = "{\"type\":\"GARBAGE\"}\n"},
        fault::Duplicate(),
        fault::Freeze{.after_events = 5},
    };
    static const std::array<const char*, 4> kVerbs = {"watch", "list", "patch", "delete"};
    const testbed::CallMatch match{.verb = kVerbs[random() % kVerbs.size()], .resource = "configmaps"};
    proxy.inject(match, kFaults[random() % kFaults.size()]);
    if (random() % 2 == 0) proxy.cut_all();  // So that there are watches and lists to be hit.
  }

  Values truth() {
    const auto list = must(client_->list(kConfigMaps, {.selection = {.ns = ns_}}, soon()));
    json::Reader reader;
    Values out;
    for (const auto& item : must(must(reader.parse(list))["items"].items())) {
      out[std::string(must(item["metadata"]["name"].string()))] = must(item["data"]["value"].string());
    }
    return out;
  }
};

// Objects as they once were: name, UID, version, value.
using Past = std::set<std::tuple<std::string, std::string, std::uint64_t, std::string>>;

// What the server ever had, by a watch that no fault meets.
class Witness {
 public:
  Witness(kube::Client& client, const std::string& ns)
      : reflector_(client, kConfigMaps, [this](const json::Value& object) { return decode(object); }, changed_,
                   {.ns = ns, .label_selector = "", .field_selector = ""}) {}

  // It knows all there is, and sees all that comes.
  bool is_complete() const { return reflector_.latest()->complete; }

  // What of it never was, as far as is known yet.
  Past without_known(Past shown) const {
    past_.read([&](const Past& past) { std::erase_if(shown, [&](const auto& one) { return past.contains(one); }); });
    return shown;
  }

 private:
  base::Result<std::string> decode(const json::Value& object) {
    auto value = TRY(decode_value(object));
    const auto meta = object["metadata"];
    const std::string version(TRY(meta["resourceVersion"].string()));
    past_.change([&](Past& past) {
      past.emplace(must(meta["name"].string()), must(meta["uid"].string()), std::stoull(version), value);
    });
    return value;
  }

  runtime::Guarded<Past> past_;
  runtime::Signal changed_;
  kube::Reflector<std::string> reflector_;
};

// One consumer of one protocol, with a look at every view.
class Consumer {
 public:
  Consumer(FaultProxy& proxy, const std::string& ns)
      : client_(connect(proxy.kubeconfig())),
        reflector_(*client_, kConfigMaps, decode_value, changed_,
                   {.ns = ns, .label_selector = "", .field_selector = ""}),
        looking_([this](std::stop_token stop) {
          while (!stop.stop_requested()) {
            look();
            (void)changed_.wait(stop, base::SteadyClock().now() + 1s);
          }
        }) {}

  kube::Client& client() { return *client_; }
  Values values() const {
    const auto view = reflector_.latest();
    Values out;
    for (const auto& object : view->objects) out[object->key.name] = object->value;
    return out;
  }
  int time_travels() const { return time_travels_; }
  Past take_shown() {
    Past out;
    shown_.change([&](Past& shown) { out.swap(shown); });
    return out;
  }

 private:
  void look() {
    const auto view = reflector_.latest();
    if (view->version < version_) ++time_travels_;
    version_ = view->version;
    for (const auto& object : view->objects) {
      std::uint64_t& last = versions_[object->key.name];
      if (object->version < last) ++time_travels_;
      last = object->version;
    }
    shown_.change([&](Past& shown) {
      for (const auto& object : view->objects) {
        shown.emplace(object->key.name, object->uid, object->version, object->value);
      }
    });
  }

  std::unique_ptr<kube::Client> client_;
  runtime::Signal changed_;
  kube::Reflector<std::string> reflector_;
  std::uint64_t version_ = 0;
  std::map<std::string, std::uint64_t> versions_;  // Of each object that was ever shown, the last.
  std::atomic<int> time_travels_ = 0;
  runtime::Guarded<Past> shown_;
  std::jthread looking_;
};

TEST_F(Soak, faults_leave_nothing_behind) {
  const std::uint64_t seed = kube::random_seed();
  SCOPED_TRACE(fmt::format("seed {}", seed));
  std::mt19937_64 random(seed);
  FaultProxy new_proxy(admin_config().server, must(admin_config().tls()));
  FaultProxy old_proxy(admin_config().server, must(admin_config().tls()), "127.0.0.1", FaultProxy::Speaks::http1);
  Consumer new_consumer(new_proxy, ns_);
  Consumer old_consumer(old_proxy, ns_);
  auto witness = std::make_unique<Witness>(*client_, ns_);
  const std::array<std::pair<FaultProxy*, Consumer*>, 2> sides = {
      {{&new_proxy, &new_consumer}, {&old_proxy, &old_consumer}}};
  // Without faults, on new connections (what is frozen stays so), with one more for a call.
  const auto settled = [&](std::string_view when) {
    const testbed::CallMatch watches{.verb = "watch", .resource = "configmaps"};
    std::map<FaultProxy*, int> before;
    for (const auto& [proxy, consumer] : sides) proxy->heal();
    for (const auto& [proxy, consumer] : sides) before[proxy] = proxy->calls(watches);
    for (const auto& [proxy, consumer] : sides) proxy->cut_all();
    const Values wanted = truth();
    return testbed::eventually(fmt::format("all is right {}", when), kBound * 2, [&] {
      return std::ranges::all_of(sides, [&](const auto& side) {
        const auto& [proxy, consumer] = side;
        (void)consumer->client().get(kConfigMaps, key("none"), soon());
        return proxy->calls(watches) > before[proxy] && consumer->values() == wanted;
      });
    });
  };

  // What came and went before its first list would never have been for it.
  ASSERT_TRUE(testbed::eventually("the witness looks on", kBound, [&] { return witness->is_complete(); }));
  for (int i = 0; i < 2 * kObjects; ++i) write(new_consumer.client(), random);
  for (int i = 0; i < 8; ++i) write(old_consumer.client(), random);
  ASSERT_TRUE(settled("at first"));
  const std::size_t first_descriptors = descriptors();
  const std::size_t first_heap = heap();

  const auto met = [&] { return new_proxy.faults() + old_proxy.faults(); };
  const auto wanted = duration() / kPerFaultMet;
  int faults = 0;
  {
    std::vector<std::jthread> writers;
    for (const auto& [proxy, follower] : sides) {
      writers.emplace_back([this, consumer = follower, own = random()](const std::stop_token& stop) {
        std::mt19937_64 numbers(own);
        while (!stop.stop_requested()) write(consumer->client(), numbers);
      });
    }
    const auto start = base::SteadyClock().now();
    const auto lasts = [&](base::Duration time) { return base::SteadyClock().now() < start + time; };
    while (lasts(duration()) || (met() < wanted && lasts(3 * duration()))) {
      hurt(*sides[static_cast<std::size_t>(faults++) % 2].first, random);
      (void)runtime::Signal().wait({}, base::SteadyClock().now() + kBetweenFaults);
    }
  }
  ASSERT_TRUE(settled("in the end"));
  for (const auto& [proxy, consumer] : sides) EXPECT_EQ(consumer->time_travels(), 0);
  Past never;
  for (const auto& [proxy, consumer] : sides) never.merge(consumer->take_shown());
  EXPECT_TRUE(testbed::eventually("whatever was shown once was so", kBound, [&] {
    return (never = witness->without_known(std::move(never))).empty();
  })) << testing::PrintToString(never);
  witness.reset();  // What it holds is no leak.
  EXPECT_GE(met(), wanted) << "of " << faults;
  RecordProperty("faults", met());
  RecordProperty("calls", new_proxy.calls({}) + old_proxy.calls({}));
  RecordProperty("heap_grown_by", static_cast<int>(heap()) - static_cast<int>(first_heap));
  // A spare connection of HTTP/1.1, which has two ends here, is no leak.
  EXPECT_TRUE(testbed::eventually("as many descriptors as before", kBound,
                                  [&] { return descriptors() <= first_descriptors + 2; }))
      << descriptors() << " instead of " << first_descriptors << "\n"
      << open_files();
#ifndef __SANITIZE_ADDRESS__  // Its heap keeps what was freed.
  EXPECT_TRUE(
      testbed::eventually("as much in the heap as before", kBound, [&] { return heap() <= first_heap + kSlack; }))
      << heap() << " instead of " << first_heap;
#endif
}

}  // namespace
}  // namespace api_test
