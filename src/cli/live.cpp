#include "cli/live.h"

#include <algorithm>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "base/clock.h"
#include "cli/packet_words.h"

namespace cli {
namespace {

using kernel::nft::TracedHeader;
using kernel::nft::TracedPacket;
using At = kernel::nft::TraceEvent::At;
using Fate = TracedPacket::Fate;

std::string device(const LiveSight& sight, std::uint32_t index) {
  const auto name = sight.links.name_of(index);
  return name ? std::string(name->text()) : fmt::format("device {}", index);
}

path::Packet packet_of(const TracedHeader& header) {
  return {.from = header.from,
          .to = header.to,
          .ip_protocol = header.ip_protocol,
          .sport = header.sport,
          .dport = header.dport};
}

std::string entry_text(const LiveSight& sight, const TracedPacket& packet) {
  path::Packet entered = packet_of(packet.entered);
  if (!packet.sent_here) entered.iif = sight.links.name_of(packet.iif).value_or(net::InterfaceName());
  std::string out = describe(entered);
  // A link that is gone has no name any more, but the packet did come in.
  if (!packet.sent_here && entered.iif.empty()) {
    out.replace(out.rfind(", "), std::string::npos, ", comes in by " + device(sight, packet.iif));
  }
  return out;
}

std::string fate_text(const LiveSight& sight, const TracedPacket& packet) {
  std::string out;
  switch (packet.fate) {
    case Fate::left:
      out = "leaves by " + device(sight, packet.oif);
      break;
    case Fate::delivered:
      out = "is delivered on this host";
      break;
    case Fate::dropped:
      out = "is dropped there";
      break;
    case Fate::unknown:
      return sight.seen.lost ? "was not heard of again; its end may be among what was lost"
                             : "was not heard of again: it has no route, or was taken away";
  }
  if (packet.mark != 0) out += fmt::format(", mark {:#x}", packet.mark);
  if (packet.ended.from != packet.entered.from || packet.ended.to != packet.entered.to) {
    out += fmt::format(", as {} -> {}", packet.ended.from.text(), packet.ended.to.text());
  }
  return out;
}

std::string_view fate_name(Fate fate) {
  switch (fate) {
    case Fate::left:
      return "Left";
    case Fate::delivered:
      return "Delivered";
    case Fate::dropped:
      return "Dropped";
    case Fate::unknown:
      break;
  }
  return "Unknown";
}

std::string place(const TracedPacket::Step& step) {
  switch (step.at) {
    case At::rule:
      // Some kernels tell the end of a chain as a rule without a number.
      return step.rule != 0 ? fmt::format("rule {}", step.rule) : "end";
    case At::end_of_chain:
      return "end";
    case At::policy:
      break;
  }
  return "policy";
}

// Nothing where nobody knows.
std::optional<bool> went_as(const LiveSight& sight, const TracedPacket& packet, const path::Verdict& walked) {
  using Kind = path::Verdict::Kind;
  const auto is_one_of = [&](std::initializer_list<Kind> kinds) {
    return std::ranges::find(kinds, walked.kind) != kinds.end();
  };
  const bool stays = is_one_of({Kind::delivered, Kind::broadcast, Kind::anycast, Kind::multicast});
  switch (packet.fate) {
    case Fate::left:  // What this host sends to itself leaves by lo and comes in again.
      if (packet.sent_here && stays) return true;
      return walked.kind == Kind::leaves && std::ranges::any_of(walked.hops, [&](const state::RouteHop& hop) {
               return sight.links.index_of(hop.dev) == packet.oif;
             });
    case Fate::delivered:
      return stays;
    case Fate::dropped:
      return false;
    case Fate::unknown:
      if (sight.seen.lost) return std::nullopt;
      break;
  }
  return is_one_of({Kind::dropped, Kind::prohibited, Kind::unreachable});
}

Table steps_table(const TracedPacket& packet) {
  Table table(7);
  std::uint32_t mark = 0;
  for (const TracedPacket::Step& step : packet.steps) {
    const bool is_new = std::exchange(mark, step.mark) != step.mark;
    table.row({fmt::format("{} {}", step.table, step.chain), place(step), step.verdict,
               is_new ? fmt::format("mark {:#x}", step.mark) : ""});
  }
  return table;
}

}  // namespace

base::Result<LiveSight> watch_live(const path::Packet& flow, const LiveWish& wish, kernel::rtnl::LinkTable links) {
  auto trace = TRY(base::within("--live", kernel::nft::Trace::open(flow)));
  const auto deadline = base::SteadyClock().now() + wish.patience;
  auto seen = TRY(base::within("--live", trace.watch(static_cast<std::size_t>(wish.packets), deadline)));
  return LiveSight{.wish = wish, .seen = std::move(seen), .links = std::move(links)};
}

std::size_t strays(const LiveSight& sight, const path::Verdict& walked) {
  return static_cast<std::size_t>(std::ranges::count_if(
      sight.seen.packets, [&](const TracedPacket& packet) { return went_as(sight, packet, walked) == false; }));
}

void show_live(Page& page, const LiveSight& sight, const path::Verdict& walked) {
  const std::size_t seen = sight.seen.packets.size();
  const bool in_vain = seen < static_cast<std::size_t>(sight.wish.packets);
  page.put("Live     ")
      .put(fmt::format("{} of {} packets seen{}", seen, sight.wish.packets,
                       in_vain ? fmt::format(" within {} s", sight.wish.patience.count()) : ""),
           seen == 0 ? Tone::warning : Tone::plain)
      .end_line();
  for (std::size_t i = 0; i < seen; ++i) {
    const TracedPacket& packet = sight.seen.packets[i];
    page.line("  {:<3}{}", i + 1, entry_text(sight, packet));
    steps_table(packet).print(page);
    const auto as_walked = went_as(sight, packet, walked);
    page.put("     ")
        .put(fate_text(sight, packet), !as_walked   ? Tone::warning
                                       : *as_walked ? Tone::good
                                                    : Tone::bad)
        .end_line();
  }
  if (sight.seen.lost) {
    page.put("     ").put("the kernel told more than could be heard: steps may be missing", Tone::warning).end_line();
  }
  if (const std::size_t wrong = strays(sight, walked); wrong > 0) {
    page.put("Live     ")
        .put(fmt::format("{} of {} went otherwise than the verdict says", wrong, seen), Tone::bad)
        .end_line();
  }
}

void put_live(json::Object& out, const LiveSight& sight, const path::Verdict& walked) {
  const auto put_header = [](json::Object& item, const TracedHeader& header) {
    item.put("from", header.from.text());
    item.put("to", header.to.text());
  };
  out.put("wanted", sight.wish.packets);
  out.put("lost", sight.seen.lost);
  out.array("packets", [&](json::Array& packets) {
    for (const TracedPacket& packet : sight.seen.packets) {
      packets.object([&](json::Object& item) {
        item.put("text", entry_text(sight, packet));
        item.object("entered", [&](json::Object& header) { put_header(header, packet.entered); });
        item.object("ended", [&](json::Object& header) { put_header(header, packet.ended); });
        if (!packet.sent_here) item.put("iif", device(sight, packet.iif));
        if (packet.fate == Fate::left) item.put("oif", device(sight, packet.oif));
        item.put_unless_empty("mark", packet.mark);
        item.put("fate", fate_name(packet.fate));
        if (const auto as_walked = went_as(sight, packet, walked)) item.put("asWalked", *as_walked);
        item.array("steps", [&](json::Array& steps) {
          for (const TracedPacket::Step& step : packet.steps) {
            steps.object([&](json::Object& one) {
              one.put("table", step.table);
              one.put("chain", step.chain);
              one.put("at", place(step));
              one.put("verdict", step.verdict);
              one.put_unless_empty("mark", step.mark);
            });
          }
        });
      });
    }
  });
}

}  // namespace cli
