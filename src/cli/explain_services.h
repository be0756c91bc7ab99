#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "cli/answer.h"
#include "cli/cluster_objects.h"
#include "cli/listing.h"
#include "kube/resource.h"

namespace cli {

// Which Services are meant.
struct ServiceChoice {
  std::optional<std::string> ns{};               // None: of all name spaces.
  std::optional<std::vector<kube::Key>> only{};  // Those that a selector found; none: all.
};

// A line for each of them that has a load balancer's address: who steers it, and whether as wanted.
base::Result<Answer> explain_services(const ClusterObjects& objects, const ServiceChoice& choice,
                                      const ListStyle& style);

}  // namespace cli
