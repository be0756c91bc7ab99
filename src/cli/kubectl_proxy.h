#pragma once

#include <chrono>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "http/url.h"
#include "lab/process.h"

namespace cli {

// `kubectl proxy` on a Unix socket that only we can reach: whatever way of logging in kubectl knows, its questions
// come from there. It ends with this object, and its socket goes; also when we are interrupted.
class KubectlProxy {
 public:
  // `flags`: which cluster, and as whom, in kubectl's words. An error tells what kubectl said.
  static base::Result<std::unique_ptr<KubectlProxy>> start(const std::vector<std::string>& flags,
                                                           std::chrono::seconds patience);
  KubectlProxy(const KubectlProxy&) = delete;
  KubectlProxy& operator=(const KubectlProxy&) = delete;
  ~KubectlProxy();

  http::Url server() const;

 private:
  KubectlProxy(std::filesystem::path folder, lab::Process process)
      : folder_(std::move(folder)), process_(std::move(process)) {}
  base::Status wait_ready(std::chrono::seconds patience);

  std::filesystem::path folder_;
  lab::Process process_;
};

}  // namespace cli
