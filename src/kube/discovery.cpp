#include "kube/discovery.h"

#include <algorithm>

#include <fmt/format.h>

namespace kube {
namespace {

Result<std::string> fetch(Client& client, std::string path, const Limit& limit) {
  http::Request request;
  request.target = std::move(path);
  request.headers.push_back({"accept", "application/json"});
  auto response = TRY(client.send(std::move(request), limit));
  return std::move(response.body);
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

}  // namespace

Result<bool> is_served(Client& client, const Resource& resource, const Limit& limit) {
  if (!resource.group.empty()) {
    const auto groups = TRY(fetch(client, "/apis", limit));
    if (!TRY(lists_group_version(groups, resource))) return false;
  }
  const std::string path = resource.group.empty() ? fmt::format("/api/{}", resource.version)
                                                  : fmt::format("/apis/{}/{}", resource.group, resource.version);
  const auto resources = TRY(fetch(client, path, limit));
  return TRY(lists_resource(resources, resource));
}

}  // namespace kube
