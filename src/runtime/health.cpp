#include "runtime/health.h"

#include <fmt/format.h>

namespace runtime {

void Health::add(std::string name, Check check) {
  checks_.emplace_back(std::move(name), std::move(check));
}

void Health::add(const Heartbeat& heartbeat) {
  add(heartbeat.name(), [&heartbeat] { return heartbeat.trouble(); });
}

void Health::add_remark(std::string name, Check check) {
  remarks_.emplace_back(std::move(name), std::move(check));
}

Health::Report Health::report() const {
  Report out;
  for (const auto& [name, check] : checks_) {
    const std::optional<std::string> reason = check();
    out.well = out.well && !reason;
    out.text += reason ? fmt::format("[-]{} failed: {}\n", name, *reason) : fmt::format("[+]{} ok\n", name);
  }
  for (const auto& [name, check] : remarks_) {
    if (const auto remark = check()) out.remarks += fmt::format("[!]{}: {}\n", name, *remark);
  }
  return out;
}

}  // namespace runtime
