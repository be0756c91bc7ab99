#include "cli/lab.h"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <deque>
#include <memory>
#include <optional>
#include <unistd.h>

#include <fmt/format.h>

#include "base/file.h"
#include "cli/explain.h"
#include "cli/lab_manifests.h"
#include "cli/lab_node.h"
#include "cli/plan_host.h"
#include "lab/capture.h"
#include "lab/demonstration.h"
#include "lab/sandbox.h"
#include "lab/scene.h"
#include "lab/service_proxy.h"
#include "lab/traffic.h"
#include "lab/world.h"
#include "plan/ownership.h"

namespace cli {
namespace {

using lab::Act;
using lab::Scene;
using std::chrono::steady_clock;

constexpr int kNodes = 3;
constexpr std::size_t kAddresses = 2 * kNodes;  // Of all Services, in both families.
constexpr int kManyServices = 5000;
constexpr int kConversations = 50;

std::size_t count_rules(const state::NetState& kernel, bool by_mark) {
  return static_cast<std::size_t>(std::ranges::count_if(kernel.rules, [&](const state::Rule& rule) {
    return plan::Ownership().owns(rule) && rule.selector.mark.has_value() == by_mark;
  }));
}

// Every cluster address has a rule, and nothing is marked.
bool steers_cluster_addresses(const state::NetState& kernel) {
  return count_rules(kernel, false) == kAddresses && !kernel.nft;
}

// Replies of every VIP are marked, and two rules for each family, that for `main` included, know the mark.
bool steers_replies(const state::NetState& kernel) {
  return kernel.nft && kernel.nft_strange.empty() && kernel.nft->vips.size() == kAddresses &&
         count_rules(kernel, true) == 4 && count_rules(kernel, false) == 0;
}

bool steers_many_by_mark(const state::NetState& kernel) {
  return kernel.nft && kernel.nft->sources.size() == kManyServices + kAddresses && count_rules(kernel, false) == 0;
}

double seconds(steady_clock::duration time) {
  return std::chrono::duration<double>(time).count();
}

class Lab {
 public:
  Lab(const LabOptions& options, const LabScreen& screen) : options_(options), screen_(screen) {}

  base::Result<bool> show() {
    const auto begun = steady_clock::now();
    auto world = TRY(lab::World::make());
    auto scene = TRY(Scene::build(world, kNodes));
    for (lab::SceneNode& node : scene->nodes()) {
      TRY(lab::translate_vips(node));
      nodes_.emplace_back(node, options_.agent, std::filesystem::temp_directory_path() / node.name);
    }
    const auto captures = TRY(start_captures(*scene));
    say("built     {} nodes with 2 uplinks and a service proxy each, 2 gateways, 1 client, {} pods behind {} to {}: {} "
        "network namespaces, {:.1f} s",
        kNodes, kNodes, scene->nodes().front().vip[0].text(), scene->nodes().back().vip[0].text(), world.host_count(),
        seconds(steady_clock::now() - begun));
    const bool right = TRY(play(*scene));
    if (!options_.shell.empty()) TRY(open_shell(*world.find(options_.shell)));
    if (options_.keep) keep();
    say("removed   everything; {}",
        right ? "every reply took the uplink it should" : "a reply took an uplink it should not");
    return right;
  }

 private:
  base::Result<bool> play(Scene& scene) {
    bool right = true;
    const std::vector<Act> acts = chosen_acts();
    total_ = acts.size() + (wants("many") ? 1 : 0) + (wants("reply") ? 1 : 0);
    if (total_ > (wants("reply") ? 1 : 0)) show_page(Page().paragraphs(lab::table_head()));
    for (const Act& act : acts) {
      step(act.what);
      right &= TRY(lab::demonstrate(scene, {act}, [this](const lab::Row& row) { show_row(row); })).as_expected;
    }
    if (wants("many")) right &= TRY(base::within("many Services", play_many(scene)));
    if (wants("reply")) right &= TRY(base::within("one reply", show_reply(scene)));
    return right;
  }

  bool wants(std::string_view scenario) const { return options_.scenario.empty() || options_.scenario == scenario; }

  std::vector<Act> chosen_acts() {
    std::vector<Act> acts;
    if (wants("uplinks")) std::ranges::move(uplinks(), std::back_inserter(acts));
    if (wants("faults")) std::ranges::move(faults(), std::back_inserter(acts));
    for (Act& act : acts) act.target = Act::Target::vip;
    return acts;
  }

