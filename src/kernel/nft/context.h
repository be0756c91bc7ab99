#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "base/result.h"
#include "kernel/netlink/socket.h"

struct nft_ctx;

namespace kernel::nft {

// One libnftables context. It belongs to the network namespace that was current when it was opened, and to one thread
// at a time.
class Context {
 public:
  static base::Result<Context> open();

  // All commands, in the words of nft, in one transaction: all are done or none. An error has nft's own words.
  base::Status run(const std::string& commands);

  // Our table as JSON. Only where table_flags() said 0.
  base::Result<std::string> list_table();

  // Whether the kernel would do all of that; nothing is done.
  base::Status check(const std::string& commands);

  // The flags of our table; nothing where there is no such table. Asked of the kernel directly: libnftables 1.0.6
  // prints the flags of a table as JSON from a wild pointer, so a table that has any must not be listed, not even by
  // name.
  base::Result<std::optional<std::uint32_t>> table_flags();

 private:
  base::Result<std::string> output_of(const std::string& commands);

  struct Free {
    void operator()(nft_ctx* context) const;
  };
  Context(std::unique_ptr<nft_ctx, Free> context, Socket socket);

  std::unique_ptr<nft_ctx, Free> context_;
  Socket socket_;
};

}  // namespace kernel::nft
