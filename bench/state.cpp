#include <string>
#include <vector>

#include "bench/measure.h"
#include "bench/samples.h"
#include "state/rule.h"

// Rules to and from the words of `ip`, and to the one form of those that mean the same.
namespace bench {
namespace {

constexpr std::uint32_t kMany = 20'000;

base::Result<double> parse(std::uint32_t count) {
  std::vector<std::string> lines;
  for (const auto rules = many_rules(count); const state::Rule& rule : rules.rules) lines.push_back(state::text(rule));
  return timed([&]() -> base::Status {
    for (const std::string& line : lines) TRY(state::parse_rule(net::Family::v4, line));
    return {};
  });
}

base::Result<double> format(std::uint32_t count) {
  const auto rules = many_rules(count);
  return timed([&]() -> base::Status {
    std::size_t length = 0;
    for (const state::Rule& rule : rules.rules) length += state::text(rule).size();
    return length > 0 ? base::Status() : base::fail(base::Fault::bug, "no text");
  });
}

base::Result<double> canonical(std::uint32_t count) {
  auto rules = many_rules(count);
  for (state::Rule& rule : rules.rules) rule.selector.mark = state::Mark{.value = 0x1234, .mask = 0xff00};
  return timed([&]() -> base::Status {
    for (const state::Rule& rule : rules.rules) {
      if (state::canonical(rule).selector.mark->value != 0x1200) return base::fail(base::Fault::bug, "not canonical");
    }
    return {};
  });
}

}  // namespace

Group state_group() {
  return {.name = "state",
          .promises = {{.name = "20,000 rules parsed", .ours = [] { return parse(kMany); }},
                       {.name = "20,000 rules formatted", .ours = [] { return format(kMany); }},
                       {.name = "20,000 rules made canonical", .ours = [] { return canonical(kMany); }}},
          .growth = {{.name = "n rules parsed", .least = 10'000, .expected = 1, .work = parse},
                     {.name = "n rules formatted", .least = 10'000, .expected = 1, .work = format}}};
}

}  // namespace bench
