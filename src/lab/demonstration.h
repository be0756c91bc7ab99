#pragma once

#include <functional>
#include <string>
#include <vector>

#include "base/result.h"
#include "lab/scene.h"

namespace lab {

// One line of the lab's table: how requests came in and replies left, and what to think of it.
struct Row {
  std::string what;  // "no rule"; with node and family where others say something else.
  Tally tally;
  std::string note = {};  // Said behind the verdict: "the source is the pod's address".

  bool right() const;           // Every request came in by eth1, every reply left there too and reached the client.
  bool wrong() const;           // Every request came in by eth1, every reply left by eth0.
  std::string verdict() const;  // "right", "wrong uplink", "wrong uplink (3 of 20)", "no reply"; with the note.
};

// The table, piece by piece, so that each line can be shown when it is known:
//                                     requests in    replies out       verdict
//   no rule                           eth1 40        eth0 40           wrong uplink
std::string table_head();
std::string table_counts(const Row& row);  // All of the line but the verdict.
std::string format_table(const std::vector<Row>& rows);

// One act of a show: something is done to the scene, then connections are opened to every node, in both families.
struct Act {
  enum class Expect { wrong, right };
  enum class Target { service, vip };

  std::string what;  // "no rule"
  Expect expect = Expect::right;
  // Does it, and says what there is to note about it. Nothing where there is nothing to do.
  std::function<base::Result<std::string>(Scene&)> prepare = {};
  Target target = Target::service;  // Which of a Service's addresses the client asks for.
};

// What one node said of one family.
struct Report {
  std::string node;
  net::Family family = net::Family::v4;
  Tally tally;
};

// What all say alike is said once: one row for all nodes and families, else one for each node that differs in nothing
// but the family, else one for each report.
std::vector<Row> rows_of(const std::string& what, const std::string& note, const std::vector<Report>& reports);

struct Demonstration {
  std::vector<Row> rows;
  bool as_expected = true;  // Also that replies went wrong where they should: else nothing was shown.
};

// Plays the acts in order. Each row is handed to `seen` as soon as it is known. An act that cannot be prepared ends the
// show with an error that names it.
base::Result<Demonstration> demonstrate(Scene& scene, const std::vector<Act>& acts,
                                        const std::function<void(const Row&)>& seen = {});

}  // namespace lab
