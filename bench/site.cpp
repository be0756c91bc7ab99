#include "bench/site.h"

#include <algorithm>
#include <array>
#include <linux/rtnetlink.h>
#include <poll.h>

#include <fmt/format.h>

#include "base/file.h"
#include "json/reader.h"
#include "kernel/rtnl/rule.h"

namespace bench {
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

constexpr auto kPatience = 60s;
constexpr std::uint8_t kOurs = 183;

const kube::Resource kServices{"", "v1", "services", true};

kube::Limit soon() {
  return kube::within(30s);
}

double since(Clock::time_point start) {
  return std::chrono::duration<double, std::milli>(Clock::now() - start).count();
}

// The address of a node in the network of the cluster's own: 172.30.77.1 -> 172.30.77.11/24.
std::string beside(const net::Address& address) {
  return address.text() + "1/24";
}

std::string name_of(std::uint32_t i) {
  return fmt::format("web-{}", i);
}

}  // namespace

base::Result<std::unique_ptr<Site>> Site::start() {
  std::unique_ptr<Site> site(new Site());
  TRY(site->prepare());
  return site;
}

base::Status Site::prepare() {
  cluster_ = TRY(testbed::Cluster::start());
  TRY(cluster_->kubectl({"apply", "-f", IPRULE_SOURCE_DIR "/config/crd/bases"}));
  TRY(cluster_->kubectl({"wait", "--for=condition=Established", "crd", "--all", "--timeout=60s"}));
  TRY(cluster_->kubectl({"create", "-f", "-"}, R"({"apiVersion":"v1","kind":"Node","metadata":{"name":"worker-1"}})"));
  TRY(cluster_->kubectl({"create", "-f", "-"},
                        R"({"apiVersion":"api.operator.brtrm.dev/v1alpha1","kind":"IPRule","metadata":{"name":"public"},
                            "spec":{"cidrs":["203.0.113.0/24"],"table":100,"priority":1000}})"));
  // As rules, however many: each of them is told by an event of its own.
  TRY(cluster_->kubectl({"create", "-f", "-"},
                        R"({"apiVersion":"api.operator.brtrm.dev/v1alpha1","kind":"Agent",
                            "metadata":{"name":"agent","namespace":"default"},"spec":{"dataplane":"rules"}})"));
  const auto access = cluster_->admin_kubeconfig();
  const auto config = TRY(kube::from_kubeconfig({access}, ""));
  client_ = TRY(kube::Client::connect(config, {.user_agent = "bench"}, {.rate = 10'000, .burst = 10'000}));

  world_.emplace(TRY(lab::World::make()));
  node_ = TRY(world_->add_host("worker-1"));
  TRY(world_->plug(*node_, "eth0", world_->here(), "worker-1", cluster_->bridge()));
  TRY(node_->add_address("eth0", lab::InterfaceAddress::of(beside(cluster_->address()))));
  const auto listen = [this]() -> base::Status {
    constexpr std::array kGroups = {static_cast<int>(RTNLGRP_IPV4_RULE)};
    events_ = TRY(kernel::EventSocket::open(kernel::Bus::route, kGroups, std::size_t{16} << 20U));
    return {};
  };
  TRY(node_->within(listen));
  controller_ = TRY(lab::Process::start({.arguments = {IPRULE_CONTROLLER, "--kubeconfig", access.native(),
                                                       "--health-probe-bind-address=0", "--leader-elect=false"}}));
  agent_ = TRY(node_->start({.arguments = {IPRULE_AGENT, "--kubeconfig", access.native()},
                             .environment = {"NODE_NAME=worker-1", "METRICS_ADDR="}}));
  return {};
}

base::Result<std::string> Site::create_service(std::uint32_t i) {
  const auto made = TRY(client_->create(
      kServices, "default",
      fmt::format(R"({{"metadata":{{"name":"{}"}},"spec":{{"type":"LoadBalancer","allocateLoadBalancerNodePorts":false,
                       "ports":[{{"port":80}}]}}}})",
                  name_of(i)),
      soon()));
  json::Reader reader;
  const auto object = TRY(reader.parse(made));
  return std::string(TRY(object["spec"]["clusterIP"].string()));
}

base::Status Site::give_address(std::uint32_t i) {
  TRY(client_->patch_status(
      kServices, {"default", name_of(i)}, kube::PatchType::merge,
      fmt::format(R"({{"status":{{"loadBalancer":{{"ingress":[{{"ip":"203.0.113.{}"}}]}}}}}})", i % 250 + 1), soon()));
  return {};
}

base::Status Site::await_rules(std::vector<std::string> sources) {
  const auto until = Clock::now() + kPatience;
  while (!sources.empty()) {
    TRY(events_->drain([&](const kernel::Received& event) {
      if (event.type != RTM_NEWRULE) return;
      const auto decoded = kernel::rtnl::decode_rule(event);
      if (!decoded || !std::holds_alternative<state::Rule>(*decoded)) return;
      const auto& rule = std::get<state::Rule>(*decoded);
      if (rule.protocol != kOurs || !rule.selector.from) return;
      if (std::erase(sources, rule.selector.from->address().text()) > 0) seen_.push_back(rule);
    }));
    if (sources.empty()) return {};
    if (Clock::now() > until) {
      return base::fail(base::Fault::timeout, fmt::format("no rule for {} sources; the agent: {}; the controller: {}",
                                                          sources.size(), agent_->errors(), controller_->errors()));
    }
    pollfd ready{.fd = events_->fd(), .events = POLLIN, .revents = 0};
    (void)::poll(&ready, 1, 1000);
  }
  return {};
}

base::Status Site::grow_to(std::uint32_t count) {
  std::vector<std::string> sources;
  for (; services_ < count; ++services_) {
    sources.push_back(TRY(create_service(services_)));
    TRY(give_address(services_));
  }
  return await_rules(std::move(sources));
}

base::Result<double> Site::publish() {
  const std::uint32_t i = services_++;
  std::vector<std::string> source = {TRY(create_service(i))};
  const auto start = Clock::now();
  TRY(give_address(i));
  TRY(await_rules(std::move(source)));
  return since(start);
}

base::Result<double> Site::repair() {
  const state::Rule rule = seen_.at(repaired_++ % seen_.size());
  kernel::Message removal = TRY(kernel::rtnl::encode_remove(rule));
  const auto start = Clock::now();
  TRY(node_->rtnl().transact(std::move(removal)));
  TRY(await_rules({rule.selector.from->address().text()}));
  return since(start);
}

}  // namespace bench
