#pragma once

#include <string>
#include <utility>
#include <vector>

#include "json/reader.h"
#include "kube/error.h"

// What the tests of list and watch, step by step and simulated, have in common.
namespace kube {

inline base::Result<std::string> decode(const json::Value& object) {
  return std::string(TRY(object["value"].string()));
}

// What a server that refuses says.
inline Error status(int code, std::string reason = {}, std::vector<ServerStatus::Cause> causes = {}) {
  ServerStatus out;
  out.code = code;
  out.reason = std::move(reason);
  out.causes = std::move(causes);
  return error_of(std::move(out));
}

}  // namespace kube
