#include "filename_flag.h"

#include <cstdio>

#include <fmt/format.h>

namespace iprulectl {

CLI::Option* add_filename_flag(CLI::App& word, Filenames& filenames, const std::string& what) {
  return word.add_option("-f,--filename", filenames, what + ": file or folder, - is standard input; may be repeated")
      ->allow_extra_args(false);
}

base::Result<agent::Manifests> read_filenames(const Filenames& filenames, const Common& common) {
  auto out = TRY(agent::read_manifests(filenames, agent::OtherKinds::pass_over));
  if (out.passed_over > 0 && !common.quiet) {
    fmt::print(stderr, "iprulectl: {} object{} of other kinds not read\n", out.passed_over,
               out.passed_over == 1 ? "" : "s");
  }
  return out;
}

}  // namespace iprulectl
