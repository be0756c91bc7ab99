#include "lab/demonstration.h"

#include <algorithm>

#include <fmt/format.h>

namespace lab {
namespace {

constexpr int kRequests = 20;

std::string format(const UplinkCount& count) {
  std::string out;
  if (count.eth0 > 0) out += fmt::format("eth0 {}", count.eth0);
  if (count.eth1 > 0) out += fmt::format("{}eth1 {}", out.empty() ? "" : ", ", count.eth1);
  return out.empty() ? "none" : out;
}

std::string share(std::string_view what, int part, int whole) {
  return part == whole ? std::string(what) : fmt::format("{}: {} of {}", what, part, whole);
}

std::string label(std::string_view what, const SceneNode& node, net::Family family, bool many) {
  return fmt::format("{}, {}{}", what, text(family), many ? ", " + node.name : "");
}

bool fits(const Row& row, Act::Expect expect) {
  return expect == Act::Expect::right ? row.right() : row.wrong();
}

}  // namespace

bool Row::right() const {
  const UplinkCount all{.eth0 = 0, .eth1 = tally.requests};
  return tally.requests_in == all && tally.replies_out == all && tally.answered == tally.requests;
}

bool Row::wrong() const {
  return tally.requests_in == UplinkCount{.eth0 = 0, .eth1 = tally.requests} &&
         tally.replies_out == UplinkCount{.eth0 = tally.requests, .eth1 = 0};
}

std::string Row::verdict() const {
  if (right()) return "right";
  if (tally.replies_out.eth0 > 0) return share("wrong uplink", tally.replies_out.eth0, tally.replies_out.total());
  return share("no reply", tally.requests - tally.answered, tally.requests);
}

std::string format_table(const std::vector<Row>& rows) {
  std::size_t width = 32;
  for (const Row& row : rows) width = std::max(width, row.what.size() + 2);
  std::string out = fmt::format("  {:{}}{:15}{:18}{}\n", "", width, "requests in", "replies out", "verdict");
  for (const Row& row : rows) {
    out += fmt::format("  {:{}}{:15}{:18}{}\n", row.what, width, format(row.tally.requests_in),
                       format(row.tally.replies_out), row.verdict());
  }
  return out;
}

base::Result<Demonstration> demonstrate(Scene& scene, const std::vector<Act>& acts,
                                        const std::function<void(const Row&)>& seen) {
  Demonstration shown;
  for (const Act& act : acts) {
    if (act.prepare) TRY(base::within(act.what, act.prepare(scene)));
    for (const SceneNode& node : scene.nodes()) {
      for (const net::Family family : {net::Family::v4, net::Family::v6}) {
        Row row{.what = label(act.what, node, family, scene.nodes().size() > 1),
                .tally = TRY(scene.send_requests(node, of_family(node.service, family), kRequests))};
        shown.as_expected &= fits(row, act.expect);
        if (seen) seen(row);
        shown.rows.push_back(std::move(row));
      }
    }
  }
  return shown;
}

}  // namespace lab
