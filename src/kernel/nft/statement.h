#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/result.h"
#include "json/reader.h"

namespace kernel::nft {

// `meta mark set ...`: which bits it writes, and what into them.
struct SetMark {
  std::uint32_t bits = 0;
  std::uint32_t value = 0;
};

// The statements of a rule, as our table uses them. An error names the place of anything else.
struct Statements {
  std::optional<SetMark> set_mark{};  // The whole rule is this,
  struct Join {
    std::uint32_t bits = 0;
    std::uint32_t value = 0;
    std::string target{};
  };
  std::optional<Join> join{};  // or `meta mark & bits == value goto target`,
  std::string words{};         // or this, in the words of nft.
};

base::Result<Statements> decode_statements(const json::Value& expressions);

}  // namespace kernel::nft
