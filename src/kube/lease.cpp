#include "kube/lease.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include "json/writer.h"

namespace kube {
namespace {

void encode_spec(json::Object& out, const Lease& lease) {
  out.object("spec", [&](json::Object& spec) {
    if (lease.holder.empty()) {
      spec.put_null("holderIdentity");  // The server refuses an empty one.
    } else {
      spec.put("holderIdentity", lease.holder);
    }
    spec.put("leaseDurationSeconds", lease.duration.count());
    spec.put("acquireTime", lease.acquired);
    spec.put("renewTime", lease.renewed);
    spec.put("leaseTransitions", lease.transitions);
  });
}

}  // namespace

base::Result<Lease> Lease::decode(const json::Value& object) {
  const json::Value spec = object["spec"];
  Lease out;
  out.resource_version = TRY(object["metadata"]["resourceVersion"].string());
  if (!spec.exists()) return out;  // Nobody has claimed it yet.
  out.holder = TRY(spec["holderIdentity"].string_or(""));
  out.duration = std::chrono::seconds(TRY(spec["leaseDurationSeconds"].integer_or<int>(0)));
  out.acquired = TRY(spec["acquireTime"].string_or(""));
  out.renewed = TRY(spec["renewTime"].string_or(""));
  out.transitions = TRY(spec["leaseTransitions"].integer_or<int>(0));
  return out;
}

bool Lease::same_claim(const Lease& other) const {
  return holder == other.holder && duration == other.duration && acquired == other.acquired &&
         renewed == other.renewed && transitions == other.transitions;
}

std::string encode_new(const Lease& lease, const std::string& name, const std::string& name_space) {
  return json::object([&](json::Object& out) {
    out.put("apiVersion", "coordination.k8s.io/v1");
    out.put("kind", "Lease");
    out.object("metadata", [&](json::Object& metadata) {
      metadata.put("name", name);
      metadata.put("namespace", name_space);
    });
    encode_spec(out, lease);
  });
}

std::string encode_claim(const Lease& lease) {
  return json::object([&](json::Object& out) {
    out.object("metadata", [&](json::Object& metadata) { metadata.put("resourceVersion", lease.resource_version); });
    encode_spec(out, lease);
  });
}

std::string micro_time(std::chrono::system_clock::time_point time) {
  const auto whole = std::chrono::floor<std::chrono::seconds>(time);
  const auto micros = std::chrono::duration_cast<std::chrono::microseconds>(time - whole);
  return fmt::format("{:%FT%T}.{:06}Z", fmt::gmtime(std::chrono::system_clock::to_time_t(whole)), micros.count());
}

}  // namespace kube
