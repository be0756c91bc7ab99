// Dumps of a host in a folder: what they show, what they say nothing of, and what doctor and explain make of that.
#include "cli/state_folder.h"

#include <string>
#include <string_view>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/file.h"
#include "cli/doctor.h"
#include "cli/explain.h"
#include "lab/temp_folder.h"

namespace cli {
namespace {

using testing::HasSubstr;
using testing::Not;

constexpr std::string_view kRules = R"([{"priority":0,"src":"all","table":"local"},
{"priority":1000,"src":"10.244.1.7","table":"100","protocol":"183"},{"priority":32766,"src":"all","table":"main"}])";
constexpr std::string_view kRoutes = R"([{"dst":"default","gateway":"10.0.0.1","dev":"eth0","flags":[]},
{"dst":"10.244.1.0/24","dev":"cni0","scope":"link","flags":[]},
{"dst":"default","gateway":"198.51.100.1","dev":"eth1","table":"100","flags":[]},
{"type":"local","dst":"10.0.0.11","dev":"eth0","table":"local","protocol":"kernel","scope":"host","flags":[]}])";
constexpr std::string_view kLinks = R"([{"ifindex":1,"ifname":"lo","flags":["UP"]},
{"ifindex":2,"ifname":"eth0","flags":["UP"]},{"ifindex":3,"ifname":"eth1","flags":["UP"]},
{"ifindex":4,"ifname":"cni0","flags":["UP"]}])";
constexpr std::string_view kKubeProxy = R"({"nftables":[{"metainfo":{"version":"1.0.6"}},
{"table":{"family":"ip","name":"kube-proxy","handle":1}}]})";

class StateFolder : public testing::Test {
 protected:
  void SetUp() override { write("rule.json", kRules); }
  void write(const std::string& name, std::string_view text) { ASSERT_TRUE(base::write_file(folder_ / name, text)); }
  DumpedHost read() {
    const auto out = read_state_folder(folder_.path());
    EXPECT_TRUE(out) << out.error().message();
    return out.value_or(DumpedHost());
  }
  base::Result<Answer> explain(const PacketWords& packet) {
    return explain_packet_by_dumps(parse_packet(packet).value(), {}, folder_.path());
  }
  std::string doctor() { return examine_dumps(folder_.path()).value().page.render({}); }

  lab::TempFolder folder_;
};

TEST_F(StateFolder, what_no_dump_shows_is_not_known) {
  const DumpedHost bare = read();
  EXPECT_EQ(bare.state.rules.size(), 3U);
  EXPECT_TRUE(bare.routes.empty());
  EXPECT_FALSE(bare.links);
  EXPECT_FALSE(bare.nft);
  EXPECT_EQ(bare.service_proxy, state::ServiceProxy::unknown);

  write("route.json", kRoutes);
  write("addr.json", kLinks);
  write("nft.json", kKubeProxy);
  const DumpedHost whole = read();
  EXPECT_EQ(whole.routes, std::set{net::Family::v4}) << "nothing of IPv6 is in it";
  EXPECT_EQ(whole.state.observed_links.size(), 4U);
  EXPECT_EQ(whole.service_proxy, state::ServiceProxy::nftables);

  write("route.json", R"([{"dst":"default","gateway":"10.0.0.1","dev":"eth0","flags":[]}])");
  EXPECT_TRUE(read().routes.empty()) << "a dump of main alone says nothing of other tables";
  write("nft.json", R"({"nftables":[{"chain":{"family":"ip","table":"nat","name":"KUBE-SERVICES"}}]})");
  EXPECT_EQ(read().service_proxy, state::ServiceProxy::iptables);
  write("link.json", R"([{"ifindex":9,"ifname":"kube-ipvs0","flags":[]}])");
  std::filesystem::remove(folder_ / "addr.json");
  EXPECT_EQ(read().service_proxy, state::ServiceProxy::ipvs);
}

