#include "api/published_config.h"

#include <algorithm>
#include <charconv>

#include "api/kinds.h"

namespace api {
namespace {

bool has_rule_as_owner(const IPRuleConfig& config) {
  return std::ranges::any_of(config.meta.owners, [](const meta::OwnerReference& owner) {
    return owner.kind == IPRule::kKind && owner.api_version.starts_with(kGroup);
  });
}

PublishedConfig::Trust trust_of(const IPRuleConfig& config) {
  using Trust = PublishedConfig::Trust;
  if (!config.is_managed()) return Trust::unmanaged;
  const std::string* hash = config.meta.annotations.find(kSpecHash);
  if (hash == nullptr) return Trust::unhashed;
  if (*hash != spec_hash(config.spec)) return Trust::mismatch;  // Whatever else was changed.
  return has_rule_as_owner(config) ? Trust::trusted : Trust::unowned;
}

}  // namespace

std::uint64_t epoch(const IPRuleConfig& config) {
  if (config.status.epoch > 0 && config.status.observed_generation == config.meta.generation) {
    return static_cast<std::uint64_t>(config.status.epoch);
  }
  const std::string& version = config.meta.resource_version;
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(version.data(), version.data() + version.size(), number);
  return error == std::errc() && end == version.data() + version.size() ? number : 0;
}

bool is_published(const IPRuleConfig& config) {
  return config.is_managed() ||
         (has_rule_as_owner(config) && config.meta.annotations.get(kSpecHash) == spec_hash(config.spec));
}

PublishedConfig published(const IPRuleConfig& config) {
  return {.name = config.meta.name,
          .uid = config.meta.uid,
          .generation = config.meta.generation,
          .epoch = epoch(config),
          .is_terminating = config.meta.terminating(),
          .trust = trust_of(config),
          .spec = config.spec};
}

base::Result<PublishedConfig> decode_published_config(const json::Value& object) {
  return published(TRY(decode_iprule_config(object)));
}

}  // namespace api
