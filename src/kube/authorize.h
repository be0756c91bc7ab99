#pragma once

#include <chrono>
#include <map>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>

#include "base/clock.h"
#include "http/routes.h"
#include "kube/client.h"
#include "kube/review.h"
#include "runtime/guarded.h"

namespace kube {

// What the API server thinks of a request to one of our own listeners.
enum class Verdict { allowed, unknown_caller, forbidden };

// Verdicts by caller and question, for a short time and up to a number; pure. Tokens are not kept, only their hashes.
class VerdictCache {
 public:
  explicit VerdictCache(base::Duration lifetime = std::chrono::minutes(1), std::size_t most = 1000)
      : lifetime_(lifetime), most_(most) {}

  std::optional<Verdict> find(const std::string& question, base::TimePoint now) const;
  void put(const std::string& question, Verdict verdict, base::TimePoint now);

 private:
  struct Entry {
    Verdict verdict;
    base::TimePoint until;
  };
  base::Duration lifetime_;
  std::size_t most_;
  std::map<std::string, Entry> entries_;
};

// Asks the API server who the bearer of a token is (TokenReview) and whether they may use a path of ours
// (SubjectAccessReview on a non-resource URL). Usable from any thread. No answer from the server is an error, never a
// yes, and is not remembered. Its questions go at a pace of their own: a flood of callers with ever new tokens takes no
// turns of the client's.
class Authorizer {
 public:
  explicit Authorizer(const Client& client) : client_(client.beside({})) {}

  base::Result<Verdict> judge(const std::string& token, const PathAccess& access, std::stop_token stop = {});

  // The same handler for those who may: others get 401 or 403, and 503 while the API server does not answer.
  http::Handler protect(http::Handler handler);

  // From now on whoever is not known gets 503 at once, also who waits for the API server's answer. Before a server is
  // stopped: it waits for its handlers.
  void end() { end_.request_stop(); }

 private:
  base::Result<Verdict> review(const std::string& token, const PathAccess& access, const Limit& limit);

  const std::unique_ptr<Client> client_;
  std::stop_source end_;
  runtime::Guarded<VerdictCache> cache_;
};

}  // namespace kube
