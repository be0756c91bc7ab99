#pragma once

#include <filesystem>
#include <memory>
#include <string_view>
#include <thread>

#include "base/fd.h"
#include "base/result.h"
#include "lab/host.h"

namespace lab {

// Writes every packet of a link, both ways, into a file that tcpdump and Wireshark read, on a thread of its own, until
// it is destroyed.
class Capture {
 public:
  static base::Result<std::unique_ptr<Capture>> start(const Host& host, std::string_view link,
                                                      const std::filesystem::path& file);
  ~Capture();  // Writes what has come so far.
  Capture(const Capture&) = delete;
  Capture& operator=(const Capture&) = delete;

 private:
  Capture(base::Fd socket, base::Fd file, base::Fd stop);

  void run();
  void drain();  // Writes all that has come.
  void write(std::string_view packet, std::size_t length);

  base::Fd socket_;
  base::Fd file_;
  base::Fd stop_;  // Readable when it is time to end.
  std::thread thread_;
};

}  // namespace lab
