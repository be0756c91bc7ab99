#pragma once

#include <filesystem>
#include <memory>
#include <stop_token>
#include <thread>

#include "base/fd.h"
#include "base/result.h"
#include "runtime/signal.h"

namespace agent {

// Raises `changed` whenever a file of the folder was written, moved or removed, from a thread of its own.
class FolderWatch {
 public:
  static base::Result<std::unique_ptr<FolderWatch>> start(const std::filesystem::path& folder,
                                                          runtime::Signal& changed);
  ~FolderWatch();
  FolderWatch(const FolderWatch&) = delete;
  FolderWatch& operator=(const FolderWatch&) = delete;

 private:
  FolderWatch(base::Fd notify, base::Fd wake, runtime::Signal& changed);
  void run();

  base::Fd notify_;
  base::Fd wake_;  // Readable when it is time to end.
  runtime::Signal& changed_;
  std::thread thread_;
};

}  // namespace agent
