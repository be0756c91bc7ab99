#include "http/wire.h"

#include <algorithm>
#include <cerrno>
#include <sys/socket.h>

#include <climits>
#include <fmt/format.h>
#include <openssl/err.h>
#include <openssl/ssl.h>

namespace http {
namespace {

using base::fail;
using base::Fault;

constexpr std::string_view kLost = "connection lost";

std::string handshake_error(const SSL* ssl) {
  const long verdict = SSL_get_verify_result(ssl);
  if (verdict != X509_V_OK) {
    ERR_clear_error();
    return fmt::format("TLS: the server's certificate: {}", X509_verify_cert_error_string(verdict));
  }
  return tls_error("TLS handshake");
}

int at_once(std::size_t size) {
  return static_cast<int>(std::min<std::size_t>(size, INT_MAX));
}

}  // namespace

base::Status Wire::secure(const TlsContext& tls, const std::string& host) {
  ssl_ = TRY(tls.connect(socket_.get(), host));
  return {};
}

base::Result<bool> Wire::handshake() {
  ERR_clear_error();
  const int done = SSL_do_handshake(ssl_.get());
  const int reason = SSL_get_error(ssl_.get(), done);
  wants_write_ = reason == SSL_ERROR_WANT_WRITE;
  if (done == 1) return true;
  if (reason == SSL_ERROR_WANT_READ || reason == SSL_ERROR_WANT_WRITE) return false;
  return fail(Fault::unavailable, handshake_error(ssl_.get()));
}

std::string_view Wire::protocol() const {
  if (!ssl_) return {};
  const unsigned char* name = nullptr;
  unsigned int size = 0;
  SSL_get0_alpn_selected(ssl_.get(), &name, &size);
  return {reinterpret_cast<const char*>(name), size};
}

base::Result<std::size_t> Wire::read(std::span<char> into) {
  wants_write_ = false;
  ERR_clear_error();
  if (ssl_) return told(SSL_read(ssl_.get(), into.data(), at_once(into.size())));
  return told(static_cast<int>(::recv(socket_.get(), into.data(), into.size(), 0)));
}

bool Wire::holds_more() const {
  return ssl_ && SSL_has_pending(ssl_.get()) == 1;
}

base::Result<std::size_t> Wire::write(std::string_view bytes) {
  wants_write_ = false;
  ERR_clear_error();
  if (ssl_) return told(SSL_write(ssl_.get(), bytes.data(), at_once(bytes.size())));
  const auto sent = ::send(socket_.get(), bytes.data(), static_cast<std::size_t>(at_once(bytes.size())), MSG_NOSIGNAL);
  if (sent < 0 && (errno == EAGAIN || errno == EINTR)) wants_write_ = true;
  return told(static_cast<int>(sent));
}

base::Result<std::size_t> Wire::told(int result) {
  if (result > 0) return static_cast<std::size_t>(result);
  const int error = result < 0 ? errno : 0;
  if (ssl_) {
    const int reason = SSL_get_error(ssl_.get(), result);
    wants_write_ = reason == SSL_ERROR_WANT_WRITE;
    if (reason == SSL_ERROR_WANT_READ || reason == SSL_ERROR_WANT_WRITE) return std::size_t{0};
    ended_ = reason == SSL_ERROR_ZERO_RETURN;
    // The server's word about our certificate: in TLS 1.3 it comes after the handshake.
    if (reason == SSL_ERROR_SSL) return fail(Fault::unavailable, tls_error(kLost));
  } else {
    if (error == EAGAIN || error == EINTR) return std::size_t{0};
    ended_ = result == 0;
  }
  return fail(Fault::unavailable,
              error == 0 ? std::string(kLost) : fmt::format("{}: {}", kLost, base::errno_text(error)));
}

}  // namespace http
