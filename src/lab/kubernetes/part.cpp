#include "lab/kubernetes/part.h"

#include <chrono>
#include <csignal>
#include <utility>

#include <fmt/format.h>

#include "base/file.h"
#include "lab/await.h"

namespace lab {
namespace {

constexpr auto kReadyBound = std::chrono::seconds(90);  // Two seconds on an idle machine.
constexpr auto kStopBound = std::chrono::seconds(90);   // An API server's own is 60 s, for what was asked.
constexpr std::size_t kTailBytes = 4000;

}  // namespace

base::Status Part::start() {
  process_ = TRY(base::within(name_, Process::start(command_)));
  return {};
}

base::Status Part::wait_ready() {
  const auto settled = [this] { return !running() || ready_(); };
  if (await(kReadyBound, settled) && running()) return {};
  return base::fail(base::Fault::unavailable,
                    fmt::format("{} {}\n{}", name_, running() ? "does not get ready" : "has ended", log_tail()));
}

base::Status Part::restart() {
  kill();
  TRY(start());
  return wait_ready();
}

base::Status Part::stop() {
  if (!process_) return {};
  process_->signal(SIGTERM);
  const auto exit = process_->wait_exit(kStopBound);
  if (!exit) {
    kill();
    return base::fail(exit.error().fault(), fmt::format("{} does not stop\n{}", name_, log_tail()));
  }
  process_.reset();
  return {};
}

void Part::kill() {
  process_.reset();
}

void Part::freeze() {
  if (process_) process_->signal(SIGSTOP);
}

void Part::thaw() {
  if (process_) process_->signal(SIGCONT);
}

std::string Part::log_tail() const {
  const std::string text = base::read_file(command_.log, std::size_t{1} << 30U).value_or("");
  return text.size() <= kTailBytes ? text : text.substr(text.find('\n', text.size() - kTailBytes) + 1);
}

}  // namespace lab
