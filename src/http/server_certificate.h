#pragma once

#include <chrono>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "http/self_signed.h"
#include "runtime/snapshot.h"

struct ssl_ctx_st;

namespace http {

// What a TLS server shows to its clients: TLS 1.2 or newer, no renegotiation, HTTP/1.1. It follows its source by
// itself: changed files are read again, a certificate of its own is replaced at two thirds of its life. Nobody polls:
// it looks when a connection asks. What is wrong with new files leaves the old ones in force.
class ServerCertificate {
 public:
  using Shared = std::shared_ptr<ServerCertificate>;
  using Context = std::shared_ptr<ssl_ctx_st>;

  struct Files {
    std::filesystem::path certificate;
    std::filesystem::path key;
  };
  static base::Result<Shared> from_files(Files files);
  static base::Result<Shared> self_signed(std::vector<std::string> names,
                                          std::chrono::seconds lifetime = std::chrono::days(365));

  Context current();  // For the next connection; one thread at a time.

  // Any thread.
  std::chrono::sys_seconds not_after() const { return state_.latest()->not_after; }
  std::optional<std::string> problem() const { return state_.latest()->problem; }  // Why new files are not in force.

 private:
  struct State {
    Context context;
    std::chrono::sys_seconds not_after{};
    std::string source;                  // Tells whether there is something new to load.
    std::optional<std::string> problem;  // With the last attempt to load.
  };

  ServerCertificate() = default;
  std::string source() const;
  base::Result<State> load() const;

  std::optional<Files> files_;  // None: self-signed.
  std::vector<std::string> names_;
  std::chrono::seconds lifetime_{};
  runtime::Snapshot<State> state_;
};

}  // namespace http
