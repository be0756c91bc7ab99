#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <map>
#include <memory>
#include <thread>
#include <utility>

#include <fmt/format.h>

#include "bench/footprint.h"
#include "bench/line_of.h"
#include "bench/measure.h"
#include "bench/peer.h"
#include "kube/client.h"
#include "lab/process.h"
#include "testbed/cluster.h"

namespace bench {
namespace {

using namespace std::chrono_literals;

constexpr std::uint32_t kServices = 10'000;
constexpr std::uint32_t kLeastOfGrowth = kServices / 4;
constexpr std::uint32_t kEvents = 1'000;
constexpr int kApplies = 1'000;
constexpr int kWriters = 4;
constexpr int kRounds = 5;

const kube::Resource kResource{"", "v1", "services", true};

// What one of the two had to say.
struct Story {
  double synced = 0;
  double sync_processor = 0;
  double p50 = 0;
  double p99 = 0;
  double processor = 0;           // Per event, when each change waits for the one before.
  double processor_in_crowd = 0;  // The same, when several writers change objects at a time.
  double resident = 0;
  double applies = 0;
};

// A control plane with many Services, and all followers on it at the same time: what else happens hits them alike.
class Contest {
 public:
  base::Status run() {
    cluster_ = TRY(testbed::Cluster::start());
    const auto config = TRY(kube::from_kubeconfig({cluster_->admin_kubeconfig()}, ""));
    client_ = TRY(kube::Client::connect(config, {.user_agent = "bench"}, {.rate = 10'000, .burst = 10'000}));
    const std::string access = cluster_->admin_kubeconfig().native();
    const std::string events = std::to_string(kEvents);
    const std::string peer = TRY(peer_program());
    const lab::Command our_command{.arguments = {FOLLOWER, access, events}};
    const lab::Command our_json_command{.arguments = {FOLLOWER, access, events, "json"}};
    const lab::Command their_command{.arguments = {peer, "watch", access, events}};
    const lab::Command their_json_command{.arguments = {peer, "watch-json", access, events}};
    for (const std::uint32_t size : {kLeastOfGrowth, kLeastOfGrowth * 2, kServices}) {
      TRY(create_services(size));
      double least = TRY(time_to_sync(our_command));
      for (int round = 1; round < 3; ++round) least = std::min(least, TRY(time_to_sync(our_command)));
      growth_[size] = least;
    }
    // In turns and one at a time, so that neither waits for the other's answer or finds a server that it has warmed.
    std::vector<double> our_times;
    std::vector<double> their_times;
    for (int round = 0; round < kRounds; ++round) {
      our_times.push_back(TRY(time_to_sync(our_command)));
      their_times.push_back(TRY(time_to_sync(their_command)));
    }
    ours_.synced = median(our_times);
    theirs_.synced = median(their_times);

    const lab::Command reader{.arguments = {RAW_READER, access, events}};
    // The fewer follow, the less each waits for its turn.
    TRY(follow_changes({{our_command, &ours_}, {their_command, &theirs_}, {reader, &raw_}}, 1));
    TRY(follow_changes({{our_json_command, &ours_in_json_}, {their_json_command, &theirs_in_json_}}, 1));
    TRY(follow_crowd({our_command, &ours_}, {their_command, &theirs_}));
    TRY(follow_crowd({our_json_command, &ours_in_json_}, {their_json_command, &theirs_in_json_}));
    return compare_writers({.arguments = {peer, "apply", access, std::to_string(kApplies)}});
  }
  double sync_time(std::uint32_t services) const { return growth_.at(services); }
  const Story& ours() const { return ours_; }
  const Story& theirs() const { return theirs_; }
  const Story& raw() const { return raw_; }
  const Story& ours_in_json() const { return ours_in_json_; }
  const Story& theirs_in_json() const { return theirs_in_json_; }

