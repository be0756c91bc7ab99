#pragma once

#include <atomic>
#include <memory>
#include <thread>
#include <vector>

#include "base/fd.h"
#include "base/result.h"
#include "lab/scene.h"
#include "lab/tap.h"

namespace lab {

// Conversations that go on, over UDP, between the client and the node's Service, on a thread of their own: while
// something is changed, every reply is counted by the uplink it took.
class Traffic {
 public:
  static base::Result<std::unique_ptr<Traffic>> start(Scene& scene, const SceneNode& node, int conversations);
  ~Traffic();
  Traffic(const Traffic&) = delete;
  Traffic& operator=(const Traffic&) = delete;

  // Ends it when every request has been answered, and says what was counted; replies that never came are missing from
  // `answered`.
  base::Result<Tally> stop();

 private:
  Traffic(std::vector<base::Fd> sockets, Tap eth0, Tap eth1, const SceneNode& node)
      : sockets_(std::move(sockets)), eth0_(std::move(eth0)), eth1_(std::move(eth1)), node_(node) {}

  void run(const std::stop_token& stop);
  void talk();  // One request over every conversation, and its answers.
  base::Status count(Tap& tap, int& requests, int& replies);

  std::vector<base::Fd> sockets_;
  Tap eth0_;
  Tap eth1_;
  const SceneNode& node_;
  Tally tally_{};
  base::Status status_{};
  std::jthread thread_;
};

}  // namespace lab
