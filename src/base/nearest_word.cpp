#include "base/nearest_word.h"

#include <algorithm>
#include <numeric>
#include <vector>

namespace base {
namespace {

// Letters to insert, remove, replace or swap with their neighbour (optimal string alignment).
std::size_t distance(std::string_view a, std::string_view b) {
  std::vector<std::vector<std::size_t>> cost(a.size() + 1, std::vector<std::size_t>(b.size() + 1));
  std::iota(cost[0].begin(), cost[0].end(), 0);
  for (std::size_t i = 1; i <= a.size(); ++i) {
    cost[i][0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const bool same = a[i - 1] == b[j - 1];
      cost[i][j] = std::min({cost[i - 1][j] + 1, cost[i][j - 1] + 1, cost[i - 1][j - 1] + (same ? 0 : 1)});
      const bool swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
      if (swapped) cost[i][j] = std::min(cost[i][j], cost[i - 2][j - 2] + 1);
    }
  }
  return cost[a.size()][b.size()];
}

}  // namespace

std::string nearest_word(std::string_view word, std::span<const std::string> known) {
  constexpr std::size_t kLongest = 64;  // Nobody mistypes a longer one; the comparison is quadratic.
  std::string best;
  if (word.size() > kLongest) return best;
  // A word that was not typed to its end.
  constexpr std::size_t kTelling = 4;
  const auto begins = [&](const std::string& candidate) { return candidate.starts_with(word); };
  if (word.size() >= kTelling && std::ranges::count_if(known, begins) == 1) return *std::ranges::find_if(known, begins);
  // A third of the letters may be wrong: more is another word.
  std::size_t least = std::max<std::size_t>(1, word.size() / 3) + 1;
  for (const std::string& candidate : known) {
    const std::size_t here = candidate.size() > kLongest ? least : distance(word, candidate);
    if (here < least) least = here, best = candidate;
  }
  return best;
}

}  // namespace base
