// iprulectl explain
#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <unistd.h>

#include <fmt/format.h>

#include "cli/asked_nodes.h"
#include "cli/assignment.h"
#include "cli/explain.h"
#include "cli/explain_object.h"
#include "cli/explain_service.h"
#include "cli/explain_services.h"
#include "cli/finding_page.h"
#include "cli/node_report.h"
#include "cluster_flags.h"
#include "commands.h"
#include "filename_flag.h"
#include "offline_flags.h"

namespace iprulectl {
namespace {

struct Options {
  std::string what;
  std::string ns;  // Empty: the context's.
  bool all_namespaces = false;
  Filenames manifests;
  std::string client;
  cli::PacketWords packet;
  int live = 0;  // Packets to wait for.
  OfflineFlags offline;
  ClusterFlags cluster;
};

base::Result<cli::FollowReplies> replies_to_follow(const Options& options) {
  cli::FollowReplies out{.client = {}, .nodes = options.cluster.nodes, .pods = {}};
  if (!options.client.empty()) out.client = TRY(base::within("--client", net::Address::parse(options.client)));
  return out;
}

// The cluster once the manifests of -f are applied to it; as it is where there are none.
base::Result<cli::ClusterObjects> as_if_applied(const Options& options, const cli::ClusterObjects& objects,
                                                const Common& common) {
  if (options.manifests.empty()) return objects;
  cli::ClusterObjects out = objects;
  out.wanted = cli::laid_over(objects.wanted, TRY(read_filenames(options.manifests, common)));
  out.supposed = true;
  return out;
}

// Asks nodes; about what would be, where the objects are supposed.
cli::AskNode asker(cli::Cluster& cluster, const cli::ClusterObjects& objects) {
  cli::AskNode ask = cli::with_progress(cluster.asker(objects), STDERR_FILENO, 0);
  if (!objects.supposed) return ask;
  return [ask, &objects](const std::string& node, cli::Question question) -> base::Result<cli::Answer> {
    question.wanted = TRY(cli::supposed_assignment(objects, node));
    return ask(node, question);
  };
}

base::Result<cli::Answer> explain_list(const Options& options, std::optional<std::string> ns, cli::Cluster& cluster,
                                       const cli::ClusterObjects& objects, const Common& common) {
  cli::ServiceChoice choice{.ns = std::move(ns), .only = {}};
  if (options.cluster.has_selector()) {
    kube::Selection selection = options.cluster.selection();
    selection.ns = choice.ns.value_or("");
    choice.only = TRY(cluster.select({"", "v1", "services", true}, selection));
  }
  return cli::explain_services(objects, choice, common.list_style());
}

base::Result<cli::Answer> explain_subject(const Options& options, const cli::Subject& subject, cli::Cluster& cluster,
                                          const cli::ClusterObjects& now_there, const Common& common) {
  const auto follow = TRY(replies_to_follow(options));
  const cli::ClusterObjects objects = TRY(as_if_applied(options, now_there, common));
  const cli::AskNode ask = asker(cluster, objects);
  const std::string& ns = options.ns.empty() ? cluster.ns() : options.ns;
  switch (subject.kind) {
    case cli::Subject::Kind::services:
      return explain_list(options, options.all_namespaces ? std::nullopt : std::optional(ns), cluster, objects, common);
    case cli::Subject::Kind::service:
    case cli::Subject::Kind::vip:
      return cli::explain_service(objects, subject, ns, follow, ask);
    case cli::Subject::Kind::pod:
      return cli::explain_pod(objects, TRY(cluster.find_pod(ns, subject.name)), ns, follow, ask);
    case cli::Subject::Kind::name_space:
      return explain_list(options, subject.name, cluster, objects, common);
    case cli::Subject::Kind::node:
      return cli::explain_node(objects, subject.name, now(), ask);
    case cli::Subject::Kind::rule:
    case cli::Subject::Kind::config:
    case cli::Subject::Kind::agent:
      return cli::explain_object(objects, subject);
  }
  return base::fail(base::Fault::bug, "a subject without an explanation");
}

// What is asked of the host that the packet is on.
cli::Question packet_question(const Options& options) {
  cli::Question out{.about = cli::Question::About::explain, .packet = options.packet};
  if (options.live > 0) {
    out.live = cli::LiveWish{.packets = options.live, .patience = std::chrono::seconds(options.cluster.timeout)};
  }
  return out;
}

// Of a host by its dumps; with manifests, as if they were the whole of what is wanted there.
base::Result<cli::Answer> explain_by_dumps(const Options& options, const Common& common) {
  const auto folder = TRY(options.offline.folder());
  std::optional<cli::Assignment> supposed;
  if (!options.manifests.empty()) {
    supposed = cli::supposed_assignment(TRY(read_filenames(options.manifests, common)), host_name());
  }
  return cli::explain_packet_by_dumps(TRY(cli::parse_packet(options.packet)), TRY(cli::parse_reply_of(options.packet)),
                                      folder, supposed);
}

// Of this host; with manifests, as if they were the whole of what is wanted there.
base::Result<cli::Answer> explain_here(const Options& options, const Common& common) {
  cli::Question question = packet_question(options);
  if (!options.manifests.empty()) {
    question.wanted = cli::supposed_assignment(TRY(read_filenames(options.manifests, common)), host_name());
  }
  return cli::answer_here(question);
}

int explain_packet(const Options& options, const Common& common) {
  if (options.offline.is_meant()) return print(explain_by_dumps(options, common), common);
  if (options.cluster.nodes.empty()) return print(explain_here(options, common), common);
  if (options.cluster.nodes.size() > 1) {
    return complain({base::Fault::invalid, "--node: a packet is explained on one node at a time"});
  }
  const auto ask = [&](cli::Cluster& cluster, const cli::ClusterObjects& now_there) -> base::Result<cli::Answer> {
    const cli::ClusterObjects objects = TRY(as_if_applied(options, now_there, common));
    const std::string& node = options.cluster.nodes.front();
    return base::within("the kernel of " + node, asker(cluster, objects)(node, packet_question(options)));
  };
  return ask_cluster(options.cluster, common, ask);
}

}  // namespace

Command explain_command(CLI::App& app, Common& common) {
  const auto options = std::make_shared<Options>();
  cli::PacketWords& packet = options->packet;
  auto* word = app.add_subcommand("explain",
                                  "Why a packet goes where it goes, why a Service, pod, name space or node is steered "
                                  "or not, why an object of ours is as it is, or what a code means");
  word->add_option("what", options->what,
                   "A finding's code, for example IPR0301; or svc/NAME, vip/ADDRESS, pod/NAME, ns/NAME, node/NAME; "
                   "iprule/NAME, iprc/NAME, agent/NAME; svc for a list of Services")
      ->type_name(fmt::format("{}", fmt::join(cli::finding_codes(), "|")));
  word->add_option("-n,--namespace", options->ns,
                   "Name space of the Service or pod; the context's where none is given");
  word->add_flag("-A,--all-namespaces", options->all_namespaces, "Of a list: the Services of all name spaces");
  auto* manifests = add_filename_flag(*word, options->manifests, "As if these manifests were applied");
  word->add_option("--client", options->client, "Follow replies to this address through the kernels of the pods' nodes")
      ->type_name("ADDRESS");
  word->add_option("--from", packet.from, "The packet's source; none: the host chooses it");
  word->add_option("--to", packet.to, "The packet's destination");
  word->add_option("--iif", packet.iif, "The device it comes in by");
  word->add_option("--oif", packet.oif, "The device its socket is bound to");
  word->add_option("--reply-of", packet.reply_of, "The load balancer address of the connection that it answers");
  word->add_option("--mark", packet.mark, "Its mark, decimal or 0x...");
  word->add_option("--proto", packet.proto, "Its protocol; tcp where none is given")->type_name("tcp|udp|icmp|icmpv6");
  word->add_option("--sport", packet.sport, "Its source port");
  word->add_option("--dport", packet.dport, "Its destination port");
  auto* live =
      word->add_option(
              "--live", options->live,
              "Wait for so many real packets of its addresses, protocol and ports, and tell what they met; at most "
              "as long as --request-timeout says")
          ->check(CLI::Range(1, cli::LiveWish::kMostPackets))
          ->type_name("N")
          ->excludes(manifests);
  auto* node =
      word->add_option(
              "--node", options->cluster.nodes,
              "Ask this node of the cluster for the packet, instead of this host; with --client, only its pods")
          ->type_name("NAME");
  add_offline_flags(*word, options->offline, {live, node});
  add_selector_flags(*word, options->cluster, "Services of a list");
  add_cluster_flags(*word, options->cluster);
  add_list_flags(*word, common);
  return {.word = word, .run = [options, &common] {
            const auto subject = cli::parse_subject(options->what);
            const bool wants_list = common.wants_list() || options->cluster.has_selector() || options->all_namespaces;
            if (wants_list && !(subject && subject->is_list())) {
              return complain({base::Fault::invalid,
                               "explain: -A, -o wide, -o name, --no-headers, --sort-by and selectors are for lists: "
                               "svc, ns/NAME"});
            }
            if (options->live > 0 && !options->what.empty()) {
              return complain({base::Fault::invalid, "explain: --live is for a packet: --from, --to"});
            }
            if (subject && options->offline.is_meant()) {
              return complain({base::Fault::invalid, "explain: --offline is for a packet: --from, --to"});
            }
            if (subject) {
              return ask_cluster(options->cluster, common,
                                 [&](cli::Cluster& cluster, const cli::ClusterObjects& objects) {
                                   return explain_subject(*options, *subject, cluster, objects, common);
                                 });
            }
            if (!options->what.empty()) return print(cli::explain_code(options->what), common);
            return explain_packet(*options, common);
          }};
}

}  // namespace iprulectl
