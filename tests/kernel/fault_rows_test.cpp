// Pages that say which test shows what are of use only while these tests exist.
#include <filesystem>
#include <map>
#include <regex>
#include <set>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "base/file.h"

namespace {

const std::filesystem::path kRoot = IPRULE_SOURCE_DIR;

std::vector<std::vector<std::string>> all_matches(const std::string& text, const char* pattern) {
  const std::regex regex(pattern);
  std::vector<std::vector<std::string>> out;
  for (std::sregex_iterator match(text.begin(), text.end(), regex), end; match != end; ++match) {
    out.emplace_back(match->begin(), match->end());
  }
  return out;
}

std::string content(const std::filesystem::path& path) {
  const auto text = base::read_file(kRoot / path);
  EXPECT_TRUE(text) << path;
  return text.value_or("");
}

std::set<std::string> tests_of(const std::filesystem::path& path) {
  std::set<std::string> out;
  for (const auto& match : all_matches(content(path), R"((?:TEST|TEST_F|TEST_P|RC_GTEST_PROP)\(\w+,\s*(\w+))")) {
    out.insert(match[1]);
  }
  return out;
}

struct Named {
  std::string test;
  std::string file;
};
std::vector<Named> named_in(const std::string& text) {
  std::vector<Named> out;
  for (const auto& match : all_matches(text, R"(`(\w+)` in `((?:tests|src)/[\w/]+\.cpp)`)")) {
    out.push_back({.test = match[1], .file = match[2]});
  }
  return out;
}

TEST(FaultRows, every_test_that_a_page_names_exists) {
  for (const auto* page : {"tests/FAULTS.md", "docs/compatibility/ip-rule-operator.md"}) {
    const auto all = named_in(content(page));
    EXPECT_FALSE(all.empty()) << page;
    for (const Named& named : all) {
      EXPECT_TRUE(tests_of(named.file).contains(named.test)) << page << ": " << named.test << " in " << named.file;
    }
  }
}

TEST(FaultRows, every_row_of_the_kernel_has_a_test_that_carries_it) {
  std::map<std::string, std::string> lines;
  for (const auto& match : all_matches(content("tests/FAULTS.md"), R"(\n\| ([FGH]\d+) \|([^\n]*))")) {
    lines[match[1]] = match[2];
  }
  for (const auto& [letter, count] : {std::pair('F', 14), std::pair('G', 10), std::pair('H', 2)}) {
    for (int i = 1; i <= count; ++i) {
      const std::string row = fmt::format("{}{}", letter, i);
      ASSERT_TRUE(lines.contains(row)) << row;
      const auto all = named_in(lines[row]);
      EXPECT_FALSE(all.empty()) << row;
      for (const Named& named : all) EXPECT_TRUE(named.test.starts_with(row + "_")) << row << ": " << named.test;
    }
  }
}

TEST(FaultRows, every_row_about_objects_has_a_test_that_carries_it) {
  const std::string page = content("tests/FAULTS.md");
  for (const int row : {1, 2, 3, 4, 8, 9, 10}) {
    const auto lines = all_matches(page, fmt::format(R"(\n\| D{} \|([^\n]*))", row).c_str());
    ASSERT_EQ(lines.size(), 1U) << "D" << row;
    const auto all = named_in(lines.front()[1]);
    EXPECT_FALSE(all.empty()) << "D" << row;
    for (const Named& named : all) {
      EXPECT_TRUE(named.test.starts_with(fmt::format("fault_D{}_", row))) << "D" << row << ": " << named.test;
    }
  }
}

// A reason is one word, and what to do about it stands in the reference.
TEST(NodeReasons, every_word_a_node_gives_for_a_reason_is_on_the_page) {
  const std::string page = content("docs/reference/controller.md");
  std::vector<std::filesystem::path> files = {"src/intent/cluster/config_status.cpp",
                                              "src/intent/node/source_rules.cpp"};
  for (const auto& file : std::filesystem::directory_iterator(kRoot / "src/agent")) {
    const std::string name = file.path().filename();
    if (name.ends_with(".cpp") && !name.ends_with("_test.cpp")) files.push_back("src/agent/" + name);
  }
  std::set<std::string> words;
  for (const auto& file : files) {
    for (const auto& match : all_matches(content(file), R"re("([A-Z][A-Za-z]+)(?:: [^"]*)?")re")) {
      words.insert(match[1]);
    }
  }
  // Kinds of objects, which the agent of a single host reads and writes.
  for (const char* kind : {"Agent", "EndpointSlice", "IPRule", "List", "Node", "Service", "StandaloneStatus"}) {
    words.erase(kind);
  }
  for (const char* known : {"Untrusted", "VRFNotFound", "MarkFailed", "NoReport", "Stale", "NoSuchNode"}) {
    EXPECT_TRUE(words.contains(known)) << known;
  }
  for (const std::string& word : words) EXPECT_NE(page.find("`" + word + "`"), std::string::npos) << word;
}

// Of the defects of the old project: what differs for its users, and the test that shows it. D44 is about OLM, for
// which there is nothing yet.
TEST(CompatibilityPage, every_defect_has_a_line_and_a_test_that_carries_its_number) {
  const std::string page = content("docs/compatibility/ip-rule-operator.md");
  for (int defect = 1; defect <= 56; ++defect) {
    const std::string name = fmt::format("D{}", defect);
    const auto lines = all_matches(page, fmt::format(R"(\n\| {} \| ([^|\n]+)\|([^\n]*))", name).c_str());
    ASSERT_EQ(lines.size(), 1U) << name;
    if (defect == 44) continue;
    const auto all = named_in(lines.front()[2]);
    ASSERT_FALSE(all.empty()) << name;
    for (const Named& named : all) {
      EXPECT_TRUE(("_" + named.test).find("_" + name + "_") != std::string::npos) << name << ": " << named.test;
    }
  }
}

// As gtest takes a filter, of which only `*` is used.
bool picks(const std::string& filter, const std::string& test) {
  return std::regex_match("Suite." + test, std::regex(std::regex_replace(filter, std::regex(R"(\*)"), ".*")));
}

// The page says which of them have none.
TEST(CompatibilityPage, every_defect_but_three_has_a_planted_bug_for_a_test_it_names) {
  const std::string page = content("docs/compatibility/ip-rule-operator.md");
  std::map<std::string, std::vector<std::string>> filters;
  for (const auto& match : all_matches(content("tests/mutants/list"), R"(\[(D\d+):[^\n]*\ntest \w+ (\S+))")) {
    filters[match[1]].push_back(match[2]);
  }
  ASSERT_NE(page.find("all but D25, D44 and D48"), std::string::npos);
  for (int defect = 1; defect <= 56; ++defect) {
    const std::string name = fmt::format("D{}", defect);
    if (defect == 25 || defect == 44 || defect == 48) {
      EXPECT_FALSE(filters.contains(name)) << name << " has one: say so on the page";
      continue;
    }
    const auto lines = all_matches(page, fmt::format(R"(\n\| {} \| ([^\n]*))", name).c_str());
    ASSERT_EQ(lines.size(), 1U) << name;
    bool is_picked = false;
    for (const Named& named : named_in(lines.front()[1])) {
      for (const std::string& filter : filters[name]) is_picked = is_picked || picks(filter, named.test);
    }
    EXPECT_TRUE(is_picked) << name << ": no bug for a test that the page names";
  }
}

TEST(FaultRows, every_row_of_the_api_has_a_test_or_a_reason_to_have_none) {
  std::map<std::string, std::string> lines;
  for (const auto& match : all_matches(content("tests/FAULTS.md"), R"(\n\| ([ABCEIJ]\d+) \|([^\n]*))")) {
    lines[match[1]] = match[2];
  }
  for (const auto& [letter, count] : {std::pair('A', 14), std::pair('B', 10), std::pair('C', 5), std::pair('E', 7),
                                      std::pair('I', 8), std::pair('J', 9)}) {
    for (int i = 1; i <= count; ++i) {
      const std::string row = fmt::format("{}{}", letter, i);
      ASSERT_TRUE(lines.contains(row)) << row;
      EXPECT_TRUE(!named_in(lines[row]).empty() || lines[row].contains("not here: ")) << row;
    }
  }
}

TEST(FaultRows, every_test_of_the_api_that_carries_a_row_is_on_the_page) {
  const std::string page = content("tests/FAULTS.md");
  for (const auto* folder : {"tests/api", "tests/cluster", "tests/controller", "tests/install"}) {
    for (const auto& file : std::filesystem::directory_iterator(kRoot / folder)) {
      if (file.path().extension() != ".cpp") continue;
      const auto path = std::filesystem::relative(file.path(), kRoot);
      for (const std::string& test : tests_of(path)) {
        if (!std::regex_search(test, std::regex("^[ABCEIJ][0-9]+_"))) continue;
        EXPECT_NE(page.find(fmt::format("`{}` in `{}`", test, path.string())), std::string::npos) << test;
      }
    }
  }
}

TEST(FaultRows, every_test_of_the_kernel_that_carries_a_row_is_on_the_page) {
  const std::string page = content("tests/FAULTS.md");
  for (const auto& file : std::filesystem::directory_iterator(kRoot / "tests/kernel")) {
    if (file.path().extension() != ".cpp") continue;
    const auto path = std::filesystem::relative(file.path(), kRoot);
    for (const std::string& test : tests_of(path)) {
      if (!std::regex_search(test, std::regex("^[FGH][0-9]+_"))) continue;
      EXPECT_NE(page.find(fmt::format("`{}` in `{}`", test, path.string())), std::string::npos) << test;
    }
  }
}

}  // namespace
