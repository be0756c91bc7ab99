#include "kube/lease.h"

#include <gtest/gtest.h>

namespace kube {
namespace {

using namespace std::chrono_literals;

Lease decoded(const std::string& text) {
  json::Reader reader;
  return Lease::decode(reader.parse(text).value()).value();
}

TEST(Lease, what_is_created_is_read_back) {
  Lease lease;
  lease.holder = "pod_1";
  lease.duration = 15s;
  lease.acquired = lease.renewed = "2026-01-31T10:00:00.000000Z";
  lease.transitions = 4;
  std::string stored = encode_new(lease, "lock", "system");
  stored.replace(stored.find(R"("name":)"), 0, R"("resourceVersion":"12",)");
  const Lease again = decoded(stored);
  EXPECT_TRUE(again.same_claim(lease));
  EXPECT_EQ(again.resource_version, "12");
}

TEST(Lease, a_lease_without_spec_is_free) {
  EXPECT_EQ(decoded(R"({"metadata":{"resourceVersion":"3"}})").holder, "");
}

TEST(Lease, a_claim_carries_the_version_it_replaces) {
  Lease lease;
  lease.resource_version = "77";
  EXPECT_EQ(encode_claim(lease),
            R"({"metadata":{"resourceVersion":"77"},"spec":{"holderIdentity":null,"leaseDurationSeconds":0,)"
            R"("acquireTime":"","renewTime":"","leaseTransitions":0}})");
}

TEST(Lease, times_have_microseconds) {
  EXPECT_EQ(micro_time(std::chrono::system_clock::time_point(1'769'853'600s + 42us)), "2026-01-31T10:00:00.000042Z");
}

}  // namespace
}  // namespace kube
