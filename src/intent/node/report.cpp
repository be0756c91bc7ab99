#include "intent/node/report.h"

#include <algorithm>
#include <utility>

#include "api/iprule_config.h"

namespace intent {
namespace {

using api::NodeState;

// maxLength of these fields in the schema.
constexpr std::size_t kLongestReason = 64;
constexpr std::size_t kLongestMessage = 1024;
constexpr std::size_t kLongestObject = 512;
constexpr std::size_t kLongestWord = 128;

void cut(std::string& text, std::size_t longest) {
  if (text.size() <= longest) return;
  while (longest > 0 && (static_cast<unsigned char>(text[longest]) & 0xc0U) == 0x80U) --longest;  // Within a character.
  text.resize(longest);
}

bool may_advance(const Progress& progress) {
  return progress.is_complete && progress.is_verified && progress.failed.size() <= NodeState::kMaxFailed;
}

NodeState::Settled settled_in(const NodeState::Status& status) {
  const auto found = std::ranges::find(status.settled, api::IPRuleConfig::kKind, &NodeState::Settled::kind);
  if (found != status.settled.end()) return *found;
  return {.kind = std::string(api::IPRuleConfig::kKind)};
}

std::vector<NodeState::Failed> cut(std::vector<NodeState::Failed> failed) {
  for (NodeState::Failed& one : failed) {
    cut(one.reason, kLongestReason);
    cut(one.message, kLongestMessage);
  }
  return failed;
}

// Under a number that stays, whoever leaves the list is settled: so it only grows.
NodeState::Settled with_more(NodeState::Settled last, const std::vector<NodeState::Failed>& failed) {
  for (const NodeState::Failed& one : cut(failed)) {
    const auto at = std::ranges::lower_bound(last.failed, one.uid, {}, &NodeState::Failed::uid);
    if (at != last.failed.end() && at->uid == one.uid) {
      *at = one;
    } else if (last.failed.size() < NodeState::kMaxFailed) {
      last.failed.insert(at, one);
    }
  }
  last.failed_count = std::max(last.failed_count, static_cast<std::int32_t>(last.failed.size()));
  return last;
}

}  // namespace

NodeState::Settled next_report(const NodeState::Settled& last, const Progress& progress) {
  if (!progress.is_complete) return last;
  if (!progress.is_verified) return with_more(last, progress.failed);
  NodeState::Settled out{.kind = last.kind,
                         .epoch = last.epoch,
                         .failed_count = static_cast<std::int32_t>(progress.failed.size()),
                         .failed = cut(progress.failed)};
  if (out.failed.size() > NodeState::kMaxFailed) out.failed.resize(NodeState::kMaxFailed);
  const bool is_news = progress.largest_epoch > static_cast<std::uint64_t>(last.epoch) || out != last;
  if (may_advance(progress) && is_news) out.epoch = static_cast<std::int64_t>(progress.version);
  return out;
}

NodeState::Status next_status(const NodeState::Status& last, NodeState::Status found, const Progress& progress,
                              meta::Time now) {
  for (NodeState::Drifted& one : found.drift) {
    cut(one.object, kLongestObject);
    for (std::string* text : {&one.wanted, &one.found, &one.likely}) cut(*text, kLongestWord);
  }
  std::vector<meta::Condition> conditions = last.conditions;
  std::erase_if(conditions, [&](const auto& old) { return meta::find(found.conditions, old.type) == nullptr; });
  for (meta::Condition& wanted : found.conditions) meta::set(conditions, std::move(wanted), now);
  found.conditions = std::move(conditions);
  found.settled = {next_report(settled_in(last), progress)};
  found.changed = last.changed;
  if (found == last) return last;

  // There is something to say: then the newest number, too, which saves another report for it.
  if (may_advance(progress)) found.settled.front().epoch = static_cast<std::int64_t>(progress.version);
  found.changed = now;
  return found;
}

}  // namespace intent
