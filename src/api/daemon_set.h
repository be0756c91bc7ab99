#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/agent.h"
#include "api/int_or_string.h"
#include "api/projected_volume.h"
#include "api/quantities.h"
#include "base/result.h"
#include "json/reader.h"
#include "meta/labels.h"
#include "meta/meta.h"

namespace api {

// A question to a container over HTTP. (Not inside DaemonSet: clang cannot put a class into an optional before its
// surroundings are complete.)
struct HttpGet {
  std::string path;
  IntOrString port;
  std::string host;  // Empty: the pod's address.

  template <typename Self, typename Visitor>
  static void fields(Self& self, Visitor& visit) {
    visit("path", self.path);
    visit("port", self.port);
    visit("host", self.host);
  }
  bool operator==(const HttpGet&) const = default;
};
struct HttpProbe {
  HttpGet http_get;
  std::int32_t initial_delay = 0;  // Seconds, as the next two.
  std::int32_t period = 0;
  std::int32_t timeout = 0;
  std::int32_t failure_threshold = 0;

  template <typename Self, typename Visitor>
  static void fields(Self& self, Visitor& visit) {
    visit("httpGet", self.http_get);
    visit("initialDelaySeconds", self.initial_delay);
    visit("periodSeconds", self.period);
    visit("timeoutSeconds", self.timeout);
    visit("failureThreshold", self.failure_threshold);
  }
  bool operator==(const HttpProbe&) const = default;
};

// The slice of an apps/v1 DaemonSet that the controller sets for the agents, and the figures it reads back. What is not
// named here belongs to others, or to the server's defaults.
struct DaemonSet {
  static constexpr std::string_view kKind = "DaemonSet";
  static constexpr std::string_view kPlural = "daemonsets";
  static constexpr std::string_view kApiVersion = "apps/v1";
  using Probe = HttpProbe;

  struct Selector {
    meta::Labels match_labels;

    template <typename Self, typename Visitor>
    static void fields(Self& self, Visitor& visit) {
      visit("matchLabels", self.match_labels);
    }
    bool operator==(const Selector&) const = default;
  };

  struct RollingUpdate {
    IntOrString max_unavailable;

    template <typename Self, typename Visitor>
    static void fields(Self& self, Visitor& visit) {
      visit("maxUnavailable", self.max_unavailable);
    }
    bool operator==(const RollingUpdate&) const = default;
  };

  struct UpdateStrategy {
    std::string type;
    RollingUpdate rolling_update;

    template <typename Self, typename Visitor>
    static void fields(Self& self, Visitor& visit) {
      visit("type", self.type);
      visit("rollingUpdate", self.rolling_update);
    }
    bool operator==(const UpdateStrategy&) const = default;
  };

  // A value, or the name of a field of the pod.
  struct FieldRef {
    std::string field_path;

    template <typename Self, typename Visitor>
    static void fields(Self& self, Visitor& visit) {
      visit("fieldPath", self.field_path);
    }
    bool operator==(const FieldRef&) const = default;
  };
  struct ValueFrom {
    FieldRef field_ref;

    template <typename Self, typename Visitor>
    static void fields(Self& self, Visitor& visit) {
      visit("fieldRef", self.field_ref);
    }
    bool operator==(const ValueFrom&) const = default;
  };
  struct Variable {
    std::string name;
    std::string value;
    ValueFrom value_from;

    template <typename Self, typename Visitor>
    static void fields(Self& self, Visitor& visit) {
      visit.required("name", self.name);
      visit("value", self.value);
      visit("valueFrom", self.value_from);
    }
    bool operator==(const Variable&) const = default;
  };

  struct Port {
    std::string name;
    std::int32_t container_port = 0;
    std::string protocol;

    template <typename Self, typename Visitor>
    static void fields(Self& self, Visitor& visit) {
      visit("name", self.name);
      visit.required("containerPort", self.container_port);
      visit("protocol", self.protocol);
    }
    bool operator==(const Port&) const = default;
  };

  struct Capabilities {
    std::vector<std::string> add;
    std::vector<std::string> drop;

    template <typename Self, typename Visitor>
    static void fields(Self& self, Visitor& visit) {
      visit("add", self.add);
      visit("drop", self.drop);
    }
    bool operator==(const Capabilities&) const = default;
  };
  struct SeccompProfile {
    std::string type;

    template <typename Self, typename Visitor>
    static void fields(Self& self, Visitor& visit) {
      visit("type", self.type);
    }
    bool operator==(const SeccompProfile&) const = default;
  };
  struct SecurityContext {
    bool allow_privilege_escalation = true;
    bool read_only_root = false;
    bool run_as_non_root = true;
    std::int64_t run_as_user = -1;
    Capabilities capabilities;
    SeccompProfile seccomp_profile;

