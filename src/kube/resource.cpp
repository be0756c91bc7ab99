#include "kube/resource.h"

#include <fmt/format.h>

#include "http/url.h"

namespace kube {

std::string Resource::collection(std::string_view ns) const {
  std::string path = group.empty() ? fmt::format("/api/{}", version) : fmt::format("/apis/{}/{}", group, version);
  if (namespaced && !ns.empty()) path += fmt::format("/namespaces/{}", http::escape(ns));
  return fmt::format("{}/{}", path, plural);
}

std::string Resource::object(const Key& key, std::string_view subresource) const {
  const std::string path = fmt::format("{}/{}", collection(key.ns), http::escape(key.name));
  return subresource.empty() ? path : fmt::format("{}/{}", path, subresource);
}

}  // namespace kube