 private:
  static base::Result<double> time_to_sync(const lab::Command& command) {
    auto process = TRY(lab::Process::start(command));
    return number(process, "synced ");
  }
  static base::Result<double> number(lab::Process& process, std::string_view word) {
    return std::strtod(TRY(line_of(process, word)).c_str(), nullptr);
  }
  // Until each has seen so many changes, made by some writers at a time.
  struct Follower {
    lab::Command command;
    Story* story;
  };
  base::Status follow_changes(const std::vector<Follower>& followers, int writers) {
    std::vector<lab::Process> processes;
    for (const Follower& follower : followers) {
      processes.push_back(TRY(lab::Process::start(follower.command)));
      follower.story->sync_processor = TRY(number(processes.back(), "processor "));
    }
    TRY(footprint_at_rest(processes.back().pid()));  // What there was has passed by.
    TRY(touch_services(writers));
    for (std::size_t i = 0; i < followers.size(); ++i) TRY(finish(processes[i], *followers[i].story));
    return {};
  }
  base::Status follow_crowd(const Follower& us, const Follower& them) {
    Story ours;
    Story theirs;
    TRY(follow_changes({{us.command, &ours}, {them.command, &theirs}}, kWriters));
    us.story->processor_in_crowd = ours.processor;
    them.story->processor_in_crowd = theirs.processor;
    return {};
  }
  static base::Status finish(lab::Process& process, Story& story) {
    const std::string line = TRY(line_of(process, "events "));
    char* rest = nullptr;
    story.p50 = std::strtod(line.c_str(), &rest);
    story.p99 = std::strtod(rest, &rest);
    story.processor = std::strtod(rest, &rest);
    story.resident = footprint_of(process.pid()).resident;
    return {};
  }

  base::Status compare_writers(const lab::Command& their_command) {
    std::vector<double> our_times;
    std::vector<double> their_times;
    for (int round = 0; round < kRounds; ++round) {
      const auto start = std::chrono::steady_clock::now();
      TRY(apply_config_maps(round));
      our_times.push_back(std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count());
      auto process = TRY(lab::Process::start(their_command));
      their_times.push_back(TRY(number(process, "applied ")));
    }
    ours_.applies = median(our_times);
    theirs_.applies = median(their_times);
    return {};
  }

  // Calls `write(i)` for each i below `count`, by some writers at a time.
  template <typename Write>
  static base::Status by_writers(int writers, std::uint32_t count, Write write) {
    std::atomic<std::uint32_t> next = 0;
    std::atomic<bool> failed = false;
    std::vector<std::jthread> threads;
    for (int t = 0; t < writers; ++t) {
      threads.emplace_back([&] {
        for (std::uint32_t i = next++; i < count && !failed; i = next++) {
          if (!write(i)) failed = true;
        }
      });
    }
    threads.clear();
    if (failed) return base::fail(base::Fault::unavailable, "the API server refuses our writes");
    return {};
  }

  base::Status apply_config_maps(int round) {
    return by_writers(kWriters, kApplies, [&](std::uint32_t i) {
      const std::string name = fmt::format("ours-{}", i);
      return client_->patch(
          {"", "v1", "configmaps", true}, {"default", name}, kube::PatchType::apply,
          fmt::format(
              R"({{"apiVersion":"v1","kind":"ConfigMap","metadata":{{"name":"{}"}},"data":{{"value":"round {}"}}}})",
              name, round),
          kube::within(30s));
    });
  }

