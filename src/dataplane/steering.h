#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "dataplane/mark_class.h"
#include "net/address.h"
#include "net/interface_name.h"
#include "net/prefix.h"
#include "state/nft_table.h"
#include "state/rule.h"

// What the jobs want steered, what is known about the node, and what comes of both.
namespace dataplane {

// One wish of one published object. Of two wishes for one address at one priority the older epoch counts: the newer one
// waits until the older is withdrawn.
struct Target {
  std::uint32_t priority = 0;
  std::uint32_t table = 0;
  std::uint64_t epoch = 0;
};

// Packets from this address.
struct Source {
  net::Address address;
  Target target{};
};

// Packets of connections whose original destination was this VIP, towards the client.
struct Reply {
  net::Address vip;
  Target target{};
  bool prefer_main = true;  // What `main` knows more precisely than its default keeps its way.
};

enum class Mode : std::uint8_t { automatic, rules, marks };
enum class Backend : std::uint8_t { rules, marks };

// Which back end sources use, and since when; the time is unknown after a restart.
struct Decision {
  Backend backend = Backend::rules;
  std::optional<base::TimePoint> switched{};

  bool operator==(const Decision&) const = default;
};

// A device that a table's routes use.
struct Uplink {
  std::uint32_t table = 0;
  net::InterfaceName device{};
  int rp_filter = 0;  // In effect: the larger of the device's and that of `all`.
};

struct Facts {
  std::set<net::Address> protected_sources{};  // The node's own addresses: kubelet and API traffic comes from them.
  std::set<net::Address> local{};              // Every address bound on the node, VIPs and kube-ipvs0 included.
  std::vector<Uplink> uplinks{};
  std::set<net::Prefix> cluster_prefixes{};  // Pods and nodes of the cluster.
  bool nftables = true;                      // Without it nothing is steered by mark, and so no reply at all.
};

// The bits of a packet's mark that are ours. kube-proxy has 0xc000, others 0xff; Cilium has 0x0f00 for itself.
inline constexpr std::uint32_t kWindow = 0x3f00;
inline constexpr std::uint32_t kWindowBesideCilium = 0x3000;

struct Numbers {
  std::uint32_t window = kWindow;
  std::uint8_t protocol = 183;
};

struct Steering {
  std::vector<Source> sources{};
  std::vector<Reply> replies{};
  Facts facts{};
  Numbers numbers{};
  Mode mode = Mode::automatic;
  Decision present{};
  Marks marks{};  // Who holds which mark now.
  base::TimePoint now{};
};

// What somebody has to be told; the codes are those of docs/findings.
struct Finding {
  std::string_view code;
  std::vector<net::Address> subjects{};  // Sources or VIPs, in order.
  std::string message{};
  bool refused = false;  // They are not steered at all.

  bool operator==(const Finding&) const = default;
};

inline constexpr std::string_view kStrictReversePath = "IPR0310";
inline constexpr std::string_view kManyRules = "IPR0315";
inline constexpr std::string_view kTooManyRules = "IPR0320";
inline constexpr std::string_view kNoFreeMark = "IPR0317";
inline constexpr std::string_view kProtectedSource = "IPR0501";
inline constexpr std::string_view kPriorityTooLow = "IPR0318";
inline constexpr std::string_view kNoNftables = "IPR0319";

// What cures kStrictReversePath.
std::string loose_filter_command(std::string_view device);

struct Compiled {
  std::vector<state::Rule> rules{};        // In walk order: at one priority, rules of replies before those of sources.
  std::optional<state::NftTable> table{};  // Absent: nothing is steered by mark.
  std::map<ClassKey, std::uint32_t> held{};  // For the next time: marks stay with their class.
  Decision decision{};
  std::optional<base::TimePoint> look_again{};  // When a switch that is due may happen.
  std::vector<Finding> findings{};
  std::size_t by_rules = 0;  // Sources steered.
  std::size_t by_marks = 0;

  bool operator==(const Compiled&) const = default;
};

}  // namespace dataplane
