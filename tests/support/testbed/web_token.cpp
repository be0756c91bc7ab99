#include "testbed/web_token.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string_view>
#include <vector>

#include <openssl/bio.h>
#include <openssl/bn.h>
#include <openssl/ecdsa.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>

#include "lab/kubernetes/openssl.h"
#include "lab/kubernetes/pki.h"

namespace testbed {
namespace {

using Key = lab::OpenSslPtr<EVP_PKEY, EVP_PKEY_free>;
using BioPtr = lab::OpenSslPtr<BIO, BIO_free>;
using DigestPtr = lab::OpenSslPtr<EVP_MD_CTX, EVP_MD_CTX_free>;
using SignaturePtr = lab::OpenSslPtr<ECDSA_SIG, ECDSA_SIG_free>;

void require(bool done, const char* what) {
  if (done) return;
  std::fprintf(stderr, "token: %s\n", what);
  ERR_print_errors_fp(stderr);
  std::abort();
}

// The alphabet for URLs, without padding (RFC 4648, 5).
std::string base64_url(std::string_view bytes) {
  std::string out = lab::base64(bytes);
  while (out.ends_with('=')) out.pop_back();
  std::ranges::replace(out, '+', '-');
  std::ranges::replace(out, '/', '_');
  return out;
}

// Two numbers of 32 bytes each, not OpenSSL's DER (RFC 7518, 3.4).
std::string sign_es256(std::string_view text, EVP_PKEY* key) {
  constexpr int kNumber = 32;
  const DigestPtr digest(EVP_MD_CTX_new());
  const auto* const data = reinterpret_cast<const unsigned char*>(text.data());
  std::size_t size = 0;
  require(EVP_DigestSignInit(digest.get(), nullptr, EVP_sha256(), nullptr, key) == 1 &&
              EVP_DigestSign(digest.get(), nullptr, &size, data, text.size()) == 1,
          "begin to sign");
  std::vector<unsigned char> der(size);
  require(EVP_DigestSign(digest.get(), der.data(), &size, data, text.size()) == 1, "sign");
  const unsigned char* at = der.data();
  const SignaturePtr signature(d2i_ECDSA_SIG(nullptr, &at, static_cast<long>(size)));
  require(signature != nullptr, "read a signature");
  std::string out(2 * std::size_t{kNumber}, '\0');
  auto* const bytes = reinterpret_cast<unsigned char*>(out.data());
  require(BN_bn2binpad(ECDSA_SIG_get0_r(signature.get()), bytes, kNumber) == kNumber &&
              BN_bn2binpad(ECDSA_SIG_get0_s(signature.get()), bytes + kNumber, kNumber) == kNumber,
          "write a signature");
  return out;
}

}  // namespace

std::string web_token(const std::string& claims, const std::string& key) {
  const BioPtr bio(BIO_new_mem_buf(key.data(), static_cast<int>(key.size())));
  const Key signer(PEM_read_bio_PrivateKey(bio.get(), nullptr, nullptr, nullptr));
  require(signer != nullptr, "read a key");
  const std::string text = base64_url(R"({"alg":"ES256","typ":"JWT"})") + "." + base64_url(claims);
  return text + "." + base64_url(sign_es256(text, signer.get()));
}

}  // namespace testbed
