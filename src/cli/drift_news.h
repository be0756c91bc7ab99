#pragma once

#include <string>
#include <vector>

#include "cli/answer.h"
#include "cli/drift_entry.h"
#include "cli/listing.h"
#include "meta/time.h"

namespace cli {

// What is new of drift, look by look.
class DriftNews {
 public:
  // What was not there before or is otherwise now, and as over what is no more. While `gaps` says that something is not
  // known, nothing ends: what nobody sees may still be there.
  std::vector<DriftEntry> take(const std::vector<DriftEntry>& now, const std::vector<std::string>& gaps);

 private:
  std::vector<DriftEntry> last_;
};

// A row for each, under the titles only if `style` wants them, and a DriftReport of these alone.
Answer show_drift_news(const std::vector<DriftEntry>& news, const std::vector<std::string>& gaps,
                       const ListStyle& style, meta::Time now);

}  // namespace cli
