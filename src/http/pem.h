#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <openssl/bio.h>
#include <openssl/evp.h>
#include <openssl/x509.h>

#include "base/result.h"

struct ssl_ctx_st;

// What OpenSSL makes of PEM text. Only .cpp files of this folder include this.
namespace http {

template <typename T, auto free>
struct FreeBy {
  void operator()(T* one) const { free(one); }
};
using Bio = std::unique_ptr<BIO, FreeBy<BIO, BIO_free>>;
using Certificate = std::unique_ptr<X509, FreeBy<X509, X509_free>>;
using Key = std::unique_ptr<EVP_PKEY, FreeBy<EVP_PKEY, EVP_PKEY_free>>;

// All that are in a text, whatever else stands between them. One that cannot be read is an error with its number: to go
// on without it, or without those behind it, is noticed later and elsewhere. `what` the text is: "the CA data".
base::Result<std::vector<Certificate>> read_certificates(const std::string& text, std::string_view what);

// Who we are from now on: a certificate with its chain, and then its key. `whose` stands before both in errors:
// "client ".
base::Status use_chain(ssl_ctx_st* context, const std::string& pem, std::string_view whose);
base::Status use_key(ssl_ctx_st* context, const std::string& pem, std::string_view whose);
base::Status identify(ssl_ctx_st* context, const std::string& chain, const std::string& key, std::string_view whose);

}  // namespace http
