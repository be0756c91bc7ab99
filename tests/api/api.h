#pragma once

#include <algorithm>
#include <cctype>
#include <chrono>
#include <memory>
#include <stdexcept>
#include <string>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "json/reader.h"
#include "kube/client.h"
#include "testbed/cluster.h"
#include "testbed/eventually.h"

// What the tests of this folder share: a client of the shared cluster, and ConfigMaps to play with.
namespace api_test {

using namespace std::chrono_literals;

constexpr auto kBound = 60s;  // For facts on a busy machine.

inline const kube::Resource kConfigMaps{"", "v1", "configmaps", true};
inline const kube::Resource kNamespaces{"", "v1", "namespaces", false};
inline const kube::Resource kNodes{"", "v1", "nodes", false};

#define ASSERT_OK(...)                                                   \
  do {                                                                   \
    const auto& assert_ok_result = (__VA_ARGS__);                        \
    ASSERT_TRUE(assert_ok_result) << assert_ok_result.error().message(); \
  } while (false)

template <typename T>
auto must(T result) {
  if (!result) throw std::runtime_error(result.error().message());
  if constexpr (!std::is_void_v<typename T::value_type>) return *std::move(result);
}

inline kube::Limit soon() {
  return kube::within(30s);
}

inline std::unique_ptr<kube::Client> connect(const std::filesystem::path& kubeconfig, const http::Tuning& tuning = {}) {
  return must(kube::Client::connect(must(kube::from_kubeconfig({kubeconfig}, "")), {},
                                    {.rate = 10'000, .burst = 10'000}, tuning));
}

inline std::unique_ptr<kube::Client> admin(const http::Tuning& tuning = {}) {
  return connect(testbed::shared_cluster().admin_kubeconfig(), tuning);
}

inline std::string config_map(const std::string& name, const std::string& value, const std::string& more_meta = {}) {
  return fmt::format(R"({{"apiVersion":"v1","kind":"ConfigMap","metadata":{{"name":"{}"{}}},"data":{{"value":"{}"}}}})",
                     name, more_meta, value);
}

// Of such a ConfigMap, for a store.
inline base::Result<std::string> decode_value(const json::Value& object) {
  return std::string(TRY(object["data"]["value"].string_or("")));
}

// One text field of an object: at(body, "metadata", "uid").
inline std::string at(std::string_view body, const char* first, const char* second) {
  json::Reader reader;
  return std::string(must(must(reader.parse(body))[first][second].string_or("")));
}

// A name space of the test's own, named like it.
class ApiTest : public testing::Test {
 protected:
  ApiTest() {
    const std::string name = testing::UnitTest::GetInstance()->current_test_info()->name();
    // The end of a long one: a parameter stands there.
    for (const char c : name.substr(name.size() - std::min<std::size_t>(name.size(), 60))) {
      ns_ += c == '_' || c == '/' ? '-' : static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    }
    while (ns_.starts_with('-')) ns_.erase(0, 1);
    (void)client_->create(kNamespaces, "", fmt::format(R"({{"metadata":{{"name":"{}"}}}})", ns_), soon());
  }

  kube::Key key(const std::string& name) const { return {ns_, name}; }
  kube::Result<std::string> put(const std::string& name, const std::string& value) {
    return client_->patch(kConfigMaps, key(name), kube::PatchType::apply, config_map(name, value), soon());
  }
  kube::Result<std::string> drop(const std::string& name) {
    return client_->remove(kConfigMaps, key(name), {}, soon());
  }

  testbed::Cluster& cluster_ = testbed::shared_cluster();
  std::unique_ptr<kube::Client> client_ = admin();
  std::string ns_;
};

}  // namespace api_test
