#include "cli/drift_news.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace cli {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

constexpr meta::Time kNow{std::chrono::sys_days(std::chrono::year(2026) / 1 / 1)};

DriftEntry drifting(std::string message = "5 repairs") {
  return {.node = "worker-1",
          .type = "Drifting",
          .reason = "Repeated",
          .message = {},
          .since = kNow,
          .object = "our rules",
          .wanted = "alone",
          .found = "changed",
          .action = std::move(message)};
}

DriftEntry missing(std::string rule) {
  return {.node = "worker-1", .type = "Kernel", .reason = "Missing", .message = {}, .object = std::move(rule)};
}

DriftEntry over(const DriftEntry& entry) {
  const DriftEntry out = ended(entry);
  EXPECT_FALSE(out.goes_on);
  EXPECT_FALSE(out.since);
  return out;
}

TEST(DriftNews, tells_what_begins_changes_and_ends_each_once) {
  DriftNews news;
  EXPECT_THAT(news.take({drifting()}, {}), ElementsAre(drifting()));
  EXPECT_THAT(news.take({drifting()}, {}), IsEmpty());
  EXPECT_THAT(news.take({drifting("6 repairs")}, {}), ElementsAre(drifting("6 repairs"))) << "one line, not two";
  EXPECT_THAT(news.take({}, {}), ElementsAre(over(drifting("6 repairs"))));
  EXPECT_THAT(news.take({}, {}), IsEmpty());
}

TEST(DriftNews, each_rule_of_a_kernel_begins_and_ends_by_itself) {
  DriftNews news;
  EXPECT_THAT(news.take({missing("a"), missing("b")}, {}), ElementsAre(missing("a"), missing("b")));
  EXPECT_THAT(news.take({missing("b")}, {}), ElementsAre(over(missing("a"))));
}

TEST(DriftNews, what_cannot_be_seen_has_not_ended) {
  DriftNews news;
  EXPECT_THAT(news.take({drifting()}, {}), ElementsAre(drifting()));
  EXPECT_THAT(news.take({}, {"nodestates: 503"}), IsEmpty());
  EXPECT_THAT(news.take({drifting()}, {}), IsEmpty()) << "it was there all the time";
  EXPECT_THAT(news.take({}, {"nodestates: 503"}), IsEmpty());
  EXPECT_THAT(news.take({}, {}), ElementsAre(over(drifting())));
}

TEST(DriftNews, a_page_has_titles_once_and_its_document_only_what_is_new) {
  const auto first = show_drift_news({drifting()}, {}, {}, kNow);
  EXPECT_EQ(first.page.render({}),
            "NODE      OBJECT     WANTED  FOUND    LIKELY  ACTION\n"
            "worker-1  our rules  alone   changed  -       5 repairs\n");
  const auto later = show_drift_news({over(drifting())}, {}, {.headers = false}, kNow);
  EXPECT_EQ(later.page.render({}), "worker-1  our rules  alone  changed  -  over\n");
  EXPECT_THAT(later.json, testing::HasSubstr(R"("drift":[{"node":"worker-1","type":"Drifting","goesOn":false)"));
}

}  // namespace
}  // namespace cli
