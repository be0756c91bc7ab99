// iprulectl explain
#include <memory>
#include <optional>
#include <string>

#include <fmt/format.h>

#include "cli/explain.h"
#include "cli/explain_service.h"
#include "cli/finding_page.h"
#include "cli/node_report.h"
#include "cluster_flags.h"
#include "commands.h"

namespace iprulectl {
namespace {

struct Options {
  std::string what;
  std::string ns = "default";
  std::string client;
  cli::PacketWords packet;
  ClusterFlags cluster;
};

base::Result<cli::FollowReplies> replies_to_follow(const Options& options) {
  cli::FollowReplies out{.client = {}, .nodes = options.cluster.nodes, .pods = {}};
  if (!options.client.empty()) out.client = TRY(base::within("--client", net::Address::parse(options.client)));
  return out;
}

base::Result<cli::Answer> explain_subject(const Options& options, const cli::Subject& subject, cli::Cluster& cluster,
                                          const cli::ClusterObjects& objects) {
  const auto follow = TRY(replies_to_follow(options));
  const cli::AskNode ask = cluster.asker(objects);
  switch (subject.kind) {
    case cli::Subject::Kind::service:
    case cli::Subject::Kind::vip:
      return cli::explain_service(objects, subject, options.ns, follow, ask);
    case cli::Subject::Kind::pod:
      return cli::explain_pod(objects, TRY(cluster.find_pod(options.ns, subject.name)), options.ns, follow, ask);
    case cli::Subject::Kind::name_space:
      return cli::explain_namespace(objects, subject.name);
    case cli::Subject::Kind::node:
      return cli::explain_node(objects, subject.name, now(), ask);
  }
  return base::fail(base::Fault::bug, "a subject without an explanation");
}

int explain_packet(const Options& options, const Common& common) {
  const cli::Question question{.about = cli::Question::About::explain, .packet = options.packet};
  if (options.cluster.nodes.empty()) return print(cli::answer_here(question), common);
  if (options.cluster.nodes.size() > 1) {
    return complain({base::Fault::invalid, "--node: a packet is explained on one node at a time"});
  }
  return ask_cluster(options.cluster, common, [&](cli::Cluster& cluster, const cli::ClusterObjects& objects) {
    const std::string& node = options.cluster.nodes.front();
    return base::within("the kernel of " + node, cluster.asker(objects)(node, question));
  });
}

}  // namespace

Command explain_command(CLI::App& app, Common& common) {
  const auto options = std::make_shared<Options>();
  cli::PacketWords& packet = options->packet;
  auto* word = app.add_subcommand("explain",
                                  "Why a packet goes where it goes, why a Service, pod, name space or node is steered "
                                  "or not, or what a code means");
  word->add_option("what", options->what,
                   "A finding's code, for example IPR0301; or svc/NAME, vip/ADDRESS, pod/NAME, ns/NAME, node/NAME")
      ->type_name(fmt::format("{}", fmt::join(cli::finding_codes(), "|")));
  word->add_option("-n,--namespace", options->ns, "Name space of the Service or pod; default where none is given");
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
  word->add_option("--node", options->cluster.nodes,
                   "Ask this node of the cluster for the packet, instead of this host; with --client, only its pods")
      ->type_name("NAME");
  add_cluster_flags(*word, options->cluster);
  add_output_flag(*word, common);
  return {.word = word, .run = [options, &common] {
            if (const auto subject = cli::parse_subject(options->what)) {
              return ask_cluster(options->cluster, common,
                                 [&](cli::Cluster& cluster, const cli::ClusterObjects& objects) {
                                   return explain_subject(*options, *subject, cluster, objects);
                                 });
            }
            if (!options->what.empty()) return print(cli::explain_code(options->what), common);
            return explain_packet(*options, common);
          }};
}

}  // namespace iprulectl
