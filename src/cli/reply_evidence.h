#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include "api/iprule.h"
#include "cli/node_wishes.h"
#include "kernel/conntrack.h"

// What connections show of how replies are routed: better than any sign of who translates them.
namespace cli {

// Whose address a reply bears when its route is chosen.
enum class ReplyBears : std::uint8_t {
  endpoint,       // The kernel translates the connection, and turns the reply back after its route is chosen.
  cluster_ip,     // The host hands it on to the Service inside: OVN-Kubernetes through the host's own routing.
  load_balancer,  // Nobody here translates it: the address is the node's own, or eBPF answers with it.
};

// Whether rules of that mode meet such a reply.
bool meets(api::SourceMode mode, ReplyBears bears);

// The connections to one load balancer address.
struct ReplySource {
  net::Address vip;
  ReplyBears bears = ReplyBears::endpoint;
  net::Address source;        // That most of them bear.
  std::size_t flows = 0;      // All of them.
  std::size_t endpoints = 0;  // How many answer.

  bool operator==(const ReplySource&) const = default;
};
std::string text(const ReplySource& seen);  // "12 flows to 203.0.113.45: routed with source 10.244.1.7, ..."

struct ReplyEvidence {
  std::vector<ReplySource> seen{};  // Those with most flows first.
  std::string unknown{};            // Why connections could not be read; empty where they were.

  bool operator==(const ReplyEvidence&) const = default;
};

ReplyEvidence weigh(const std::vector<Frontend>& frontends, const std::map<net::Address, kernel::Answerers>& answerers);

}  // namespace cli
