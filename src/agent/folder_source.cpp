#include "agent/folder_source.h"

#include <memory>
#include <utility>
#include <vector>

#include "agent/node_settings.h"
#include "agent/sooner.h"
#include "api/published_config.h"
#include "base/log.h"

namespace agent {
namespace {

std::shared_ptr<const Vanished::View> view_of(const std::vector<api::PublishedConfig>& configs) {
  auto out = std::make_shared<Vanished::View>();
  out->complete = true;
  for (const api::PublishedConfig& config : configs) {
    out->objects.insert(std::make_shared<const kube::Object<api::PublishedConfig>>(kube::Object<api::PublishedConfig>{
        .key = {.ns = "", .name = config.name}, .uid = config.uid, .value = config}));
  }
  return out;
}

}  // namespace

base::Result<std::unique_ptr<FolderSource>> FolderSource::open(std::filesystem::path folder, std::string node,
                                                               runtime::Signal& changed) {
  std::unique_ptr<FolderSource> source(new FolderSource(std::move(folder), std::move(node)));
  source->watch_ = TRY(FolderWatch::start(source->folder_, changed));
  return source;
}

std::optional<Wanted> FolderSource::latest(const Sight& sight) {
  const auto manifests = read_manifests(folder_);
  const std::string trouble = manifests ? "" : manifests.error().message();
  if (trouble != trouble_) {
    if (!trouble.empty()) base::log::warning("the folder cannot be read; the last good set stays", {{"err", trouble}});
    trouble_ = trouble;
  }
  if (sight.kernel == nullptr) return std::nullopt;
  if (manifests) take(*manifests, sight.now);
  if (!last_good_) return std::nullopt;
  vanished_.note(view_, sight.now);
  std::vector<const api::PublishedConfig*> pointers;
  for (const api::PublishedConfig& config : *last_good_) pointers.push_back(&config);
  for (const auto& held : vanished_.held()) pointers.push_back(&held->value);
  Wanted wanted = compiler_.compile(pointers, settings_, true, sight);
  wanted.foreign_rules = foreign_order_;
  wanted.look_again = sooner(wanted.look_again, vanished_.next_due());
  return wanted;
}

void FolderSource::take(const Manifests& manifests, base::TimePoint now) {
  auto configs = publish(manifests);
  if (last_good_ != configs) {
    said_since_ = now;
    view_ = view_of(configs);
    last_good_ = std::move(configs);
  }
  said_at_ = now;
  settings_ = settings_of(manifests, node_);
  const api::Agent* agent = active_agent(manifests);
  foreign_order_ = agent != nullptr ? foreign_order(agent->spec) : std::nullopt;
  rules_ = rules_of(manifests);
}

bool FolderSource::confirm() const {
  return said_at_ - said_since_ >= Vanished::kHold;
}

}  // namespace agent
