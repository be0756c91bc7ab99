#pragma once

#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "meta/time.h"

namespace kube {

// A program that says who we are, as a kubeconfig names it (users[].user.exec): how people log in at cloud providers.
struct ExecPlugin {
  enum class Interactive { never, if_available, always };

  std::string command;
  std::vector<std::string> arguments;
  std::vector<std::string> environment;  // "NAME=value", beside ours.
  std::string api_version;
  std::string install_hint;
  Interactive interactive = Interactive::if_available;
  bool wants_cluster = false;
  std::string cluster;  // What it is told about the server if it wants that, as JSON.

  bool empty() const { return command.empty(); }
};

// What it said. Never log one.
struct ExecCredential {
  std::string token;
  std::string certificate;
  std::string key;
  std::optional<meta::Time> expires;

  bool is_expired(meta::Time now) const { return expires && now >= *expires; }
};

// Its answer, which must be of the version that it was asked in. Errors name the field, never its contents.
base::Result<ExecCredential> decode_exec_credential(std::string_view answer, std::string_view api_version);

// Runs it, at most `bound` long. What it has to tell a person goes to our standard error.
base::Result<ExecCredential> ask(const ExecPlugin& plugin, base::Duration bound, std::stop_token stop = {});

}  // namespace kube
