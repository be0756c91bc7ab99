#include "kube/authorize.h"

#include <algorithm>
#include <cctype>

#include <fmt/format.h>

#include "base/sha256.h"

namespace kube {
namespace {

constexpr auto kReviewTime = std::chrono::seconds(10);

// RFC 6750: the scheme's name in any case.
std::optional<std::string> bearer_token(const http::Request& request) {
  constexpr std::string_view kScheme = "bearer ";
  const std::string_view header = http::find(request.headers, "authorization").value_or("");
  const auto same = [](char a, char b) { return std::tolower(static_cast<unsigned char>(a)) == b; };
  if (header.size() <= kScheme.size() || !std::ranges::equal(header.substr(0, kScheme.size()), kScheme, same)) {
    return std::nullopt;
  }
  return std::string(header.substr(kScheme.size()));
}

http::Response unauthorized() {
  http::Response out = http::plain_text(401, "authentication required\n");
  out.headers.push_back({"www-authenticate", "Bearer"});
  return out;
}

std::string lower(std::string text) {
  for (char& c : text) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return text;
}

}  // namespace

std::optional<Verdict> VerdictCache::find(const std::string& question, base::TimePoint now) const {
  const auto found = entries_.find(question);
  if (found == entries_.end() || found->second.until <= now) return std::nullopt;
  return found->second.verdict;
}

void VerdictCache::put(const std::string& question, Verdict verdict, base::TimePoint now) {
  if (entries_.size() >= most_) {
    std::erase_if(entries_, [&](const auto& entry) { return entry.second.until <= now; });
  }
  if (entries_.size() >= most_) entries_.clear();  // A flood of callers: ask again rather than grow.
  entries_.insert_or_assign(question, Entry{verdict, now + lifetime_});
}

base::Result<Verdict> Authorizer::judge(const std::string& token, const PathAccess& access, std::stop_token stop) {
  const base::SteadyClock clock;
  const std::string question = fmt::format("{} {} {}", base::sha256_hex(token), access.verb, access.path);
  const auto known = cache_.read([&](const VerdictCache& cache) { return cache.find(question, clock.now()); });
  if (known) return *known;
  const Verdict verdict = TRY(review(token, access, within(kReviewTime, std::move(stop))));
  cache_.change([&](VerdictCache& cache) { cache.put(question, verdict, clock.now()); });
  return verdict;
}

http::Handler Authorizer::protect(http::Handler handler) {
  return [this, handler = std::move(handler)](const http::Request& request) {
    const auto token = bearer_token(request);
    if (!token) return unauthorized();
    const PathAccess access{.verb = lower(request.method), .path = std::string(http::path_of(request))};
    const auto verdict = judge(*token, access, end_.get_token());
    if (!verdict) return http::plain_text(503, "the API server does not answer\n");
    switch (*verdict) {
      case Verdict::allowed:
        return handler(request);
      case Verdict::unknown_caller:
        return unauthorized();
      case Verdict::forbidden:
        break;
    }
    return http::plain_text(403, "forbidden\n");
  };
}

base::Result<Verdict> Authorizer::review(const std::string& token, const PathAccess& access, const Limit& limit) {
  const auto user = TRY(review_token(*client_, token, limit));
  if (!user) return Verdict::unknown_caller;
  return TRY(is_allowed(*client_, *user, access, limit)) ? Verdict::allowed : Verdict::forbidden;
}

}  // namespace kube
