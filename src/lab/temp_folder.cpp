#include "lab/temp_folder.h"

#include <cstdio>
#include <cstdlib>
#include <string>
#include <system_error>

namespace lab {

TempFolder::TempFolder() {
  std::string pattern = std::filesystem::temp_directory_path() / "iprule.XXXXXX";
  if (::mkdtemp(pattern.data()) == nullptr) {
    std::perror(pattern.c_str());
    std::abort();
  }
  path_ = pattern;
}

TempFolder::~TempFolder() {
  std::error_code ignored;  // Best effort: the sandbox takes the rest with it.
  std::filesystem::remove_all(path_, ignored);
}

}  // namespace lab
