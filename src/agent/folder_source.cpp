#include "agent/folder_source.h"

#include <utility>
#include <vector>

#include "agent/manifests.h"
#include "agent/node_settings.h"
#include "api/published_config.h"
#include "base/log.h"

namespace agent {

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
  if (manifests) {
    last_good_ = publish(*manifests);
    settings_ = settings_of(*manifests, node_);
    const api::Agent* agent = active_agent(*manifests);
    foreign_order_ = agent != nullptr ? foreign_order(agent->spec) : std::nullopt;
    rules_ = rules_of(*manifests);
  }
  if (!last_good_ || sight.kernel == nullptr) return std::nullopt;
  std::vector<const api::PublishedConfig*> pointers;
  for (const api::PublishedConfig& config : *last_good_) pointers.push_back(&config);
  Wanted wanted = compiler_.compile(pointers, settings_, true, sight);
  wanted.foreign_rules = foreign_order_;
  return wanted;
}

}  // namespace agent
