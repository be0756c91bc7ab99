#include "intent/cluster/shards.h"

#include <algorithm>
#include <charconv>
#include <map>
#include <unordered_map>
#include <unordered_set>

#include <fmt/format.h>

#include "api/published_config.h"
#include "base/sha256.h"
#include "intent/cluster/naming.h"

namespace intent {
namespace {

using Sources = std::vector<api::IPRuleConfig::SourceIP>;

constexpr std::size_t kGroupDigits = 10;

using Shards = std::map<std::uint32_t, Sources>;  // By number.

// What the shards of each group hold now.
std::map<std::string, Shards> shards_of(std::span<const api::IPRuleConfig* const> existing) {
  std::map<std::string, Shards> out;
  for (const api::IPRuleConfig* config : existing) {
    if (!api::is_published(*config) || config->meta.terminating()) continue;
    if (const auto name = parse_shard_name(config->meta.name)) {
      out[name->group].try_emplace(name->number, config->spec.source_ips);
    }
  }
  return out;
}

Shards distribute(const Sources& wanted, const Shards& now) {
  std::unordered_map<std::string_view, const api::IPRuleConfig::SourceIP*> left;
  for (const auto& source : wanted) left[source.address] = &source;
  Shards out;
  for (const auto& [number, sources] : now) {
    for (const auto& source : sources) {
      const auto found = left.find(source.address);
      if (found == left.end()) continue;
      out[number].push_back(*found->second);
      left.erase(found);
    }
  }
  std::uint32_t number = 0;
  for (const auto& source : wanted) {
    if (!left.contains(source.address)) continue;
    while (out[number].size() >= kMostSources) ++number;
    out[number].push_back(source);
  }
  std::erase_if(out, [](const auto& shard) { return shard.second.empty(); });
  for (auto& [at, sources] : out) std::ranges::sort(sources);
  return out;
}

}  // namespace

std::optional<ShardName> parse_shard_name(std::string_view name) {
  constexpr std::string_view kPrefix = "iprc-ep-";
  if (!name.starts_with(kPrefix)) return std::nullopt;
  name.remove_prefix(kPrefix.size());
  if (name.size() < kGroupDigits + 2 || name[kGroupDigits] != '-') return std::nullopt;
  ShardName out{.group = std::string(name.substr(0, kGroupDigits))};
  name.remove_prefix(kGroupDigits + 1);
  const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), out.number);
  if (error != std::errc() || (end != name.data() + name.size() && *end != '-')) return std::nullopt;
  return out;
}

std::string group_name(const api::Service& service, const Tuple& tuple) {
  const std::string text =
      fmt::format("{}|{}|{}|t{}|p{}|v{}|n{}", meta::full_name(service.meta), api::text(tuple.mode),
                  net::text(tuple.source.family()), tuple.table, tuple.priority, tuple.vrf, tuple.node_selector.text());
  return base::sha256_hex(text).substr(0, kGroupDigits);
}

void assign_shards(Desired& desired, std::span<const api::IPRuleConfig* const> existing) {
  const auto is_group = [](const DesiredConfig& config) { return !config.tuple.group.empty(); };
  if (std::ranges::none_of(desired.configs, is_group)) return;
  const auto now = shards_of(existing);
  std::vector<DesiredConfig> out;
  for (DesiredConfig& config : desired.configs) {
    if (!is_group(config)) {
      out.push_back(std::move(config));
      continue;
    }
    const auto known = now.find(config.tuple.group);
    const Shards shards = distribute(config.sources, known != now.end() ? known->second : Shards());
    for (const auto& [number, sources] : shards) {
      DesiredConfig& shard = out.emplace_back(config);
      shard.tuple.shard = number;
      shard.sources = sources;
    }
    for (const api::IPRule* owner : config.owners) {
      const auto outcome = std::ranges::find(desired.rules, owner, &RuleOutcome::rule);
      if (outcome != desired.rules.end()) outcome->configs += static_cast<std::int32_t>(shards.size()) - 1;
    }
  }
  desired.configs = std::move(out);
}

}  // namespace intent
