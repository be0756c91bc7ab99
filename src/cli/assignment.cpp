#include "cli/assignment.h"

#include <algorithm>

#include <fmt/format.h>

#include "json/reader.h"

namespace cli {
namespace {

// Without what a node does not look at.
api::IPRuleConfig lean(const api::IPRuleConfig& config) {
  api::IPRuleConfig out = config;
  out.status = {};
  out.meta.finalizers.clear();
  return out;
}

base::Result<agent::NodeSettings> decode_settings(const json::Value& value) {
  agent::NodeSettings out;
  out.labels = TRY(meta::Labels::decode(value["labels"]));
  out.default_priority = TRY(value["defaultPriority"].integer_or(out.default_priority));
  out.dataplane = TRY(decode_dataplane(value["dataplane"]));
  const auto prefixes = TRY(value["clusterPrefixes"].items_or_none());
  for (const json::Value& item : prefixes) {
    const auto text = TRY(item.string());
    out.cluster_prefixes.push_back(TRY(base::within(item.path(), net::Prefix::parse(text))));
  }
  const auto addresses = TRY(value["addresses"].items_or_none());
  for (const json::Value& item : addresses) {
    const auto text = TRY(item.string());
    out.addresses.push_back(TRY(base::within(item.path(), net::Address::parse(text))));
  }
  return out;
}

}  // namespace

agent::NodeSettings settings_on(const ClusterObjects& objects, const std::string& node) {
  agent::NodeSettings out = agent::settings_of(objects.wanted, node);
  if (const api::NodeState* report = report_of(objects, node)) {
    for (const std::string& text : report->spec.cluster_prefixes) {
      if (const auto prefix = net::Prefix::parse(text)) out.cluster_prefixes.push_back(*prefix);
    }
  }
  return out;
}

Assignment assignment_of(const ClusterObjects& objects, const std::string& node) {
  Assignment out{.node = node, .settings = settings_on(objects, node), .configs = {}};
  for (const api::IPRuleConfig& config : objects.configs) {
    if (config.is_managed()) out.configs.push_back(lean(config));
  }
  return out;
}

base::Result<Assignment> supposed_assignment(const ClusterObjects& objects, const std::string& node) {
  if (!objects.gaps.empty()) {
    return base::fail(base::Fault::unavailable,
                      "nothing is supposed of it, because what is wanted is not known whole: " + objects.gaps.front());
  }
  return Assignment{
      .node = node, .settings = settings_on(objects, node), .configs = agent::objects_to_publish(objects.wanted)};
}

Assignment supposed_assignment(const agent::Manifests& manifests, const std::string& host) {
  return {
      .node = host, .settings = agent::settings_of(manifests, host), .configs = agent::objects_to_publish(manifests)};
}

std::vector<api::PublishedConfig> published(const Assignment& assignment) {
  std::vector<api::PublishedConfig> out;
  for (const api::IPRuleConfig& config : assignment.configs) out.push_back(api::published(config));
  return out;
}

base::Result<api::Dataplane> decode_dataplane(const json::Value& value) {
  constexpr auto kWords = names(api::Dataplane());
  const auto word = TRY(value.string_or(kWords[0]));
  const auto* const found = std::ranges::find(kWords, word);
  if (found == kWords.end()) return value.fail(fmt::format("\"{}\" is none of {}", word, fmt::join(kWords, ", ")));
  return static_cast<api::Dataplane>(found - kWords.begin());
}

void put(json::Object& out, const Assignment& assignment) {
  out.put("node", assignment.node);
  out.object("labels", [&](json::Object& labels) { assignment.settings.labels.encode(labels); });
  out.put("defaultPriority", assignment.settings.default_priority);
  out.put("dataplane", names(assignment.settings.dataplane)[static_cast<std::size_t>(assignment.settings.dataplane)]);
  out.array("clusterPrefixes", [&](json::Array& list) {
    for (const net::Prefix& prefix : assignment.settings.cluster_prefixes) list.put(prefix.text());
  });
  out.array("addresses", [&](json::Array& list) {
    for (const net::Address& address : assignment.settings.addresses) list.put(address.text());
  });
  out.array("configs", [&](json::Array& list) {
    for (const api::IPRuleConfig& config : assignment.configs) list.put_json(api::encode(config));
  });
}

base::Result<Assignment> decode_assignment(const json::Value& value) {
  Assignment out{
      .node = std::string(TRY(value["node"].string())), .settings = TRY(decode_settings(value)), .configs = {}};
  const auto configs = TRY(value["configs"].items_or_none());
  for (const json::Value& item : configs) out.configs.push_back(TRY(api::decode_iprule_config(item.as_root())));
  return out;
}

}  // namespace cli
