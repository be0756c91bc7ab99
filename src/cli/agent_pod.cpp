#include "cli/agent_pod.h"

#include <fmt/format.h>

#include "api/pod.h"
#include "cli/answer_document.h"
#include "cli/exit_code.h"
#include "cli/last_line.h"
#include "json/reader.h"
#include "kube/pod_exec.h"

namespace cli {
namespace {

// As the agents' image and DaemonSet have them.
constexpr const char* kProgram = "/agent";
constexpr const char* kContainer = "agent";

base::Result<kube::Key> find_pod(kube::Client& client, const std::string& ns, const std::string& node,
                                 const kube::Limit& limit) {
  const kube::Resource pods{"", "v1", "pods", true};
  const auto text = TRY(client.list(pods,
                                    {.selection = {.ns = ns,
                                                   .label_selector = std::string(api::kAgentPodSelector),
                                                   .field_selector = "spec.nodeName=" + node}},
                                    limit));
  json::Reader reader;
  const auto root = TRY(reader.parse(text));
  const auto items = TRY(root["items"].items_or_none());
  for (const json::Value& item : items) {
    const auto pod = TRY(api::decode_pod(item.as_root()));
    if (!pod.meta.terminating()) return kube::Key{.ns = pod.meta.ns, .name = pod.meta.name};
  }
  return base::fail(base::Fault::absent, fmt::format("no agent runs there, by the pods of name space {}", ns));
}

}  // namespace

base::Result<Answer> ask_agent(kube::Client& client, const std::string& ns, const std::string& node,
                               const Question& question, std::chrono::seconds timeout) {
  // Whoever waits for packets answers when they have come.
  const kube::Limit limit = kube::within(question.live ? timeout + question.live->patience : timeout);
  const kube::Key pod = TRY(find_pod(client, ns, node, limit));
  const auto outcome = TRY(kube::run_in_pod(
      client, pod, {.container = kContainer, .arguments = {kProgram, "query"}, .input = encode(question) + "\n"},
      limit));
  if (outcome.code == 0) return base::within("its agent's answer", decode_answer(outcome.output));
  const bool wrong = outcome.code == static_cast<int>(ExitCode::usage);
  return base::fail(wrong ? base::Fault::invalid : base::Fault::unavailable, last_line(outcome.errors));
}

}  // namespace cli
