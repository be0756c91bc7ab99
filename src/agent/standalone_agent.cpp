#include "agent/standalone_agent.h"

#include <optional>
#include <utility>

#include "agent/folder_source.h"
#include "agent/node_loop.h"
#include "agent/presence.h"
#include "agent/standalone_status.h"
#include "base/log.h"
#include "runtime/signal.h"

namespace agent {
namespace {

// Keeps the status file as true as the last look was.
class StatusWriter {
 public:
  // `stays`: an agent goes on afterwards, and can be seen to.
  StatusWriter(const StandaloneOptions& options, const FolderSource& source, bool stays)
      : folder_(options.status_folder), source_(source), status_{.folder = options.folder.native(), .once = !stays} {
    if (stays && !folder_.empty()) announce();
  }

  void tell(const Looked& looked) {
    if (folder_.empty()) return;
    status_.trouble = source_.trouble();
    status_.rules = source_.rules();
    take(status_, looked);
    const auto written = write_status(folder_, status_);
    const std::string complaint = written ? "" : written.error().message();
    if (complaint != told_ && !written) base::log::warning("the status cannot be written", {{"err", complaint}});
    told_ = complaint;
  }

 private:
  void announce() {
    auto presence = Presence::announce(folder_);
    if (presence) {
      presence_.emplace(*std::move(presence));
    } else {
      base::log::warning("iprulectl will not see that this agent runs", {{"err", presence.error().message()}});
    }
  }

  std::filesystem::path folder_;
  const FolderSource& source_;
  StandaloneStatus status_;
  std::optional<Presence> presence_;
  std::string told_;
};

// The parts of a standalone agent, built in order.
struct Parts {
  runtime::Signal changed;
  std::unique_ptr<FolderSource> source;
  std::unique_ptr<StatusWriter> status;
  std::unique_ptr<NodeLoop> loop;
};

base::Result<std::unique_ptr<Parts>> build(const StandaloneOptions& options, bool stays) {
  auto parts = std::make_unique<Parts>();
  parts->source = TRY(FolderSource::open(options.folder, options.node, parts->changed));
  parts->status = std::make_unique<StatusWriter>(options, *parts->source, stays);
  NodeLoopOptions loop{.audit = options.audit};
  loop.confirm = [source = parts->source.get()] { return source->confirm(); };
  loop.after = [status = parts->status.get()](const Looked& looked) { status->tell(looked); };
  parts->loop =
      std::make_unique<NodeLoop>([source = parts->source.get()](const Sight& sight) { return source->latest(sight); },
                                 parts->changed, std::move(loop));
  return parts;
}

}  // namespace

base::Status run_standalone(const StandaloneOptions& options, std::stop_token stop) {
  const auto parts = TRY(build(options, true));
  parts->loop->run(stop);
  return {};
}

base::Status apply_once(const StandaloneOptions& options, std::stop_token stop) {
  const auto parts = TRY(build(options, false));
  auto looked = parts->loop->pass(stop);
  if (looked && *looked && !(*looked)->wanted.whole) {
    // Most of what stands would go: only if the folder says the same in a moment.
    (void)runtime::Signal().wait(stop, std::chrono::steady_clock::now() + Vanished::kHold);
    looked = parts->loop->pass(stop);
  }
  parts->status->tell(looked);
  if (!looked) return std::unexpected(looked.error());
  if (!*looked) return base::fail(base::Fault::invalid, parts->source->trouble());
  const kernel::Engine::Report& report = (*looked)->report;
  if (!report.settled()) {
    return base::fail(base::Fault::unavailable, "not everything could be applied: " + first_failure(report));
  }
  return {};
}

}  // namespace agent
