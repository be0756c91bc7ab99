#include "kernel/nft/table.h"

#include <cerrno>
#include <linux/netfilter.h>
#include <linux/netfilter/nf_tables.h>
#include <linux/netfilter/nfnetlink.h>

#include "kernel/nft/decode.h"
#include "kernel/nft/encode.h"
#include "kernel/nft/fields.h"
#include "kernel/nft/header.h"

namespace kernel::nft {
namespace {

// Bounds the memory of a transaction: some 150 bytes for each source here, more in the kernel.
constexpr std::size_t kSourcesPerTransaction = 4096;

constexpr int kTries = 8;

Message question(std::uint16_t type) {
  return message_of(type, 0, NFPROTO_INET);
}

Message question_about_table(std::uint16_t type) {
  Message out = question(type);
  out.put_text(kTableAttribute, state::kNftTableName);
  return out;
}

// Counts all transactions of the namespace.
base::Result<std::uint32_t> generation(Socket& socket) {
  std::uint32_t out = 0;
  const auto take = [&](const Received& answer) -> base::Status {
    std::span<const std::byte> rest = answer.payload;
    TRY(take_header<nfgenmsg>(rest));
    auto fields = TRY(Fields::read(rest));
    out = TRY(fields.number(NFTA_GEN_ID));
    return {};
  };
  TRY(socket.transact(question(NFT_MSG_GETGEN), take));
  return out;
}

// False where there is no such table.
base::Result<bool> read_table(Socket& socket, TableDecoder& decoder) {
  const auto answer = socket.transact(question_about_table(NFT_MSG_GETTABLE),
                                      [&](const Received& table) { return decoder.take(table); });
  if (answer) return true;
  if (answer.error().errno_value() == ENOENT) return false;
  return std::unexpected(answer.error());
}

// False where the ruleset changed meanwhile.
base::Result<bool> read_all(Socket& socket, Message question, TableDecoder& decoder) {
  const auto dumped = socket.dump(std::move(question), [&](const Received& object) { return decoder.take(object); });
  if (dumped) return !dumped->interrupted;
  if (dumped.error().errno_value() == ENOENT) return false;  // Gone since it was told.
  return std::unexpected(dumped.error());
}

base::Result<bool> read_content(Socket& socket, TableDecoder& decoder) {
  for (const auto kind : {NFT_MSG_GETSET, NFT_MSG_GETCHAIN, NFT_MSG_GETRULE, NFT_MSG_GETOBJ, NFT_MSG_GETFLOWTABLE}) {
    if (!TRY(read_all(socket, question_about_table(static_cast<std::uint16_t>(kind)), decoder))) return false;
  }
  for (const std::string_view set : decoder.readable_sets()) {
    Message elements = question_about_table(NFT_MSG_GETSETELEM);
    elements.put_text(NFTA_SET_ELEM_LIST_SET, set);
    if (!TRY(read_all(socket, std::move(elements), decoder))) return false;
  }
  return true;
}

// It has told of the table, so the kernel does have nftables: nobody shall take the errno of what it refuses behind
// that for a sign of the contrary (is_missing), and the table for one that is not there.
template <typename T>
base::Result<T> with_nftables(base::Result<T> result) {
  if (result) return result;
  return base::fail(result.error().fault(), result.error().message());
}

}  // namespace

// Several dumps are one view where no transaction came between the first and the last.
base::Result<state::ObservedNft> observe(Socket& socket) {
  for (int i = 0; i < kTries; ++i) {
    const std::uint32_t before = TRY(generation(socket));
    TableDecoder decoder;
    if (!TRY(base::within("read nft table", read_table(socket, decoder)))) return state::ObservedNft{};
    if (!TRY(base::within("read nft table", with_nftables(read_content(socket, decoder))))) continue;
    if (TRY(with_nftables(generation(socket))) == before) return std::move(decoder).finish();
  }
  return base::fail(base::Fault::unavailable, "read nft table: the ruleset changed during every try");
}

base::Status apply(Socket& socket, const state::NftChange& change) {
  if (change.empty()) return {};
  for (const auto& piece : state::split(change, kSourcesPerTransaction)) {
    if (piece.empty()) continue;
    TRY(base::within("change nft table", commit(socket, encode(piece))));
  }
  return {};
}

}  // namespace kernel::nft
