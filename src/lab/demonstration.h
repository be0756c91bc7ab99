#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "lab/scene.h"

namespace lab {

// One line of the lab's table: how requests came in and replies left, and what to think of it.
struct Row {
  std::string what;  // "no rule, IPv4"
  Tally tally;

  bool right() const;           // Every request came in by eth1, every reply left there too and reached the client.
  bool wrong() const;           // Every request came in by eth1, every reply left by eth0.
  std::string verdict() const;  // "right", "wrong uplink", "wrong uplink: 3 of 20", "no reply: 20 of 20"
};

// The table with its head, one line per row:
//                                     requests in    replies out       verdict
//   no rule, IPv4                     eth1 20        eth0 20           wrong uplink
std::string format_table(const std::vector<Row>& rows);

struct Demonstration {
  std::vector<Row> rows;
  bool right = false;  // Wrong before, as it must be to show anything, and right after.
};

// Sends requests with nothing in place, in both families; lets `make_right` do its work on the nodes; sends again. Each
// row is handed to `seen` as soon as it is known. `cure` names what make_right does, in the table.
base::Result<Demonstration> demonstrate(Scene& scene, std::string_view cure,
                                        const std::function<base::Status(Scene&)>& make_right,
                                        const std::function<void(const Row&)>& seen = {});

}  // namespace lab
