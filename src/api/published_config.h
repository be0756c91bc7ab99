#pragma once

#include <cstdint>
#include <string>

#include "api/iprule_config.h"
#include "base/result.h"
#include "json/reader.h"

namespace api {

// The version of the write that made the object's present generation. A node acknowledges "everything up to here", so
// controller and agents must mean the same number: both ask this function. 0 where the object has no version.
std::uint64_t epoch(const IPRuleConfig& config);

// Whether the controller has published it. Where somebody took the label away, a hash that fits and an IPRule as its
// owner still tell it from what other people made.
bool is_published(const IPRuleConfig& config);

// What an agent keeps of an IPRuleConfig: ten thousand of them fit into a few megabytes. Whether it may be believed is
// decided once, when it is read.
struct PublishedConfig {
  enum class Trust : std::uint8_t {
    unmanaged,  // Not one of ours.
    unowned,    // No IPRule stands behind it.
    unhashed,   // Present, but without the controller's hash.
    mismatch,   // Changed since the controller wrote it.
    trusted,
  };

  std::string name;
  std::string uid;
  std::int64_t generation = 0;
  std::uint64_t epoch = 0;
  bool is_terminating = false;
  Trust trust = Trust::unmanaged;
  IPRuleConfig::Spec spec;

  // Nodes should hold it: it is not withdrawn, neither by its state nor by its deletion. Who withdraws it takes the
  // hash away in the same write; beside one that does not fit, the state was edited, as anything else may be.
  bool is_present() const {
    return (spec.state == ConfigState::present || trust == Trust::mismatch) && !is_terminating;
  }
  bool operator==(const PublishedConfig&) const = default;
};

PublishedConfig published(const IPRuleConfig& config);
base::Result<PublishedConfig> decode_published_config(const json::Value& object);

}  // namespace api
