#include "kube/authorize.h"

#include <algorithm>
#include <cctype>

#include <fmt/format.h>

#include "base/sha256.h"
#include "json/reader.h"
#include "json/writer.h"

namespace kube {
namespace {

const Resource kTokenReviews{"authentication.k8s.io", "v1", "tokenreviews", false};
const Resource kAccessReviews{"authorization.k8s.io", "v1", "subjectaccessreviews", false};
constexpr auto kAnswerTime = std::chrono::seconds(10);

std::string token_review(const std::string& token) {
  return json::object([&](json::Object& out) {
    out.put("apiVersion", "authentication.k8s.io/v1");
    out.put("kind", "TokenReview");
    out.object("spec", [&](json::Object& spec) { spec.put("token", token); });
  });
}

// The user as TokenReview describes it is handed on whole: groups and extras count for the decision.
base::Result<std::string> access_review(const json::Value& user, const std::string& verb, const std::string& path) {
  const auto name = TRY(user["username"].string());
  const auto uid = TRY(user["uid"].string_or(""));
  return json::object([&](json::Object& out) {
    out.put("apiVersion", "authorization.k8s.io/v1");
    out.put("kind", "SubjectAccessReview");
    out.object("spec", [&](json::Object& spec) {
      spec.put("user", name);
      spec.put_unless_empty("uid", uid);
      if (user["groups"].exists()) spec.put_json("groups", user["groups"].text());
      if (user["extra"].exists()) spec.put_json("extra", user["extra"].text());
      spec.object("nonResourceAttributes", [&](json::Object& attributes) {
        attributes.put("path", path);
        attributes.put("verb", verb);
      });
    });
  });
}

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

base::Result<Verdict> Authorizer::judge(const std::string& token, const std::string& verb, const std::string& path,
                                        std::stop_token stop) {
  const base::SteadyClock clock;
  const std::string question = fmt::format("{} {} {}", base::sha256_hex(token), verb, path);
  const auto known = cache_.read([&](const VerdictCache& cache) { return cache.find(question, clock.now()); });
  if (known) return *known;
  const Verdict verdict = TRY(review(token, verb, path, within(kAnswerTime, std::move(stop))));
  cache_.change([&](VerdictCache& cache) { cache.put(question, verdict, clock.now()); });
  return verdict;
}

http::Handler Authorizer::protect(http::Handler handler) {
  return [this, handler = std::move(handler)](const http::Request& request) {
    const auto token = bearer_token(request);
    if (!token) return unauthorized();
    const auto verdict = judge(*token, lower(request.method), std::string(http::path_of(request)));
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

base::Result<Verdict> Authorizer::review(const std::string& token, const std::string& verb, const std::string& path,
                                         const Limit& limit) {
  const std::string who = TRY(client_.create(kTokenReviews, "", token_review(token), limit));
  json::Reader reader;
  const json::Value status = TRY(reader.parse(who))["status"];
  if (!TRY(status["authenticated"].boolean_or(false))) return Verdict::unknown_caller;
  const std::string question = TRY(access_review(status["user"], verb, path));
  const std::string answer = TRY(client_.create(kAccessReviews, "", question, limit));
  const json::Value decision = TRY(reader.parse(answer))["status"];
  return TRY(decision["allowed"].boolean_or(false)) ? Verdict::allowed : Verdict::forbidden;
}

}  // namespace kube
