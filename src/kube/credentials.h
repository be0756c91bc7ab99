#pragma once

#include <condition_variable>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <sys/stat.h>

#include "base/result.h"
#include "http/tls.h"
#include "kube/config.h"
#include "kube/exec_plugin.h"
#include "kube/limit.h"

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

// Who a client is for the server, from any thread: a fixed token, a file that is read again when it has changed, or,
// where nothing else says it, a plugin that is asked again when its answer has expired. What cannot be had at the
// moment leaves the last in place. One thread at a time waits for the plugin, the others for that thread, and each only
// as long as its own call may take. No secret of these is ever written to a log or an error message.
class Credentials {
 public:
  explicit Credentials(const Config& config);

  // The file's token, where none stands in for it, and the plugin's first answer, if there is a plugin: without them
  // there is nobody to be, and calls would go out as nobody's.
  base::Status start();

  std::string token(const Limit& limit);  // Empty: none. It may bring another certificate, too.

  // The client certificate that the plugin gave goes in; nothing changes without one.
  void apply_certificate(http::TlsOptions& options);
  // Why the last look brought nothing newer, for whoever is refused; empty: it went well.
  std::string problem();

  std::uint64_t certificates();  // How many of them it has given so far, each unlike the one before.

  // After a 401 to this token, and to a certificate that was the last of so many: looks again; true if one of them is
  // another now.
  bool renew(const std::string& refused, std::uint64_t certificates, const Limit& limit);

 private:
  base::Status read_file();
  void note(const base::Status& look);
  // If it is (still) due when our turn comes.
  base::Status ask_plugin(const Limit& limit, const std::function<bool()>& is_due);
  base::Status take(base::Result<ExecCredential> fresh, const Limit& limit);

  std::mutex mutex_;  // Not held while the plugin runs.
  std::condition_variable asked_;
  const std::filesystem::path file_;
  const std::string file_field_;
  const ExecPlugin plugin_;
  FileWatch watch_;
  std::string token_;
  ExecCredential answer_;  // The plugin's.
  std::uint64_t certificates_ = 0;
  std::string problem_;
  bool is_asking_ = false;
  base::TimePoint next_ask_{};
};

}  // namespace kube
