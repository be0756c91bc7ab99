#pragma once

#include <chrono>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "base/file.h"
#include "lab/world.h"
#include "testbed/process.h"
#include "testbed/temp_folder.h"

// A host of its own, with the folder of manifests that a standalone agent would keep: an IPRule and a Service.
class HostTest : public testing::Test {
 protected:
  static constexpr std::string_view kRule =
      "kind: IPRule\nmetadata: {name: public}\nspec: {cidrs: [203.0.113.0/24], table: 100, priority: 1000}\n";
  static constexpr std::string_view kService =
      "kind: Service\nmetadata: {name: frontend, namespace: shop}\n"
      "spec: {type: LoadBalancer, clusterIPs: [10.96.23.17]}\n"
      "status: {loadBalancer: {ingress: [{ip: 203.0.113.45}]}}\n";

  void SetUp() override {
    auto world = lab::World::make();
    ASSERT_TRUE(world) << world.error().message();
    world_.emplace(*std::move(world));
    auto host = world_->add_host("router");
    ASSERT_TRUE(host) << host.error().message();
    host_ = *host;
    write("rule.yaml", kRule);
    write("service.yaml", kService);
  }

  // As a careful writer does it: the file appears whole.
  void write(const std::string& name, std::string_view text) {
    ASSERT_TRUE(base::write_file(manifests_ / ("." + name), text));
    std::filesystem::rename(manifests_ / ("." + name), manifests_ / name);
  }
  std::string folder() const { return manifests_.path().native(); }

  testbed::Finished run(std::vector<std::string> arguments) {
    const auto done =
        testbed::run({.arguments = std::move(arguments), .network = host_->network()}, std::chrono::seconds(30));
    EXPECT_TRUE(done) << done.error().message();
    return done.value_or(testbed::Finished());
  }
  // iprulectl
  testbed::Finished ask(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), IPRULECTL);
    return run(std::move(arguments));
  }
  // iprule-agent standalone ... with the folder, to its end, or as a program that goes on.
  testbed::Finished agent(const std::vector<std::string>& flags) { return run(agent_command(flags)); }
  testbed::Process& start_agent(const std::vector<std::string>& flags = {}) {
    auto started = host_->start({.arguments = agent_command(flags)});
    EXPECT_TRUE(started) << started.error().message();
    return **started;
  }
  std::string rules() { return run({"ip", "rule"}).output; }

  std::optional<lab::World> world_;
  lab::Host* host_ = nullptr;
  testbed::TempFolder manifests_;

 private:
  std::vector<std::string> agent_command(const std::vector<std::string>& flags) const {
    std::vector<std::string> arguments = {IPRULE_AGENT, "standalone"};
    arguments.insert(arguments.end(), flags.begin(), flags.end());
    arguments.push_back(folder());
    return arguments;
  }
};
