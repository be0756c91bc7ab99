#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>

#include "base/result.h"
#include "cli/answer.h"
#include "cli/examination.h"

namespace cli {

// What a node's data path allows, from what it shows: which source modes can work there, and what stands in the way.
Answer show(const Examined& node);

// Looks at this host. `protocol`: by which number its agent knows its own rules. `wishes`: of the cluster it is a node
// of, where that is known.
base::Result<Answer> examine_host(std::uint8_t protocol, std::optional<NodeWishes> wishes = std::nullopt);

// Looks at a folder of dumps instead, as state_folder.h reads them. What no dump can show is unknown, never bad.
base::Result<Answer> examine_dumps(const std::filesystem::path& folder);

}  // namespace cli
