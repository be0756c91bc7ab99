// follower KUBECONFIG EVENTS [json]: follows all Services as the controller does, or in JSON as kinds of custom
// resources come, and says how that went; the twin of bench/peer's `watch`, which does it with client-go. Without
// EVENTS: follows all IPRuleConfigs as an agent does, and nothing else.
#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "api/kinds.h"
#include "api/published_config.h"
#include "api/service.h"
#include "bench/processor_time.h"
#include "kube/client.h"
#include "kube/config.h"
#include "kube/reflector.h"
#include "runtime/memory.h"
#include "runtime/shutdown.h"
#include "runtime/signal.h"

namespace {

using Milliseconds = std::chrono::duration<double, std::milli>;

struct Stamped {
  api::Service service;
  std::int64_t at = 0;  // The instant at which the bench wrote it, in nanoseconds since the epoch.
};
struct StampedMessage : Stamped {
  static const json::Schema kMessage;
};

namespace field = json::field;

// As api::Service, with annotations.
constexpr json::Schema kSpec{field::text(3, "clusterIP"), field::text(4, "type"), field::texts(18, "clusterIPs")};
constexpr json::Schema kIngress{field::text(1, "ip"), field::text(2, "hostname"), field::text(3, "ipMode")};
constexpr json::Schema kLoadBalancer{field::messages(1, "ingress", kIngress)};
constexpr json::Schema kStatus{field::message(1, "loadBalancer", kLoadBalancer)};
constexpr json::Schema StampedMessage::kMessage{field::message(1, "metadata", meta::kMetaMessage),
                                                field::message(2, "spec", kSpec), field::message(3, "status", kStatus)};

template <typename T>
base::Result<T> decode(const json::Value& object) {
  T out;
  out.service = TRY(api::decode_service(object));
  const auto at = TRY(object["metadata"]["annotations"]["bench/at"].string_or(""));
  out.at = std::strtoll(std::string(at).c_str(), nullptr, 10);
  return out;
}

// Is told of each change as a job of the controller is, by the thread that took it in, and notes how old it is by then.
// Processor time counts from the first one: what comes before that belongs to the list.
template <typename T>
class Witness {
 public:
  Witness(const kube::Reflector<T>& services, std::size_t wanted, runtime::Signal& has_all)
      : services_(services), wanted_(wanted), has_all_(has_all), seen_(services.latest()) {}

  void look() {
    if (latencies_.empty()) before_ = bench::own_processor_milliseconds();
    const auto fresh = services_.latest();
    const auto now = std::chrono::system_clock::now().time_since_epoch();
    compare(seen_->objects, fresh->objects, [&](const auto* old, const auto* changed) {
      if (old == nullptr || changed == nullptr) return;
      latencies_.push_back(Milliseconds(now - std::chrono::nanoseconds(changed->value.at)).count());
    });
    seen_ = fresh;
    if (latencies_.size() >= wanted_) has_all_.raise();
  }

  // When nobody looks any more.
  std::vector<double> take_latencies() { return std::move(latencies_); }
  double before() const { return before_; }

 private:
  const kube::Reflector<T>& services_;
  const std::size_t wanted_;
  runtime::Signal& has_all_;
  std::shared_ptr<const kube::View<T>> seen_;
  std::vector<double> latencies_;
  double before_ = 0;
};

template <typename T>
void await_list(const kube::Reflector<T>& objects, runtime::Signal& changed, const std::stop_token& stop) {
  while (!objects.latest()->complete && !stop.stop_requested()) {
    (void)changed.wait(stop, std::chrono::steady_clock::now() + std::chrono::seconds(1));
  }
}

template <typename Service>
base::Status follow(const std::string& kubeconfig, std::size_t events, std::stop_token stop) {
  const auto start = std::chrono::steady_clock::now();
  const auto config = TRY(kube::load_config(kubeconfig, "", {}));
  const auto client = TRY(kube::Client::connect(config));
  runtime::Signal changed;
  kube::Reflector<Service> services(*client, {"", "v1", "services", true}, decode<Service>, changed);
  await_list(services, changed, stop);
  const auto synced = Milliseconds(std::chrono::steady_clock::now() - start);

  runtime::Signal has_all;
  Witness witness(services, events, has_all);
  std::optional<runtime::Signal::Listener> listener(std::in_place, changed, [&] { witness.look(); });
  fmt::print("synced {}\nprocessor {}\n", synced.count(), bench::own_processor_milliseconds());
  std::fflush(stdout);
  (void)has_all.wait(stop);
  listener.reset();
  const double used = bench::own_processor_milliseconds() - witness.before();
  std::vector<double> latencies = witness.take_latencies();
  std::ranges::sort(latencies);
  if (!latencies.empty()) {
    fmt::print("events {} {} {}\n", latencies[latencies.size() / 2], latencies[latencies.size() * 99 / 100],
               used / static_cast<double>(latencies.size()));
    std::fflush(stdout);
  }
  while (!stop.stop_requested()) (void)changed.wait(stop, std::chrono::steady_clock::now() + std::chrono::seconds(1));
  return {};
}

base::Status follow_objects(const std::string& kubeconfig, std::stop_token stop) {
  const auto config = TRY(kube::load_config(kubeconfig, "", {}));
  const auto client = TRY(kube::Client::connect(config));
  runtime::Signal changed;
  const kube::Resource resource{std::string(api::kGroup), "v1alpha1", std::string(api::IPRuleConfig::kPlural), false};
  kube::Reflector<api::PublishedConfig> objects(*client, resource, api::decode_published_config, changed);
  await_list(objects, changed, stop);
  fmt::print("synced {}\n", objects.latest()->objects.size());
  std::fflush(stdout);
  while (!stop.stop_requested()) (void)changed.wait(stop, std::chrono::steady_clock::now() + std::chrono::hours(1));
  return {};
}

}  // namespace

int main(int count, char** argv) {
  runtime::hold_little_memory();
  const bool in_json = count == 4 && std::string_view(argv[3]) == "json";
  if (count != 2 && count != 3 && !in_json) {
    fmt::print(stderr, "usage: follower KUBECONFIG [EVENTS [json]]\n");
    return 2;
  }
  runtime::Shutdown shutdown;
  const std::size_t events = count == 2 ? 0 : std::strtoull(argv[2], nullptr, 10);
  const auto done = count == 2 ? follow_objects(argv[1], shutdown.token())
                    : in_json  ? follow<Stamped>(argv[1], events, shutdown.token())
                               : follow<StampedMessage>(argv[1], events, shutdown.token());
  if (!done) fmt::print(stderr, "follower: {}\n", done.error().message());
  return done ? 0 : 1;
}
