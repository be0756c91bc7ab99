#include <memory>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "bench/crossing.h"
#include "bench/measure.h"
#include "bench/samples.h"

// What traffic pays for the sources on a node, beside a node without any.
namespace bench {
namespace {

using Figure = base::Result<double> (Crossing::*)();

// Built when a line first needs it.
class Lane {
 public:
  explicit Lane(state::NetState steering) : steering_(std::move(steering)) {}
  base::Result<double> measure(Figure figure) {
    if (!crossing_) crossing_ = TRY(Crossing::build(steering_));
    return ((*crossing_).*figure)();
  }

 private:
  state::NetState steering_;
  std::unique_ptr<Crossing> crossing_;
};

struct Steering {
  std::string name;
  std::shared_ptr<Lane> lane;
  bool is_promised = false;
};

struct Question {
  std::string name;
  Figure figure;
  std::string unit;
  Better better;
};

std::vector<Steering> steerings() {
  std::vector<Steering> out;
  for (const std::uint32_t count : {100U, 1'000U, 5'000U, 20'000U}) {
    out.push_back({fmt::format("{} sources as rules", count), std::make_shared<Lane>(many_rules(count))});
  }
  for (const std::uint32_t count : {1'000U, 20'000U, 65'000U}) {
    out.push_back(
        {fmt::format("{} sources as marks", count), std::make_shared<Lane>(many_marks(count)), count == 20'000});
  }
  return out;
}

// The time that one packet takes, in microseconds.
base::Result<double> packet_cost(const state::NetState& steering) {
  const auto crossing = TRY(Crossing::build(steering));
  const double rate = TRY(crossing->packets_per_second());
  return 1e6 / rate;
}

}  // namespace

Group dataplane_group() {
  const std::vector<Question> questions = {
      {"packets/s", &Crossing::packets_per_second, "/s", Better::higher},
      {"p99 latency", &Crossing::latency_p99, "us", Better::lower},
      {"connections/s", &Crossing::connections_per_second, "/s", Better::higher},
  };
  const auto none = std::make_shared<Lane>(state::NetState());
  Group group{.name = "dataplane", .promises = {}};
  const auto all = steerings();
  for (const Question& question : questions) {
    for (const Steering& steering : all) {
      Promise line{.name = fmt::format("{}, {}", question.name, steering.name),
                   .ours = [=] { return steering.lane->measure(question.figure); },
                   .limit = Contender{"none", [=] { return none->measure(question.figure); }},
                   .rounds = 5,
                   .unit = question.unit,
                   .better = question.better};
      if (steering.is_promised && question.figure == &Crossing::packets_per_second) line.budget = 0.85;
      group.promises.push_back(std::move(line));
    }
  }
  group.growth = {{.name = "one packet, n sources as rules",
                   .least = 5'000,
                   .expected = 1,
                   .work = [](std::uint32_t n) { return packet_cost(many_rules(n)); },
                   .rounds = 2,
                   .unit = "us"},
                  {.name = "one packet, n sources as marks",
                   .least = 16'000,
                   .expected = 0,
                   .work = [](std::uint32_t n) { return packet_cost(many_marks(n)); },
                   .rounds = 2,
                   .unit = "us"}};
  return group;
}

}  // namespace bench
