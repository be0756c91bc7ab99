#include "controller/service_rules.h"

#include <algorithm>

#include <fmt/format.h>

#include "api/kinds.h"
#include "base/log.h"
#include "controller/waiting.h"
#include "json/reader.h"
#include "kube/watch.h"
#include "meta/meta.h"

namespace controller {
namespace {

using namespace std::chrono_literals;

constexpr auto kRequestTime = 30s;
constexpr auto kEcho = 50ms;                       // For the watch to bring what we wrote.
constexpr auto kResync = std::chrono::minutes(5);  // The backstop; everything else is told by watches.

kube::Resource resource_of(std::string_view plural) {
  return {.group = std::string(api::kGroup), .version = "v1alpha1", .plural = std::string(plural), .namespaced = false};
}

kube::Resource configs() {
  return resource_of(api::IPRuleConfig::kPlural);
}

template <typename T>
std::vector<const T*> values(const kube::View<T>& view) {
  std::vector<const T*> out;
  out.reserve(view.objects.size());
  for (const auto& object : view.objects) out.push_back(&object->value);
  return out;
}

bool withdraws(const intent::Write& write) {
  return write.step == intent::Write::Step::withdraw || write.step == intent::Write::Step::remove;
}

// The version an answer carries; 0 where it carries none (a Status after a delete).
std::uint64_t version_in(const std::string& answer) {
  json::Reader reader;
  const auto object = reader.parse(answer);
  if (!object) return 0;
  const auto text = (*object)["metadata"]["resourceVersion"].string_or("");
  return text ? kube::parse_version(*text).value_or(0) : 0;
}

}  // namespace

ServiceRules::ServiceRules(kube::Client& client)
    : client_(client),
      rules_(client, resource_of(api::IPRule::kPlural), api::decode_iprule, changed_),
      services_(client, {.group = "", .version = "v1", .plural = "services"}, api::decode_service, changed_),
      nodes_(client, {.group = "", .version = "v1", .plural = "nodes", .namespaced = false}, api::decode_node,
             changed_),
      configs_(client, configs(), api::decode_iprule_config, changed_) {}

std::optional<std::string> ServiceRules::waiting_for() const {
  return first_of({incomplete("iprules", *rules_.latest()), incomplete("services", *services_.latest()),
                   incomplete("nodes", *nodes_.latest()), incomplete("ipruleconfigs", *configs_.latest())});
}

std::vector<intent::Write> ServiceRules::decide() const {
  const auto rules = rules_.latest();
  const auto services = services_.latest();
  const auto nodes = nodes_.latest();
  const auto existing = configs_.latest();
  if (!rules->complete || !services->complete || !nodes->complete || !existing->complete) return {};

  const auto rule_values = values(*rules);
  const auto service_values = values(*services);
  const auto node_values = values(*nodes);
  const auto desired =
      intent::desired_configs({.rules = rule_values, .services = service_values, .nodes = node_values});
  const auto now = std::chrono::floor<std::chrono::seconds>(std::chrono::system_clock::now());
  auto writes = intent::changes(values(*existing), desired, api::kDefaultPriority, intent::DirectRemoval(), now);

  // An object that cannot be read may be the reason for any of the existing ones: none of them goes until it can.
  if (!rules->unknown.empty() || !services->unknown.empty()) std::erase_if(writes, withdraws);
  return writes;
}

// Decided on a view that lacks our own last write, a pass would do it again. Not for ever: a storage that was restored
// from a backup counts from a lower number.
bool ServiceRules::sees_own_writes() const {
  return configs_.latest()->version >= last_write_ || std::chrono::steady_clock::now() - last_write_at_ > 5s;
}

base::Result<kube::Next> ServiceRules::reconcile(std::stop_token stop) {
  if (!sees_own_writes()) return kube::Next::after(kEcho);
  int failed = 0;
  for (const intent::Write& one : decide()) {
    if (stop.stop_requested()) return kube::Next::on_change();
    const auto written = write(one, stop);
    if (written) {
      base::log::info("wrote IPRuleConfig",
                      {{"step", std::string(intent::text(one.step))}, {"name", one.object.meta.name}});
    } else {
      ++failed;  // The others do not depend on it.
      base::log::warning("could not write IPRuleConfig", {{"step", std::string(intent::text(one.step))},
                                                          {"name", one.object.meta.name},
                                                          {"reason", written.error().message()}});
    }
  }
  if (failed > 0 && !stop.stop_requested()) {
    return base::fail(base::Fault::unavailable, fmt::format("{} writes failed", failed));
  }
  return kube::Next::after(kResync);
}

base::Status ServiceRules::write(const intent::Write& write, std::stop_token stop) {
  const kube::Limit limit = kube::within(kRequestTime, stop);
  const meta::Meta& meta = write.object.meta;
  const kube::Key key{.ns = "", .name = meta.name};
  if (write.step == intent::Write::Step::remove) {
    const auto removed =
        client_.remove(configs(), key, {.uid = meta.uid, .resource_version = meta.resource_version}, limit);
    if (!removed && removed.error().fault() != base::Fault::absent) return std::unexpected(removed.error());
    return {};
  }
  const auto body = api::encode(write.object);
  const auto answer = TRY(write.step == intent::Write::Step::create ? client_.create(configs(), "", body, limit)
                                                                    : client_.update(configs(), key, body, limit));
  last_write_ = version_in(answer);
  last_write_at_ = std::chrono::steady_clock::now();
  return {};
}

}  // namespace controller
