#include "controller/report_keeper.h"

#include <fmt/format.h>

#include "api/node.h"
#include "base/log.h"
#include "controller/resources.h"
#include "json/reader.h"
#include "kube/reflector.h"
#include "kube/watch.h"

namespace controller {
namespace {

using StateStep = intent::NodeStateWrite::Step;

constexpr auto kAskAgain = std::chrono::minutes(10);  // Meanwhile the kind may have been brought up to date.

}  // namespace

std::string random_token() {
  return fmt::format("{:016x}", kube::random_seed());
}

base::Result<std::uint64_t> ReportKeeper::newest_version(const kube::Limit& limit) {
  const auto answer =
      TRY(client_.list(resource_of<api::IPRuleConfig>(), {.selection = {}, .limit = 1, .token = ""}, limit));
  json::Reader reader;
  const auto list = TRY(reader.parse(answer));
  const std::string_view text = TRY(list["metadata"]["resourceVersion"].string());
  return kube::parse_version(text);
}

base::Result<std::vector<std::string>> ReportKeeper::find_distrusted(const ClusterSeen& seen, std::stop_token stop) {
  trust_.saw(seen.configs.view->version, seen.states.objects);
  if (trust_.must_ask(seen.states.objects)) {
    trust_.asked(TRY(newest_version(kube::within(request_time_, std::move(stop)))));
  }
  return trust_.distrusted(seen.states.objects);
}

base::Result<bool> ReportKeeper::is_node_there(const api::NodeState& state, const kube::Limit& limit) {
  const auto answer = client_.get(kNodes, {.ns = "", .name = state.meta.name}, limit);
  if (!answer && answer.error().fault() == base::Fault::absent) return false;
  if (!answer) return std::unexpected(answer.error());
  json::Reader reader;
  const auto object = TRY(reader.parse(*answer));
  const auto node = TRY(api::decode_node(object));
  return intent::node_uid(state).empty() || intent::node_uid(state) == node.meta.uid;
}

base::Status ReportKeeper::write(const intent::NodeStateWrite& write, std::stop_token stop) {
  const auto states = resource_of<api::NodeState>();
  const kube::Limit limit = kube::within(request_time_, std::move(stop));
  const meta::Meta& meta = write.object.meta;
  const kube::Key key{.ns = "", .name = meta.name};
  if (write.step == StateStep::let_go || write.step == StateStep::node_gone) {
    if (write.step == StateStep::node_gone && TRY(is_node_there(write.object, limit))) return {};
    const auto removed =
        client_.remove(states, key, {.uid = meta.uid, .resource_version = meta.resource_version}, limit);
    if (!removed && removed.error().fault() != base::Fault::absent) return std::unexpected(removed.error());
    own_.note_removal(meta);
    futile_.erase(meta.name);
    return {};
  }
  const auto body = api::encode(write.object);
  if (write.step == StateStep::create) {
    own_.note(TRY(client_.create(states, "", body, limit)));
  } else {
    note_update(write.object, TRY(client_.update(states, key, body, limit)));
  }
  return {};
}

// An update that changes nothing leaves an object its resourceVersion.
void ReportKeeper::note_update(const api::NodeState& wanted, const std::string& answer) {
  if (own_.note(answer) != kube::parse_version(wanted.meta.resource_version)) {
    futile_.erase(wanted.meta.name);
    return;
  }
  if (futile_.empty()) {
    base::log::warning("the server leaves out what was written; apply the CustomResourceDefinitions of this version",
                       {{"kind", std::string(api::NodeState::kKind)}, {"name", wanted.meta.name}});
  }
  futile_.insert_or_assign(wanted.meta.name,
                           Futile{.owners = wanted.meta.owners, .spec = wanted.spec, .at = base::SteadyClock().now()});
}

bool ReportKeeper::is_futile(const intent::NodeStateWrite& write) const {
  const auto known = futile_.find(write.object.meta.name);
  return write.step == StateStep::update && known != futile_.end() && known->second.spec == write.object.spec &&
         known->second.owners == write.object.meta.owners && base::SteadyClock().now() - known->second.at < kAskAgain;
}

}  // namespace controller
