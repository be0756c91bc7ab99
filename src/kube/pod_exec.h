#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "kube/client.h"

namespace kube {

// A program to run in a container of a pod, and what it reads.
struct PodCommand {
  std::string container;
  std::vector<std::string> arguments;
  std::string input;  // Old servers cannot tell the program where it ends: it must know by itself.
};

struct PodOutcome {
  std::string output;
  std::string errors;
  int code = 0;
};

// Runs it to its end. An error where it could not be run: the right `pods/exec` is missing, the pod is gone, its node
// does not answer.
Result<PodOutcome> run_in_pod(Client& client, const Key& pod, const PodCommand& command, const Limit& limit);

// What comes back while it runs: messages that begin with the number of their stream (v4.channel.k8s.io and newer).
class PodStreams {
 public:
  explicit PodStreams(std::size_t largest = 64U << 20U) : largest_(largest) {}

  base::Status take(std::string_view message);
  // Nothing: it still runs. An error where the server says that it could not be run.
  std::optional<Result<PodOutcome>> outcome() const;

 private:
  std::size_t largest_;  // Of what it writes.
  PodOutcome outcome_;
  std::optional<std::string> status_;  // The server's last word.
};

}  // namespace kube
