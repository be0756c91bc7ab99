#include "kube/leader.h"

#include <atomic>
#include <future>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api.h"
#include "testbed/fault_proxy.h"

namespace api_test {
namespace {

using base::Fault;
using testing::HasSubstr;

const kube::Resource kLeases{"coordination.k8s.io", "v1", "leases", true};

class LeaderTest : public ApiTest {
 protected:
  kube::Key lease() const { return key("lock"); }
  std::string spec(const char* field) {
    const auto body = client_->get(kLeases, lease(), soon());
    return body ? at(*body, "spec", field) : "";
  }
};

// A candidate on a thread of its own, from start to end.
class Candidate {
 public:
  Candidate(kube::Client& client, kube::Key lease, const std::string& name, const kube::ElectionTiming& timing = {})
      : leader_(client, std::move(lease), name, timing), thread_([this](std::stop_token stop) {
          const base::Status acquired = leader_.acquire(stop);
          leads_.set_value(acquired.has_value());
          ended_.set_value(acquired ? leader_.hold(stop) : acquired);
        }) {}

  bool leads_within(base::Duration bound) {
    return will_lead_.wait_for(bound) == std::future_status::ready && will_lead_.get();
  }
  bool leading() const { return leader_.leading(); }
  base::Status end() { return will_end_.get(); }
  void stop() { thread_.request_stop(); }

