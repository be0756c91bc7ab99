#include "cli/asked_nodes.h"

#include <chrono>
#include <memory>
#include <utility>

#include "base/clock.h"
#include "cli/progress.h"
#include "runtime/signal.h"

namespace cli {
namespace {

constexpr std::chrono::milliseconds kRedraw{100};

}  // namespace

AskedNodes::AskedNodes(int descriptor, std::size_t total) : descriptor_(descriptor), total_(total) {
  if (Progress::is_possible(descriptor)) thread_ = std::jthread([this](const std::stop_token& stop) { draw(stop); });
}

void AskedNodes::draw(const std::stop_token& stop) const {
  Progress progress(descriptor_);
  runtime::Signal nothing;
  while (!stop.stop_requested()) {
    progress.step("nodes", done_, total_);
    (void)nothing.wait(stop, base::SteadyClock().now() + kRedraw);
  }
}

AskNode with_progress(AskNode ask, int descriptor, std::size_t total) {
  return [ask = std::move(ask), shown = std::make_shared<AskedNodes>(descriptor, total)](const std::string& node,
                                                                                         const Question& question) {
    auto answer = ask(node, question);
    shown->next();
    return answer;
  };
}

}  // namespace cli
