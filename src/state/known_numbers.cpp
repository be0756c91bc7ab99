#include "state/known_numbers.h"

#include <algorithm>
#include <array>

#include "state/rule.h"

namespace state {
namespace {

using Kind = KnownNumber::Kind;
using Clash = KnownNumber::Clash;

constexpr std::string_view kKernel = "the kernel";
constexpr std::string_view kAws = "the AWS VPC CNI";
constexpr std::string_view kTalos = "Talos";

// Cilium: pkg/datapath/linux/linux_defaults. AWS: pkg/networkutils of amazon-vpc-cni-k8s. Talos: KubeSpan.
// What the AWS VPC CNI has at 32765, our default, is about the addresses of its own network cards.
constexpr std::array kNumbers = {
    KnownNumber{Kind::priority, 0, 0, kKernel, "looks up local", Clash::none},
    KnownNumber{Kind::priority, kPriorityVrf, kPriorityVrf, kKernel, "looks up the table of a VRF device", Clash::none},
    KnownNumber{Kind::priority, kPriorityMain, kPriorityMain, kKernel, "looks up main", Clash::none},
    KnownNumber{Kind::priority, kPriorityMain + 1, kPriorityMain + 1, kKernel, "looks up default", Clash::none},
    KnownNumber{Kind::priority, 1, 1, kCilium, "leads encrypted packets"},
    KnownNumber{Kind::priority, 9, 10, kCilium, "leads packets to and from its proxy"},
    KnownNumber{Kind::priority, 20, 20, kCilium, "leads packets to pods that have a cloud's addresses"},
    KnownNumber{Kind::priority, 100, 100, kCilium, "keeps the rule for local, which it moves from 0",
                Clash::up_to_local},
    KnownNumber{Kind::priority, 109, 111, kCilium, "leads what pods that have a cloud's addresses send"},
    KnownNumber{Kind::priority, 112, 112, kCilium, "leads packets to its VXLAN peers"},
    KnownNumber{Kind::priority, 1, 1, kAws, "leads what pods with several network cards send"},
    KnownNumber{Kind::priority, 10, 10, kAws, "leads packets of pods with a network card of their own"},
    KnownNumber{Kind::priority, 20, 20, kAws, "keeps the rule for local, which it moves from 0", Clash::up_to_local},
    KnownNumber{Kind::priority, 512, 512, kAws, "leads packets to pods"},
    KnownNumber{Kind::priority, 1024, 1024, kAws, "looks up main for what leaves the VPC"},
    KnownNumber{Kind::priority, 1535, 1535, kAws, "looks up main for prefixes it was given"},
    KnownNumber{Kind::priority, 1536, 1536, kAws, "leads what pods send"},
    KnownNumber{Kind::priority, 32765, 32765, kAws, "leads what its own network cards send", Clash::none},
    KnownNumber{Kind::priority, 220, 220, "strongSwan", "looks up its table"},
    KnownNumber{Kind::priority, 0, 0, kTalos, "has rules of its own", Clash::none},
    KnownNumber{Kind::priority, 32500, 32501, kTalos, "leads packets of KubeSpan"},

    KnownNumber{Kind::table, 0, 0, kKernel, "knows no table of that number", Clash::none},
    KnownNumber{Kind::table, kTableDefault, kTableDefault, kKernel, "keeps default"},
    KnownNumber{Kind::table, kTableMain, kTableMain, kKernel, "keeps main"},
    KnownNumber{Kind::table, kTableLocal, kTableLocal, kKernel, "keeps local"},
    KnownNumber{Kind::table, 200, 201, kCilium, "keeps the routes of encrypted packets"},
    KnownNumber{Kind::table, 202, 202, kCilium, "keeps the routes to its VXLAN peers"},
    KnownNumber{Kind::table, 2004, 2005, kCilium, "keeps the routes to and from its proxy"},
    KnownNumber{Kind::table, 220, 220, "strongSwan", "keeps the routes of its tunnels"},
    KnownNumber{Kind::table, 180, 180, kTalos, "keeps the routes of KubeSpan"},

    KnownNumber{Kind::mark, 0x4000, 0x4000, "kube-proxy", "says what is to be masqueraded"},
    KnownNumber{Kind::mark, 0x8000, 0x8000, "kube-proxy", "says what is to be dropped"},
    KnownNumber{Kind::mark, 0xffff0000, 0xffff0000, "Calico", "has marks of its own"},
    KnownNumber{Kind::mark, kCiliumMark, kCiliumMark, kCilium, "says where packets come from and go"},
    KnownNumber{Kind::mark, 0x80, 0x80, kCilium, "says what came in by a node port"},
    KnownNumber{Kind::mark, 0x80, 0x80, kAws, "says what came in by a node port"},
    KnownNumber{Kind::mark, 0x60, 0x60, kTalos, "says what KubeSpan carries"},
};

}  // namespace

std::span<const KnownNumber> known_numbers() {
  return kNumbers;
}

bool uses(std::string_view who, KnownNumber::Kind kind, std::uint32_t number) {
  return std::ranges::any_of(kNumbers, [&](const KnownNumber& known) {
    return known.kind == kind && known.who == who && known.covers(number);
  });
}

}  // namespace state
