#include "cli/analyze.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/finding_page.h"

namespace cli {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::IsEmpty;

constexpr std::string_view kService =
    "---\nkind: Service\nmetadata: {name: frontend, namespace: shop}\n"
    "spec: {type: LoadBalancer, clusterIPs: [10.96.23.17]}\n"
    "status: {loadBalancer: {ingress: [{ip: 203.0.113.45}]}}\n";

std::vector<std::string> found(const std::string& text) {
  agent::Manifests manifests;
  const auto read = agent::add_manifests(manifests, "x.yaml", text);
  EXPECT_TRUE(read) << read.error().message();
  std::vector<std::string> out;
  for (const Finding& finding : findings_in(manifests)) {
    out.push_back(fmt::format("{} {} {}", cli::text(finding.severity), finding.code, finding.object));
    EXPECT_THAT(finding_codes(), Contains(finding.code)) << "every code has its page";
  }
  return out;
}

TEST(Analyze, right_manifests_have_no_findings) {
  EXPECT_THAT(found("kind: IPRule\nmetadata: {name: a}\nspec: {cidrs: [203.0.113.0/24], table: 100, priority: 1000}\n" +
                    std::string(kService)),
              IsEmpty());
}

TEST(Analyze, mistakes_are_found_the_worst_first) {
  EXPECT_THAT(found("kind: IPRule\nmetadata: {name: a}\nspec: {cidrs: [203.0.113.0/24, 1.2.3.4/99], table: 100}\n"
                    "---\nkind: IPRule\nmetadata: {name: b}\nspec: {cidrs: [203.0.113.32/27], table: 100}\n"
                    "---\nkind: IPRule\nmetadata: {name: c}\nspec: {cidrs: [192.0.2.0/24]}\n"
                    "---\nkind: IPRule\nmetadata: {name: d}\n"
                    "spec: {cidrs: [192.0.2.0/24], table: 7, priority: 40000, nodeSelectorLabel: x}\n" +
                    std::string(kService)),
              ElementsAre("error IPR0201 IPRule/c", "warning IPR0102 IPRule/a", "warning IPR0201 IPRule/a",
                          "warning IPR0404 IPRule/d", "info IPR0402 IPRule/d", "info IPR0403 IPRule/d"));
}

TEST(Analyze, an_annotation_silences_a_code_for_its_object) {
  EXPECT_THAT(found("kind: IPRule\nmetadata:\n  name: a\n  annotations:\n"
                    "    iprule.operator.brtrm.dev/ignore-findings: IPR0404, IPR0402\n"
                    "spec: {cidrs: [192.0.2.0/24], table: 7, priority: 40000}\n" +
                    std::string(kService)),
              IsEmpty());
}

TEST(Analyze, of_rules_alone_nobody_can_say_that_they_match_nothing) {
  EXPECT_THAT(found("kind: IPRule\nmetadata: {name: a}\nspec: {cidrs: [192.0.2.0/24], table: 7}\n"), IsEmpty());
}

}  // namespace
}  // namespace cli
