#include "http/server_certificate.h"

#include <algorithm>
#include <ctime>
#include <sys/stat.h>

#include <fmt/format.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>

#include "base/file.h"
#include "http/pem.h"
#include "http/tls.h"

namespace http {
namespace {

using base::fail;
using base::Fault;

// What changes whenever the file behind the path does, be it written in place, replaced, or reached through another
// symbolic link as in a mounted Secret.
std::string stamp(const std::filesystem::path& path) {
  struct stat info{};
  if (::stat(path.c_str(), &info) != 0) return "absent";
  return fmt::format("{}:{}:{}:{}.{:09}", info.st_dev, info.st_ino, info.st_size, info.st_mtim.tv_sec,
                     info.st_mtim.tv_nsec);
}

int choose_http_1_1(SSL*, const unsigned char** out, unsigned char* size, const unsigned char* offered,
                    unsigned int offered_size, void*) {
  static constexpr unsigned char kHttp[] = "\x08http/1.1";
  unsigned char* chosen = nullptr;
  const int found = SSL_select_next_proto(&chosen, size, kHttp, sizeof kHttp - 1, offered, offered_size);
  *out = chosen;
  return found == OPENSSL_NPN_NEGOTIATED ? SSL_TLSEXT_ERR_OK : SSL_TLSEXT_ERR_NOACK;
}

base::Result<ServerCertificate::Context> make_context(const KeyPair& pair) {
  ServerCertificate::Context context(SSL_CTX_new(TLS_server_method()), SSL_CTX_free);
  if (!context) return fail(Fault::bug, tls_error("TLS context"));
  SSL_CTX_set_min_proto_version(context.get(), TLS1_2_VERSION);
  SSL_CTX_set_options(context.get(), SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION | SSL_OP_NO_TICKET);
  SSL_CTX_set_mode(context.get(), SSL_MODE_RELEASE_BUFFERS);
  SSL_CTX_set_session_cache_mode(context.get(), SSL_SESS_CACHE_OFF);
  SSL_CTX_set_alpn_select_cb(context.get(), choose_http_1_1, nullptr);
  TRY(identify(context.get(), pair.certificate, pair.key, ""));
  return context;
}

std::chrono::sys_seconds end_of(SSL_CTX* context) {
  std::tm time{};
  if (ASN1_TIME_to_tm(X509_get0_notAfter(SSL_CTX_get0_certificate(context)), &time) != 1) return {};
  return std::chrono::sys_seconds(std::chrono::seconds(::timegm(&time)));
}

std::chrono::sys_seconds wall_clock() {
  return std::chrono::floor<std::chrono::seconds>(std::chrono::system_clock::now());
}

}  // namespace

base::Result<ServerCertificate::Shared> ServerCertificate::from_files(Files files) {
  Shared out(new ServerCertificate);
  out->files_ = std::move(files);
  out->state_.publish(TRY(out->load()));
  return out;
}

base::Result<ServerCertificate::Shared> ServerCertificate::self_signed(std::vector<std::string> names,
                                                                       std::chrono::seconds lifetime) {
  Shared out(new ServerCertificate);
  out->names_ = std::move(names);
  out->lifetime_ = lifetime;
  out->state_.publish(TRY(out->load()));
  return out;
}

ServerCertificate::Context ServerCertificate::current() {
  const auto now = state_.latest();
  if (source() == now->source) return now->context;
  auto fresh = load();
  if (!fresh) {
    // Half written, or the key of another certificate: the next connection looks again.
    State kept = *now;
    kept.problem = fresh.error().message();
    state_.publish(std::move(kept));
    return now->context;
  }
  const Context context = fresh->context;
  state_.publish(*std::move(fresh));
  return context;
}

// For files: their stamps. For an own certificate: which third of its life it is in; a new one starts again at 0.
std::string ServerCertificate::source() const {
  if (files_) return stamp(files_->certificate) + " " + stamp(files_->key);
  const auto left = state_.latest()->not_after - wall_clock();
  return left * 3 > lifetime_ ? "fresh" : "old";
}

base::Result<ServerCertificate::State> ServerCertificate::load() const {
  State out;
  KeyPair pair;
  if (files_) {
    out.source = source();  // Before reading: what changes meanwhile is read again.
    pair.certificate = TRY(base::read_file(files_->certificate));
    pair.key = TRY(base::read_file(files_->key));
  } else {
    out.source = "fresh";
    pair = TRY(make_self_signed(names_, lifetime_));
  }
  out.context = TRY(make_context(pair));
  out.not_after = end_of(out.context.get());
  return out;
}

}  // namespace http
