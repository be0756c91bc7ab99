#pragma once

#include <filesystem>

namespace lab {

// A new empty folder that goes away with the object, contents and all. Inside the sandbox it lies in memory and also
// goes when the program is killed.
class TempFolder {
 public:
  TempFolder();
  TempFolder(const TempFolder&) = delete;
  TempFolder& operator=(const TempFolder&) = delete;
  ~TempFolder();

  const std::filesystem::path& path() const { return path_; }
  std::filesystem::path operator/(const std::filesystem::path& name) const { return path_ / name; }

 private:
  std::filesystem::path path_;
};

}  // namespace lab
