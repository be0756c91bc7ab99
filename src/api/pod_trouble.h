#pragma once

#include <cstdint>
#include <string>

#include "base/result.h"
#include "json/reader.h"
#include "meta/time.h"

namespace api {

// Why a pod does not do its work, by what Kubernetes says of it.
struct PodTrouble {
  enum class Kind : std::uint8_t {
    none,         // It is ready.
    no_image,     // A container waits for its image.
    crashing,     // A container has ended by itself; that it was started again changes nothing until it is ready.
    no_place,     // The scheduler finds no room for it.
    silent_node,  // Its containers were well when its kubelet was heard for the last time.
    starting,     // None of these.
  };
  Kind kind = Kind::none;
  std::string text;    // "crashes: OOMKilled, exit code 137"; the same as long as the cause is. Empty for none.
  meta::Time since{};  // Not ready since then, where it is told.

  bool operator==(const PodTrouble&) const = default;
};

base::Result<PodTrouble> decode_pod_trouble(const json::Value& pod);

// The node it is on or, while it waits for its place, the one that its DaemonSet means; empty where neither is told.
base::Result<std::string> node_of_pod(const json::Value& pod);

}  // namespace api
