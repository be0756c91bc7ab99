// docs/reference cannot lie: what can be made from the programs, the kinds and the sources is made from them.
// IPRULE_UPDATE_PAGES=1 writes the pages.
#include "reference.h"

#include <cstdlib>
#include <filesystem>
#include <set>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/file.h"

namespace {

const std::filesystem::path kTree = IPRULE_SOURCE_DIR;

void expect_page(const std::string& name, const base::Result<std::string>& wanted) {
  ASSERT_TRUE(wanted) << wanted.error().message();
  const auto page = kTree / "docs/reference" / name;
  const auto shown = base::read_file(page);
  EXPECT_EQ(shown.value_or(""), *wanted) << name << " is stale: IPRULE_UPDATE_PAGES=1 makes it anew";
  const char* update = std::getenv("IPRULE_UPDATE_PAGES");
  if (update == nullptr || std::string_view(update) != "1") return;
  ASSERT_TRUE(base::write_file(page, *wanted));
}

TEST(Reference, every_field_of_the_kinds) {
  expect_page("kinds.md", reference::kinds_page(kTree / "config/crd/bases"));
}

TEST(Reference, every_flag_of_the_programs) {
  expect_page("flags.md", reference::flags_page({IPRULE_CONTROLLER, IPRULE_AGENT, IPRULECTL}));
}

TEST(Reference, every_number_that_others_use) {
  expect_page("numbers.md", reference::numbers_page(kTree / "docs/reference/numbers.md"));
}

TEST(Reference, every_metric) {
  const auto page = reference::metrics_page(kTree / "src");
  expect_page("metrics.md", page);
  EXPECT_THAT(page.value_or(""), testing::HasSubstr("| `iprule_desired_configs` | gauge | "));
}

// The words in quotes that begin with a capital, behind `put("kind", `.
std::set<std::string> kinds_written(const std::string& source) {
  std::set<std::string> out;
  for (auto at = source.find("put(\"kind\", "); at != std::string::npos; at = source.find("put(\"kind\", ", at + 1)) {
    const std::string line = source.substr(at + 12, source.find('\n', at) - at - 12);
    for (auto open = line.find('"'); open != std::string::npos; open = line.find('"', open + 1)) {
      const auto close = line.find('"', open + 1);
      if (close == std::string::npos) break;
      out.insert(line.substr(open + 1, close - open - 1));
      open = close;
    }
  }
  return out;
}

TEST(Reference, every_kind_of_document) {
  const std::string page = base::read_file(kTree / "docs/reference/json.md").value_or("");
  std::set<std::string> kinds = {"Plan", "Diff", "StandaloneStatus"};  // Those that are no literal where they are put.
  for (const auto& file : std::filesystem::directory_iterator(kTree / "src/cli")) {
    if (file.path().extension() == ".cpp") kinds.merge(kinds_written(base::read_file(file.path()).value_or("")));
  }
  EXPECT_GT(kinds.size(), 20U);
  for (const std::string& kind : kinds) EXPECT_THAT(page, testing::HasSubstr("`" + kind + "`"));
}

}  // namespace
