#include "agent/last_report.h"

#include <utility>

namespace agent {
namespace {

// For the watch to bring what we wrote. If it has not by then, the server may have lost it, with a storage that was
// restored from a backup; and to write it once more where it is not lost changes nothing.
constexpr auto kEcho = std::chrono::seconds(10);

}  // namespace

void LastReport::wrote(const Findings& findings, api::NodeState::Status status, std::uint64_t version,
                       base::TimePoint now) {
  written_ = {.uid = findings.uid, .token = findings.token, .version = version, .at = now, .status = std::move(status)};
}

const api::NodeState::Status* LastReport::held(const Findings& findings, base::TimePoint now) const {
  const bool is_ours = written_ && written_->uid == findings.uid && written_->token == findings.token;
  const bool is_under_way = is_ours && written_->version > findings.version && now < written_->at + kEcho;
  const bool is_seen = is_ours && written_->version == findings.version;
  if (is_under_way || is_seen) return &written_->status;
  return findings.stored.token == findings.token ? &findings.stored : nullptr;
}

}  // namespace agent
