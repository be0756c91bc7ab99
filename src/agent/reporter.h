#pragma once

#include <optional>
#include <stop_token>
#include <string>
#include <thread>

#include "agent/findings.h"
#include "agent/last_report.h"
#include "base/backoff.h"
#include "base/result.h"
#include "kube/client.h"
#include "runtime/signal.h"
#include "runtime/snapshot.h"

namespace agent {

// Keeps this node's report equal to what was found last, from a thread of its own: an API server that is slow or away
// never delays the kernel. Writes only what is news.
class Reporter {
 public:
  Reporter(kube::Client& client, std::string node);

  void note(Findings findings);  // From any one thread; never waits.

  // The last word, written by the caller; nothing is written after it.
  void close(const Findings& last, kube::Limit limit);

 private:
  void run(std::stop_token stop);
  base::Status write(const Findings& findings, kube::Limit limit);
  void tell(std::string trouble);

  kube::Client& client_;
  const std::string node_;
  base::Backoff backoff_;
  LastReport last_;
  std::string told_;
  runtime::Signal changed_;
  runtime::Snapshot<std::optional<Findings>> latest_;
  std::jthread thread_;  // Last: it uses all of the above.
};

}  // namespace agent
