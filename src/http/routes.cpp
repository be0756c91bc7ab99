#include "http/routes.h"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace http {

Response plain_text(int status, std::string body) {
  return {.status = status, .headers = {{"content-type", "text/plain; charset=utf-8"}}, .body = std::move(body)};
}

std::string_view path_of(const Request& request) {
  const std::string_view target = request.target;
  return target.substr(0, target.find('?'));
}

Routes& Routes::add(std::string path, Handler handler, std::vector<std::string> methods) {
  if (std::ranges::find(methods, "GET") != methods.end()) methods.emplace_back("HEAD");
  routes_.insert_or_assign(std::move(path), Route{std::move(handler), std::move(methods)});
  return *this;
}

Response Routes::answer(const Request& request) const {
  const Route* const route = find(path_of(request));
  if (route == nullptr) return plain_text(404, "not found\n");
  if (std::ranges::find(route->methods, request.method) == route->methods.end()) {
    Response refused = plain_text(405, "method not allowed\n");
    refused.headers.push_back({"allow", fmt::format("{}", fmt::join(route->methods, ", "))});
    return refused;
  }
  if (request.method != "HEAD") return route->handler(request);
  Request as_get = request;
  as_get.method = "GET";
  return route->handler(as_get);
}

const Routes::Route* Routes::find(std::string_view path) const {
  if (const auto exact = routes_.find(path); exact != routes_.end()) return &exact->second;
  while (!path.empty()) {
    path = path.substr(0, path.find_last_of('/') + 1);  // Up to and with the last slash.
    if (const auto above = routes_.find(path); above != routes_.end()) return &above->second;
    if (!path.empty()) path.remove_suffix(1);
  }
  return nullptr;
}

}  // namespace http
