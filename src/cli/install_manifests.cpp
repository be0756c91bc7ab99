#include "cli/install_manifests.h"

#include <string_view>

namespace cli {
namespace {

// One literal for each document: compilers need not take one as long as the whole.
constexpr std::string_view kDocuments[] = {
#include "cli/install.inc"
};

}  // namespace

std::string install_manifests() {
  std::string out;
  for (const std::string_view document : kDocuments) {
    out += document;
    out += "---\n";
  }
  return out;
}

}  // namespace cli
