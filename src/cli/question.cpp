#include "cli/question.h"

#include <algorithm>
#include <array>
#include <optional>

#include <fmt/format.h>

#include "agent/environment.h"
#include "api/kinds.h"
#include "cli/doctor.h"
#include "cli/plan_host.h"
#include "json/reader.h"
#include "json/writer.h"

namespace cli {
namespace {

constexpr std::array<std::string_view, 4> kAbout = {"doctor", "explain", "diff", "plan"};

base::Result<PacketWords> decode_packet(const json::Value& value) {
  PacketWords out;
  out.from = TRY(value["from"].string_or(""));
  out.to = TRY(value["to"].string_or(""));
  out.iif = TRY(value["iif"].string_or(""));
  out.oif = TRY(value["oif"].string_or(""));
  out.mark = TRY(value["mark"].string_or(""));
  out.reply_of = TRY(value["replyOf"].string_or(""));
  out.proto = TRY(value["proto"].string_or(""));
  out.sport = TRY(value["sport"].integer_or<std::uint16_t>(0));
  out.dport = TRY(value["dport"].integer_or<std::uint16_t>(0));
  return out;
}

void put(json::Object& out, const PacketWords& packet) {
  out.put_unless_empty("from", packet.from);
  out.put_unless_empty("to", packet.to);
  out.put_unless_empty("iif", packet.iif);
  out.put_unless_empty("oif", packet.oif);
  out.put_unless_empty("mark", packet.mark);
  out.put_unless_empty("replyOf", packet.reply_of);
  out.put_unless_empty("proto", packet.proto);
  out.put_unless_empty("sport", packet.sport);
  out.put_unless_empty("dport", packet.dport);
}

base::Result<DiffView> decode_view(const json::Value& value) {
  DiffView out{.classes = {}, .foreign = TRY(value["foreign"].boolean_or(false))};
  for (const json::Value& one : TRY(value["classes"].items_or_none())) {
    out.classes.emplace_back(TRY(one.string()));
  }
  return out;
}

void put(json::Object& out, const DiffView& view) {
  out.array("classes", [&](json::Array& list) {
    for (const std::string& one : view.classes) list.put(one);
  });
  out.put("foreign", view.foreign);
}

base::Result<LiveWish> decode_live(const json::Value& value) {
  LiveWish out;
  out.packets = static_cast<int>(TRY(value["packets"].integer_between(1, LiveWish::kMostPackets)));
  const auto most = LiveWish::kMostPatience.count();
  out.patience = std::chrono::seconds(TRY(value["seconds"].integer_between(1, most)));
  return out;
}

}  // namespace

std::string encode(const Question& question) {
  return json::object([&](json::Object& out) {
    out.put("apiVersion", api::kApiVersion);
    out.put("kind", "Question");
    out.put("about", kAbout[static_cast<std::size_t>(question.about)]);
    if (question.about == Question::About::explain) {
      out.object("packet", [&](json::Object& packet) { put(packet, question.packet); });
    }
    if (question.live) {
      out.object("live", [&](json::Object& live) {
        live.put("packets", question.live->packets);
        live.put("seconds", question.live->patience.count());
      });
    }
    if (question.wanted) {
      out.object("wanted", [&](json::Object& wanted) { put(wanted, *question.wanted); });
    }
    if (!question.view.is_whole()) {
      out.object("view", [&](json::Object& view) { put(view, question.view); });
    }
    if (question.wishes) {
      out.object("wishes", [&](json::Object& wishes) { put(wishes, *question.wishes); });
    }
  });
}

base::Result<Question> decode_question(std::string_view text) {
  json::Reader reader;
  const auto root = TRY(reader.parse(text));
  const auto about = TRY(root["about"].string());
  const auto* const known = std::ranges::find(kAbout, about);
  if (known == kAbout.end()) {
    return root["about"].fail(fmt::format("\"{}\" is none of {}", about, fmt::join(kAbout, ", ")));
  }
  Question out{.about = static_cast<Question::About>(known - kAbout.begin())};
  if (out.about == Question::About::explain) out.packet = TRY(decode_packet(root["packet"]));
  if (root["live"].exists()) out.live = TRY(decode_live(root["live"]));
  if (root["wanted"].exists()) out.wanted = TRY(decode_assignment(root["wanted"]));
  if (root["view"].exists()) out.view = TRY(decode_view(root["view"]));
  if (root["wishes"].exists()) out.wishes = TRY(decode_wishes(root["wishes"]));
  const bool compares = out.about == Question::About::diff || out.about == Question::About::plan;
  if (compares && !out.wanted) return root["wanted"].fail(fmt::format("a {} needs something to compare", about));
  return out;
}

base::Result<Answer> answer_here(const Question& question) {
  std::optional<Assignment> wanted = question.wanted;
  // Only this host's agent has been told by which number it knows its own.
  const std::uint8_t protocol = agent::Environment::of_process().rule_protocol;
  if (wanted) wanted->settings.protocol = protocol;
  switch (question.about) {
    case Question::About::doctor:
      return examine_host(protocol, question.wishes);
    case Question::About::diff:
      return diff_assignment(*wanted, question.view);
    case Question::About::plan:
      return plan_assignment(*wanted);
    case Question::About::explain:
      break;
  }
  const path::Packet packet = TRY(parse_packet(question.packet));
  return explain_packet(packet, TRY(parse_reply_of(question.packet)), wanted, question.live);
}

}  // namespace cli
