#include "kube/credentials.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include <fmt/format.h>

#include "base/file.h"
#include "runtime/stop_wait.h"

namespace kube {
namespace {

constexpr std::size_t kLongestToken = 64U << 10U;
constexpr auto kPluginTime = std::chrono::seconds(60);  // It may ask a person.
constexpr auto kPluginRest = std::chrono::seconds(1);   // After a failure, which all have who waited for it.

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
    : file_(config.token_file),
      file_field_(config.token_field.empty() ? "token file" : config.token_field),
      plugin_(config.says_who() ? ExecPlugin() : config.plugin),
      token_(config.token) {
  watch_.add(file_);
}

base::Status Credentials::start() {
  {
    const std::lock_guard lock(mutex_);
    if (auto read = read_file(); !read && token_.empty()) return read;
  }
  return ask_plugin(within(kPluginTime), [] { return true; });
}

std::string Credentials::token(const Limit& limit) {
  // Where it fails, the server says what it thinks of the last answer, and problem() why there is no other.
  (void)ask_plugin(limit, [this] {
    return answer_.is_expired(std::chrono::floor<std::chrono::seconds>(std::chrono::system_clock::now()));
  });
  const std::lock_guard lock(mutex_);
  if (watch_.changed()) note(read_file());
  return token_;
}

bool Credentials::renew(const std::string& refused, std::uint64_t certificates, const Limit& limit) {
  (void)ask_plugin(limit, [&] { return token_ == refused && certificates_ == certificates; });
  const std::lock_guard lock(mutex_);
  (void)watch_.changed();
  if (!file_.empty()) note(read_file());
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

std::string Credentials::problem() {
  const std::lock_guard lock(mutex_);
  return problem_;
}

std::uint64_t Credentials::certificates() {
  const std::lock_guard lock(mutex_);
  return certificates_;
}

base::Status Credentials::read_file() {
  if (file_.empty()) return {};
  const std::string text = TRY(base::within(file_field_, base::read_file(file_, kLongestToken)));
  constexpr auto kBlanks = " \t\r\n";
  const auto first = text.find_first_not_of(kBlanks);
  if (first == std::string::npos) {
    return base::fail(base::Fault::invalid,
                      fmt::format("{}: {}: there is no token in it", file_field_, file_.native()));
  }
  token_ = text.substr(first, text.find_last_not_of(kBlanks) + 1 - first);
  return {};
}

void Credentials::note(const base::Status& look) {
  problem_ = look ? "" : look.error().message();
}

base::Status Credentials::ask_plugin(const Limit& limit, const std::function<bool()>& is_due) {
  if (plugin_.empty()) return {};
  const bool is_our_turn = runtime::stop_wait(
      mutex_, asked_, limit.stop, limit.deadline, [&] { return !is_asking_ || !is_due(); },
      [&] {
        if (is_asking_ || !is_due() || limit.is_over() || base::now() < next_ask_) return false;
        return is_asking_ = true;
      });
  if (!is_our_turn) return {};
  auto fresh = ask(plugin_, std::min<base::Duration>(kPluginTime, limit.left()), limit.stop);
  base::Status done = take(std::move(fresh), limit);
  asked_.notify_all();
  return done;
}

base::Status Credentials::take(base::Result<ExecCredential> fresh, const Limit& limit) {
  const std::lock_guard lock(mutex_);
  is_asking_ = false;
  if (!fresh) {
    base::Status failed = std::unexpected(std::move(fresh.error()));
    if (limit.is_over()) return failed;  // It was we who gave up: the next may have more time.
    next_ask_ = base::now() + kPluginRest;
    note(failed);
    return failed;
  }
  note({});
  if (fresh->certificate != answer_.certificate) ++certificates_;
  answer_ = *std::move(fresh);
  token_ = answer_.token;
  return {};
}

}  // namespace kube
