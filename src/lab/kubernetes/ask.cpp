#include "lab/kubernetes/ask.h"

#include <array>
#include <cerrno>
#include <charconv>
#include <memory>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/time.h>

#include <fmt/format.h>
#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/ssl.h>

#include "base/fd.h"
#include "lab/kubernetes/openssl.h"
#include "runtime/no_pipe_signal.h"

namespace lab {
namespace {

using Context = OpenSslPtr<SSL_CTX, SSL_CTX_free>;
using Connection = OpenSslPtr<BIO, BIO_free_all>;

constexpr timeval kPatience{.tv_sec = 5, .tv_usec = 0};  // A frozen server takes connections and never answers.

std::unexpected<base::Error> refused(const std::string& what) {
  const char* reason = ERR_reason_error_string(ERR_peek_last_error());
  ERR_clear_error();
  return base::fail(base::Fault::unavailable, fmt::format("{}: {}", what, reason != nullptr ? reason : "closed"));
}

base::Result<Context> context_for(const Endpoint& endpoint) {
  Context context(SSL_CTX_new(TLS_client_method()));
  SSL_CTX_set_verify(context.get(), SSL_VERIFY_PEER, nullptr);
  if (SSL_CTX_load_verify_file(context.get(), endpoint.authority.c_str()) != 1) return refused("read the authority");
  if (!endpoint.certificate.empty() &&
      (SSL_CTX_use_certificate_chain_file(context.get(), endpoint.certificate.c_str()) != 1 ||
       SSL_CTX_use_PrivateKey_file(context.get(), endpoint.certificate.c_str(), SSL_FILETYPE_PEM) != 1))
    return refused("read the client certificate");
  return context;
}

base::Result<base::Fd> connect_loopback(std::uint16_t port) {
  base::Fd socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  for (const int option : {SO_RCVTIMEO, SO_SNDTIMEO})
    (void)::setsockopt(socket.get(), SOL_SOCKET, option, &kPatience, sizeof kPatience);
  sockaddr_in loopback{};
  loopback.sin_family = AF_INET;
  loopback.sin_port = htons(port);
  loopback.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  if (::connect(socket.get(), reinterpret_cast<const sockaddr*>(&loopback), sizeof loopback) != 0)
    return base::fail_errno("connect", errno);
  return socket;
}

std::string request_text(const std::string& path, const std::string& body) {
  if (body.empty()) return fmt::format("GET {} HTTP/1.0\r\n\r\n", path);
  return fmt::format("POST {} HTTP/1.0\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n{}", path,
                     body.size(), body);
}

base::Result<Answer> parse_answer(const std::string& text) {
  const std::size_t space = text.find(' ');
  const std::size_t body = text.find("\r\n\r\n");
  Answer answer;
  if (!text.starts_with("HTTP/1.") || body == std::string::npos ||
      std::from_chars(text.data() + space + 1, text.data() + text.size(), answer.status).ec != std::errc())
    return base::fail(base::Fault::unavailable, "no HTTP answer");
  answer.body = text.substr(body + 4);
  return answer;
}

}  // namespace

base::Result<Answer> ask(const Endpoint& endpoint, const std::string& path, const std::string& body) {
  const base::Fd socket = TRY(connect_loopback(endpoint.port));
  Connection connection(BIO_new_socket(socket.get(), BIO_NOCLOSE));
  Context context;
  if (!endpoint.authority.empty()) {
    context = TRY(context_for(endpoint));
    connection.reset(BIO_push(BIO_new_ssl(context.get(), 1), connection.release()));
  }

  const std::string request = request_text(path, body);
  const runtime::NoPipeSignal guard;  // A server that is just starting, or dying, may hang up at any time.
  if (BIO_write(connection.get(), request.data(), static_cast<int>(request.size())) != static_cast<int>(request.size()))
    return refused("send");
  std::string text;
  std::array<char, 8192> buffer;
  for (int count = 0; (count = BIO_read(connection.get(), buffer.data(), static_cast<int>(buffer.size()))) > 0;)
    text.append(buffer.data(), static_cast<std::size_t>(count));
  ERR_clear_error();
  return parse_answer(text);
}

}  // namespace lab
