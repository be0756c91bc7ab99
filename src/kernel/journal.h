#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "state/address.h"
#include "state/route.h"

namespace kernel {

// What is ours in the kernel although it cannot say so itself: routes with a protocol that the user chose, addresses on
// kernels without IFA_PROTO.
struct Claims {
  std::vector<state::Route> routes{};
  std::vector<state::InterfaceAddress> addresses{};

  bool operator==(const Claims&) const = default;
};

// The file's contents: one object per line, sorted, in the words of `ip`.
std::string format_claims(const Claims& claims);
base::Result<Claims> parse_claims(std::string_view text);

// The claims on disk. A claim is written before the object is made and taken back after it was seen gone, so a crash
// leaves a claim too many, never one too few. One process at a time.
class Journal {
 public:
  // `boot` as of boot_id(): claims of another boot are void, for its kernel is gone. Without a file nothing is claimed;
  // a file that cannot be read is an error, and then ownership is unknown: nothing may be removed because of it.
  static base::Result<Journal> open(std::filesystem::path path, std::string boot);

  const Claims& claims() const { return claims_; }
  // Writes only when something differs. After an error the claims are as before.
  base::Status set(Claims claims);

 private:
  Journal(std::filesystem::path path, std::string boot) : path_(std::move(path)), boot_(std::move(boot)) {}

  std::filesystem::path path_;
  std::string boot_;
  Claims claims_;
};

}  // namespace kernel
