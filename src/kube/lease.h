#pragma once

#include <chrono>
#include <string>

#include "base/result.h"
#include "json/reader.h"

namespace kube {

// What a coordination.k8s.io/v1 Lease says about who holds it. The two times are wall-clock texts for people: no
// decision reads them, because clocks of different nodes do not agree.
struct Lease {
  std::string resource_version;  // Empty: not stored yet.
  std::string holder;            // Empty: released.
  std::chrono::seconds duration{0};
  std::string acquired;
  std::string renewed;
  int transitions = 0;

  static base::Result<Lease> decode(const json::Value& object);

  // Two states of the Lease in which the holder has not given a sign of life in between.
  bool same_claim(const Lease& other) const;
};

// The body of a create.
std::string encode_new(const Lease& lease, const std::string& name, const std::string& name_space);

// The body of a merge patch that changes the claim and nothing else, and only in the version that was seen.
std::string encode_claim(const Lease& lease);

// "2026-01-31T10:00:00.123456Z", as the Kubernetes type MicroTime wants it.
std::string micro_time(std::chrono::system_clock::time_point time);

}  // namespace kube
