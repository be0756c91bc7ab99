#include "http/tls.h"

#include <fmt/format.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>

#include "http/pem.h"
#include "net/address.h"

namespace http {
namespace {

using base::fail;
using base::Fault;

constexpr int kMaxChain = 8;
constexpr std::size_t kReadAhead = 64U << 10U;

base::Status trust(SSL_CTX* context, const std::string& ca) {
  if (ca.empty()) {
    if (SSL_CTX_set_default_verify_paths(context) != 1) return fail(Fault::invalid, tls_error("no system CAs"));
    return {};
  }
  const auto certificates = TRY(read_certificates(ca, "the CA data"));
  if (certificates.empty()) return fail(Fault::invalid, "the CA data holds no PEM certificate");
  for (const Certificate& certificate : certificates) {
    if (X509_STORE_add_cert(SSL_CTX_get_cert_store(context), certificate.get()) != 1) {
      return fail(Fault::invalid, tls_error("CA certificate refused"));
    }
  }
  // Who gives a CA means it, be it another one's: clusters under a company's CA know no more of it than their own part.
  (void)X509_STORE_set_flags(SSL_CTX_get_cert_store(context), X509_V_FLAG_PARTIAL_CHAIN);
  return {};
}

// Whom we want, which decides about the certificate that is shown, and behind a shared address about who answers.
base::Status tell_name(SSL* ssl, const std::string& name) {
  if (net::Address::parse(name)) return {};  // Names only (RFC 6066, 3).
  // SSL_set_tlsext_host_name() without its old-style cast.
  const long told =
      SSL_ctrl(ssl, SSL_CTRL_SET_TLSEXT_HOSTNAME, TLSEXT_NAMETYPE_host_name, const_cast<char*>(name.c_str()));
  return told == 1 ? base::Status() : fail(Fault::invalid, tls_error("server name"));
}

base::Status expect_name(SSL* ssl, const std::string& name) {
  X509_VERIFY_PARAM* const param = SSL_get0_param(ssl);
  // The subject's name is not what a certificate is for (RFC 9110, 4.3.4), as also Go's clients have it.
  X509_VERIFY_PARAM_set_hostflags(param, X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS | X509_CHECK_FLAG_NEVER_CHECK_SUBJECT);
  const int expected = net::Address::parse(name) ? X509_VERIFY_PARAM_set1_ip_asc(param, name.c_str())
                                                 : X509_VERIFY_PARAM_set1_host(param, name.data(), name.size());
  return expected == 1 ? base::Status() : fail(Fault::invalid, tls_error("server name"));
}

// A dot at the end has resolvers look up a name as it stands; it is in no certificate, and not told (RFC 6066, 3).
// A name that is nothing else stays: one that is empty would not be checked at all.
std::string without_dot_at_end(std::string name) {
  if (name.size() > 1 && name.ends_with('.')) name.pop_back();
  return name;
}

void restrict_protocol(SSL_CTX* context, bool only_http1) {
  SSL_CTX_set_min_proto_version(context, TLS1_2_VERSION);
  SSL_CTX_set_options(context, SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION);
  SSL_CTX_set_mode(context, SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
  // Events are small records: one system call brings many of them, not each in two halves.
  SSL_CTX_set_read_ahead(context, 1);
  SSL_CTX_set_default_read_buffer_len(context, kReadAhead);
  SSL_CTX_set_verify_depth(context, kMaxChain);
  const std::string_view spoken = only_http1 ? "\x08http/1.1" : "\x02h2\x08http/1.1";  // Each name after its length.
  const auto* const list = reinterpret_cast<const unsigned char*>(spoken.data());
  // Fails for malformed lists only.
  (void)SSL_CTX_set_alpn_protos(context, list, static_cast<unsigned int>(spoken.size()));
}

base::Status in_place(const std::string& place, base::Status done) {
  return place.empty() ? done : base::within(place, std::move(done));
}

base::Status expect_pair(const TlsOptions& options) {
  if (options.certificate.empty() == options.key.empty()) return {};
  if (options.key.empty()) {
    return in_place(options.places.certificate, fail(Fault::invalid, "a client certificate without its key"));
  }
  return in_place(options.places.key, fail(Fault::invalid, "a client key without its certificate"));
}

}  // namespace

std::string tls_error(std::string_view otherwise) {
  const unsigned long code = ERR_get_error();
  ERR_clear_error();
  const char* const reason = code == 0 ? nullptr : ERR_reason_error_string(code);
  return reason == nullptr ? std::string(otherwise) : fmt::format("{}: {}", otherwise, reason);
}

void TlsContext::Free::operator()(ssl_st* ssl) const {
  SSL_free(ssl);
}

base::Result<TlsContext> TlsContext::load(const TlsOptions& options) {
  TlsContext out;
  out.context_ = {SSL_CTX_new(TLS_client_method()), SSL_CTX_free};
  if (!out.context_) return fail(Fault::bug, tls_error("TLS context"));
  SSL_CTX* const context = out.context_.get();
  const TlsOptions::Places& places = options.places;
  restrict_protocol(context, options.only_http1);
  if (!options.insecure) TRY(in_place(places.ca, trust(context, options.ca)));
  TRY(expect_pair(options));
  if (!options.certificate.empty()) {
    TRY(in_place(places.certificate, use_chain(context, options.certificate, "client ")));
    TRY(in_place(places.key, use_key(context, options.key, "client ")));
  }
  SSL_CTX_set_verify(context, options.insecure ? SSL_VERIFY_NONE : SSL_VERIFY_PEER, nullptr);
  out.server_name_ = options.server_name;
  out.insecure_ = options.insecure;
  return out;
}

base::Result<TlsContext::Ssl> TlsContext::connect(int fd, const std::string& host) const {
  Ssl ssl(SSL_new(context_.get()));
  if (!ssl || SSL_set_fd(ssl.get(), fd) != 1) return fail(Fault::bug, tls_error("TLS connection"));
  const std::string name = without_dot_at_end(server_name_.empty() ? host : server_name_);
  TRY(tell_name(ssl.get(), name));
  if (!insecure_) TRY(expect_name(ssl.get(), name));
  SSL_set_connect_state(ssl.get());
  return ssl;
}

}  // namespace http
