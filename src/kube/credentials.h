#pragma once

#include <cstdint>
#include <filesystem>
#include <mutex>
#include <optional>
#include <string>
#include <sys/stat.h>

#include "base/result.h"
#include "http/tls.h"
#include "kube/config.h"
#include "kube/exec_plugin.h"

namespace kube {

// Notices that files were replaced, as the kubelet and cert-manager do it. One thread at a time.
class FileWatch {
 public:
  void add(std::filesystem::path file);
  bool changed();  // Since the last call; the first call says no.

 private:
  struct Seen {
    std::filesystem::path file;
    struct timespec modified{};
    ino_t inode = 0;
    off_t size = 0;
  };
  static bool look(Seen& seen);  // True: different from before.
  std::vector<Seen> files_;
};

// Who a client is for the server, from any thread: a fixed token, a file that is read again when it has changed, or a
// plugin that is asked again when its answer has expired. What cannot be had at the moment leaves the last in place.
// Nothing here is ever written to a log or an error message.
class Credentials {
 public:
  explicit Credentials(const Config& config);

  // The plugin's first answer, if there is a plugin: without it there is nobody to be.
  base::Status start();

  std::string token();  // Empty: none. It may bring another certificate, too.

  // The client certificate that the plugin gave goes in; nothing changes without one.
  void apply_certificate(http::TlsOptions& options);
  std::uint64_t certificates();  // How many of them it has given so far, each unlike the one before.

  // After a 401 to this token, and to a certificate that was the last of so many: looks again; true if one of them is
  // another now.
  bool renew(const std::string& refused, std::uint64_t certificates = 0);

 private:
  void read_file();
  base::Status ask_plugin();

  std::mutex mutex_;
  const std::filesystem::path file_;
  const ExecPlugin plugin_;
  FileWatch watch_;
  std::string token_;
  ExecCredential answer_;  // The plugin's.
  std::uint64_t certificates_ = 0;
};

}  // namespace kube
