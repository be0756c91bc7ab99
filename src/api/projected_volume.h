#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace api {

// The slice of a pod's volumes that holds its account: one folder made of a token, the server's certificates and facts
// about the pod. A volume of another kind is read as one without sources.
struct TokenProjection {
  std::string path;
  std::int64_t expiration = 0;  // Seconds.

  template <typename Self, typename Visitor>
  static void fields(Self& self, Visitor& visit) {
    visit.required("path", self.path);
    visit("expirationSeconds", self.expiration);
  }
  bool operator==(const TokenProjection&) const = default;
};

struct KeyToPath {
  std::string key;
  std::string path;

  template <typename Self, typename Visitor>
  static void fields(Self& self, Visitor& visit) {
    visit.required("key", self.key);
    visit.required("path", self.path);
  }
  bool operator==(const KeyToPath&) const = default;
};
struct ConfigMapProjection {
  std::string name;
  std::vector<KeyToPath> items;

  template <typename Self, typename Visitor>
  static void fields(Self& self, Visitor& visit) {
    visit("name", self.name);
    visit("items", self.items);
  }
  bool operator==(const ConfigMapProjection&) const = default;
};

struct PodField {
  std::string field_path;

  template <typename Self, typename Visitor>
  static void fields(Self& self, Visitor& visit) {
    visit("fieldPath", self.field_path);
  }
  bool operator==(const PodField&) const = default;
};
struct PodFieldFile {
  std::string path;
  PodField field;

  template <typename Self, typename Visitor>
  static void fields(Self& self, Visitor& visit) {
    visit.required("path", self.path);
    visit("fieldRef", self.field);
  }
  bool operator==(const PodFieldFile&) const = default;
};
struct PodFields {
  std::vector<PodFieldFile> items;

  template <typename Self, typename Visitor>
  static void fields(Self& self, Visitor& visit) {
    visit("items", self.items);
  }
  bool operator==(const PodFields&) const = default;
};

// One of them.
struct Projection {
  std::optional<TokenProjection> token;
  std::optional<ConfigMapProjection> config_map;
  std::optional<PodFields> pod;

  template <typename Self, typename Visitor>
  static void fields(Self& self, Visitor& visit) {
    visit("serviceAccountToken", self.token);
    visit("configMap", self.config_map);
    visit("downwardAPI", self.pod);
  }
  bool operator==(const Projection&) const = default;
};
struct ProjectedSources {
  std::vector<Projection> sources;

  template <typename Self, typename Visitor>
  static void fields(Self& self, Visitor& visit) {
    visit("sources", self.sources);
  }
  bool operator==(const ProjectedSources&) const = default;
};
struct ProjectedVolume {
  std::string name;
  ProjectedSources projected;

  template <typename Self, typename Visitor>
  static void fields(Self& self, Visitor& visit) {
    visit.required("name", self.name);
    visit("projected", self.projected);
  }
  bool operator==(const ProjectedVolume&) const = default;
};

struct VolumeMount {
  std::string name;
  std::string path;
  bool read_only = false;

  template <typename Self, typename Visitor>
  static void fields(Self& self, Visitor& visit) {
    visit.required("name", self.name);
    visit.required("mountPath", self.path);
    visit("readOnly", self.read_only);
  }
  bool operator==(const VolumeMount&) const = default;
};

}  // namespace api
