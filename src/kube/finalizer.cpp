#include "kube/finalizer.h"

#include <string>
#include <vector>

#include <fmt/format.h>

#include "json/writer.h"
#include "meta/finalizer.h"

namespace kube {
namespace {

using base::fail;
using base::Fault;

// A merge patch replaces the whole list, so it must not meet another than the one that was seen. The version is also
// the object's identity: another object of the same name has never had it.
std::string encode(const std::vector<std::string>& finalizers, const std::string& version) {
  return json::object([&](json::Object& out) {
    out.object("metadata", [&](json::Object& meta) {
      meta.put("resourceVersion", version);
      meta.array("finalizers", [&](json::Array& list) {
        for (const std::string& one : finalizers) list.put(one);
      });
    });
  });
}

Result<void> write(Client& client, const Resource& resource, const meta::Meta& seen,
                   const std::vector<std::string>& finalizers, const Limit& limit) {
  if (seen.resource_version.empty()) {
    return fail(Fault::bug, fmt::format("{}: finalizers of an object that no server has shown", full_name(seen)));
  }
  TRY(client.patch(resource, {.ns = seen.ns, .name = seen.name}, PatchType::merge,
                   encode(finalizers, seen.resource_version), limit));
  return {};
}

}  // namespace

Result<bool> hold(Client& client, const Resource& resource, const meta::Meta& seen, std::string_view finalizer,
                  const Limit& limit) {
  const auto finalizers = meta::with_finalizer(seen, finalizer);
  if (!finalizers) return false;
  if (seen.terminating()) {
    return fail(Fault::conflict, fmt::format("{} is being deleted: it takes no finalizer any more", full_name(seen)));
  }
  TRY(write(client, resource, seen, *finalizers, limit));
  return true;
}

Result<bool> let_go(Client& client, const Resource& resource, const meta::Meta& seen, std::string_view finalizer,
                    const Limit& limit) {
  const auto finalizers = meta::without_finalizer(seen, finalizer);
  if (!finalizers) return false;
  const auto written = write(client, resource, seen, *finalizers, limit);
  if (!written && written.error().fault() == Fault::absent) return false;
  if (!written) return std::unexpected(written.error());
  return true;
}

}  // namespace kube