  base::Status create_services(std::uint32_t until) {
    const std::uint32_t first = std::exchange(services_, until);
    return by_writers(kWriters, until - first, [&](std::uint32_t i) {
      return client_->create(
          kResource, "default",
          fmt::format(
              R"({{"metadata":{{"name":"web-{}","labels":{{"app":"web","team":"shop"}}}},"spec":{{"clusterIP":"None","ports":[{{"port":80}}],"selector":{{"app":"web"}}}}}})",
              first + i),
          kube::within(30s));
    });
  }
  base::Status touch_services(int writers) {
    return by_writers(writers, kEvents, [&](std::uint32_t i) {
      const auto now = std::chrono::system_clock::now().time_since_epoch();
      return client_->patch(kResource, {"default", fmt::format("web-{}", i)}, kube::PatchType::merge,
                            fmt::format(R"({{"metadata":{{"annotations":{{"bench/at":"{}"}}}}}})",
                                        std::chrono::duration_cast<std::chrono::nanoseconds>(now).count()),
                            kube::within(30s));
    });
  }

  std::unique_ptr<testbed::Cluster> cluster_;
  std::unique_ptr<kube::Client> client_;
  std::uint32_t services_ = 0;
  std::map<std::uint32_t, double> growth_;
  Story ours_;
  Story theirs_;
  Story raw_;
  // Both ask for protobuf where a kind has it. Kinds of custom resources, as all of ours are, have none: what an event
  // of those costs, Services in JSON show.
  Story ours_in_json_;
  Story theirs_in_json_;
};

}  // namespace

Group kube_group() {
  struct Shared {
    std::unique_ptr<Contest> contest;
    base::Result<Contest*> done() {
      if (!contest) {
        auto fresh = std::make_unique<Contest>();
        TRY(fresh->run());
        contest = std::move(fresh);
      }
      return contest.get();
    }
  };
  const auto shared = std::make_shared<Shared>();
  using Teller = const Story& (Contest::*)() const;
  const auto ask = [shared](Teller who, double Story::* what) -> Work {
    return [=]() -> base::Result<double> { return (TRY(shared->done())->*who)().*what; };
  };
  const auto line = [ask](std::string name, double Story::* what, double budget, std::string unit = "ms") {
    return Promise{.name = std::move(name),
                   .ours = ask(&Contest::ours, what),
                   .peer = Contender{"client-go", ask(&Contest::theirs, what)},
                   .budget = budget,
                   .against_peer = true,
                   .rounds = 1,
                   .unit = std::move(unit)};
  };
  // Beside whoever reads the same bytes and does nothing with them.
  const auto event_line = [ask, line](std::string name, double Story::* what, double budget) {
    Promise out = line(std::move(name), what, budget);
    out.limit = Contender{"raw TLS reader", ask(&Contest::raw, what)};
    return out;
  };
  const auto in_json = [ask](Promise out, double Story::* what) {
    out.ours = ask(&Contest::ours_in_json, what);
    out.peer = Contender{"client-go", ask(&Contest::theirs_in_json, what)};
    return out;
  };
  constexpr double kThird = 1.0 / 3;
  constexpr double kHalf = 0.5;
  return {.name = "kube",
          .promises = {line("10,000 Services, connect to complete", &Story::synced, 1),
                       line("processor time of that", &Story::sync_processor, 0.5),
                       line("resident with 10,000 Services", &Story::resident, 0.25, "MiB"),
                       event_line("change to handler, p50", &Story::p50, 1),
                       event_line("change to handler, p99", &Story::p99, 1),
                       in_json(line("processor time per event in JSON", &Story::processor, kThird), &Story::processor),
                       in_json(line("the same in JSON, 4 writers", &Story::processor_in_crowd, kThird),
                               &Story::processor_in_crowd),
                       event_line("processor time per event in protobuf", &Story::processor, kHalf),
                       line("the same in protobuf, 4 writers", &Story::processor_in_crowd, kHalf),
                       line("1,000 server-side applies, 4 writers", &Story::applies, 1)},
          .growth = {{.name = "n Services, connect to complete",
                      .least = kLeastOfGrowth,
                      .expected = 1,
                      .work = [shared](std::uint32_t n) -> base::Result<double> {
                        const Contest* const contest = TRY(shared->done());
                        return contest->sync_time(n);
                      },
                      .rounds = 1}}};
}

}  // namespace bench
