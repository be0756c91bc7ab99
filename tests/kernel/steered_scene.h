#pragma once

#include <algorithm>
#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <sys/socket.h>
#include <vector>

#include <gtest/gtest.h>

#include "dataplane/compile.h"
#include "kernel/engine.h"
#include "lab/process.h"
#include "lab/responder.h"
#include "lab/scene.h"
#include "lab/tap.h"
#include "lab/world.h"
#include "testbed/eventually.h"

// The lab's nodes with two uplinks, steered as a compilation says, and packets sent through them.
class SteeredScene : public ::testing::Test {
 protected:
  static net::Address ip(std::string_view text) { return net::Address::parse(text).value(); }

  void build(int nodes = 1) {
    auto world = lab::World::make();
    ASSERT_TRUE(world) << world.error().message();
    world_.emplace(*std::move(world));
    auto scene = lab::Scene::build(*world_, nodes);
    ASSERT_TRUE(scene) << scene.error().message();
    scene_ = *std::move(scene);
  }

  lab::World& world() { return *world_; }
  lab::Scene& scene() { return *scene_; }
  const lab::SceneNode& node(std::size_t number = 0) { return scene_->nodes().at(number); }

  // What the program prints; its failure fails the test.
  static std::string run(std::vector<std::string> arguments, int network = -1, std::string input = {}) {
    const auto done = lab::run({.arguments = std::move(arguments), .input = std::move(input), .network = network},
                               std::chrono::seconds(20));
    EXPECT_TRUE(done) << done.error().message();
    if (!done) return {};
    EXPECT_TRUE(done->exit.ok()) << done->errors;
    return done->output;
  }
  static void nft(const lab::Host& host, const std::string& text) { run({"nft", "-f", "-"}, host.network(), text); }

  static base::Status steer(const lab::Host& host, const dataplane::Compiled& compiled) {
    return host.within([&]() -> base::Status {
      auto engine = TRY(kernel::Engine::open({}, kernel::Engine::Reach::steering));
      const auto report = TRY(engine.converge({.rules = compiled.rules, .nft = compiled.table}, {}));
      if (report.settled()) return {};
      return base::fail(base::Fault::kernel, "left to do:\n" + plan::text(report.left));
    });
  }
  static void settle(const lab::SceneNode& node, const dataplane::Steering& steering) {
    const auto steered = steer(*node.host, dataplane::compile(steering));
    ASSERT_TRUE(steered) << steered.error().message();
  }

  // Many UDP conversations from one host with one address, counted.
  class Flows {
   public:
    Flows(const lab::Host& host, const net::Address& from, const net::Address& to, int count) {
      for (int i = 0; i < count; ++i) {
        sockets_.push_back(lab::bind_udp(host, from, 0).value());
        lab::connect_udp(sockets_.back(), to, lab::kServicePort).value();
      }
    }
    void send() {
      for (const base::Fd& socket : sockets_) sent_ += ::send(socket.get(), "x", 1, 0) == 1 ? 1 : 0;
    }
    int answered() {
      char byte = 0;
      for (const base::Fd& socket : sockets_) {
        while (::recv(socket.get(), &byte, 1, 0) == 1) ++answered_;
      }
      return answered_;
    }
    int sent() const { return sent_; }
    // One request each; true when all of them, so far, were answered in time.
    bool ask(std::chrono::milliseconds bound = std::chrono::seconds(10)) {
      send();
      return bool{testbed::eventually("answers", bound, [&] { return answered() >= sent_; })};
    }

   private:
    std::vector<base::Fd> sockets_;
    int sent_ = 0;
    int answered_ = 0;
  };

 private:
  std::optional<lab::World> world_;
  std::unique_ptr<lab::Scene> scene_;
};
