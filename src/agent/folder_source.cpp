#include "agent/folder_source.h"

#include <utility>
#include <vector>

#include "agent/manifests.h"
#include "api/published_config.h"
#include "base/log.h"
#include "intent/cluster/changes.h"
#include "intent/cluster/desired.h"

namespace agent {
namespace {

template <typename T>
std::vector<const T*> pointers(const std::vector<T>& values) {
  std::vector<const T*> out;
  for (const T& value : values) out.push_back(&value);
  return out;
}

// The objects a controller would publish, were there an API server to hold them.
std::vector<api::PublishedConfig> publish(const Manifests& manifests) {
  const auto rules = pointers(manifests.rules);
  const auto services = pointers(manifests.services);
  const auto desired = intent::desired_configs({.rules = rules, .services = services, .nodes = {}});
  std::vector<api::PublishedConfig> out;
  for (const intent::Write& write : intent::changes({}, desired, api::kDefaultPriority, intent::DirectRemoval(), {})) {
    out.push_back(api::published(write.object));
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

std::optional<Wanted> FolderSource::latest() {
  const auto manifests = read_manifests(folder_);
  const std::string trouble = manifests ? "" : manifests.error().message();
  if (trouble != trouble_) {
    if (!trouble.empty())
      base::log::warning("the folder cannot be read; the last good set stays", {{"reason", trouble}});
    trouble_ = trouble;
  }
  if (manifests) {
    const auto configs = publish(*manifests);
    last_good_ = compiler_.compile(pointers(configs), {}, true);
  }
  return last_good_;
}

}  // namespace agent
