#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kube/client.h"
#include "runtime/snapshot.h"

namespace kube {

// What a server offers below "/api" or "/apis", in one document (aggregated discovery, apidiscovery.k8s.io/v2).
struct Offer {
  std::vector<std::string> kinds;   // Sorted: "apps/v1/daemonsets", "/v1/services".
  std::vector<std::string> unsure;  // Sorted: "metrics.k8s.io/v1beta1": who serves these does not answer the server.

  // `unavailable` where the server itself does not know.
  base::Result<bool> has(const Resource& resource) const;
};

// None: another document, of a server that has no such thing.
base::Result<std::optional<Offer>> decode_offer(std::string_view body);

// Whether the server has started: before that it knows few kinds, and refuses what it allows later.
base::Status expect_ready(Client& client, const Limit& limit);

// Which kinds the server has, by its own word: true and false are both answers of 200. A 404 for an object or a list
// says less (a proxy, a server that is just starting), and an error says nothing. Nor does a server know that a kind is
// not there before it is ready: custom kinds come to it one by one while it starts, so only then is it asked for its
// last word. What was said is kept; each question asks whether it still holds, which costs a request and no body while
// nothing changes. So a kind that appears or goes is noticed by the next question. Usable from any thread.
class Discovery {
 public:
  explicit Discovery(Client& client) : client_(client) {}

  Result<bool> is_served(const Resource& resource, const Limit& limit);

 private:
  struct Known {
    std::string tag;  // Empty: nothing is known.
    Offer offer;
  };

  Result<bool> ask(const Resource& resource, const Limit& limit);

  Client& client_;
  runtime::Snapshot<Known> core_;
  runtime::Snapshot<Known> groups_;
};

// For who asks once.
Result<bool> is_served(Client& client, const Resource& resource, const Limit& limit);

}  // namespace kube
