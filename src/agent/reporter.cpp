#include "agent/reporter.h"

#include <chrono>
#include <utility>

#include "agent/resources.h"
#include "base/log.h"
#include "json/reader.h"
#include "json/writer.h"
#include "kube/reflector.h"
#include "kube/watch.h"

namespace agent {
namespace {

using namespace std::chrono_literals;

constexpr auto kReportTime = 30s;

meta::Time wall_time() {
  return std::chrono::floor<std::chrono::seconds>(std::chrono::system_clock::now());
}

// The whole status at once, and only for the object and the token that it answers: one made anew under the same name,
// or asked anew meanwhile, is not answered by what was found before.
std::string patch_for(const Findings& findings, const api::NodeState::Status& status) {
  return json::array([&](json::Array& steps) {
    const auto expect = [&](std::string_view path, const std::string& value) {
      steps.object([&](json::Object& step) {
        step.put("op", "test");
        step.put("path", path);
        step.put("value", value);
      });
    };
    expect("/metadata/uid", findings.uid);
    expect("/spec/token", findings.token);
    steps.object([&](json::Object& step) {
      step.put("op", "add");
      step.put("path", "/status");
      step.put_json("value", api::encode(status));
    });
  });
}

base::Result<std::uint64_t> version_in(std::string_view answer) {
  json::Reader reader;
  const auto object = TRY(reader.parse(answer));
  return kube::parse_version(TRY(object["metadata"]["resourceVersion"].string()));
}

}  // namespace

Reporter::Reporter(kube::Client& client, std::string node)
    : client_(client),
      node_(std::move(node)),
      backoff_(200ms, 30s, kube::random_seed()),
      thread_([this](std::stop_token stop) { run(std::move(stop)); }) {}

void Reporter::note(Findings findings) {
  latest_.publish(std::move(findings));
  changed_.raise();
}

void Reporter::run(std::stop_token stop) {
  std::optional<base::TimePoint> again;
  while (!stop.stop_requested()) {
    (void)changed_.wait(stop, again);
    again.reset();
    auto latest = latest_.latest();
    if (!*latest || stop.stop_requested()) continue;
    if ((*latest)->turn > base::Duration::zero()) {
      (void)runtime::Signal().wait(stop, base::SteadyClock().now() + (*latest)->turn);
      latest = latest_.latest();
    }
    if (const auto done = write(**latest, kube::within(kReportTime, stop)); done) {
      backoff_.reset();
      tell("");
    } else {
      tell(done.error().message());
      again = base::SteadyClock().now() + backoff_.next();
    }
  }
}

void Reporter::close(const Findings& last, kube::Limit limit) {
  thread_.request_stop();
  if (thread_.joinable()) thread_.join();
  if (const auto done = write(last, std::move(limit)); !done) tell(done.error().message());
}

base::Status Reporter::write(const Findings& findings, kube::Limit limit) {
  const api::NodeState::Status* last = last_.held(findings, base::SteadyClock().now());
  const api::NodeState::Status none;
  api::NodeState::Status next =
      intent::next_status(last != nullptr ? *last : none, findings.found, findings.progress, wall_time());
  if (last != nullptr && next == *last) return {};

  limit.urgent = true;
  const std::string answer = TRY(client_.patch_status(ours(api::NodeState::kPlural), {.ns = "", .name = node_},
                                                      kube::PatchType::json, patch_for(findings, next), limit));
  last_.wrote(findings, std::move(next), TRY(version_in(answer)), base::SteadyClock().now());
  return {};
}

// Once when it starts, once when it ends; not with every try.
void Reporter::tell(std::string trouble) {
  if (trouble == told_) return;
  if (trouble.empty()) {
    base::log::info("the report is written again");
  } else {
    base::log::warning("the report cannot be written, will try again", {{"err", trouble}});
  }
  told_ = std::move(trouble);
}

}  // namespace agent
