#include "http/pem.h"

#include <algorithm>
#include <span>
#include <utility>

#include <climits>
#include <fmt/format.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>

#include "http/tls.h"

namespace http {
namespace {

using base::fail;
using base::Fault;

// A key that wants a password is an error, not a question on the terminal.
int no_password(char*, int, int, void*) {
  return -1;
}

// `text` must outlive it.
Bio reader(const std::string& text) {
  return Bio(BIO_new_mem_buf(text.data(), static_cast<int>(std::min<std::size_t>(text.size(), INT_MAX))));
}

// The end of a text is an "error" too; any other is about a certificate.
bool is_at_end() {
  const unsigned long code = ERR_peek_last_error();
  return ERR_GET_LIB(code) == ERR_LIB_PEM && ERR_GET_REASON(code) == PEM_R_NO_START_LINE;
}

}  // namespace

base::Result<std::vector<Certificate>> read_certificates(const std::string& text, std::string_view what) {
  std::vector<Certificate> out;
  const Bio bio = reader(text);
  for (;;) {
    ERR_clear_error();
    Certificate next(PEM_read_bio_X509(bio.get(), nullptr, no_password, nullptr));
    if (!next) break;
    out.push_back(std::move(next));
  }
  if (!is_at_end()) {
    return fail(Fault::invalid, tls_error(fmt::format("certificate {} of {} cannot be read", out.size() + 1, what)));
  }
  ERR_clear_error();
  return out;
}

base::Status use_chain(SSL_CTX* context, const std::string& pem, std::string_view whose) {
  const auto chain = TRY(read_certificates(pem, fmt::format("the {}chain", whose)));
  if (chain.empty()) return fail(Fault::invalid, fmt::format("the {}certificate is not PEM", whose));
  if (SSL_CTX_use_certificate(context, chain.front().get()) != 1) {
    return fail(Fault::invalid, tls_error(fmt::format("{}certificate", whose)));
  }
  for (const Certificate& issuer : std::span(chain).subspan(1)) {
    if (SSL_CTX_add1_chain_cert(context, issuer.get()) != 1) {
      return fail(Fault::invalid, tls_error(fmt::format("{}chain", whose)));
    }
  }
  return {};
}

base::Status use_key(SSL_CTX* context, const std::string& pem, std::string_view whose) {
  const Bio bio = reader(pem);
  const Key key(PEM_read_bio_PrivateKey(bio.get(), nullptr, no_password, nullptr));
  if (!key) return fail(Fault::invalid, tls_error(fmt::format("the {}key is not PEM", whose)));
  if (SSL_CTX_use_PrivateKey(context, key.get()) != 1 || SSL_CTX_check_private_key(context) != 1) {
    return fail(Fault::invalid, tls_error(fmt::format("the {}key does not belong to the certificate", whose)));
  }
  return {};
}

base::Status identify(SSL_CTX* context, const std::string& chain, const std::string& key, std::string_view whose) {
  TRY(use_chain(context, chain, whose));
  return use_key(context, key, whose);
}

}  // namespace http
