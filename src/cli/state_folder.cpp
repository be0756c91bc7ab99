#include "cli/state_folder.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "api/kinds.h"
#include "base/file.h"
#include "cli/ip_json.h"
#include "cli/nft_json.h"

namespace cli {
namespace {

base::Status read_nft(state::NetState& into, const std::filesystem::path& file) {
  std::error_code error;
  if (!std::filesystem::exists(file, error)) {
    // Where no rule of ours looks at a mark, there is no table, or it decides nothing.
    const auto looks_at_marks = [](const state::Rule& rule) {
      return rule.protocol == api::kRuleProtocol && rule.selector.mark;
    };
    if (std::ranges::none_of(into.rules, looks_at_marks)) return {};
    into.nft_unknown = fmt::format("there is no {}; make it with `nft -j list ruleset`", file.native());
    return {};
  }
  const std::string text = TRY(base::read_file(file));
  auto dumped = TRY(base::within(file.native(), parse_nft_table(text)));
  into.nft = std::move(dumped.table);
  into.nft_strange = std::move(dumped.strange);
  return {};
}

}  // namespace

base::Result<state::NetState> read_state_folder(const std::filesystem::path& folder) {
  constexpr std::array<std::pair<std::string_view, net::Family>, 2> kDumps = {
      {{"rule.json", net::Family::v4}, {"rule6.json", net::Family::v6}}};
  state::NetState out;
  bool any = false;
  for (const auto& [name, family] : kDumps) {
    const auto file = folder / name;
    std::error_code error;
    if (!std::filesystem::exists(file, error)) continue;
    any = true;
    const std::string text = TRY(base::read_file(file));
    const auto dumped = TRY(base::within(file.native(), parse_ip_rules(family, text)));
    out.rules.insert(out.rules.end(), dumped.rules.begin(), dumped.rules.end());
    for (const auto& unread : dumped.unread) {
      out.opaque_rules.push_back({.family = family, .reason = fmt::format("{}: {}", unread.rule, unread.reason)});
    }
  }
  if (!any) {
    return base::fail(base::Fault::invalid,
                      fmt::format("{}: has neither rule.json nor rule6.json; make them with `ip -j rule` and "
                                  "`ip -6 -j rule`",
                                  folder.native()));
  }
  TRY(read_nft(out, folder / "nft.json"));
  return out;
}

}  // namespace cli
