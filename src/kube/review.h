#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kube/client.h"

namespace kube {

// Somebody as the API server knows him (authentication/v1 UserInfo).
struct User {
  std::string name;
  std::string uid;
  std::vector<std::string> groups;
  std::map<std::string, std::vector<std::string>> extra;

  // The node a token is bound to, or "".
  std::string node() const;
};

// Who the server takes us for (SelfSubjectReview).
Result<User> who_am_i(Client& client, const Limit& limit);

// Whose token this is, if the server accepts it (TokenReview).
Result<std::optional<User>> review_token(Client& client, std::string_view token, const Limit& limit);

// What somebody wants to do: with a path of ours, as "get" on "/metrics".
struct PathAccess {
  std::string verb;
  std::string path;
};

// Whether he may (SubjectAccessReview). Only a clear yes is one.
Result<bool> is_allowed(Client& client, const User& user, const PathAccess& access, const Limit& limit);

}  // namespace kube
