#pragma once

#include <cstdlib>
#include <deque>
#include <string>
#include <utility>
#include <vector>

#include "intent/cluster/desired.h"

namespace intent {

// A small cluster for tests: objects by the words that matter.
class Sample {
 public:
  using Texts = std::vector<std::string>;

  api::IPRule& rule(std::string name, Texts cidrs, std::uint32_t table, std::uint32_t priority = 0) {
    api::IPRule& out = rules_.emplace_back();
    out.meta.uid = "uid-" + name;
    out.meta.name = std::move(name);
    out.spec.cidrs = std::move(cidrs);
    out.spec.table = table;
    out.spec.priority = priority;
    return out;
  }
  api::Service& service(std::string name, const Texts& cluster_ips, const Texts& vips) {
    api::Service& out = services_.emplace_back();
    out.meta.ns = "shop";
    out.meta.uid = "uid-" + name;
    out.meta.name = std::move(name);
    out.is_load_balancer = true;
    for (const auto& text : cluster_ips) out.cluster_ips.push_back(net::Address::parse(text).value());
    for (const auto& text : vips) out.vips.push_back(net::Address::parse(text).value());
    return out;
  }
  api::Node& node(std::string name, meta::Labels labels) {
    api::Node& out = nodes_.emplace_back();
    out.meta.name = std::move(name);
    out.meta.labels = std::move(labels);
    return out;
  }
  api::IPRule& rule_named(std::string_view name) {
    for (api::IPRule& rule : rules_) {
      if (rule.meta.name == name) return rule;
    }
    std::abort();
  }
  void forget_services() { services_.clear(); }
  void forget_rule(std::string_view name) {
    std::erase_if(rules_, [&](const api::IPRule& rule) { return rule.meta.name == name; });
  }

  Desired desired() const { return desired(pointers(rules_), pointers(services_)); }
  Desired desired(const std::vector<const api::IPRule*>& rules,
                  const std::vector<const api::Service*>& services) const {
    const auto nodes = pointers(nodes_);
    return desired_configs({.rules = rules, .services = services, .nodes = nodes});
  }
  // "10.96.0.1 p1000 t100", with what else is set.
  Texts lines() const { return lines(desired()); }
  static Texts lines(const Desired& desired);

  template <typename T>
  static std::vector<const T*> pointers(const std::deque<T>& objects) {
    std::vector<const T*> out;
    for (const T& object : objects) out.push_back(&object);
    return out;
  }
  std::vector<const api::IPRule*> rules() const { return pointers(rules_); }
  std::vector<const api::Service*> services() const { return pointers(services_); }

 private:
  std::deque<api::IPRule> rules_;
  std::deque<api::Service> services_;
  std::deque<api::Node> nodes_;
};

inline Sample::Texts Sample::lines(const Desired& desired) {
  Texts out;
  for (const DesiredConfig& config : desired.configs) {
    const Tuple& tuple = config.tuple;
    std::string line = tuple.source.text() + " p" + std::to_string(tuple.priority);
    line += tuple.vrf.empty() ? " t" + std::to_string(tuple.table) : " v" + tuple.vrf;
    if (tuple.mode != api::SourceMode::cluster_ip) line += " " + std::string(api::text(tuple.mode));
    if (!tuple.node_selector.empty()) line += " on " + tuple.node_selector.text();
    out.push_back(line);
  }
  return out;
}

}  // namespace intent
