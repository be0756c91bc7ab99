#include "http/pem.h"

#include <algorithm>

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

}  // namespace

Bio reader(const std::string& text) {
  return Bio(BIO_new_mem_buf(text.data(), static_cast<int>(std::min<std::size_t>(text.size(), INT_MAX))));
}

Certificate next_certificate(const Bio& bio) {
  return Certificate(PEM_read_bio_X509(bio.get(), nullptr, nullptr, nullptr));
}

base::Status use_chain(SSL_CTX* context, const std::string& pem, std::string_view whose) {
  const Bio bio = reader(pem);
  const Certificate leaf = next_certificate(bio);
  if (!leaf) return fail(Fault::invalid, tls_error(fmt::format("the {}certificate is not PEM", whose)));
  if (SSL_CTX_use_certificate(context, leaf.get()) != 1) {
    return fail(Fault::invalid, tls_error(fmt::format("{}certificate", whose)));
  }
  while (const Certificate issuer = next_certificate(bio)) {
    if (SSL_CTX_add1_chain_cert(context, issuer.get()) != 1) {
      return fail(Fault::invalid, tls_error(fmt::format("{}chain", whose)));
    }
  }
  ERR_clear_error();  // The end of the text is an "error" too.
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
