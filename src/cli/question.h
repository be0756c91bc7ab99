#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"
#include "cli/answer.h"
#include "cli/explain.h"

namespace cli {

// What is asked of one host's kernel. On that host it is answered here; on a node of a cluster by its agent's
// `iprule-agent query`, which reads it as one line of JSON and answers with an Answer as JSON. Nothing is written.
struct Question {
  enum class About : std::uint8_t { doctor, explain };

  About about = About::doctor;
  PacketWords packet{};  // For `explain`.

  bool operator==(const Question&) const = default;
};

std::string encode(const Question& question);
base::Result<Question> decode_question(std::string_view text);

// Asks the kernel of the calling thread's namespace.
base::Result<Answer> answer_here(const Question& question);

}  // namespace cli
