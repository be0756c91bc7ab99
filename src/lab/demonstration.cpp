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

// What both families say alike is said once.
std::vector<Row> rows_of(const std::string& what, const std::string& note, const Tally& v4, const Tally& v6) {
  const Row first{.what = what + ", IPv4", .tally = v4, .note = note};
  const Row second{.what = what + ", IPv6", .tally = v6, .note = note};
  if (first.verdict() != second.verdict()) return {first, second};
  return {{.what = what, .tally = sum(v4, v6), .note = note}};
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
    std::string note;
    if (act.prepare) note = TRY(base::within(act.what, act.prepare(scene)));
    for (const SceneNode& node : scene.nodes()) {
      const AddressPair& target = act.target == Act::Target::vip ? node.vip : node.service;
      const Tally v4 = TRY(scene.open_connections(node, target[0], kRequests));
      const Tally v6 = TRY(scene.open_connections(node, target[1], kRequests));
      const std::string what = scene.nodes().size() > 1 ? fmt::format("{}, {}", act.what, node.name) : act.what;
      for (Row& row : rows_of(what, note, v4, v6)) {
        shown.as_expected &= fits(row, act.expect);
        if (seen) seen(row);
        shown.rows.push_back(std::move(row));
      }
    }
  }
  return shown;
}

}  // namespace lab
