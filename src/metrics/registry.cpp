#include "metrics/registry.h"

#include <algorithm>
#include <cstdlib>
#include <exception>
#include <mutex>

#include <prometheus/counter.h>
#include <prometheus/gauge.h>
#include <prometheus/histogram.h>
#include <prometheus/registry.h>
#include <prometheus/text_serializer.h>

#include "base/log.h"

namespace metrics {
namespace {

// The library throws for a bad name or a name used for two types: both are mistakes in this program.
template <typename Make>
auto& or_abort(const std::string& name, Make make) {
  try {
    return make();
  } catch (const std::exception& error) {
    base::log::error("metric cannot be registered", {{"metric", name}, {"err", error.what()}});
    std::abort();
  }
}

bool by_labels(const prometheus::ClientMetric& one, const prometheus::ClientMetric& other) {
  return std::ranges::lexicographical_compare(one.label, other.label, [](const auto& a, const auto& b) {
    return std::tie(a.name, a.value) < std::tie(b.name, b.value);
  });
}

}  // namespace

struct Registry::Families {
  prometheus::Registry registry;
  std::mutex mutex;  // Of the list below.
  std::vector<std::function<void()>> refreshers;
};

void Counter::add(double amount) const {
  counter_->Increment(amount);
}

void Counter::raise_to(double total) const {
  const double more = total - counter_->Value();
  if (more > 0) counter_->Increment(more);
}

double Counter::value() const {
  return counter_->Value();
}

void Gauge::set(double value) const {
  gauge_->Set(value);
}

void Gauge::add(double amount) const {
  gauge_->Increment(amount);
}

double Gauge::value() const {
  return gauge_->Value();
}

void Histogram::observe(std::chrono::duration<double> seconds) const {
  histogram_->Observe(seconds.count());
}

Registry::Registry() : families_(std::make_unique<Families>()) {}
Registry::~Registry() = default;

Counter Registry::counter(const std::string& name, const std::string& help, const Labels& labels) {
  return Counter(or_abort(name, [&]() -> auto& {
    return prometheus::BuildCounter().Name(name).Help(help).Register(families_->registry).Add(labels);
  }));
}

Gauge Registry::gauge(const std::string& name, const std::string& help, const Labels& labels) {
  return Gauge(or_abort(name, [&]() -> auto& {
    return prometheus::BuildGauge().Name(name).Help(help).Register(families_->registry).Add(labels);
  }));
}

Histogram Registry::histogram(const std::string& name, const std::string& help, const std::vector<double>& bounds,
                              const Labels& labels) {
  return Histogram(or_abort(name, [&]() -> auto& {
    return prometheus::BuildHistogram().Name(name).Help(help).Register(families_->registry).Add(labels, bounds);
  }));
}

void Registry::before_text(std::function<void()> refresh) {
  const std::lock_guard lock(families_->mutex);
  families_->refreshers.push_back(std::move(refresh));
}

std::string Registry::text() const {
  {
    const std::lock_guard lock(families_->mutex);
    for (const auto& refresh : families_->refreshers) refresh();
  }
  auto families = families_->registry.Collect();
  std::ranges::sort(families, {}, &prometheus::MetricFamily::name);
  for (auto& family : families) std::ranges::sort(family.metric, by_labels);
  return prometheus::TextSerializer().Serialize(families);
}

}  // namespace metrics
