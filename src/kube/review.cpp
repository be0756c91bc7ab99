#include "kube/review.h"

#include "json/writer.h"

namespace kube {
namespace {

base::Result<std::vector<std::string>> strings(const json::Value& list) {
  std::vector<std::string> out;
  for (const auto& item : TRY(list.items_or_none())) out.emplace_back(TRY(item.string()));
  return out;
}

base::Result<User> decode_user(const json::Value& value) {
  User out;
  out.name = TRY(value["username"].string_or(""));
  out.uid = TRY(value["uid"].string_or(""));
  out.groups = TRY(strings(value["groups"]));
  for (const auto& [key, values] : TRY(value["extra"].members_or_none())) {
    out.extra[std::string(key)] = TRY(strings(values));
  }
  return out;
}

void put_strings(json::Object& out, std::string_view key, const std::vector<std::string>& values) {
  out.array(key, [&](json::Array& list) {
    for (const std::string& value : values) list.put(value);
  });
}

std::string review(std::string_view api_version, std::string_view kind, auto&& spec) {
  return json::object([&](json::Object& out) {
    out.put("apiVersion", api_version);
    out.put("kind", kind);
    out.object("spec", spec);
  });
}

}  // namespace

std::string User::node() const {
  const auto found = extra.find("authentication.kubernetes.io/node-name");
  return found == extra.end() || found->second.empty() ? "" : found->second.front();
}

Result<User> who_am_i(Client& client, const Limit& limit) {
  const Resource resource{"authentication.k8s.io", "v1", "selfsubjectreviews", false};
  const auto answer = TRY(client.create(
      resource, "", review("authentication.k8s.io/v1", "SelfSubjectReview", [](json::Object&) {}), limit));
  json::Reader reader;
  const auto root = TRY(reader.parse(answer));
  return decode_user(root["status"]["userInfo"]);
}

Result<std::optional<User>> review_token(Client& client, std::string_view token, const Limit& limit) {
  const Resource resource{"authentication.k8s.io", "v1", "tokenreviews", false};
  auto body = review("authentication.k8s.io/v1", "TokenReview", [&](json::Object& spec) { spec.put("token", token); });
  const auto answer = TRY(client.create(resource, "", std::move(body), limit));
  json::Reader reader;
  const auto root = TRY(reader.parse(answer));
  const auto status = root["status"];
  if (!TRY(status["authenticated"].boolean_or(false))) return std::nullopt;
  return TRY(decode_user(status["user"]));
}

Result<bool> is_allowed(Client& client, const User& user, const PathAccess& access, const Limit& limit) {
  const Resource resource{"authorization.k8s.io", "v1", "subjectaccessreviews", false};
  auto body = review("authorization.k8s.io/v1", "SubjectAccessReview", [&](json::Object& spec) {
    spec.put("user", user.name);
    spec.put_unless_empty("uid", user.uid);
    put_strings(spec, "groups", user.groups);
    spec.object("extra", [&](json::Object& extra) {
      for (const auto& [key, values] : user.extra) put_strings(extra, key, values);
    });
    spec.object("nonResourceAttributes", [&](json::Object& attributes) {
      attributes.put("verb", access.verb);
      attributes.put("path", access.path);
    });
  });
  const auto answer = TRY(client.create(resource, "", std::move(body), limit));
  json::Reader reader;
  const auto root = TRY(reader.parse(answer));
  return TRY(root["status"]["allowed"].boolean_or(false));
}

}  // namespace kube
