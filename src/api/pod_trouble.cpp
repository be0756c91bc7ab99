#include "api/pod_trouble.h"

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>
#include <vector>

#include <fmt/format.h>

namespace api {
namespace {

using Kind = PodTrouble::Kind;

constexpr std::size_t kLongestWords = 200;  // A program's last words may be a whole log.

bool waits_for_image(std::string_view reason) {
  constexpr std::array kReasons = {"ErrImagePull",      "ImagePullBackOff",  "InvalidImageName",
                                   "ErrImageNeverPull", "ImageInspectError", "RegistryUnavailable"};
  return std::ranges::find(kReasons, reason) != kReasons.end();
}

std::string with_words(std::string text, std::string_view words) {
  while (words.ends_with('\n')) words.remove_suffix(1);
  words = words.substr(words.rfind('\n') + 1).substr(0, kLongestWords);
  return words.empty() ? text : fmt::format("{}: {}", text, words);
}

base::Result<std::optional<PodTrouble>> image_trouble(const json::Value& container) {
  const json::Value waiting = container["state"]["waiting"];
  const auto reason = TRY(waiting["reason"].string_or(""));
  if (!waits_for_image(reason)) return std::nullopt;
  return PodTrouble{.kind = Kind::no_image,
                    .text = with_words(std::string(reason), TRY(waiting["message"].string_or("")))};
}

// How it ended, now or before it was started again. What the kubelet says of its waiting changes with every try.
base::Result<std::optional<PodTrouble>> crash(const json::Value& container) {
  if (TRY(container["ready"].boolean_or(false))) return std::nullopt;
  json::Value ended = container["state"]["terminated"];
  if (!ended.exists()) ended = container["lastState"]["terminated"];
  const auto code = TRY(ended["exitCode"].integer_or<std::int32_t>(0));
  const bool backs_off = TRY(container["state"]["waiting"]["reason"].string_or("")) == "CrashLoopBackOff";
  if (code == 0 && !backs_off) return std::nullopt;
  const auto reason = TRY(ended["reason"].string_or("CrashLoopBackOff"));
  return PodTrouble{
      .kind = Kind::crashing,
      .text = with_words(fmt::format("crashes: {}, exit code {}", reason, code), TRY(ended["message"].string_or("")))};
}

// The first of its containers' troubles, those with images before others: without one nothing runs at all.
base::Result<std::optional<PodTrouble>> container_trouble(const std::vector<json::Value>& containers) {
  for (const json::Value& container : containers) {
    if (auto found = TRY(image_trouble(container))) return found;
  }
  for (const json::Value& container : containers) {
    if (auto found = TRY(crash(container))) return found;
  }
  return std::nullopt;
}

base::Result<bool> are_all_ready(const std::vector<json::Value>& containers) {
  for (const json::Value& container : containers) {
    if (!TRY(container["ready"].boolean_or(false))) return false;
  }
  return !containers.empty();
}

}  // namespace

base::Result<PodTrouble> decode_pod_trouble(const json::Value& pod) {
  PodTrouble out{.kind = Kind::starting, .text = "is not ready"};
  const auto conditions = TRY(pod["status"]["conditions"].items_or_none());
  for (const json::Value& condition : conditions) {
    const auto type = TRY(condition["type"].string_or(""));
    const bool is_true = TRY(condition["status"].string_or("")) == "True";
    if (type == "Ready" && is_true) return PodTrouble();
    if (type == "Ready") {
      const auto time = TRY(condition["lastTransitionTime"].string_or(""));
      out.since = meta::parse_time(time).value_or(meta::Time());
    }
    if (type == "PodScheduled" && !is_true) {
      out.kind = Kind::no_place;
      out.text = with_words(fmt::format("has no place: {}", TRY(condition["reason"].string_or("Pending"))),
                            TRY(condition["message"].string_or("")));
    }
  }
  const auto containers = TRY(pod["status"]["containerStatuses"].items_or_none());
  if (auto found = TRY(container_trouble(containers))) {
    found->since = out.since;
    return *std::move(found);
  }
  if (TRY(are_all_ready(containers))) {
    out.kind = Kind::silent_node;
    out.text = "its node gives no sign of life";
  }
  return out;
}

base::Result<std::string> node_of_pod(const json::Value& pod) {
  const auto name = TRY(pod["spec"]["nodeName"].string_or(""));
  if (!name.empty()) return std::string(name);
  const auto terms =
      TRY(pod["spec"]["affinity"]["nodeAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"]["nodeSelectorTerms"]
              .items_or_none());
  for (const json::Value& term : terms) {
    const auto fields = TRY(term["matchFields"].items_or_none());
    for (const json::Value& field : fields) {
      if (TRY(field["key"].string_or("")) != "metadata.name") continue;
      const auto values = TRY(field["values"].items_or_none());
      if (!values.empty()) return std::string(TRY(values.front().string()));
    }
  }
  return "";
}

}  // namespace api