    template <typename Self, typename Visitor>
    static void fields(Self& self, Visitor& visit) {
      visit.always("allowPrivilegeEscalation", self.allow_privilege_escalation);
      visit.always("readOnlyRootFilesystem", self.read_only_root);
      visit.always("runAsNonRoot", self.run_as_non_root);
      visit.always("runAsUser", self.run_as_user);
      visit("capabilities", self.capabilities);
      visit("seccompProfile", self.seccomp_profile);
    }
    bool operator==(const SecurityContext&) const = default;
  };

  struct Container {
    std::string name;
    std::string image;
    std::string image_pull_policy;
    std::vector<Variable> env;
    std::vector<Port> ports;
    std::optional<Probe> liveness;
    std::optional<Probe> readiness;
    Resources resources;
    std::vector<VolumeMount> mounts;
    SecurityContext security_context;

    template <typename Self, typename Visitor>
    static void fields(Self& self, Visitor& visit) {
      visit.required("name", self.name);
      visit("image", self.image);
      visit("imagePullPolicy", self.image_pull_policy);
      visit("env", self.env);
      visit("ports", self.ports);
      visit("livenessProbe", self.liveness);
      visit("readinessProbe", self.readiness);
      visit("resources", self.resources);
      visit("volumeMounts", self.mounts);
      visit("securityContext", self.security_context);
    }
    bool operator==(const Container&) const = default;
  };

  struct PodSpec {
    std::string service_account_name;
    bool automount_token = true;  // The server's own volume with a token that lasts long.
    bool host_network = false;
    std::string dns_policy;
    meta::Labels node_selector;  // Written even when empty, as the next: nothing of an older writer is left.
    std::vector<Toleration> tolerations;
    std::int64_t termination_grace_period = 0;
    std::string priority_class_name;
    std::vector<Container> containers;
    std::vector<ProjectedVolume> volumes;

    template <typename Self, typename Visitor>
    static void fields(Self& self, Visitor& visit) {
      visit("serviceAccountName", self.service_account_name);
      visit.always("automountServiceAccountToken", self.automount_token);
      visit("hostNetwork", self.host_network);
      visit("dnsPolicy", self.dns_policy);
      visit.always("nodeSelector", self.node_selector);
      visit.always("tolerations", self.tolerations);
      visit("terminationGracePeriodSeconds", self.termination_grace_period);
      visit("priorityClassName", self.priority_class_name);
      visit("containers", self.containers);
      visit("volumes", self.volumes);
    }
    bool operator==(const PodSpec&) const = default;
  };

  struct TemplateMeta {
    meta::Labels labels;
    meta::Labels annotations;

    template <typename Self, typename Visitor>
    static void fields(Self& self, Visitor& visit) {
      visit("labels", self.labels);
      visit("annotations", self.annotations);
    }
    bool operator==(const TemplateMeta&) const = default;
  };
  struct Template {
    TemplateMeta meta;
    PodSpec spec;

    template <typename Self, typename Visitor>
    static void fields(Self& self, Visitor& visit) {
      visit("metadata", self.meta);
      visit("spec", self.spec);
    }
    bool operator==(const Template&) const = default;
  };

  struct Spec {
    Selector selector;
    UpdateStrategy update_strategy;
    Template pod;

    template <typename Self, typename Visitor>
    static void fields(Self& self, Visitor& visit) {
      visit("selector", self.selector);
      visit("updateStrategy", self.update_strategy);
      visit("template", self.pod);
    }
    bool operator==(const Spec&) const = default;
  };

  struct Status {
    std::int64_t observed_generation = 0;
    std::int32_t desired = 0;
    std::int32_t current = 0;
    std::int32_t ready = 0;
    std::int32_t updated = 0;

    template <typename Self, typename Visitor>
    static void fields(Self& self, Visitor& visit) {
      visit("observedGeneration", self.observed_generation);
      visit("desiredNumberScheduled", self.desired);
      visit("currentNumberScheduled", self.current);
      visit("numberReady", self.ready);
      visit("updatedNumberScheduled", self.updated);
    }
    bool operator==(const Status&) const = default;
  };

  meta::Meta meta;
  Spec spec;
  Status status;

  bool operator==(const DaemonSet&) const = default;
};

base::Result<DaemonSet> decode_daemon_set(const json::Value& object);
std::string encode(const DaemonSet& set);  // For an apply: without the status.

}  // namespace api
