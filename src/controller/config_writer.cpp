#include "controller/config_writer.h"

#include "controller/resources.h"

namespace controller {
namespace {

// An object without what an older kind lacks is not the one that was meant: nodes would do something else, and we would
// not find it again, and make it once more.
constexpr auto kWhole = kube::UnknownFields::refused;

// A server says only what it does not know, and not that this is our kind in another version.
kube::Result<std::string> with_cure(kube::Result<std::string> answer) {
  if (answer || !answer.error().message().contains("strict decoding error")) return answer;
  return std::unexpected(kube::Error(std::move(answer.error())
                                         .within("the server would leave out what was written; apply the "
                                                 "CustomResourceDefinitions of this version")));
}

}  // namespace

base::Status ConfigWriter::write(const intent::Write& write, std::stop_token stop) {
  const auto configs = resource_of<api::IPRuleConfig>();
  const kube::Limit limit = kube::within(request_time_, std::move(stop));
  const meta::Meta& meta = write.object.meta;
  const kube::Key key{.ns = "", .name = meta.name};
  if (write.step == intent::Write::Step::remove) {
    const auto removed =
        client_.remove(configs, key, {.uid = meta.uid, .resource_version = meta.resource_version}, limit);
    if (!removed && removed.error().fault() != base::Fault::absent) return std::unexpected(removed.error());
    own_.note_removal(meta);
    return {};
  }
  const auto body = api::encode(write.object);
  own_.note(
      TRY(with_cure(write.step == intent::Write::Step::create ? client_.create(configs, "", body, limit, kWhole)
                                                              : client_.update(configs, key, body, limit, kWhole))));
  return {};
}

base::Status ConfigWriter::write_status(const api::IPRuleConfig& config, std::stop_token stop) {
  const kube::Key key{.ns = "", .name = config.meta.name};
  own_.note(TRY(statuses_.update_status(resource_of<api::IPRuleConfig>(), key, api::encode(config),
                                        kube::within(request_time_, std::move(stop)))));
  return {};
}

}  // namespace controller
