#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace prometheus {
class Counter;
class Gauge;
class Histogram;
}  // namespace prometheus

namespace metrics {

using Labels = std::map<std::string, std::string>;

// Handles to a metric of a Registry, which outlives them. Cheap to copy, usable from any thread.

class Counter {
 public:
  void add(double amount = 1) const;
  void raise_to(double total) const;  // For a total that is counted elsewhere; a smaller one changes nothing.
  double value() const;

 private:
  friend class Registry;
  explicit Counter(prometheus::Counter& counter) : counter_(&counter) {}
  prometheus::Counter* counter_;
};

class Gauge {
 public:
  void set(double value) const;
  void add(double amount) const;
  double value() const;

 private:
  friend class Registry;
  explicit Gauge(prometheus::Gauge& gauge) : gauge_(&gauge) {}
  prometheus::Gauge* gauge_;
};

class Histogram {
 public:
  void observe(std::chrono::duration<double> seconds) const;

 private:
  friend class Registry;
  explicit Histogram(prometheus::Histogram& histogram) : histogram_(&histogram) {}
  prometheus::Histogram* histogram_;
};

// All metrics of a process. Asking twice for a name and labels gives the same metric; asking for one name as two
// types, or for a name Prometheus does not allow, is a bug and aborts. Usable from any thread.
class Registry {
 public:
  Registry();
  Registry(const Registry&) = delete;
  Registry& operator=(const Registry&) = delete;
  ~Registry();

  Counter counter(const std::string& name, const std::string& help, const Labels& labels = {});
  Gauge gauge(const std::string& name, const std::string& help, const Labels& labels = {});
  Histogram histogram(const std::string& name, const std::string& help, const std::vector<double>& bounds,
                      const Labels& labels = {});

  // Runs before each text(), to set what is cheaper to look up than to keep up to date.
  void before_text(std::function<void()> refresh);

  // Text format 0.0.4, sorted by name and labels.
  std::string text() const;
  static constexpr std::string_view kContentType = "text/plain; version=0.0.4; charset=utf-8";

 private:
  struct Families;
  std::unique_ptr<Families> families_;
};

}  // namespace metrics
