#include "kube/credentials.h"

#include <chrono>
#include <utility>

#include <fmt/format.h>

#include "base/file.h"

namespace kube {
namespace {

constexpr auto kPluginTime = std::chrono::seconds(60);  // It may ask a person.

}  // namespace

void FileWatch::add(std::filesystem::path file) {
  if (file.empty()) return;
  Seen& seen = files_.emplace_back();
  seen.file = std::move(file);
  (void)look(seen);  // The first look is what later ones are compared with.
}

bool FileWatch::changed() {
  bool any = false;
  for (Seen& seen : files_) any = look(seen) || any;
  return any;
}

bool FileWatch::look(Seen& seen) {
  struct stat now{};
  if (::stat(seen.file.c_str(), &now) != 0) return false;  // In the middle of being replaced: ask again later.
  const bool same = now.st_ino == seen.inode && now.st_size == seen.size &&
                    now.st_mtim.tv_sec == seen.modified.tv_sec && now.st_mtim.tv_nsec == seen.modified.tv_nsec;
  seen.inode = now.st_ino;
  seen.size = now.st_size;
  seen.modified = now.st_mtim;
  return !same;
}

Credentials::Credentials(const Config& config)
    : file_(config.token_file), plugin_(config.plugin), token_(config.token) {
  watch_.add(file_);
  read_file();
}

base::Status Credentials::start() {
  const std::lock_guard lock(mutex_);
  return plugin_.empty() ? base::Status() : ask_plugin();
}

std::string Credentials::token() {
  const std::lock_guard lock(mutex_);
  if (watch_.changed()) read_file();
  const auto now = std::chrono::floor<std::chrono::seconds>(std::chrono::system_clock::now());
  if (!plugin_.empty() && answer_.is_expired(now)) (void)ask_plugin();
  return token_;
}

bool Credentials::renew(const std::string& refused, std::uint64_t certificates) {
  const std::lock_guard lock(mutex_);
  if (!plugin_.empty() && token_ == refused && certificates_ == certificates) (void)ask_plugin();
  (void)watch_.changed();
  read_file();
  if (certificates_ != certificates) return true;
  return !token_.empty() && token_ != refused;
}

void Credentials::apply_certificate(http::TlsOptions& options) {
  const std::lock_guard lock(mutex_);
  if (answer_.certificate.empty()) return;
  options.certificate = answer_.certificate;
  options.key = answer_.key;
  options.places.certificate = fmt::format("credential plugin {}: clientCertificateData", plugin_.command);
  options.places.key = fmt::format("credential plugin {}: clientKeyData", plugin_.command);
}

std::uint64_t Credentials::certificates() {
  const std::lock_guard lock(mutex_);
  return certificates_;
}

void Credentials::read_file() {
  if (file_.empty()) return;
  auto text = base::read_file(file_, 64U << 10U);
  if (!text) return;
  while (!text->empty() && (text->back() == '\n' || text->back() == '\r' || text->back() == ' ')) text->pop_back();
  if (!text->empty()) token_ = *std::move(text);
}

base::Status Credentials::ask_plugin() {
  ExecCredential fresh = TRY(ask(plugin_, kPluginTime));
  if (fresh.certificate != answer_.certificate) ++certificates_;
  answer_ = std::move(fresh);
  token_ = answer_.token;
  return {};
}

}  // namespace kube
