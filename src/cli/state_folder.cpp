#include "cli/state_folder.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "api/kinds.h"
#include "base/file.h"
#include "cli/ip_json.h"
#include "cli/ip_routing_json.h"
#include "cli/nft_json.h"

namespace cli {
namespace {

using FamilyFile = std::pair<std::string_view, net::Family>;

template <typename T>
void append(std::vector<T>& to, std::vector<T> more) {
  to.insert(to.end(), std::make_move_iterator(more.begin()), std::make_move_iterator(more.end()));
}

class FolderReader {
 public:
  explicit FolderReader(const std::filesystem::path& folder) : folder_(folder) {}

  base::Result<DumpedHost> read() && {
    TRY(read_rules());
    TRY(read_routes());
    TRY(read_links());
    TRY(read_nft());
    const auto is_ipvs = [](const state::ObservedLink& seen) { return seen.link.name.text() == "kube-ipvs0"; };
    if (std::ranges::any_of(out_.state.observed_links, is_ipvs)) out_.service_proxy = state::ServiceProxy::ipvs;
    return std::move(out_);
  }

 private:
  // `parse` of the file's text, where there is the file.
  template <typename Parse>
  auto parsed(std::string_view name, Parse parse)
      -> base::Result<std::optional<typename decltype(parse(""))::value_type>> {
    const auto file = folder_ / name;
    std::error_code error;
    if (!std::filesystem::exists(file, error)) return std::nullopt;
    const std::string text = TRY(base::read_file(file));
    return TRY(base::within(file.native(), parse(text)));
  }

  base::Status read_rules() {
    constexpr std::array<FamilyFile, 2> kDumps = {{{"rule.json", net::Family::v4}, {"rule6.json", net::Family::v6}}};
    bool any = false;
    for (const auto& [name, family] : kDumps) {
      auto dumped = TRY(parsed(name, [&](std::string_view text) { return parse_ip_rules(family, text); }));
      if (!dumped) continue;
      any = true;
      append(out_.state.rules, std::move(dumped->rules));
      for (const auto& unread : dumped->unread) {
        out_.state.opaque_rules.push_back(
            {.family = family, .reason = fmt::format("{}: {}", unread.rule, unread.reason)});
      }
    }
    if (any) return {};
    return base::fail(base::Fault::invalid,
                      fmt::format("{}: has neither rule.json nor rule6.json; make them with `ip -j rule` and "
                                  "`ip -6 -j rule`",
                                  folder_.native()));
  }

  base::Status read_routes() {
    constexpr std::array<FamilyFile, 2> kDumps = {{{"route.json", net::Family::v4}, {"route6.json", net::Family::v6}}};
    for (const auto& [name, family] : kDumps) {
      auto dumped = TRY(parsed(name, [&](std::string_view text) { return parse_ip_routes(family, text); }));
      if (!dumped) continue;
      // Every host has some in `local`. Where none is, the dump is of one table only, or of the other family.
      for (const state::Route& route : dumped->routes) {
        if (route.table == state::kTableLocal) out_.routes.insert(route.family);
      }
      append(out_.state.routes, std::move(dumped->routes));
      append(out_.state.opaque_routes, std::move(dumped->unread));
    }
    return {};
  }

  base::Status read_links() {
    for (const std::string_view name : {"link.json", "addr.json"}) {
      auto dumped = TRY(parsed(name, parse_ip_links));
      if (!dumped) continue;
      out_.links = true;
      out_.state.observed_links = std::move(dumped->links);  // Both have the same.
      append(out_.state.addresses, std::move(dumped->addresses));
      append(out_.state.opaque_addresses, std::move(dumped->leases));
    }
    return {};
  }

  base::Status read_nft() {
    auto dumped = TRY(parsed("nft.json", parse_nft_table));
    if (dumped) {
      out_.nft = true;
      out_.state.nft = std::move(dumped->table);
      out_.state.nft_strange = std::move(dumped->strange);
      out_.service_proxy = dumped->service_proxy;
      return {};
    }
    // Where no rule of ours looks at a mark, there is no table, or it decides nothing.
    const auto looks_at_marks = [](const state::Rule& rule) {
      return rule.protocol == api::kRuleProtocol && rule.selector.mark;
    };
    if (std::ranges::none_of(out_.state.rules, looks_at_marks)) return {};
    out_.state.nft_unknown =
        fmt::format("there is no {}; make it with `nft -j list ruleset`", (folder_ / "nft.json").native());
    return {};
  }

  const std::filesystem::path& folder_;
  DumpedHost out_;
};

}  // namespace

base::Result<DumpedHost> read_state_folder(const std::filesystem::path& folder) {
  return FolderReader(folder).read();
}

}  // namespace cli
