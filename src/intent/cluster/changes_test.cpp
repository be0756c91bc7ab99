#include "intent/cluster/changes.h"

#include <algorithm>
#include <map>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "api/kinds.h"
#include "intent/cluster/sample.h"

namespace intent {
namespace {

using api::ConfigState;
using api::IPRuleConfig;
using Step = Write::Step;
using Texts = Sample::Texts;

const meta::Time kNow{std::chrono::seconds(1'000'000)};

// Waits for acknowledgements that the test gives.
struct Waiting final : Removal {
  bool withdraws_first() const override { return true; }
  bool is_settled(const IPRuleConfig&) const override { return settled; }
  bool settled = false;
};

// The server's side: applies writes, counts versions, checks preconditions.
class Objects {
 public:
  std::vector<Write> pass(const Desired& desired, const Removal& removal = DirectRemoval()) {
    const auto writes = changes(all(), unread, desired, api::kDefaultPriority, removal, kNow);
    for (const Write& write : writes) apply(write);
    return writes;
  }
  Texts steps(const Desired& desired, const Removal& removal = DirectRemoval()) {
    Texts out;
    for (const Write& write : pass(desired, removal)) {
      out.push_back(std::string(text(write.step)) + " " + write.object.meta.name);
    }
    return out;
  }
  IPRuleConfig& add(IPRuleConfig config) {
    const std::string name = config.meta.name;
    return objects_[name] = std::move(config);
  }
  IPRuleConfig& at(const std::string& name) { return objects_.at(name); }
  Texts names() const {
    Texts out;
    for (const auto& [name, object] : objects_) out.push_back(name);
    return out;
  }
  std::vector<const IPRuleConfig*> all() const {
    std::vector<const IPRuleConfig*> out;
    for (const auto& [name, object] : objects_) out.push_back(&object);
    return out;
  }

  Texts unread;  // Names of more objects, which nobody understands.

 private:
  void apply(const Write& write) {
    const std::string& name = write.object.meta.name;
    if (write.step == Step::create) {
      ASSERT_FALSE(objects_.contains(name));
      IPRuleConfig& object = objects_[name] = write.object;
      object.meta.uid = "uid-" + std::to_string(++version_);
      object.meta.resource_version = std::to_string(version_);
      return;
    }
    ASSERT_EQ(write.object.meta.uid, objects_.at(name).meta.uid);
    ASSERT_EQ(write.object.meta.resource_version, objects_.at(name).meta.resource_version);
    if (write.step == Step::remove) {
      objects_.erase(name);
      return;
    }
    objects_.at(name) = write.object;
    objects_.at(name).meta.resource_version = std::to_string(++version_);
  }

