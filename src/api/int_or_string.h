#pragma once

#include <string>

namespace api {

// A number or a text, as Kubernetes allows it for ports and limits: 1 or "10%". Digits are written as a number.
struct IntOrString {
  std::string text;
  bool operator==(const IntOrString&) const = default;
};

}  // namespace api
