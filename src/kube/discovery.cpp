#include "kube/discovery.h"

#include <algorithm>

#include <fmt/format.h>

namespace kube {
namespace {

constexpr int kNotModified = 304;
constexpr auto kInOneDocument = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,application/json";

Result<http::Response> fetch(Client& client, std::string path, std::string_view accept, std::string_view known_tag,
                             const Limit& limit) {
  http::Request request;
  request.target = std::move(path);
  request.headers.push_back({"accept", std::string(accept)});
  if (!known_tag.empty()) request.headers.push_back({"if-none-match", std::string(known_tag)});
  return client.send(std::move(request), limit);
}

base::Result<bool> lists_group_version(std::string_view groups, const Resource& resource) {
  json::Reader reader;
  const auto root = TRY(reader.parse(groups));
  const std::string wanted = fmt::format("{}/{}", resource.group, resource.version);
  for (const auto& group : TRY(root["groups"].items())) {
    for (const auto& version : TRY(group["versions"].items())) {
      if (TRY(version["groupVersion"].string()) == wanted) return true;
    }
  }
  return false;
}

base::Result<bool> lists_resource(std::string_view resources, const Resource& resource) {
  json::Reader reader;
  const auto root = TRY(reader.parse(resources));
  for (const auto& one : TRY(root["resources"].items_or_none())) {
    if (TRY(one["name"].string()) == resource.plural) return true;
  }
  return false;
}

// Servers before 1.30, and those behind something that does not let the media type through.
Result<bool> ask_group_by_group(Client& client, std::string_view root, const Resource& resource, const Limit& limit) {
  if (!resource.group.empty() && !TRY(lists_group_version(root, resource))) return false;
  const std::string path = resource.group.empty() ? fmt::format("/api/{}", resource.version)
                                                  : fmt::format("/apis/{}/{}", resource.group, resource.version);
  const auto resources = TRY(fetch(client, path, "application/json", "", limit));
  return TRY(lists_resource(resources.body, resource));
}

}  // namespace

base::Result<bool> Offer::has(const Resource& resource) const {
  const std::string version = fmt::format("{}/{}", resource.group, resource.version);
  if (std::ranges::binary_search(unsure, version)) {
    return base::fail(base::Fault::unavailable, fmt::format("who serves {} does not answer the API server", version));
  }
  return std::ranges::binary_search(kinds, fmt::format("{}/{}", version, resource.plural));
}

base::Result<std::optional<Offer>> decode_offer(std::string_view body) {
  json::Reader reader;
  const auto root = TRY(reader.parse(body));
  if (TRY(root["kind"].string_or("")) != "APIGroupDiscoveryList") return std::nullopt;
  Offer out;
  for (const auto& group : TRY(root["items"].items_or_none())) {
    const auto name = TRY(group["metadata"]["name"].string_or(""));  // The core group has none.
    for (const auto& version : TRY(group["versions"].items_or_none())) {
      const std::string group_version = fmt::format("{}/{}", name, TRY(version["version"].string()));
      if (TRY(version["freshness"].string_or("")) == "Stale") out.unsure.push_back(group_version);
      for (const auto& kind : TRY(version["resources"].items_or_none())) {
        out.kinds.push_back(fmt::format("{}/{}", group_version, TRY(kind["resource"].string())));
      }
    }
  }
  std::ranges::sort(out.kinds);
  std::ranges::sort(out.unsure);
  return out;
}

Result<bool> Discovery::is_served(const Resource& resource, const Limit& limit) {
  if (TRY(ask(resource, limit))) return true;
  TRY(expect_ready(client_, limit));
  return ask(resource, limit);
}

Result<bool> Discovery::ask(const Resource& resource, const Limit& limit) {
  const bool is_core = resource.group.empty();
  auto& known = is_core ? core_ : groups_;
  const auto before = known.latest();
  const auto response = TRY(fetch(client_, is_core ? "/api" : "/apis", kInOneDocument, before->tag, limit));
  if (response.status == kNotModified) return TRY(before->offer.has(resource));
  auto offer = TRY(decode_offer(response.body));
  if (!offer) return ask_group_by_group(client_, response.body, resource, limit);
  auto answer = offer->has(resource);
  known.publish({.tag = std::string(http::find(response.headers, "etag").value_or("")), .offer = *std::move(offer)});
  return TRY(std::move(answer));
}

Result<bool> is_served(Client& client, const Resource& resource, const Limit& limit) {
  return Discovery(client).is_served(resource, limit);
}

base::Status expect_ready(Client& client, const Limit& limit) {
  constexpr int kOk = 200;
  auto answer = fetch(client, "/readyz", "text/plain", "", limit);
  if (!answer) return std::unexpected(std::move(answer).error().within("ask whether the API server is ready"));
  if (answer->status == kOk) return {};
  return base::fail(base::Fault::unavailable,
                    fmt::format("whether the API server is ready is answered by {}", answer->status));
}

}  // namespace kube