 private:
  std::promise<bool> leads_;
  std::promise<base::Status> ended_;
  std::shared_future<bool> will_lead_ = leads_.get_future().share();
  std::shared_future<base::Status> will_end_ = ended_.get_future().share();
  kube::Leader leader_;
  std::jthread thread_;
};

TEST_F(LeaderTest, an_orderly_stop_hands_over_at_once) {
  const auto other_client = admin();
  Candidate first(*client_, lease(), "first");
  ASSERT_TRUE(first.leads_within(kBound));
  EXPECT_TRUE(first.leading());
  EXPECT_EQ(spec("holderIdentity"), "first");

  Candidate second(*other_client, lease(), "second");
  EXPECT_FALSE(second.leads_within(3s));
  first.stop();
  EXPECT_TRUE(first.end());
  EXPECT_FALSE(first.leading());
  const auto start = base::SteadyClock().now();
  ASSERT_TRUE(second.leads_within(kBound));
  const auto took = base::SteadyClock().now() - start;
  RecordProperty("hand_over_ms", static_cast<int>(std::chrono::duration_cast<std::chrono::milliseconds>(took).count()));
  EXPECT_EQ(spec("holderIdentity"), "second");
}

// Bulk writes have taken every turn for the next hour.
TEST_F(LeaderTest, a_lease_is_taken_and_renewed_whatever_else_its_client_has_to_do) {
  const auto busy = client_->beside({.rate = 1.0 / 3600, .burst = 1});
  ASSERT_OK(busy->get(kNamespaces, {"", "default"}, soon()));
  ASSERT_EQ(busy->get(kNamespaces, {"", "default"}, soon()).error().fault(), Fault::timeout);
  Candidate leader(*busy, lease(), "me");
  ASSERT_TRUE(leader.leads_within(kBound));
  const std::string first = spec("renewTime");
  EXPECT_TRUE(testbed::eventually("it is renewed", kBound, [&] { return spec("renewTime") != first; }));
  leader.stop();
  EXPECT_TRUE(leader.end());
  EXPECT_EQ(spec("holderIdentity"), "");
}

TEST_F(LeaderTest, what_others_wrote_on_the_lease_stays) {
  ASSERT_OK(client_->create(kLeases, ns_, R"({"metadata":{"name":"lock","labels":{"team":"net"}}})", soon()));
  Candidate leader(*client_, lease(), "me");
  ASSERT_TRUE(leader.leads_within(kBound));
  leader.stop();
  ASSERT_TRUE(leader.end());
  const auto body = client_->get(kLeases, lease(), soon());
  ASSERT_OK(body);
  EXPECT_THAT(*body, HasSubstr(R"("labels":{"team":"net"})"));
  EXPECT_EQ(at(*body, "spec", "holderIdentity"), "");
}

TEST_F(LeaderTest, a_lease_that_cannot_be_renewed_is_lost_in_time) {
  const kube::ElectionTiming quick{.lease = 4s, .renew = 2s, .retry = 1s};
  Candidate leader(*client_, lease(), "me", quick);
  ASSERT_TRUE(leader.leads_within(kBound));
  cluster_.api_server().freeze();
  const base::Status lost = leader.end();
  EXPECT_FALSE(leader.leading());
  cluster_.api_server().thaw();
  ASSERT_FALSE(lost);
  EXPECT_THAT(lost.error().message(), HasSubstr("not renewed for 2 s"));
  const auto other_client = admin();
  Candidate next(*other_client, lease(), "next", quick);
  EXPECT_TRUE(next.leads_within(kBound));
}

TEST_F(LeaderTest, a_lease_taken_by_force_is_lost) {
  Candidate leader(*client_, lease(), "me");
  ASSERT_TRUE(leader.leads_within(kBound));
  ASSERT_OK(admin()->patch(kLeases, lease(), kube::PatchType::merge, R"({"spec":{"holderIdentity":"thief"}})", soon()));
  const base::Status lost = leader.end();
  ASSERT_FALSE(lost);
  EXPECT_THAT(lost.error().message(), HasSubstr("taken over by thief"));
  EXPECT_EQ(spec("holderIdentity"), "thief");  // Every write carries the version it replaces.
}

TEST_F(LeaderTest, a_leader_whose_lease_was_deleted_stops_in_order) {
  std::atomic<bool> is_missed = false;
  const auto client = admin();
  client->observe_calls([&](std::string_view method, int code, base::Duration) {
    if (method == "PATCH" && code == 404) is_missed = true;
  });
  Candidate leader(*client, lease(), "me");
  ASSERT_TRUE(leader.leads_within(kBound));
  ASSERT_OK(admin()->remove(kLeases, lease(), {}, soon()));
  EXPECT_TRUE(testbed::eventually("its renewal has met that", kBound, [&] { return is_missed.load(); }));
  leader.stop();
  EXPECT_TRUE(leader.end());
}

TEST_F(LeaderTest, a_candidate_can_be_stopped_while_it_waits) {
  Candidate leader(*client_, lease(), "me");
  ASSERT_TRUE(leader.leads_within(kBound));
  Candidate waiting(*client_, lease(), "waiting");
  waiting.stop();
  EXPECT_EQ(waiting.end().error().fault(), Fault::cancelled);
}

// The API server made it the holder, and the answer was lost: it never led, and yet others would wait for it.
TEST_F(LeaderTest, a_candidate_that_is_stopped_in_mid_claim_leaves_no_lease_behind) {
  const auto config = must(kube::from_kubeconfig({cluster_.admin_kubeconfig()}, ""));
  testbed::FaultProxy proxy(config.server, must(config.tls()));
  proxy.inject({.verb = "create", .resource = "leases"}, testbed::fault::LoseAnswer());
  const auto client = connect(proxy.kubeconfig());
  Candidate waiting(*client, lease(), "me", {.lease = 60s, .renew = 40s, .retry = 20s});  // Not tried again so soon.
  ASSERT_TRUE(testbed::eventually("it holds it unawares", kBound, [&] { return spec("holderIdentity") == "me"; }));
  waiting.stop();
  EXPECT_EQ(waiting.end().error().fault(), Fault::cancelled);
  EXPECT_EQ(spec("holderIdentity"), "");
}

TEST(Identity, is_never_the_same_twice) {
  EXPECT_NE(kube::unique_identity(), kube::unique_identity());
}

}  // namespace
}  // namespace api_test
