#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "api.h"
#include "kube/reflector.h"
#include "runtime/guarded.h"

namespace api_test {

using Values = std::map<std::string, std::string>;  // ConfigMap -> data.value

inline base::Result<std::string> decode(const json::Value& object) {
  const auto value = TRY(object["data"]["value"].string_or(""));
  if (value == "poison") return base::fail(base::Fault::invalid, "data.value: poison");
  return std::string(value);
}

// What somebody has tried to write, in order; each noted before it is sent.
class Attempts {
 public:
  void note(const std::string& name, const std::string& value) {
    all_.change([&](auto& all) { all.try_emplace({name, value}, all.size() + 1); });
  }
  // Which one it was, counted from 1; 0: nobody ever tried that.
  std::size_t find(const std::string& name, const std::string& value) const {
    return all_.read([&](const auto& all) {
      const auto found = all.find({name, value});
      return found != all.end() ? found->second : 0;
    });
  }

 private:
  runtime::Guarded<std::map<std::pair<std::string, std::string>, std::size_t>> all_;
};

// A consumer that checks on every view that time never runs back, and waits for facts. Of objects whose writes are
// noted, it checks too that each value was written, and after those of that name that it has seen.
class Watcher {
 public:
  Watcher(kube::Client& client, const std::string& ns, const std::string& labels = {}, const std::string& fields = {})
      : reflector_(client, kConfigMaps, decode, changed_,
                   {.ns = ns, .label_selector = labels, .field_selector = fields}) {}
  Watcher(kube::Client& client, const std::string& ns, const Attempts& attempts) : Watcher(client, ns) {
    attempts_ = &attempts;
  }

  Values values() {
    const auto view = reflector_.latest();
    check(*view);
    Values out;
    for (const auto& object : view->objects) out[object->key.name] = object->value;
    return out;
  }
  std::shared_ptr<const kube::View<std::string>> view() { return reflector_.latest(); }
  void list_again() { reflector_.list_again(); }

  template <typename Fact>
  testing::AssertionResult sees(std::string_view what, Fact fact) {
    const auto until = base::SteadyClock().now() + kBound;
    for (;;) {
      check(*reflector_.latest());
      if (fact(*reflector_.latest())) return testing::AssertionSuccess();
      if (base::SteadyClock().now() > until) {
        const auto trouble = reflector_.latest()->trouble;
        return testing::AssertionFailure() << "never seen: " << what << (trouble ? "; " + trouble->message() : "");
      }
      (void)changed_.wait({}, std::min(until, base::SteadyClock().now() + 100ms));
    }
  }
  testing::AssertionResult sees(const Values& wanted) {
    return sees(testing::PrintToString(wanted), [&](const auto& view) { return view.complete && values() == wanted; });
  }

  int time_travels() const { return time_travels_; }
  const std::vector<std::string>& untrue() const { return untrue_; }

 private:
  void check(const kube::View<std::string>& view) {
    if (view.version < version_) ++time_travels_;
    version_ = view.version;
    for (const auto& object : view.objects) {
      auto& last = seen_[object->key.name];
      if (object->version < last) ++time_travels_;
      if (object->version != last && attempts_ != nullptr) check(object->key.name, object->value);
      last = object->version;
    }
  }
  void check(const std::string& name, const std::string& value) {
    const std::size_t attempt = attempts_->find(name, value);
    if (attempt == 0 || attempt < shown_[name]) untrue_.push_back(fmt::format("{}: {}", name, value));
    shown_[name] = attempt;
  }

  runtime::Signal changed_;
  kube::Reflector<std::string> reflector_;
  std::uint64_t version_ = 0;
  std::map<std::string, std::uint64_t> seen_;
  int time_travels_ = 0;
  const Attempts* attempts_ = nullptr;
  std::map<std::string, std::size_t> shown_;  // The last attempt of each name.
  std::vector<std::string> untrue_;
};

}  // namespace api_test
