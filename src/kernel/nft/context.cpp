#include "kernel/nft/context.h"

#include <cerrno>
#include <endian.h>
#include <linux/netfilter.h>
#include <linux/netfilter/nf_tables.h>
#include <linux/netfilter/nfnetlink.h>
#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <nftables/libnftables.h>

#include "state/nft_table.h"

namespace kernel::nft {
namespace {

// "internal:0:0-0: Error: Could not process rule: File exists\n\n" without what says nothing.
std::string words(std::string_view text) {
  constexpr std::string_view kError = "Error: ";
  if (const auto at = text.find(kError); at != std::string_view::npos) text.remove_prefix(at + kError.size());
  text = text.substr(0, text.find('\n'));
  return std::string(text.empty() ? "nft gave no reason" : text);
}

// The library keeps the errno to itself; its text is strerror's, which the C locale of a daemon leaves in English.
std::unexpected<base::Error> failure(std::string_view text) {
  struct Known {
    std::string_view ending;
    base::Fault fault;
    int number;
  };
  constexpr Known kKnown[] = {
      {"Operation not permitted", base::Fault::denied, EPERM},
      {"No such file or directory", base::Fault::absent, ENOENT},
      {"File exists", base::Fault::conflict, EEXIST},
      {"Device or resource busy", base::Fault::conflict, EBUSY},
      {"Cannot allocate memory", base::Fault::unavailable, ENOMEM},
      {"No buffer space available", base::Fault::unavailable, ENOBUFS},
      {"Message too long", base::Fault::kernel, EMSGSIZE},
  };
  std::string reason = words(text);
  for (const auto& known : kKnown) {
    if (reason.ends_with(known.ending)) return base::fail(known.fault, "nft: " + reason, known.number);
  }
  return base::fail(base::Fault::kernel, "nft: " + reason);
}

base::Result<std::uint32_t> decode_flags(const Received& table) {
  std::span<const std::byte> rest = table.payload;
  TRY(take_header<nfgenmsg>(rest));
  while (!rest.empty()) {
    const Attribute attribute = TRY(next_attribute(rest));
    if (attribute.type == NFTA_TABLE_FLAGS) return be32toh(TRY(attribute.u32()));
  }
  return 0U;
}

}  // namespace

void Context::Free::operator()(nft_ctx* context) const {
  ::nft_ctx_free(context);
}

Context::Context(std::unique_ptr<nft_ctx, Free> context, Socket socket)
    : context_(std::move(context)), socket_(std::move(socket)) {}

base::Result<Context> Context::open() {
  std::unique_ptr<nft_ctx, Free> context(::nft_ctx_new(NFT_CTX_DEFAULT));
  if (!context) return base::fail(base::Fault::unavailable, "nft: no context");
  if (::nft_ctx_buffer_output(context.get()) != 0 || ::nft_ctx_buffer_error(context.get()) != 0) {
    return base::fail(base::Fault::unavailable, "nft: no buffers");
  }
  return Context(std::move(context), TRY(Socket::open(Bus::netfilter)));
}

base::Result<std::string> Context::output_of(const std::string& commands) {
  const int result = ::nft_run_cmd_from_buffer(context_.get(), commands.c_str());
  // Reading a buffer also empties it, so both are read every time.
  std::string output = ::nft_ctx_get_output_buffer(context_.get());
  const std::string_view errors = ::nft_ctx_get_error_buffer(context_.get());
  if (result != 0) return failure(errors);
  return output;
}

base::Status Context::run(const std::string& commands) {
  TRY(output_of(commands));
  return {};
}

base::Status Context::check(const std::string& commands) {
  ::nft_ctx_set_dry_run(context_.get(), true);
  const auto done = run(commands);
  ::nft_ctx_set_dry_run(context_.get(), false);
  return done;
}

base::Result<std::string> Context::list_table() {
  // Only while listing: the library crashes when commands that change things are run with JSON as their output.
  ::nft_ctx_output_set_flags(context_.get(), NFT_CTX_OUTPUT_JSON | NFT_CTX_OUTPUT_NUMERIC_PRIO);
  auto listing = output_of(fmt::format("list table inet {}", state::kNftTableName));
  ::nft_ctx_output_set_flags(context_.get(), 0);
  return listing;
}

base::Result<std::optional<std::uint32_t>> Context::table_flags() {
  Message get(NFNL_SUBSYS_NFTABLES << 8U | NFT_MSG_GETTABLE, 0,
              nfgenmsg{.nfgen_family = NFPROTO_INET, .version = NFNETLINK_V0, .res_id = 0});
  get.put_text(NFTA_TABLE_NAME, state::kNftTableName);
  std::uint32_t flags = 0;
  const auto answer = socket_.transact(std::move(get), [&](const Received& table) -> base::Status {
    flags = TRY(decode_flags(table));
    return {};
  });
  if (!answer && answer.error().errno_value() == ENOENT) return std::nullopt;
  if (!answer) return std::unexpected(answer.error());
  return flags;
}

}  // namespace kernel::nft