  std::map<std::string, IPRuleConfig> objects_;
  int version_ = 0;
};

Sample one_service() {
  Sample cluster;
  cluster.rule("blue", {"203.0.113.0/24"}, 120, 1500);
  cluster.service("frontend", {"10.96.44.9"}, {"203.0.113.17"});
  return cluster;
}

TEST(Changes, an_object_is_made_as_the_old_project_made_it) {
  Objects objects;
  EXPECT_EQ(objects.steps(one_service().desired()), Texts{"create iprc-10-96-44-9"});
  const IPRuleConfig& config = objects.at("iprc-10-96-44-9");
  EXPECT_EQ(config.spec, (IPRuleConfig::Spec{.service_ip = "10.96.44.9", .table = 120, .priority = 1500}));
  EXPECT_TRUE(config.is_managed());
  EXPECT_EQ(config.meta.annotations.get(api::kSpecHash), api::spec_hash(config.spec));
  EXPECT_EQ(config.meta.annotations.get(api::kServiceAnnotation), "shop/frontend");
  EXPECT_EQ(config.meta.annotations.get(api::kVipsAnnotation), "203.0.113.17");
  ASSERT_EQ(config.meta.owners.size(), 1U);
  EXPECT_EQ(config.meta.owners[0],
            (meta::OwnerReference{"api.operator.brtrm.dev/v1alpha1", "IPRule", "blue", "uid-blue", true, true}));
}

TEST(Changes, D1_two_tuples_of_one_address_have_two_objects_and_stay_quiet) {
  Sample cluster;
  cluster.rule("a", {"10.0.0.0/24"}, 100, 1000);
  cluster.rule("b", {"10.1.0.0/24"}, 200, 2000);
  cluster.service("web", {"10.96.0.1"}, {"10.0.0.5", "10.1.0.5"});
  Objects objects;
  EXPECT_EQ(objects.steps(cluster.desired()), (Texts{"create iprc-10-96-0-1", "create iprc-10-96-0-1-t200-p2000"}));
  for (int i = 0; i < 100; ++i) EXPECT_TRUE(objects.pass(cluster.desired()).empty());
  cluster.forget_services();
  EXPECT_EQ(objects.pass(cluster.desired()).size(), 2U);
  EXPECT_TRUE(objects.all().empty());
}

TEST(Changes, D3_an_ipv6_address_has_a_valid_name_and_disturbs_nothing) {
  Sample cluster;
  cluster.rule("a", {"10.0.0.0/8", "2001:db8::/32"}, 100);
  cluster.service("four", {"10.96.0.1"}, {"10.0.0.5"});
  cluster.service("six", {"fd00::1"}, {"2001:db8::5"});
  Objects objects;
  EXPECT_EQ(objects.steps(cluster.desired()), (Texts{"create iprc-10-96-0-1", "create iprc-fd00--1"}));
}

TEST(Changes, D5_ownership_moves_and_the_object_lives_on) {
  Sample cluster = one_service();
  Objects objects;
  objects.pass(cluster.desired());
  const std::string uid = objects.at("iprc-10-96-44-9").meta.uid;
  cluster.rule("narrow", {"203.0.113.0/28", "203.0.113.16/28"}, 120, 1500);
  EXPECT_EQ(objects.steps(cluster.desired()), Texts{"repair iprc-10-96-44-9"});
  EXPECT_EQ(objects.at("iprc-10-96-44-9").meta.owners.at(0).name, "narrow");
  EXPECT_TRUE(objects.at("iprc-10-96-44-9").meta.owners.at(0).controller);
  EXPECT_EQ(objects.at("iprc-10-96-44-9").meta.owners.at(1).name, "blue");
  EXPECT_FALSE(objects.at("iprc-10-96-44-9").meta.owners.at(1).controller);
  cluster.forget_rule("blue");
  EXPECT_EQ(objects.steps(cluster.desired()), Texts{"repair iprc-10-96-44-9"});
  EXPECT_EQ(objects.at("iprc-10-96-44-9").meta.uid, uid);
}

TEST(Changes, D6_edits_by_hand_are_undone) {
  const Sample cluster = one_service();
  Objects objects;
  objects.pass(cluster.desired());
  IPRuleConfig& config = objects.at("iprc-10-96-44-9");
  const IPRuleConfig right = config;

  config.spec.state = ConfigState::absent;  // The hash still says present.
  EXPECT_EQ(objects.steps(cluster.desired()), Texts{"reactivate iprc-10-96-44-9"});
  EXPECT_EQ(config.spec, right.spec);

  config.meta.annotations.set(api::kSpecHash, "x");
  config.meta.owners.clear();
  EXPECT_EQ(objects.steps(cluster.desired()), Texts{"repair iprc-10-96-44-9"});
  EXPECT_EQ(config.meta.owners, right.meta.owners);

  config.meta.labels.erase(api::kManagedByLabel);  // The hash and the owner still say whose it is.
  EXPECT_EQ(objects.steps(cluster.desired()), Texts{"repair iprc-10-96-44-9"});
  EXPECT_EQ(config.meta.labels, right.meta.labels);

  config.spec.table = 7;  // Another tuple: it goes, the desired one is there at once.
  EXPECT_EQ(objects.steps(cluster.desired()), (Texts{"create iprc-10-96-44-9-t120-p1500", "remove iprc-10-96-44-9"}));
  EXPECT_TRUE(objects.pass(cluster.desired()).empty());
}

TEST(Changes, D11_another_table_is_another_object_and_the_new_one_comes_first) {
  Sample cluster = one_service();
  Objects objects;
  objects.pass(cluster.desired());
  cluster.forget_rule("blue");
  cluster.rule("blue", {"203.0.113.0/24"}, 121, 1500);
  EXPECT_EQ(objects.steps(cluster.desired()), (Texts{"create iprc-10-96-44-9-t121-p1500", "remove iprc-10-96-44-9"}));
}

// The names of those that must go at once.
Texts urgent(const std::vector<Write>& writes) {
  Texts out;
  for (const Write& write : writes) {
    if (write.is_in_the_way) out.push_back(write.object.meta.name);
  }
  return out;
}

TEST(Changes, D16_only_what_comes_or_stands_at_its_priority_makes_a_withdrawal_urgent) {
  Sample cluster;
  api::IPRule& one = cluster.rule("one", {"10.0.0.0/24"}, 100, 1000);
  cluster.rule("two", {"10.1.0.0/24"}, 200, 2000);
  api::Service& service = cluster.service("web", {"10.96.0.1"}, {"10.0.0.5", "10.1.0.5"});
  const Desired both = cluster.desired();
  service.vips.pop_back();
  const Desired first = cluster.desired();
  Objects objects;
  Waiting removal;
  objects.pass(both, removal);

  auto writes = objects.pass(first, removal);
  ASSERT_EQ(writes.size(), 1U);
  EXPECT_TRUE(writes[0].is_replaced);
  EXPECT_EQ(urgent(writes), Texts{}) << "the one that stays was there before";

  one.spec.priority = 1001;
  EXPECT_EQ(urgent(objects.pass(cluster.desired(), removal)), Texts{"iprc-10-96-0-1"}) << "another is made";
  EXPECT_EQ(urgent(objects.pass(first, removal)), Texts{"iprc-10-96-0-1-t100-p1001"}) << "another comes back";

  objects.add({.meta = {.name = "late", .labels = {{"managed-by", "ip-rule-operator"}}},
               .spec = {.service_ip = "10.96.0.1", .table = 300, .priority = 1000}});
  EXPECT_EQ(urgent(objects.pass(first, removal)), Texts{"late"}) << "both cannot stand at one priority";
}

TEST(Changes, D16_one_priority_on_different_nodes_makes_no_withdrawal_urgent) {
  Sample cluster;
  cluster.rule("a", {"10.0.0.0/24"}, 100, 1000).spec.node_selector = {{"zone", "a"}};
  cluster.rule("b", {"10.1.0.0/24"}, 200, 1000).spec.node_selector = {{"zone", "b"}};
  api::Service& service = cluster.service("web", {"10.96.0.1"}, {"10.0.0.5", "10.1.0.5"});
  Objects objects;
  Waiting removal;
  EXPECT_EQ(objects.pass(cluster.desired(), removal).size(), 2U);
  service.vips.pop_back();
  const auto writes = objects.pass(cluster.desired(), removal);
  ASSERT_EQ(writes.size(), 1U);
  EXPECT_EQ(urgent(writes), Texts{});
}

TEST(Changes, D12_an_address_used_again_during_cleanup_has_its_own_object) {
  Sample before = one_service();
  Objects objects;
  Waiting removal;
  objects.pass(before.desired(), removal);
  before.forget_services();
  EXPECT_EQ(objects.steps(before.desired(), removal), Texts{"withdraw iprc-10-96-44-9"});
  Sample after;
  after.rule("green", {"198.51.100.0/24"}, 200, 1500);
  after.service("other", {"10.96.44.9"}, {"198.51.100.1"});
  EXPECT_EQ(objects.steps(after.desired(), removal), Texts{"create iprc-10-96-44-9-t200-p1500"});
  EXPECT_EQ(objects.at("iprc-10-96-44-9").spec.state, ConfigState::absent);
  EXPECT_EQ(objects.at("iprc-10-96-44-9").spec.table, 120U);
}

TEST(Changes, D17_acknowledgements_are_stripped_at_every_turn) {
  Sample cluster = one_service();
  const Desired wanted = cluster.desired();
  Sample nothing;
  Objects objects;
  Waiting removal;
  objects.pass(wanted, removal);
  const std::string ack = std::string(api::kCleanupPrefix) + "node-1";
  IPRuleConfig& config = objects.at("iprc-10-96-44-9");

  config.meta.annotations.set(ack, "done");  // Left over from an earlier life.
  EXPECT_EQ(objects.steps(nothing.desired(), removal), Texts{"withdraw iprc-10-96-44-9"});
  EXPECT_FALSE(config.meta.annotations.contains(ack));
  EXPECT_FALSE(config.meta.annotations.contains(api::kSpecHash));
  EXPECT_EQ(config.meta.annotations.get(api::kAbsentSince), meta::format_time(kNow));

  config.meta.annotations.set(ack, "done");
  EXPECT_EQ(objects.steps(wanted, removal), Texts{"reactivate iprc-10-96-44-9"});
  EXPECT_FALSE(config.meta.annotations.contains(ack));
  EXPECT_FALSE(config.meta.annotations.contains(api::kAbsentSince));
  EXPECT_EQ(config.meta.annotations.get(api::kSpecHash), api::spec_hash(config.spec));
}

TEST(Changes, a_withdrawn_object_goes_when_it_is_settled) {
  Sample cluster = one_service();
  Objects objects;
  Waiting removal;
  objects.pass(cluster.desired(), removal);
  cluster.forget_services();
  objects.pass(cluster.desired(), removal);
  EXPECT_TRUE(objects.pass(cluster.desired(), removal).empty());
  removal.settled = true;
  EXPECT_EQ(objects.steps(cluster.desired(), removal), Texts{"remove iprc-10-96-44-9"});
}

TEST(Changes, what_the_old_project_withdrew_waits_anew) {
  Objects objects;
  Waiting removal;
  removal.settled = true;
  IPRuleConfig& config =
      objects.add({.meta = {.name = "iprc-10-96-1-1", .labels = {{"managed-by", "ip-rule-operator"}}},
                   .spec = {.service_ip = "10.96.1.1", .table = 5, .state = ConfigState::absent}});
  config.meta.annotations.set("cleanup.iprule.agent.brtrm.dev/n1", "done");
  EXPECT_EQ(objects.steps({}, removal), Texts{"restart iprc-10-96-1-1"});
  EXPECT_TRUE(config.meta.annotations.contains(api::kAbsentSince));
  EXPECT_EQ(config.meta.annotations.size(), 1U);
  EXPECT_EQ(objects.steps({}, removal), Texts{"remove iprc-10-96-1-1"});
}

TEST(Changes, D6_one_set_absent_by_hand_and_not_desired_any_more_is_withdrawn_as_one_that_nodes_hold) {
  Sample cluster = one_service();
  Objects objects;
  Waiting removal;
  removal.settled = true;
  objects.pass(cluster.desired(), removal);
  IPRuleConfig& config = objects.at("iprc-10-96-44-9");
  config.spec.state = ConfigState::absent;
  config.meta.annotations.set(api::kAbsentSince, meta::format_time(kNow));
  cluster.forget_services();
  EXPECT_EQ(objects.steps(cluster.desired(), removal), Texts{"withdraw iprc-10-96-44-9"});
  EXPECT_FALSE(config.meta.annotations.contains(api::kSpecHash));
  EXPECT_EQ(objects.steps(cluster.desired(), removal), Texts{"remove iprc-10-96-44-9"});
}

TEST(Changes, D24_leftovers_that_mean_no_rule_are_removed_at_once) {
  Objects objects;
  Waiting removal;
  const meta::Labels ours{{"managed-by", "ip-rule-operator"}};
  objects.add({.meta = {.name = "a", .labels = ours}, .spec = {.service_ip = "10.96.1.1", .table = 0}});
  objects.add({.meta = {.name = "b", .labels = ours}, .spec = {.service_ip = "", .table = 5}});
  objects.add({.meta = {.name = "c", .labels = ours},
               .spec = {.service_ip = "10.96.1.1", .table = 0, .state = ConfigState::absent}});
  EXPECT_EQ(objects.steps({}, removal), (Texts{"remove a", "remove b", "remove c"}));
}

// Nodes hold what it said before, and hear of its end as of any other's.
TEST(Changes, D6_one_that_was_edited_to_mean_no_rule_is_withdrawn_before_it_goes) {
  for (const bool is_table : {true, false}) {
    Sample cluster = one_service();
    Objects objects;
    Waiting removal;
    removal.settled = true;
    objects.pass(cluster.desired());
    IPRuleConfig& config = objects.at("iprc-10-96-44-9");
    if (is_table) {
      config.spec.table = 0;
    } else {
      config.spec.service_ip = "none";
    }
    cluster.forget_services();
    const auto withdrawn = objects.pass(cluster.desired(), removal);
    ASSERT_EQ(withdrawn.size(), 1U);
    EXPECT_EQ(withdrawn[0].step, Write::Step::withdraw);
    EXPECT_TRUE(withdrawn[0].is_drift);
    EXPECT_EQ(objects.steps(cluster.desired(), removal), Texts{"remove iprc-10-96-44-9"});
  }
}

TEST(Changes, D49_an_object_that_is_not_ours_is_never_touched) {
  const Sample cluster = one_service();
  Objects objects;
  const IPRuleConfig foreign = objects.add(
      {.meta = {.name = "iprc-10-96-44-9"}, .spec = {.service_ip = "10.96.44.9", .table = 120, .priority = 1500}});
  EXPECT_EQ(objects.steps(cluster.desired()), Texts{"create iprc-10-96-44-9-t120-p1500"});
  EXPECT_EQ(objects.at("iprc-10-96-44-9"), foreign);
  EXPECT_TRUE(objects.pass(cluster.desired()).empty());
}

TEST(Changes, an_object_of_the_old_project_is_adopted_whatever_its_name) {
  const Sample cluster = one_service();
  Objects objects;
  objects.add({.meta = {.name = "any-name",
                        .uid = "u",
                        .resource_version = "7",
                        .labels = {{"managed-by", "ip-rule-operator"}, {"theirs", "x"}},
                        .annotations = {{"cleanup.iprule.agent.brtrm.dev/n1", "done"}, {"theirs", "y"}}},
               .spec = {.service_ip = "10.96.44.9", .table = 120, .priority = 1500}});
  EXPECT_EQ(objects.steps(cluster.desired()), Texts{"repair any-name"});
  EXPECT_EQ(objects.at("any-name").meta.labels.get("theirs"), "x");
  EXPECT_EQ(objects.at("any-name").meta.annotations.get("theirs"), "y");
  EXPECT_FALSE(objects.at("any-name").meta.annotations.contains("cleanup.iprule.agent.brtrm.dev/n1"));
}

TEST(Changes, an_object_on_its_way_out_is_replaced_under_another_name) {
  const Sample cluster = one_service();
  Objects objects;
  objects.pass(cluster.desired());
  objects.at("iprc-10-96-44-9").meta.deleted = kNow;
  EXPECT_EQ(objects.steps(cluster.desired()), Texts{"create iprc-10-96-44-9-t120-p1500"});
  EXPECT_TRUE(objects.pass(cluster.desired()).empty());
}

// A create of its name would be refused again and again.
TEST(Changes, an_object_that_cannot_be_read_keeps_its_name_and_another_is_made) {
  Objects objects;
  objects.unread = {"iprc-10-96-44-9"};
  EXPECT_EQ(objects.steps(one_service().desired()), Texts{"create iprc-10-96-44-9-t120-p1500"});
  EXPECT_TRUE(objects.pass(one_service().desired()).empty());
}

TEST(Changes, a_reply_is_published_so_that_old_agents_skip_it) {
  Sample cluster;
  auto& rule = cluster.rule("blue", {"203.0.113.0/24"}, 120, 1500);
  rule.spec.source.modes = {api::SourceMode::reply};
  cluster.service("frontend", {}, {"203.0.113.17"});
  Objects objects;
  EXPECT_EQ(objects.steps(cluster.desired()), Texts{"create iprc-re-203-0-113-17"});
  EXPECT_EQ(objects.at("iprc-re-203-0-113-17").spec, (IPRuleConfig::Spec{.service_ip = "203.0.113.17",
                                                                         .table = 0,
                                                                         .priority = 1500,
                                                                         .route_table = 120,
                                                                         .source_mode = api::SourceMode::reply}));
  EXPECT_TRUE(objects.pass(cluster.desired()).empty());
}

TEST(Changes, a_priority_that_is_not_given_stays_so_in_the_object) {
  Sample cluster;
  cluster.rule("blue", {"203.0.113.0/24"}, 120);
  cluster.service("frontend", {"10.96.44.9"}, {"203.0.113.17"});
  Objects objects;
  objects.pass(cluster.desired());
  EXPECT_EQ(objects.at("iprc-10-96-44-9").spec.priority, 0U);
  EXPECT_TRUE(objects.pass(cluster.desired()).empty());
}

Desired random_desired(Sample& cluster) {
  const int rules = *rc::gen::inRange(0, 5);
  for (int i = 0; i < rules; ++i) {
    cluster.rule("r" + std::to_string(i), {*rc::gen::element<std::string>("10.0.0.0/8", "10.0.0.0/24", "10.0.1.0/24")},
                 *rc::gen::element(100U, 200U), *rc::gen::element(0U, 1000U, 32765U));
  }
  const int services = *rc::gen::inRange(0, 4);
  for (int i = 0; i < services; ++i) {
    cluster.service("s" + std::to_string(i), {"10.96.0." + std::to_string(*rc::gen::inRange(0, 2))},
                    {*rc::gen::element<std::string>("10.0.0.5", "10.0.1.5", "10.2.0.5")});
  }
  return cluster.desired();
}

// Whatever existed, after the writes every desired tuple has exactly one present object, and nothing else is present.
RC_GTEST_PROP(Changes, one_pass_reaches_the_desired_set_and_the_next_is_empty, ()) {
  Objects objects;
  Waiting removal;
  for (int round = 0; round < 4; ++round) {
    Sample cluster;
    const Desired desired = random_desired(cluster);
    removal.settled = *rc::gen::arbitrary<bool>();
    objects.pass(desired, removal);
    std::vector<Tuple> present;
    for (const IPRuleConfig* config : objects.all()) {
      if (config->spec.state == ConfigState::present) present.push_back(*tuple_of(*config, api::kDefaultPriority));
    }
    std::vector<Tuple> expected;
    for (const DesiredConfig& config : desired.configs) expected.push_back(config.tuple);
    std::ranges::sort(present);
    std::ranges::sort(expected);
    RC_ASSERT(present == expected);
    removal.settled = false;
    RC_ASSERT(objects.pass(desired, removal).empty());
  }
}

}  // namespace
}  // namespace intent
