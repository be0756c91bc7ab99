#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "agent/manifests.h"
#include "base/result.h"
#include "command_line.h"

namespace iprulectl {

using Filenames = std::vector<std::filesystem::path>;

// -f, as often as one likes.
CLI::Option* add_filename_flag(CLI::App& word, Filenames& filenames, const std::string& what);

// What is in them, read past objects that say nothing to us. How many these were is told on standard error: the reader
// may have thought of one of them as ours.
base::Result<agent::Manifests> read_filenames(const Filenames& filenames, const Common& common);

}  // namespace iprulectl