  std::vector<Act> uplinks() {
    return {{.what = "no rule", .expect = Act::Expect::wrong},
            {.what = "IPRule public-eu, ClusterIP",
             .expect = Act::Expect::wrong,
             .prepare = [this](Scene& scene) -> base::Result<std::string> {
               TRY(steer(scene, "ClusterIP", steers_cluster_addresses));
               return "the source is the pod's address";
             }},
            {.what = "IPRule public-eu, Reply", .prepare = [this](Scene& scene) { return steer_replies(scene); }},
            {.what = "agent killed", .prepare = [this](Scene&) { return kill(); }}};
  }

  std::vector<Act> faults() {
    return {
        {.what = "agent started again", .prepare = [this](Scene& scene) { return steer_replies(scene); }},
        {.what = "eth1 lost and back", .prepare = [this](Scene&) { return flap(); }},
        {.what = "rules flushed by somebody", .prepare = [this](Scene&) { return repaired(lab::flush_rules); }},
        {.what = "nftables flushed by somebody", .prepare = [this](Scene&) { return repaired(lab::flush_ruleset); }}};
  }

  base::Status steer(Scene& scene, std::string_view mode, const LabNode::Fact& fact) {
    for (LabNode& node : nodes_) TRY(ask_for(node, scene, mode));
    for (LabNode& node : nodes_) TRY(node.wait_until(mode, fact));
    return {};
  }

  static base::Status ask_for(LabNode& node, Scene& scene, std::string_view mode) {
    TRY(node.write_manifests(lab_manifests(scene.nodes(), mode)));
    return node.runs_agent() ? base::Status() : node.start_agent();
  }

  base::Result<std::string> steer_replies(Scene& scene) {
    TRY(steer(scene, "Reply", steers_replies));
    return "";
  }

  base::Result<std::string> kill() {
    for (LabNode& node : nodes_) node.kill_agent();
    return "the kernel keeps what it has";
  }

  // Routes of a link go with it; whoever filled the table fills it again.
  base::Result<std::string> flap() {
    for (LabNode& node : nodes_) {
      lab::Host& host = *node.scene().host;
      TRY(lab::set_up(host.rtnl(), "eth1", false));
      TRY(lab::set_up(host.rtnl(), "eth1"));
      TRY(Scene::lay_uplink_b(node.scene()));
    }
    return "";
  }

  template <typename Damage>
  base::Result<std::string> repaired(Damage damage) {
    std::chrono::milliseconds longest{};
    for (LabNode& node : nodes_) {
      TRY(damage(node.scene()));
      const auto took = TRY(node.wait_until("repair", steers_replies));
      longest = std::max(longest, took);
      TRY(lab::translate_vips(node.scene()));  // As kube-proxy does for its part.
    }
    return fmt::format("repaired in {} ms", longest.count());
  }

  // Conversations go on while so many Services come to one node that rules would be too slow.
  base::Result<bool> play_many(Scene& scene) {
    LabNode& node = nodes_.back();
    step("many Services");
    TRY(ask_for(node, scene, "ClusterIP"));
    TRY(node.wait_until("ClusterIP", steers_cluster_addresses));
    auto traffic = TRY(lab::Traffic::start(scene, node.scene(), kConversations));
    TRY(node.write_manifests(lab_manifests(scene.nodes(), "ClusterIP", kManyServices)));
    const auto seen = [this](const state::NetState& kernel) {
      screen_.progress.step("Services", kernel.nft ? kernel.nft->sources.size() : 0, kManyServices);
      return steers_many_by_mark(kernel);
    };
    const auto took = TRY(node.wait_until("marks", seen));
    const lab::Tally tally = TRY(traffic->stop());
    const lab::Row row{.what = fmt::format("{} more Services", kManyServices),
                       .tally = tally,
                       .note = fmt::format("rules became marks in {:.1f} s, {} packets misrouted", seconds(took),
                                           tally.replies_out.eth0)};
    show_row(row);
    return row.right();
  }

