#include "lab/demonstration.h"

#include <algorithm>
#include <map>
#include <optional>

#include <fmt/format.h>

namespace lab {
namespace {

constexpr int kRequests = 20;
constexpr int kWidth = 31;  // Of the first column.

std::string format(const UplinkCount& count) {
  std::string out;
  if (count.eth0 > 0) out += fmt::format("eth0 {}", count.eth0);
  if (count.eth1 > 0) out += fmt::format("{}eth1 {}", out.empty() ? "" : ", ", count.eth1);
  return out.empty() ? "none" : out;
}

std::string share(std::string_view what, int part, int whole) {
  return part == whole ? std::string(what) : fmt::format("{} ({} of {})", what, part, whole);
}

UplinkCount sum(const UplinkCount& one, const UplinkCount& other) {
  return {.eth0 = one.eth0 + other.eth0, .eth1 = one.eth1 + other.eth1};
}

Tally sum(const Tally& one, const Tally& other) {
  return {.requests = one.requests + other.requests,
          .requests_in = sum(one.requests_in, other.requests_in),
          .replies_out = sum(one.replies_out, other.replies_out),
          .answered = one.answered + other.answered};
}

// One row for all of them, if they agree.
std::optional<Row> common_row(const std::string& what, const std::string& note, const std::vector<Report>& reports) {
  std::optional<Row> all;
  for (const Report& report : reports) {
    const Row row{.what = what, .tally = report.tally, .note = note};
    if (all && all->verdict() != row.verdict()) return {};
    all = Row{.what = what, .tally = all ? sum(all->tally, row.tally) : row.tally, .note = note};
  }
  return all;
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
  std::string out = "right";
  if (tally.replies_out.eth0 > 0) {
    out = share("wrong uplink", tally.replies_out.eth0, tally.replies_out.total());
  } else if (!right()) {
    out = share("no reply", tally.requests - tally.answered, tally.requests);
  }
  return note.empty() ? out : fmt::format("{}: {}", out, note);
}

std::vector<Row> rows_of(const std::string& what, const std::string& note, const std::vector<Report>& reports) {
  if (auto all = common_row(what, note, reports)) return {*std::move(all)};
  std::map<std::string, std::vector<Report>> by_node;
  for (const Report& report : reports) by_node[report.node].push_back(report);
  std::vector<Row> rows;
  for (const auto& [node, own] : by_node) {
    const std::string here = by_node.size() > 1 ? fmt::format("{}, {}", what, node) : what;
    if (auto both = common_row(here, note, own)) {
      rows.push_back(*std::move(both));
      continue;
    }
    for (const Report& report : own) {
      rows.push_back(
          {.what = fmt::format("{}, {}", here, net::text(report.family)), .tally = report.tally, .note = note});
    }
  }
  return rows;
}

std::string table_head() {
  return fmt::format("  {:{}} {:14} {:17} {}\n", "", kWidth, "requests in", "replies out", "verdict");
}

std::string table_counts(const Row& row) {
  return fmt::format("  {:{}} {:14} {:17} ", row.what, kWidth, format(row.tally.requests_in),
                     format(row.tally.replies_out));
}

std::string format_table(const std::vector<Row>& rows) {
  std::string out = table_head();
  for (const Row& row : rows) out += table_counts(row) + row.verdict() + "\n";
  return out;
}

base::Result<Demonstration> demonstrate(Scene& scene, const std::vector<Act>& acts,
                                        const std::function<void(const Row&)>& seen) {
  Demonstration shown;
  for (const Act& act : acts) {
    std::string note;
    if (act.prepare) note = TRY(base::within(act.what, act.prepare(scene)));
    std::vector<Report> reports;
    for (const SceneNode& node : scene.nodes()) {
      for (const net::Address& target : act.target == Act::Target::vip ? node.vip : node.service) {
        reports.push_back({.node = node.name,
                           .family = target.family(),
                           .tally = TRY(scene.open_connections(node, target, kRequests))});
      }
    }
    for (Row& row : rows_of(act.what, note, reports)) {
      shown.as_expected &= fits(row, act.expect);
      if (seen) seen(row);
      shown.rows.push_back(std::move(row));
    }
  }
  return shown;
}

}  // namespace lab
