#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "http/message.h"

namespace http {

// What a server does for a path. Called on the server's worker threads, several at a time; it may block for as long as
// its client is to wait, and must not throw.
using Handler = std::function<Response(const Request&)>;

// "text/plain; charset=utf-8".
Response plain_text(int status, std::string body);

// The path of a target, without the query.
std::string_view path_of(const Request& request);

// Which handler answers which path. A path that ends in "/" answers for everything below it; the longest wins. Where
// GET is allowed so is HEAD: the handler sees the GET, the server leaves the body out.
class Routes {
 public:
  Routes& add(std::string path, Handler handler, std::vector<std::string> methods = {"GET"});

  Response answer(const Request& request) const;

 private:
  struct Route {
    Handler handler;
    std::vector<std::string> methods;
  };
  const Route* find(std::string_view path) const;

  std::map<std::string, Route, std::less<>> routes_;
};

}  // namespace http
