#pragma once

#include <filesystem>
#include <mutex>
#include <optional>
#include <string>
#include <sys/stat.h>

#include "base/result.h"
#include "http/tls.h"
#include "kube/config.h"

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

// The bearer token of a client, from any thread. A file is read again when it has changed; one that cannot be read
// at the moment leaves the last token in place. Nothing here is ever written to a log or an error message.
class Token {
 public:
  Token(std::string fixed, std::filesystem::path file);

  std::string current();                   // Empty: none.
  bool renew(const std::string& refused);  // After a 401: reads the file; true if there is another token now.

 private:
  void read();

  std::mutex mutex_;
  const std::filesystem::path file_;
  FileWatch watch_;
  std::string text_;
};

}  // namespace kube
