#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "net/address.h"

namespace lab {

struct Certificate {
  std::string pem;
  std::string key;  // PEM too.
};

struct KeyPair {
  std::string key;
  std::string public_key;
};
KeyPair make_keys();  // In PEM.

std::string base64(std::string_view bytes);

// A certificate authority made for one run, and what it signs. Aborts if OpenSSL refuses, which it has no reason
// to.
class Authority {
 public:
  explicit Authority(std::string_view name);
  ~Authority();
  Authority(const Authority&) = delete;
  Authority& operator=(const Authority&) = delete;

  const std::string& certificate() const { return certificate_; }

  Certificate server(std::string_view name, const std::vector<std::string>& dns_names,
                     const std::vector<net::Address>& addresses) const;
  // Kubernetes reads the user from the common name and the groups from the organizations.
  Certificate client(std::string_view user, const std::vector<std::string>& groups) const;

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
  std::string certificate_;
};

}  // namespace lab
