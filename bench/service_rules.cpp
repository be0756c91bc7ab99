#include <algorithm>
#include <memory>

#include "bench/measure.h"
#include "bench/site.h"

namespace bench {
namespace {

constexpr int kGoes = 200;
constexpr std::uint32_t kServices = 1'000;

// Started by the first line that needs it, and shared by the others.
class Shared {
 public:
  base::Result<Site*> site() {
    if (!site_) {
      site_ = TRY(Site::start());
      TRY(site_->grow_to(kServices));
    }
    return site_.get();
  }

 private:
  std::unique_ptr<Site> site_;
};

// The value that `percent` of 100 goes stay under.
template <typename Go>
base::Result<double> quantile(int percent, Go go) {
  std::vector<double> times;
  for (int i = 0; i < kGoes; ++i) times.push_back(TRY(go()));
  std::ranges::sort(times);
  return times[static_cast<std::size_t>(kGoes * percent / 100)];
}

}  // namespace

Group service_rules_group() {
  const auto shared = std::make_shared<Shared>();
  const auto on_site = [shared](auto work) {
    return [shared, work]() -> base::Result<double> {
      Site* const site = TRY(shared->site());
      return work(*site);
    };
  };
  return {.name = "service-rules",
          .promises = {
              {.name = "address given to kernel rule, p50 at 1,000",
               .ours = on_site([](Site& site) { return quantile(50, [&] { return site.publish(); }); }),
               .budget = 50,
               .rounds = 1},
              {.name = "address given to kernel rule, p99 at 1,000",
               .ours = on_site([](Site& site) { return quantile(99, [&] { return site.publish(); }); }),
               .budget = 100,
               .rounds = 1},
              {.name = "rule removed by others to rule back, p99",
               .ours = on_site([](Site& site) { return quantile(99, [&] { return site.repair(); }); }),
               .budget = 50,
               .rounds = 1},
              {.name = "agent with 1,000 configs",
               .ours = on_site([](Site& site) -> base::Result<double> { return site.agent_mebibytes(); }),
               .budget = 16,
               .rounds = 1,
               .unit = "MiB"},
              {.name = "controller with 1,000 Services",
               .ours = on_site([](Site& site) -> base::Result<double> { return site.controller_mebibytes(); }),
               .budget = 64,
               .rounds = 1,
               .unit = "MiB"},
          }};
}

}  // namespace bench
