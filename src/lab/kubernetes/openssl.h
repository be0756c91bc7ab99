#pragma once

#include <memory>

namespace lab {

// An OpenSSL object and the function that frees it: OpenSslPtr<X509, X509_free>.
template <auto Free>
struct OpenSslFree {
  template <typename T>
  void operator()(T* object) const {
    Free(object);
  }
};
template <typename T, auto Free>
using OpenSslPtr = std::unique_ptr<T, OpenSslFree<Free>>;

}  // namespace lab
