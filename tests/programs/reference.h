#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "base/result.h"

// The pages of docs/reference that are made from what they describe.
namespace reference {

// Every field of every kind, from the CustomResourceDefinitions.
base::Result<std::string> kinds_page(const std::filesystem::path& crds);

// Every flag, in the programs' own words.
base::Result<std::string> flags_page(const std::vector<std::filesystem::path>& programs);

// `page` as people wrote it, and behind that the numbers of others as the programs know them.
base::Result<std::string> numbers_page(const std::filesystem::path& page);

// Every metric, from where the sources make it.
base::Result<std::string> metrics_page(const std::filesystem::path& sources);

}  // namespace reference
