#include "lab/nft_commands.h"

#include <memory>
#include <string_view>

#include <nftables/libnftables.h>

namespace lab {
namespace {

// "internal:0:0-0: Error: Could not process rule: File exists\n\n" without what says nothing.
std::string words(std::string_view text) {
  constexpr std::string_view kError = "Error: ";
  if (const auto at = text.find(kError); at != std::string_view::npos) text.remove_prefix(at + kError.size());
  text = text.substr(0, text.find('\n'));
  return std::string(text.empty() ? "nft gave no reason" : text);
}

}  // namespace

base::Status run_nft(const std::string& commands) {
  const std::unique_ptr<nft_ctx, void (*)(nft_ctx*)> context(::nft_ctx_new(NFT_CTX_DEFAULT), ::nft_ctx_free);
  if (!context || ::nft_ctx_buffer_error(context.get()) != 0) {
    return base::fail(base::Fault::unavailable, "nft: no context");
  }
  if (::nft_run_cmd_from_buffer(context.get(), commands.c_str()) == 0) return {};
  return base::fail(base::Fault::kernel, "nft: " + words(::nft_ctx_get_error_buffer(context.get())));
}

}  // namespace lab
