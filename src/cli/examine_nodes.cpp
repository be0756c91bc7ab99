#include "cli/examine_nodes.h"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "api/kinds.h"
#include "cli/doctor.h"
#include "cli/gaps.h"
#include "intent/cluster/prospect.h"
#include "json/writer.h"

namespace cli {
namespace {

// What nodes show, those that show the same together.
class Examinations {
 public:
  void add(const std::string& source, const std::string& node, Answer shown) {
    auto& [members, story] = groups_[{source, shown.json}];
    members.push_back(node);
    story = std::move(shown);
  }

  void add_report(const std::string& node, const api::NodeState* report, NodeWishes wishes) {
    if (report == nullptr || report->status.facts.kernel.empty()) {  // The controller makes them before agents run.
      notes_.put(node).put("  no report: run `iprulectl doctor --local` there", Tone::warning).end_line();
      code_ = std::max(code_, ExitCode::attention);
      return;
    }
    Examined seen{.facts = facts_of(report->status.facts), .report = report->status, .wishes = std::move(wishes)};
    for (const auto& empty : report->status.empty_tables) {
      seen.facts.tables.push_back(
          {.table = empty.table, .family = empty.family == api::IPFamily::v4 ? net::Family::v4 : net::Family::v6});
    }
    add("by what its agent reported", node, show(seen));
  }

  void miss(const std::string& node, const base::Error& error) {
    misses_.push_back(fmt::format("the kernel of {}: {}", node, error.message()));
  }

  Answer answer(const ClusterObjects& objects) && {
    Answer out{.page = std::move(notes_), .json = {}, .code = code_};
    for (const auto& [key, group] : groups_) {
      out.page.line("{}, {}", names_text(group.first), key.first);
      out.page.append(group.second.page);
      if (group.second.code != ExitCode::fine) out.code = ExitCode::attention;
    }
    misses_.insert(misses_.end(), objects.gaps.begin(), objects.gaps.end());
    add_gaps(out, misses_);
    out.json = json::object([&](json::Object& whole) {
      whole.put("apiVersion", api::kApiVersion);
      whole.put("kind", "ClusterExamination");
      whole.array("groups", [&](json::Array& list) {
        for (const auto& [key, group] : groups_) {
          list.object([&](json::Object& item) {
            item.array("nodes", [&](json::Array& own) {
              for (const std::string& member : group.first) own.put(member);
            });
            item.put("source", key.first);
            item.put_json("examination", group.second.json);
          });
        }
      });
      put_gaps(whole, misses_);
    });
    return out;
  }

 private:
  std::map<std::pair<std::string, std::string>, std::pair<std::vector<std::string>, Answer>> groups_;
  Page notes_;
  std::vector<std::string> misses_;
  ExitCode code_ = ExitCode::fine;
};

}  // namespace

state::NodeFacts facts_of(const api::NodeState::Facts& facts) {
  state::NodeFacts out{.kernel = facts.kernel};
  out.service_proxy = intent::proxy_of(facts);
  out.capabilities = {.rule_protocol = facts.capabilities.rule_protocol,
                      .nexthop_objects = facts.capabilities.nexthop_objects,
                      .address_protocol = facts.capabilities.address_protocol,
                      .nft_maps = facts.capabilities.nft_maps,
                      .ct_original = facts.capabilities.ct_original};
  out.conntrack = facts.conntrack;
  if (facts.local_rule_priority) out.local_rule_priority = static_cast<std::uint32_t>(*facts.local_rule_priority);
  for (const auto& filter : facts.reverse_path_filter) {
    if (auto device = net::InterfaceName::parse(filter.device)) out.reverse_path_filter.emplace(*device, filter.value);
  }
  for (const auto& vrf : facts.vrfs) {
    if (auto device = net::InterfaceName::parse(vrf.device)) out.vrfs.emplace(*device, vrf.table);
  }
  return out;
}

base::Result<Answer> examine_nodes(const ClusterObjects& objects, const std::vector<std::string>& nodes,
                                   const AskNode& ask) {
  const auto names = TRY(chosen_nodes(objects, nodes));
  Examinations found;
  for (const std::string& node : names) {
    NodeWishes wishes = wishes_on(objects, node);
    if (ask) wishes.frontends = frontends_in(objects, wishes.rules);
    const auto live =
        ask ? std::optional(ask(node, {.about = Question::About::doctor, .wishes = wishes})) : std::nullopt;
    if (live && *live) {
      found.add("its kernel asked now", node, **live);
    } else {
      if (live) found.miss(node, live->error());
      found.add_report(node, report_of(objects, node), std::move(wishes));
    }
  }
  return std::move(found).answer(objects);
}

}  // namespace cli
