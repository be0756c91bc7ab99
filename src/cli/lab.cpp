#include "cli/lab.h"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <memory>
#include <unistd.h>

#include <fmt/format.h>

#include "cli/explain.h"
#include "cli/lab_cluster.h"
#include "cli/lab_standalone.h"
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
constexpr std::size_t kAddresses = std::size_t{2} * kNodes;  // Of all Services, in both families.
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
    const auto installation = TRY(install(world, *scene));
    installation_ = installation.get();
    const auto captures = TRY(start_captures(*scene));
    say("built     {} nodes with 2 uplinks and {}, 2 gateways, 1 client, {} pods behind {} to {}: "
        "{} network namespaces, {:.1f} s",
        kNodes, installation->parts(), kNodes, scene->nodes().front().vip[0].text(),
        scene->nodes().back().vip[0].text(), world.host_count(), seconds(steady_clock::now() - begun));
    const bool right = TRY(play(*scene));
    if (!options_.shell.empty()) TRY(open_shell(*world.find(options_.shell)));
    if (options_.keep) keep();
    say("removed   everything; {}",
        right ? "every reply took the uplink it should" : "a reply took an uplink it should not");
    return right;
  }

 private:
  base::Result<std::unique_ptr<LabInstallation>> install(lab::World& world, Scene& scene) {
    if (!options_.kubernetes.empty()) {
      const LabPrograms programs{
          .kubernetes = options_.kubernetes, .controller = options_.controller, .agent = options_.agent};
      return TRY(base::within("--kubernetes", ClusterInstallation::make(world, scene, programs, screen_.progress)));
    }
    auto standalone = TRY(StandaloneInstallation::make(scene, options_.agent));
    standalone_ = standalone.get();
    return standalone;
  }

  base::Result<bool> play(Scene& scene) {
    bool right = true;
    const std::vector<Act> acts = chosen_acts();
    total_ = acts.size() + (wants("many") ? 1 : 0) + (wants("reply") ? 1 : 0);
    if (total_ > (wants("reply") ? 1 : 0)) show_page(Page().paragraphs(lab::table_head()));
    for (const Act& act : acts) {
      step(act.what);
      right &= TRY(lab::demonstrate(scene, {act}, [this](const lab::Row& row) { show_row(row); })).as_expected;
    }
    if (wants("many")) right &= TRY(base::within("many Services", play_many(scene, *standalone_)));
    if (wants("reply")) right &= TRY(base::within("one reply", show_reply()));
    return right;
  }

  bool wants(std::string_view scenario) const {
    if (scenario == "many" && standalone_ == nullptr) return false;
    return options_.scenario.empty() || options_.scenario == scenario;
  }

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
             .prepare = [this](Scene&) -> base::Result<std::string> {
               TRY(steer("ClusterIP", steers_cluster_addresses));
               return "the source is the pod's address";
             }},
            {.what = "IPRule public-eu, Reply", .prepare = [this](Scene&) { return steer_replies(); }},
            {.what = "agent killed", .prepare = [this](Scene&) { return kill(); }}};
  }

  std::vector<Act> faults() {
    return {{.what = "agent started again", .prepare = [this](Scene&) { return steer_replies(); }},
            {.what = "eth1 lost and back", .prepare = [this](Scene&) { return flap(); }},
            {.what = "rules flushed by somebody", .prepare = [this](Scene&) { return repaired(lab::flush_rules); }},
            {.what = "nftables flushed by somebody", .prepare = [this](Scene&) -> base::Result<std::string> {
               auto note = TRY(repaired(lab::flush_ruleset));
               for (LabNode& node : installation_->nodes()) TRY(installation_->restore_proxy(node));
               return note;
             }}};
  }

  base::Status steer(std::string_view mode, const LabNode::Fact& fact) {
    for (LabNode& node : installation_->nodes()) TRY(installation_->ask_for(node, mode));
    for (LabNode& node : installation_->nodes()) TRY(node.wait_until(mode, fact));
    return {};
  }

  base::Result<std::string> steer_replies() {
    TRY(steer("Reply", steers_replies));
    return "";
  }

  base::Result<std::string> kill() {
    for (LabNode& node : installation_->nodes()) node.kill_agent();
    return "the kernel keeps what it has";
  }

  // Routes of a link go with it; whoever filled the table fills it again.
  base::Result<std::string> flap() {
    for (LabNode& node : installation_->nodes()) {
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
    for (LabNode& node : installation_->nodes()) {
      TRY(damage(node.scene()));
      const auto took = TRY(node.wait_until("repair", steers_replies));
      longest = std::max(longest, took);
    }
    return fmt::format("repaired in {} ms", longest.count());
  }

  // Conversations go on while so many Services come to one node that rules would be too slow.
  base::Result<bool> play_many(Scene& scene, StandaloneInstallation& installation) {
    LabNode& node = installation.nodes().back();
    step("many Services");
    TRY(installation.ask_for(node, "ClusterIP"));
    TRY(node.wait_until("ClusterIP", steers_cluster_addresses));
    auto traffic = TRY(lab::Traffic::start(scene, node.scene(), kConversations));
    TRY(installation.ask_for_many(node, "ClusterIP", kManyServices));
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
  base::Result<bool> show_reply() {
    step("one reply");
    LabNode& asked = installation_->nodes().front();
    const lab::SceneNode& node = asked.scene();
    TRY(installation_->ask_for(asked, "ClusterIP"));
    TRY(asked.wait_until("ClusterIP", steers_cluster_addresses));
    const LabQuestion planned = TRY(installation_->plan(asked, "Reply"));
    show(planned);

    TRY(installation_->ask_for(asked, "Reply"));
    TRY(asked.wait_until("Reply", steers_replies));
    const PacketWords words{.from = node.pod_address[0].text(),
                            .to = Scene::client_address(net::Family::v4).text(),
                            .reply_of = node.vip[0].text()};
    const path::Packet packet = TRY(parse_packet(words));
    const Answer answer = TRY(asked.answer([&] { return explain_packet(packet, node.vip[0]); }));
    show({.prompt = node.name + " $",
          .words = fmt::format("explain --from {} --to {} --reply-of {}", words.from, words.to, words.reply_of),
          .answer = answer});
    return answer.code == ExitCode::fine;
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
      // NOLINTNEXTLINE(concurrency-mt-unsafe): nobody else waits for children here.
      (void)!std::system("exec \"${SHELL:-/bin/sh}\"");  // How the person's last command ended says nothing of the lab.
      return {};
    });
  }

  void keep() {
    say("kept      until Ctrl-C; from another terminal:");
    for (const std::string& command : installation_->ways_to_look()) {
      say("          nsenter --all --preserve-credentials --target $(pgrep --parent {}) {}", lab::sandbox_caller(),
          command);
    }
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

  void show(const LabQuestion& question) {
    Page page;
    page.put(fmt::format("{} iprulectl {}", question.prompt, question.words), Tone::strong).end_line();
    show_page(page.append(question.answer.page));
  }

  const LabOptions& options_;
  const LabScreen& screen_;
  LabInstallation* installation_ = nullptr;
  StandaloneInstallation* standalone_ = nullptr;  // The same, where there is no cluster.
  std::size_t done_ = 0;
  std::size_t total_ = 0;
};

}  // namespace

const std::vector<LabScenario>& lab_scenarios() {
  static const std::vector<LabScenario> kScenarios = {
      {"uplinks", "No rule, the source mode ClusterIP, the source mode Reply, the agent killed"},
      {"faults", "A lost link, foreign flushes of the rules and of nftables"},
      {"many", "5,000 Services come while conversations go on; not with --kubernetes"},
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
  if (!options.kubernetes.empty()) {
    if (options.scenario == "many") {
      return base::fail(base::Fault::invalid,
                        "--scenario many: a cluster needs minutes for so many Services; leave out --kubernetes");
    }
    std::error_code error;
    if (!std::filesystem::exists(options.kubernetes, error)) {
      return base::fail(base::Fault::invalid,
                        "--kubernetes: /run is the lab's own while it runs; have the program in another folder");
    }
  }
  return Lab(options, screen).show();
}

}  // namespace cli
