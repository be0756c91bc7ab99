#include "intent/node/report.h"

namespace intent {

api::NodeState::Settled next_report(const api::NodeState::Settled& last, const Progress& progress) {
  if (!progress.is_complete || !progress.is_verified) return last;
  api::NodeState::Settled out{.kind = last.kind,
                              .epoch = last.epoch,
                              .failed_count = static_cast<std::int32_t>(progress.failed.size()),
                              .failed = progress.failed};
  const bool fits = out.failed.size() <= api::NodeState::kMaxFailed;
  if (!fits) out.failed.resize(api::NodeState::kMaxFailed);
  const bool is_news = progress.largest_epoch > static_cast<std::uint64_t>(last.epoch) || out != last;
  if (fits && is_news) out.epoch = static_cast<std::int64_t>(progress.version);
  return out;
}

}  // namespace intent
