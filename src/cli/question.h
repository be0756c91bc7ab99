#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "cli/answer.h"
#include "cli/assignment.h"
#include "cli/diff_view.h"
#include "cli/explain.h"
#include "cli/live.h"
#include "cli/node_wishes.h"

namespace cli {

// What is asked of one host's kernel. On that host it is answered here; on a node of a cluster by its agent's
// `iprule-agent query`, which reads it as one line of JSON and answers with an Answer as JSON. Nothing is written, but
// for the table of its own by which packets are traced while `live` waits for them.
struct Question {
  enum class About : std::uint8_t { doctor, explain, diff, plan };

  About about = About::doctor;
  PacketWords packet{};  // For `explain`.
  // `diff`, `plan`: what the kernel is compared with. `explain`: as if it were so.
  std::optional<Assignment> wanted{};
  DiffView view{};                     // `diff`: what of it to tell. An agent that does not know it tells all.
  std::optional<LiveWish> live{};      // `explain`: real packets to wait for.
  std::optional<NodeWishes> wishes{};  // `doctor`: what should work there.
};

std::string encode(const Question& question);
base::Result<Question> decode_question(std::string_view text);

// Asks the kernel of the calling thread's namespace.
base::Result<Answer> answer_here(const Question& question);

}  // namespace cli
