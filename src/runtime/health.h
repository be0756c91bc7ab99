#pragma once

#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "runtime/heartbeat.h"

namespace runtime {

// Named checks, each with a reason when it fails. Checks are added before threads start; after that report() may run
// on any thread, so a check is quick and safe from there.
class Health {
 public:
  using Check = std::function<std::optional<std::string>()>;  // Why not; or nothing, if all is well.

  void add(std::string name, Check check);
  void add(const Heartbeat& heartbeat);  // Must outlive this.

  // Told, and no more: what a person should know although the process does all it can.
  void add_remark(std::string name, Check check);

  struct Report {
    bool well = true;
    std::string text;     // A line for each check, as Kubernetes writes them: "[-]watch failed: no answer for 70 s".
    std::string remarks;  // A line for each that has something to say: "[!]watch: no answer for 70 s".
  };
  Report report() const;

 private:
  std::vector<std::pair<std::string, Check>> checks_;
  std::vector<std::pair<std::string, Check>> remarks_;
};

}  // namespace runtime
