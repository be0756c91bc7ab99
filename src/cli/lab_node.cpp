#include "cli/lab_node.h"

#include <algorithm>
#include <thread>

#include <fmt/format.h>

#include "kernel/engine.h"

namespace cli {
namespace {

using namespace std::chrono_literals;
using std::chrono::steady_clock;

constexpr auto kNodePatience = 120s;  // A machine may be slow, or busy with something else.

}  // namespace

std::string last_words(const lab::Process& program) {
  constexpr std::size_t kEnough = 600;
  std::string all = program.output() + program.errors();
  if (all.size() <= kEnough) return all;
  const auto line = all.find('\n', all.size() - kEnough);
  return line == std::string::npos ? all : all.substr(line + 1);
}

base::Status LabNode::start_agent() {
  if (!runs_agent()) agent_ = TRY(node_.host->start(agent_command_));
  return {};
}

void LabNode::kill_agent() {
  if (agent_ != nullptr) agent_->kill();
}

base::Result<std::chrono::milliseconds> LabNode::wait_until(std::string_view what, const Fact& fact) {
  const auto begun = steady_clock::now();
  const auto look = [&]() -> base::Status {
    auto engine = TRY(kernel::Engine::open({}, kernel::Engine::Reach::steering));
    while (true) {
      const auto look_begun = steady_clock::now();
      const auto seen = TRY(engine.observe({}));
      if (fact(state::state_of(seen))) return {};
      const bool running = runs_agent();
      if (!running || steady_clock::now() - begun > kNodePatience) {
        return base::fail(running ? base::Fault::timeout : base::Fault::unavailable,
                          fmt::format("{}: not seen on {}; its agent said: {}", what, node_.name,
                                      agent_ != nullptr ? last_words(*agent_) : "nothing, for it does not run"));
      }
      // Looking must not keep the agent from its work: at most half of the time.
      std::this_thread::sleep_for(std::max<steady_clock::duration>(1ms, steady_clock::now() - look_begun));
    }
  };
  TRY(node_.host->within(look));
  return std::chrono::ceil<std::chrono::milliseconds>(steady_clock::now() - begun);
}

base::Result<Answer> LabNode::answer(const std::function<base::Result<Answer>()>& question) const {
  Answer out;
  const auto ask = [&]() -> base::Status {
    out = TRY(question());
    return {};
  };
  TRY(node_.host->within(ask));
  return out;
}

}  // namespace cli