TEST_F(StateFolder, a_packet_is_followed_through_dumps_and_no_kernel_is_said_to_agree) {
  write("route.json", kRoutes);
  write("addr.json", kLinks);
  const auto pod = explain({.from = "10.244.1.7", .to = "198.18.7.9"});
  ASSERT_TRUE(pod) << pod.error().message();
  EXPECT_THAT(pod->page.render({}), HasSubstr("comes in by cni0 (its way back; --iif names another)\n"));
  EXPECT_THAT(pod->page.render({}), HasSubstr("Verdict  leaves by eth1 via 198.51.100.1 (table 100)\n"
                                              "Kernel   not asked: this is what the dumps say\n"));
  EXPECT_EQ(pod->code, ExitCode::fine);
  EXPECT_THAT(pod->json, HasSubstr(R"("offline":true)"));
  EXPECT_THAT(pod->json, Not(HasSubstr("agree")));
  EXPECT_THAT(explain({.from = "10.244.1.8", .to = "198.18.7.9"})->page.render({}),
              HasSubstr("Verdict  leaves by eth0 via 10.0.0.1 (table main)\n"));
  const auto device = explain({.from = "10.244.1.7", .to = "198.18.7.9", .iif = "eth9"});
  ASSERT_FALSE(device);
  EXPECT_EQ(device.error().message(), "--iif: the dumps have no device eth9");
}

TEST_F(StateFolder, a_packet_is_not_followed_where_routes_are_not_known) {
  write("addr.json", kLinks);
  EXPECT_THAT(explain({.from = "10.244.1.7", .to = "198.18.7.9"}).error().message(),
              HasSubstr("make route.json with `ip -j route show table all`"));
  write("route.json", kRoutes);
  EXPECT_THAT(explain({.to = "2001:db8::1"}).error().message(), HasSubstr("no dump has the IPv6 routes"));
}

TEST_F(StateFolder, without_links_every_device_is_taken_to_be_up_and_that_is_said) {
  write("route.json", kRoutes);
  const auto answer = explain({.from = "10.244.1.7", .to = "198.18.7.9"});
  ASSERT_TRUE(answer) << answer.error().message();
  EXPECT_THAT(answer->page.render({}), HasSubstr("Verdict  leaves by eth1"));
  EXPECT_THAT(answer->page.render({}), HasSubstr("Note     every device is taken to be up"));
  write("addr.json",
        R"([{"ifname":"eth0","flags":["UP"]},{"ifname":"eth1","flags":[]},{"ifname":"cni0","flags":["UP"]}])");
  EXPECT_THAT(explain({.from = "10.244.1.7", .to = "198.18.7.9"})->page.render({}),
              HasSubstr("Verdict  leaves by eth0"));
}

TEST_F(StateFolder, doctor_marks_what_a_dump_cannot_show_as_unknown) {
  const std::string bare = doctor();
  EXPECT_THAT(bare, HasSubstr(": no kernel was asked\n"));
  EXPECT_THAT(bare, HasSubstr("  ?   service proxy  none in the dumps"));
  EXPECT_THAT(bare, HasSubstr("  ?   rp_filter      in no dump\n"));
  EXPECT_THAT(bare, HasSubstr("  ?   conntrack      in no dump\n"));
  EXPECT_THAT(bare, HasSubstr("  ?   table 100      its IPv4 routes are in no dump"));
  EXPECT_THAT(bare, HasSubstr("  ok  local rule     at 0\n"));
  EXPECT_THAT(bare, HasSubstr("0 warnings."));
  EXPECT_EQ(examine_dumps(folder_.path())->code, ExitCode::fine) << "unknown is not bad";

  write("route.json", kRoutes);
  write("nft.json", kKubeProxy);
  const std::string whole = doctor();
  EXPECT_THAT(whole, HasSubstr("table 100      default via 198.51.100.1 dev eth1\n"));
  EXPECT_THAT(whole, HasSubstr("kube-proxy nftables"));
  EXPECT_THAT(whole, HasSubstr("IPR0301")) << "a rule for a pod's address is one that replies bear, and others not";
  EXPECT_THAT(whole, HasSubstr("Works here: Reply (recommended)"));
}

}  // namespace
}  // namespace cli
