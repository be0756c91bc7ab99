#include "kernel/nft/lookup.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <linux/netfilter.h>
#include <linux/netfilter/nf_tables.h>

#include "kernel/nft/header.h"

namespace kernel::nft {
namespace {

std::uint8_t number(Family family) {
  switch (family) {
    case Family::inet:
      return NFPROTO_INET;
    case Family::ip:
      return NFPROTO_IPV4;
    case Family::ip6:
      return NFPROTO_IPV6;
  }
  return NFPROTO_UNSPEC;
}

Message get(std::uint16_t type, Family family) {
  return message_of(type, 0, number(family));
}

base::Result<bool> is_there(Socket& socket, Message question) {
  const auto answer = socket.transact(std::move(question), [](const Received&) { return base::Status(); });
  if (answer) return true;
  if (answer.error().errno_value() == ENOENT) return false;
  return std::unexpected(answer.error());
}

}  // namespace

base::Result<bool> has_table(Socket& socket, Family family, std::string_view table) {
  Message question = get(NFT_MSG_GETTABLE, family);
  question.put_text(NFTA_TABLE_NAME, table);
  return is_there(socket, std::move(question));
}

base::Result<bool> has_chain(Socket& socket, Family family, std::string_view table, std::string_view chain) {
  Message question = get(NFT_MSG_GETCHAIN, family);
  question.put_text(NFTA_CHAIN_TABLE, table);
  question.put_text(NFTA_CHAIN_NAME, chain);
  return is_there(socket, std::move(question));
}

// nfnetlink answers EINVAL for a part that it does not have.
bool is_missing(const base::Error& error) {
  constexpr std::array kLacks = {EPROTONOSUPPORT, EOPNOTSUPP, EAFNOSUPPORT, EINVAL};
  return std::ranges::find(kLacks, error.errno_value()) != kLacks.end();
}

}  // namespace kernel::nft
