#pragma once

#include <compare>
#include <string>
#include <string_view>

namespace kube {

// One object of a kind; cluster-scoped objects have no name space.
struct Key {
  std::string ns;
  std::string name;

  std::string text() const { return ns.empty() ? name : ns + "/" + name; }
  auto operator<=>(const Key&) const = default;
};

// A kind as the API server serves it: `Resource{"apps", "v1", "daemonsets", true}`; the core group is "".
struct Resource {
  std::string group;
  std::string version;
  std::string plural;
  bool namespaced = true;

  // "/apis/apps/v1/namespaces/kube-system/daemonsets"; all name spaces where `ns` is empty.
  std::string collection(std::string_view ns) const;
  // The collection's path and the name; with a subresource "/status" and the like.
  std::string object(const Key& key, std::string_view subresource = {}) const;

  std::string text() const { return group.empty() ? plural : plural + "." + group; }
  bool operator==(const Resource&) const = default;
};

}  // namespace kube
