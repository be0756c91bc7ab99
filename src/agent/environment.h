#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "api/agent.h"
#include "api/kinds.h"
#include "base/log.h"
#include "http/listen_address.h"

namespace agent {

// What the environment variables of an agent say, or the flags that stand for them. A value that cannot be is no reason
// to leave a node without its rules: the default counts instead, and `complaints` says so.
struct Environment {
  std::chrono::milliseconds reconcile_period = std::chrono::seconds(10);  // RECONCILE_PERIOD: the audit's.
  std::optional<http::ListenAddress> metrics = http::ListenAddress{.address = {}, .port = 9090};  // METRICS_ADDR
  std::uint8_t rule_protocol = api::kRuleProtocol;                                                // RULE_PROTOCOL
  std::uint32_t default_priority = api::kDefaultPriority;                                         // DEFAULT_PRIORITY
  base::log::Level log_level = base::log::Level::info;                                            // LOG_LEVEL
  std::string pod_namespace;                                                                      // POD_NAMESPACE
  std::vector<std::string> complaints;

  using Variables = std::function<std::optional<std::string>(const char* name)>;  // Nothing: not set.
  static Environment read(const Variables& variables);
  static Environment of_process();
};

}  // namespace agent
