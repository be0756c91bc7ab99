#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "agent/folder_watch.h"
#include "agent/foreign_order.h"
#include "agent/manifests.h"
#include "agent/node_compiler.h"
#include "agent/node_loop.h"
#include "agent/standalone_status.h"
#include "agent/vanished.h"
#include "api/published_config.h"
#include "base/result.h"
#include "runtime/signal.h"

namespace agent {

// What a folder of manifests asks of this host: the controller's part and the agent's in one. The folder is read as one
// set, again whenever it changes; while it cannot be read whole, the last good set stays. A file that its writer has
// only begun may well be read without an error, so what is missing all of a sudden counts a little longer. For the
// thread of the loop.
class FolderSource {
 public:
  static base::Result<std::unique_ptr<FolderSource>> open(std::filesystem::path folder, std::string node,
                                                          runtime::Signal& changed);

  std::optional<Wanted> latest(const Sight& sight);

  // Whether the last latest() was made from what the folder has said for a moment already.
  bool confirm() const;

  // Why the folder cannot be read at present; empty when it can.
  const std::string& trouble() const { return trouble_; }
  // What became of the IPRules of the last good set.
  const std::vector<StandaloneStatus::Rule>& rules() const { return rules_; }

 private:
  FolderSource(std::filesystem::path folder, std::string node)
      : folder_(std::move(folder)), node_(std::move(node)), compiler_(node_) {}

  void take(const Manifests& manifests, base::TimePoint now);

  std::filesystem::path folder_;
  std::string node_;
  NodeCompiler compiler_;
  std::unique_ptr<FolderWatch> watch_;
  std::optional<std::vector<api::PublishedConfig>> last_good_;
  base::TimePoint said_since_{};                // It was first read then,
  base::TimePoint said_at_{};                   // and at last then.
  std::shared_ptr<const Vanished::View> view_;  // The same, for who looks for what is missing from it.
  Vanished vanished_;
  NodeSettings settings_;  // Of the last good set, as all that follows.
  std::optional<ForeignOrder> foreign_order_;
  std::vector<StandaloneStatus::Rule> rules_;
  std::string trouble_;
};

}  // namespace agent
