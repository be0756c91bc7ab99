#include "cli/object_changes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace cli {
namespace {

agent::Manifests manifests(std::string_view text) {
  agent::Manifests out;
  const auto added = agent::add_manifests(out, "x.yaml", text);
  EXPECT_TRUE(added) << added.error().message();
  return out;
}

std::vector<std::string> told(std::string_view there, std::string_view changes) {
  auto now = manifests(there);
  for (auto& rule : now.rules) rule.meta.generation = 3;
  std::vector<std::string> out;
  for (const ObjectChange& change : object_changes(now, manifests(changes))) out.push_back(text(change));
  return out;
}

TEST(ObjectChanges, fields_of_the_spec_are_told_from_and_to) {
  EXPECT_THAT(
      told("kind: IPRule\nmetadata: {name: a}\nspec: {cidrs: [203.0.113.0/24], table: 100, nodeSelector: {x: z}, "
           "source: {modes: [ClusterIP]}}\n",
           "kind: IPRule\nmetadata: {name: a}\nspec: {cidrs: [203.0.113.0/24, 2001:db8::/64], table: 100, "
           "source: {modes: [Reply]}}\n"),
      testing::ElementsAre("IPRule/a  generation 3 -> 4  spec.cidrs [203.0.113.0/24] -> [203.0.113.0/24, "
                           "2001:db8::/64]  spec.nodeSelector.x z -> none  spec.source.modes [ClusterIP] -> "
                           "[Reply]"));
}

TEST(ObjectChanges, what_is_new_and_what_stays_is_said) {
  EXPECT_THAT(told("kind: IPRule\nmetadata: {name: a}\nspec: {cidrs: [203.0.113.0/24], table: 100}\n",
                   "kind: IPRule\nmetadata: {name: a}\nspec: {cidrs: [203.0.113.0/24], table: 100}\n"
                   "---\nkind: IPRule\nmetadata: {name: b}\nspec: {cidrs: [192.0.2.0/24], table: 7}\n"
                   "---\nkind: Agent\nmetadata: {name: agent, namespace: net}\nspec: {dataplane: marks}\n"),
              testing::ElementsAre("Agent/agent  new", "IPRule/a  unchanged", "IPRule/b  new"));
}

}  // namespace
}  // namespace cli
