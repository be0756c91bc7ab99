#include <charconv>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <string>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "base/file.h"
#include "json/reader.h"
#include "lab/process.h"

namespace {

using namespace std::chrono_literals;

struct Cost {
  std::uint64_t instructions = 0;
  std::uint64_t allocations = 0;
};

std::uint64_t number_after(const std::string& text, std::string_view word) {
  std::uint64_t out = 0;
  auto at = text.find(word);
  if (at == std::string::npos) return 0;
  at = text.find_first_of("0123456789", at + word.size());
  if (at != std::string::npos) (void)std::from_chars(text.data() + at, text.data() + text.size(), out);
  return out;
}

// What simdjson and the C library choose by the CPU is fixed, so that the machine does not matter.
base::Result<Cost> cost_of(const std::string& path) {
  const auto done = TRY(lab::run({.arguments = {"valgrind", "--tool=callgrind", "--collect-atstart=no",
                                                "--callgrind-out-file=/dev/null", HOT_PATHS, path},
                                  .environment = {"SIMDJSON_FORCE_IMPLEMENTATION=westmere",
                                                  "GLIBC_TUNABLES=glibc.cpu.hwcaps=-AVX2,-AVX512F,-ERMS,-FSRM"}},
                                 180s));
  if (!done.exit.ok()) return base::fail(base::Fault::unavailable, done.errors);
  return Cost{.instructions = number_after(done.errors, "Collected"), .allocations = number_after(done.output, "")};
}

base::Result<Cost> recorded(const std::string& path) {
  const std::string text = TRY(base::read_file(RECORD));
  json::Reader reader;
  const auto record = TRY(reader.parse(text));
  const auto all = TRY(record.members());
  for (const json::Member& member : all) {
    if (member.key != path) continue;
    return Cost{.instructions = TRY(member.value["instructions"].integer<std::uint64_t>()),
                .allocations = TRY(member.value["allocations"].integer<std::uint64_t>())};
  }
  return Cost{};
}

bool alike(std::uint64_t left, std::uint64_t right) {
  const auto a = static_cast<double>(left);
  const auto b = static_cast<double>(right);
  return std::abs(a - b) <= 0.05 * b;
}

class HotPath : public testing::TestWithParam<std::string> {};

// Less is a change too: the record is to be the best that was reached.
TEST_P(HotPath, costs_what_was_recorded) {
  const auto cost = cost_of(GetParam());
  ASSERT_TRUE(cost) << cost.error().message();
  const auto record = recorded(GetParam());
  ASSERT_TRUE(record) << record.error().message();
  EXPECT_TRUE(alike(cost->instructions, record->instructions) && alike(cost->allocations, record->allocations))
      << fmt::format("recorded: {} instructions, {} allocations; if the change is meant, put into {}:\n",
                     record->instructions, record->allocations, "bench/hot_paths/record.json")
      << fmt::format(R"(  "{}": {{"instructions": {}, "allocations": {}}})", GetParam(), cost->instructions,
                     cost->allocations);
}

INSTANTIATE_TEST_SUITE_P(All, HotPath, testing::Values("decode", "messages", "intent", "plan"),
                         [](const auto& path) { return path.param; });

}  // namespace
