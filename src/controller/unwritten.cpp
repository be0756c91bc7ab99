#include "controller/unwritten.h"

namespace controller {

using Step = intent::Write::Step;

void Unwritten::begin_pass() {
  before_ = std::exchange(failed_, {});
  not_come_.clear();
  is_outdated_ = false;
}

void Unwritten::note(const intent::Write& write, const base::Status& written) {
  const std::string& name = write.object.meta.name;
  const bool had_failed = before_.erase(name) > 0;
  if (written) {
    is_outdated_ = is_outdated_ || had_failed;
    return;
  }
  if (write.step == Step::create || write.step == Step::reactivate) not_come_.insert(steered_by(write.object));
  const base::Fault fault = written.error().fault();
  if (fault == base::Fault::conflict || fault == base::Fault::cancelled) return;  // Nothing stands in its way.
  failed_[name] = {.asked = write.object.spec, .error = written.error().message()};
}

void Unwritten::end_pass_early() {
  failed_.merge(before_);
}

bool Unwritten::holds_back(const intent::Write& write) const {
  if (write.step != Step::withdraw) return false;
  // Of one that was edited, what nodes hold for it may be any source.
  if (write.is_drift) return !not_come_.empty();
  return write.is_replaced && not_come_.contains(steered_by(write.object));
}

Unwritten::Steered Unwritten::steered_by(const api::IPRuleConfig& config) {
  const auto source = net::Address::parse(config.spec.service_ip);
  return {config.spec.source_mode, source ? std::optional(*source) : std::nullopt};
}

}  // namespace controller
