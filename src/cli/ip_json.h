#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "state/rule.h"

namespace cli {

// What `ip -j rule` printed, in its order.
struct DumpedRules {
  struct Unread {
    std::string rule;  // "rule 5000 tun_id 7"
    std::string reason;
  };
  std::vector<state::Rule> rules;
  std::vector<Unread> unread;  // Those with something in them that we do not know.
};

// A rule without any address is of `family`, as the dump was asked for (`ip -6` or not).
base::Result<DumpedRules> parse_ip_rules(net::Family family, std::string_view json);

}  // namespace cli
