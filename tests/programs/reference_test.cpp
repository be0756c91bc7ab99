// docs/reference cannot lie: what can be made from the programs, the kinds and the sources is made from them.
// IPRULE_UPDATE_PAGES=1 writes the pages.
#include "reference.h"

#include <cstdlib>
#include <filesystem>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/file.h"

namespace {

const std::filesystem::path kSource = IPRULE_SOURCE_DIR;

void expect_page(const std::string& name, const base::Result<std::string>& wanted) {
  ASSERT_TRUE(wanted) << wanted.error().message();
  const auto page = kSource / "docs/reference" / name;
  const auto shown = base::read_file(page);
  EXPECT_EQ(shown.value_or(""), *wanted) << name << " is stale: IPRULE_UPDATE_PAGES=1 makes it anew";
  const char* update = std::getenv("IPRULE_UPDATE_PAGES");
  if (update == nullptr || std::string_view(update) != "1") return;
  ASSERT_TRUE(base::write_file(page, *wanted));
}

TEST(Reference, every_field_of_the_kinds) {
  expect_page("kinds.md", reference::kinds_page(kSource / "config/crd/bases"));
}

TEST(Reference, every_flag_of_the_programs) {
  expect_page("flags.md", reference::flags_page({IPRULE_CONTROLLER, IPRULE_AGENT, IPRULECTL}));
}

TEST(Reference, every_metric) {
  const auto page = reference::metrics_page(kSource / "src");
  expect_page("metrics.md", page);
  EXPECT_THAT(page.value_or(""), testing::HasSubstr("| `iprule_desired_configs` | gauge | "));
}

}  // namespace
