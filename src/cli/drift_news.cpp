#include "cli/drift_news.h"

#include <algorithm>
#include <utility>

#include "cli/drift.h"

namespace cli {

std::vector<DriftEntry> DriftNews::take(const std::vector<DriftEntry>& now, const std::vector<std::string>& gaps) {
  std::vector<DriftEntry> news;
  for (const DriftEntry& entry : now) {
    if (std::ranges::find(last_, entry) == last_.end()) news.push_back(entry);
  }
  std::vector<DriftEntry> next = now;
  for (DriftEntry& before : last_) {
    const auto same = [&](const DriftEntry& entry) { return entry.is_about_the_same(before); };
    if (std::ranges::any_of(now, same)) continue;
    if (!gaps.empty()) {
      next.push_back(before);
    } else if (before.goes_on) {
      news.push_back(ended(std::move(before)));
    }
  }
  last_ = std::move(next);
  return news;
}

Answer show_drift_news(const std::vector<DriftEntry>& news, const std::vector<std::string>& gaps,
                       const ListStyle& style, meta::Time now) {
  Answer answer;
  const Listing listing = drift_listing(news, now);
  listing.print(answer.page, style);
  put_drift(answer, listing, gaps);
  return answer;
}

}  // namespace cli
