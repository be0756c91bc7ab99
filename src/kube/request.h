#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "http/message.h"
#include "kube/resource.h"

// Resource and verb -> HTTP request. Pure; who asks (token, user agent) is added by the Client.
namespace kube {

// Which objects of a kind.
struct Selection {
  std::string ns;  // Empty: all.
  std::string label_selector;
  std::string field_selector;
};

// From which time a list must be (Kubernetes API concepts, "resource versions").
struct ListRequest {
  Selection selection;
  std::uint64_t not_older_than = 0;  // 0: the newest there is, by a consistent read.
  unsigned limit = 0;                // 0: all in one answer.
  std::string token;                 // `metadata.continue` of the page before; it fixes the version, too.
  bool as_message = false;           // Where the server has that; where not, the answer is JSON all the same.
};

struct WatchRequest {
  Selection selection;
  std::uint64_t from = 0;  // Events after this version; with `initial`, a state not older than it (0: the newest).
  bool initial = false;    // First all objects as ADDED events, then a bookmark, then changes (streaming list).
  std::chrono::seconds timeout{300};
  bool as_message = false;  // As in a list.
};

// Server-side apply: `apply` takes the fields in the body, whoever wrote them last; `apply_unowned` is a conflict where
// another has written one of them otherwise, so that it overwrites nobody.
enum class PatchType { merge, json, apply, apply_unowned };

// Only the object that is meant, in the state that was seen; empty fields ask nothing.
struct Preconditions {
  std::string uid;
  std::string resource_version;
};

// What becomes of fields that the server's idea of the kind does not have: it leaves them out and takes the rest, or it
// refuses the whole (from Kubernetes 1.25 on; older servers leave them out).
enum class UnknownFields { dropped, refused };

enum class Propagation { background, foreground, orphan };

http::Request get(const Resource& resource, const Key& key, std::string_view subresource = {});
http::Request list(const Resource& resource, const ListRequest& request);
http::Request watch(const Resource& resource, const WatchRequest& request);
http::Request create(const Resource& resource, std::string_view ns, std::string body, std::string_view manager,
                     UnknownFields unknown = UnknownFields::dropped);
http::Request update(const Resource& resource, const Key& key, std::string_view subresource, std::string body,
                     std::string_view manager, UnknownFields unknown = UnknownFields::dropped);
http::Request patch(const Resource& resource, const Key& key, std::string_view subresource, PatchType type,
                    std::string body, std::string_view manager);
http::Request remove(const Resource& resource, const Key& key, const Preconditions& preconditions,
                     std::optional<Propagation> propagation);

}  // namespace kube
