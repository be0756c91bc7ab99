#pragma once

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <map>
#include <ostream>
#include <regex>
#include <sched.h>
#include <sstream>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "base/file.h"
#include "testbed/process.h"
#include "testbed/temp_folder.h"
#include "tests/kernel/sandbox.h"

// What the folder of manifests asks for.
struct Wish {
  int sources = 0;
  int table = 100;
};

struct Workload {
  const char* name;
  Wish before;
  Wish after;
};
inline std::ostream& operator<<(std::ostream& out, const Workload& workload) {
  return out << workload.name;
}

inline const std::vector<Workload> kWorkloads = {
    {.name = "rules_from_nothing", .before = {}, .after = {.sources = 100}},
    {.name = "another_table", .before = {.sources = 40}, .after = {.sources = 40, .table = 200}},
    {.name = "removal", .before = {.sources = 40}, .after = {.sources = 10}},
    {.name = "rules_to_marks", .before = {.sources = 250}, .after = {.sources = 300}},
};

// One call of one thread of the agent: the n-th of its name.
struct Point {
  std::string call;
  int number = 0;
};

// Some of them, from first to last; IPRULE_LONG (.ci/test-long) asks for all.
template <typename Item>
std::vector<Item> selected(const std::vector<Item>& all, std::size_t few) {
  if (std::getenv("IPRULE_LONG") != nullptr || all.size() <= few) return all;  // NOLINT(concurrency-mt-unsafe)
  std::vector<Item> out;
  for (std::size_t i = 0; i < few; ++i) out.push_back(all[i * (all.size() - 1) / (few - 1)]);
  return out;
}

// The agent's program at a folder of manifests, with strace between it and the kernel.
class TracedAgent : public Sandbox, public testing::WithParamInterface<Workload> {
 protected:
  static constexpr auto kBound = std::chrono::seconds(60);

  // A namespace in which somebody else has made himself at home, and the agent has done what was asked first.
  void start_anew() {
    ASSERT_EQ(::unshare(CLONE_NEWNET), 0);
    run(R"(ip -batch - <<END
link set lo up
rule add from 10.96.0.1 lookup 100 priority 1000 protocol static
rule add from 10.96.0.2 fwmark 0x100/0x100 lookup 7 priority 900
rule add to 192.0.2.0/24 blackhole priority 1001
route add blackhole 198.51.100.0/24 table 100
END
ip -6 rule add from fd00::1 lookup 100 priority 1000
nft 'table inet other { map m { type ipv4_addr : verdict; elements = { 10.96.0.1 : accept }; }; }')");
    if (GetParam().before.sources > 0) apply(GetParam().before);
  }

  std::vector<std::string> agent_once() const {
    return {IPRULE_AGENT, "standalone", "--once", folder_.path().native()};
  }

  void ask_for(const Wish& wish) { ASSERT_TRUE(base::write_file(folder_ / "all.yaml", manifests(wish))); }

  void apply(const Wish& wish) {
    ask_for(wish);
    const auto done = testbed::run({.arguments = agent_once()}, kBound);
    ASSERT_TRUE(done) << done.error().message();
    ASSERT_TRUE(done->exit.ok()) << done->exit.text() << ": " << done->errors;
  }

  // All there is, with copies; the order of rules of one priority is nobody's business here.
  static std::string everything() {
    return with_the_first_mark(
        run("ip rule | sort; ip -6 rule | sort; ip route show table all; nft list ruleset | tr ',{}' '\\n' | sort"));
  }

  // Which mark its one class has is the agent's choice: a mark whose rules stand and whose chain does not, as after a
  // kill between the two, is nobody's, so the next start takes another and removes those rules.
  static std::string with_the_first_mark(std::string text) {
    constexpr unsigned kWindow = 0x3f00;
    constexpr unsigned kFirst = 0x100;
    const std::regex rule("fwmark 0x([0-9a-f]+)/0x3f00 lookup [0-9]+ proto 183");
    std::smatch found;
    if (!std::regex_search(text, found, rule)) return text;
    const auto mark = static_cast<unsigned>(std::stoul(found[1].str(), nullptr, 16));
    const auto rename = [&](auto spell) {
      const std::string from = spell(mark);
      for (auto at = text.find(from); at != std::string::npos; at = text.find(from, at + 1)) {
        text.replace(at, from.size(), spell(kFirst));
      }
    };
    rename([](unsigned one) { return fmt::format("0x{:x}/0x3f00", one); });
    rename([](unsigned one) { return fmt::format("source{:02}", one >> 8U); });
    rename([](unsigned one) { return fmt::format("0x{:08x} | 0x{:08x}", ~kWindow | one, one); });
    return text;
  }

  testbed::Finished trace(std::vector<std::string> options) {
    auto done = testbed::run(traced(std::move(options), agent_once()), kBound);
    EXPECT_TRUE(done) << done.error().message();
    return done ? *std::move(done) : testbed::Finished{};
  }
  // One that stays, until the value goes.
  testbed::Process start_traced(std::vector<std::string> options) {
    return testbed::Process::start(traced(std::move(options), {IPRULE_AGENT, "standalone", folder_.path().native()}))
        .value();
  }

  // The calls that the workload makes. strace counts them for each thread and name.
  std::vector<Point> points() {
    start_anew();
    ask_for(GetParam().after);
    const auto done = trace({"-e", "trace=sendto,sendmsg,recvfrom,recvmsg"});
    EXPECT_TRUE(done.exit.ok()) << done.exit.text() << ": " << done.errors;
    std::map<std::string, std::map<std::string, int>> counts;
    std::istringstream lines(base::read_file(traces_ / "trace").value());
    for (std::string thread, rest; lines >> thread && std::getline(lines >> std::ws, rest);) {
      const auto end = rest.find('(');
      if (end != std::string::npos && !rest.starts_with('<')) ++counts[rest.substr(0, end)][thread];
    }
    std::vector<Point> out;
    for (const auto& [call, threads] : counts) {
      int most = 0;
      for (const auto& [thread, count] : threads) most = std::max(most, count);
      for (int i = 1; i <= most; ++i) out.push_back({.call = call, .number = i});
    }
    return out;
  }

  testbed::TempFolder folder_;
  testbed::TempFolder traces_;

 private:
  // LeakSanitizer does not work under ptrace.
  testbed::Command traced(std::vector<std::string> options, std::vector<std::string> agent) const {
    std::vector<std::string> arguments = {"strace", "-f", "-qq", "-o", (traces_ / "trace").native()};
    std::ranges::move(options, std::back_inserter(arguments));
    std::ranges::move(agent, std::back_inserter(arguments));
    return {.arguments = std::move(arguments), .environment = {"ASAN_OPTIONS=detect_leaks=0"}};
  }

  static std::string manifests(const Wish& wish) {
    std::string out = fmt::format(
        "kind: IPRule\nmetadata: {{name: public}}\nspec: {{cidrs: [203.0.0.0/16], table: {}, priority: 1000}}\n",
        wish.table);
    for (int i = 0; i < wish.sources; ++i) {
      out += fmt::format(
          "---\nkind: Service\nmetadata: {{name: web-{0}, namespace: shop}}\n"
          "spec: {{type: LoadBalancer, clusterIPs: [10.96.{1}.{2}]}}\n"
          "status: {{loadBalancer: {{ingress: [{{ip: 203.0.{1}.{2}}}]}}}}\n",
          i, i / 200, i % 200 + 1);
    }
    return out;
  }
};