  // What a person would ask on a node: what a change comes to before it is made, and why a packet goes where it goes.
  base::Result<bool> show_reply(Scene& scene) {
    step("one reply");
    LabNode& asked = nodes_.front();
    const lab::SceneNode& node = asked.scene();
    TRY(ask_for(asked, scene, "ClusterIP"));
    TRY(asked.wait_until("ClusterIP", steers_cluster_addresses));
    const auto file = std::filesystem::temp_directory_path() / "public-eu.yaml";
    TRY(base::write_file(file, lab_manifests(scene.nodes(), "Reply")));
    show_command(node, "plan --standalone -f public-eu.yaml");
    TRY(answer_on(node, [&] { return plan_manifests({.manifests = file, .state = {}, .node = node.name}); }));

    TRY(ask_for(asked, scene, "Reply"));
    TRY(asked.wait_until("Reply", steers_replies));
    const PacketWords words{.from = node.pod_address[0].text(),
                            .to = Scene::client_address(net::Family::v4).text(),
                            .reply_of = node.vip[0].text()};
    show_command(node, fmt::format("explain --from {} --to {} --reply-of {}", words.from, words.to, words.reply_of));
    const path::Packet packet = TRY(parse_packet(words));
    const auto code = TRY(answer_on(node, [&] { return explain_packet(packet, node.vip[0]); }));
    return code == ExitCode::fine;
  }

  // Asks on the node, shows the answer.
  template <typename Ask>
  base::Result<ExitCode> answer_on(const lab::SceneNode& node, Ask ask) {
    std::optional<Answer> answer;
    const auto ask_inside = [&]() -> base::Status {
      answer = TRY(ask());
      return {};
    };
    TRY(node.host->within(ask_inside));
    show_page(answer->page);
    return answer->code;
  }

  base::Result<std::vector<std::unique_ptr<lab::Capture>>> start_captures(Scene& scene) {
    std::vector<std::unique_ptr<lab::Capture>> out;
    if (options_.captures.empty()) return out;
    std::error_code error;
    const auto folder = std::filesystem::weakly_canonical(options_.captures, error);
    if (folder.native().starts_with("/run/")) {
      return base::fail(base::Fault::invalid, "--pcap: /run is the lab's own while it runs; name another folder");
    }
    std::filesystem::create_directories(options_.captures, error);
    for (const lab::Host* gateway : {&scene.gateway_a(), &scene.gateway_b()}) {
      out.push_back(TRY(base::within(
          "--pcap", lab::Capture::start(*gateway, "nodes", options_.captures / (gateway->name() + ".pcap")))));
    }
    return out;
  }

  base::Status open_shell(const lab::Host& host) {
    say("shell     on {}; the world goes when it ends", host.name());
    return host.within([]() -> base::Status {
      (void)!std::system("exec \"${SHELL:-/bin/sh}\"");  // How the person's last command ended says nothing of the lab.
      return {};
    });
  }

  void keep() {
    say("kept      until Ctrl-C; from another terminal:");
    say("          nsenter --all --preserve-credentials --target $(pgrep --parent {}) ip netns exec {} ip rule",
        lab::sandbox_caller(), nodes_.front().scene().name);
    while (true) ::pause();  // A signal ends this process, and the world with it.
  }

  void step(std::string_view what) { screen_.progress.step(what, done_++, total_); }

  void show_page(const Page& page) {
    screen_.progress.clear();
    screen_.print(page);
  }

  template <typename... Args>
  void say(fmt::format_string<Args...> format, Args&&... args) {
    show_page(Page().line(format, std::forward<Args>(args)...));
  }

  void show_row(const lab::Row& row) {
    Page page;
    page.put(lab::table_counts(row)).put(row.verdict(), row.right() ? Tone::good : Tone::bad).end_line();
    show_page(page);
  }

  void show_command(const lab::SceneNode& node, std::string_view words) {
    Page page;
    page.put(fmt::format("{} $ iprulectl {}", node.name, words), Tone::strong).end_line();
    show_page(page);
  }

  const LabOptions& options_;
  const LabScreen& screen_;
  std::deque<LabNode> nodes_;
  std::size_t done_ = 0;
  std::size_t total_ = 0;
};

}  // namespace

const std::vector<LabScenario>& lab_scenarios() {
  static const std::vector<LabScenario> kScenarios = {
      {"uplinks", "No rule, the source mode ClusterIP, the source mode Reply, the agent killed"},
      {"faults", "A lost link, foreign flushes of the rules and of nftables"},
      {"many", "5,000 Services come while conversations go on"},
      {"reply", "What a change would do to a node, and why one reply goes where it goes"},
  };
  return kScenarios;
}

std::vector<std::string> lab_hosts() {
  std::vector<std::string> out = {"gateway-a", "gateway-b", "client"};
  for (int number = 1; number <= kNodes; ++number) {
    out.push_back(fmt::format("worker-{}", number));
    out.push_back(fmt::format("pod-{}", number));
  }
  return out;
}

base::Result<bool> show_lab(const LabOptions& options, const LabScreen& screen) {
  return Lab(options, screen).show();
}

}  // namespace cli
