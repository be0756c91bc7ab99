#include "kube/request.h"

#include <fmt/format.h>

#include "http/url.h"
#include "json/writer.h"

namespace kube {
namespace {

class Target {
 public:
  explicit Target(std::string path) : text_(std::move(path)) {}

  Target& add(std::string_view key, std::string_view value) {
    text_ += fmt::format("{}{}={}", text_.find('?') == std::string::npos ? '?' : '&', key, http::escape(value));
    return *this;
  }
  Target& add_unless_empty(std::string_view key, std::string_view value) {
    return value.empty() ? *this : add(key, value);
  }
  Target& add(UnknownFields unknown) {
    return unknown == UnknownFields::refused ? add("fieldValidation", "Strict") : *this;
  }
  Target& add(const Selection& selection) {
    return add_unless_empty("labelSelector", selection.label_selector)
        .add_unless_empty("fieldSelector", selection.field_selector);
  }
  std::string text() && { return std::move(text_); }

 private:
  std::string text_;
};

http::Request reading(Target target, bool as_message = false) {
  const std::string_view types =
      as_message ? "application/vnd.kubernetes.protobuf, application/json" : "application/json";
  return {.method = "GET", .target = std::move(target).text(), .headers = {{"accept", std::string(types)}}, .body = {}};
}

http::Request writing(std::string method, Target target, std::string_view type, std::string body) {
  http::Headers headers = {{"accept", "application/json"}};
  if (!body.empty()) {
    headers.push_back({"content-type", std::string(type)});
    headers.push_back({"content-length", std::to_string(body.size())});
  }
  return {
      .method = std::move(method),
      .target = std::move(target).text(),
      .headers = std::move(headers),
      .body = std::move(body),
  };
}

std::string_view media_type(PatchType type) {
  switch (type) {
    case PatchType::merge:
      return "application/merge-patch+json";
    case PatchType::json:
      return "application/json-patch+json";
    case PatchType::apply:
    case PatchType::apply_unowned:
      return "application/apply-patch+yaml";  // JSON is YAML.
  }
  return {};
}

std::string_view text(Propagation propagation) {
  switch (propagation) {
    case Propagation::background:
      return "Background";
    case Propagation::foreground:
      return "Foreground";
    case Propagation::orphan:
      return "Orphan";
  }
  return {};
}

std::string delete_options(const Preconditions& preconditions, std::optional<Propagation> propagation) {
  return json::object([&](json::Object& out) {
    out.put("apiVersion", "v1");
    out.put("kind", "DeleteOptions");
    if (propagation) out.put("propagationPolicy", text(*propagation));
    out.object("preconditions", [&](json::Object& inner) {
      inner.put_unless_empty("uid", preconditions.uid);
      inner.put_unless_empty("resourceVersion", preconditions.resource_version);
    });
  });
}

}  // namespace

http::Request get(const Resource& resource, const Key& key, std::string_view subresource) {
  return reading(Target(resource.object(key, subresource)));
}

http::Request list(const Resource& resource, const ListRequest& request) {
  Target target(resource.collection(request.selection.ns));
  target.add(request.selection);
  if (request.limit > 0) target.add("limit", std::to_string(request.limit));
  if (!request.token.empty()) {
    target.add("continue", request.token);
  } else if (request.not_older_than > 0) {
    target.add("resourceVersion", std::to_string(request.not_older_than)).add("resourceVersionMatch", "NotOlderThan");
  }
  http::Request out = reading(std::move(target), request.as_message);
  // A whole list shrinks to a tenth, for people with slow links. Pages are for programs beside the server, which would
  // be as long at zipping them as at making them.
  if (request.limit == 0) out.headers.push_back({"accept-encoding", "gzip"});
  return out;
}

http::Request watch(const Resource& resource, const WatchRequest& request) {
  Target target(resource.collection(request.selection.ns));
  target.add("watch", "1").add("allowWatchBookmarks", "true").add(request.selection);
  target.add("timeoutSeconds", std::to_string(request.timeout.count()));
  if (request.from > 0) target.add("resourceVersion", std::to_string(request.from));
  if (request.initial) target.add("sendInitialEvents", "true").add("resourceVersionMatch", "NotOlderThan");
  return reading(std::move(target), request.as_message);
}

http::Request create(const Resource& resource, std::string_view ns, std::string body, std::string_view manager,
                     UnknownFields unknown) {
  Target target(resource.collection(ns));
  target.add_unless_empty("fieldManager", manager).add(unknown);
  return writing("POST", std::move(target), "application/json", std::move(body));
}

http::Request update(const Resource& resource, const Key& key, std::string_view subresource, std::string body,
                     std::string_view manager, UnknownFields unknown) {
  Target target(resource.object(key, subresource));
  target.add_unless_empty("fieldManager", manager).add(unknown);
  return writing("PUT", std::move(target), "application/json", std::move(body));
}

http::Request patch(const Resource& resource, const Key& key, std::string_view subresource, PatchType type,
                    std::string body, std::string_view manager) {
  Target target(resource.object(key, subresource));
  target.add_unless_empty("fieldManager", manager);
  if (type == PatchType::apply) target.add("force", "true");  // The fields in it are ours, whoever wrote them last.
  return writing("PATCH", std::move(target), media_type(type), std::move(body));
}

http::Request remove(const Resource& resource, const Key& key, const Preconditions& preconditions,
                     std::optional<Propagation> propagation) {
  return writing("DELETE", Target(resource.object(key)), "application/json",
                 delete_options(preconditions, propagation));
}

}  // namespace kube
