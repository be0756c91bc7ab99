#include "kernel/nft/requests.h"

#include <algorithm>
#include <arpa/inet.h>
#include <linux/netfilter.h>
#include <linux/netfilter/nf_tables.h>
#include <linux/netfilter/nfnetlink.h>
#include <linux/netlink.h>

#include "kernel/nft/fields.h"
#include "kernel/nft/header.h"

namespace kernel::nft {
namespace {

// Some 70 bytes each, and a list of them must stay below the 64 KiB of an attribute.
constexpr std::size_t kElementsPerMessage = 512;

Message fence(std::uint16_t type) {
  return Message(type, 0,
                 nfgenmsg{.nfgen_family = AF_UNSPEC, .version = NFNETLINK_V0, .res_id = htons(NFNL_SUBSYS_NFTABLES)});
}

void put_element(Message& message, const Element& element) {
  message.put_nested(NFTA_LIST_ELEM, [&] {
    if (element.ends_interval) put_number(message, NFTA_SET_ELEM_FLAGS, NFT_SET_ELEM_INTERVAL_END);
    message.put_nested(NFTA_SET_ELEM_KEY,
                       [&] { message.put_bytes(NFTA_DATA_VALUE, std::span(element.key).first(element.length)); });
    if (!element.chain.empty()) put_verdict(message, NFTA_SET_ELEM_DATA, NFT_GOTO, element.chain);
  });
}

}  // namespace

Message& Requests::request(std::uint16_t type, std::uint16_t flags) {
  Message& out = messages_.emplace_back(message_of(type, flags, NFPROTO_INET));
  out.put_text(kTableAttribute, table_);
  return out;
}

void Requests::add_table() {
  request(NFT_MSG_NEWTABLE, NLM_F_CREATE);
}

void Requests::delete_table() {
  request(NFT_MSG_DELTABLE, 0);
}

void Requests::add_set(const Set& set) {
  Message& out = request(NFT_MSG_NEWSET, NLM_F_CREATE);
  out.put_text(NFTA_SET_NAME, set.name);
  put_number(out, NFTA_SET_FLAGS, flags_of(set));
  put_number(out, NFTA_SET_KEY_TYPE, key_type_of(set));
  put_number(out, NFTA_SET_KEY_LEN, key_length_of(set));
  if (set.is_map) put_number(out, NFTA_SET_DATA_TYPE, NFT_DATA_VERDICT);
  // Rules could name by it a set of the same batch; ours go by the name, but the kernel wants it.
  put_number(out, NFTA_SET_ID, static_cast<std::uint32_t>(messages_.size()));
}

void Requests::add_chain(std::string_view name, const Hook& hook) {
  Message& out = request(NFT_MSG_NEWCHAIN, NLM_F_CREATE);
  out.put_text(NFTA_CHAIN_NAME, name);
  if (hook.type.empty()) return;
  out.put_text(NFTA_CHAIN_TYPE, hook.type);
  put_number(out, NFTA_CHAIN_POLICY, NF_ACCEPT);
  out.put_nested(NFTA_CHAIN_HOOK, [&] {
    put_number(out, NFTA_HOOK_HOOKNUM, hook.number);
    put_number(out, NFTA_HOOK_PRIORITY, static_cast<std::uint32_t>(hook.priority));
  });
}

void Requests::flush_chain(std::string_view name) {
  request(NFT_MSG_DELRULE, 0).put_text(NFTA_RULE_CHAIN, name);
}

void Requests::delete_chain(std::string_view name) {
  request(NFT_MSG_DELCHAIN, 0).put_text(NFTA_CHAIN_NAME, name);
}

void Requests::add_rule(std::string_view chain, const Expressions& expressions) {
  Message& out = request(NFT_MSG_NEWRULE, NLM_F_CREATE | NLM_F_APPEND);
  out.put_text(NFTA_RULE_CHAIN, chain);
  put_expressions(out, NFTA_RULE_EXPRESSIONS, expressions);
}

void Requests::add_elements(std::string_view set, std::span<const Element> elements) {
  put_elements(NFT_MSG_NEWSETELEM, NLM_F_CREATE, set, elements);
}

void Requests::delete_elements(std::string_view set, std::span<const Element> elements) {
  put_elements(NFT_MSG_DELSETELEM, 0, set, elements);
}

void Requests::put_elements(std::uint16_t type, std::uint16_t flags, std::string_view set,
                            std::span<const Element> elements) {
  while (!elements.empty()) {
    const auto some = elements.first(std::min(elements.size(), kElementsPerMessage));
    elements = elements.subspan(some.size());
    Message& out = request(type, flags);
    out.put_text(NFTA_SET_ELEM_LIST_SET, set);
    out.put_nested(NFTA_SET_ELEM_LIST_ELEMENTS, [&] {
      for (const Element& element : some) put_element(out, element);
    });
  }
}

base::Status commit(Socket& socket, Requests requests) {
  std::vector<Message>& messages = requests.messages();
  if (messages.empty()) return {};
  messages.insert(messages.begin(), fence(NFNL_MSG_BATCH_BEGIN));
  messages.push_back(fence(NFNL_MSG_BATCH_END));
  return socket.transact_whole(messages, messages.size() - 2);
}

// Without its end, the kernel takes the transaction apart, looks for what it needs, and then does none of it.
base::Status check(Socket& socket, Requests requests) {
  std::vector<Message>& messages = requests.messages();
  if (messages.empty()) return {};
  messages.insert(messages.begin(), fence(NFNL_MSG_BATCH_BEGIN));
  return socket.transact_whole(messages, messages.size() - 1);
}

}  // namespace kernel::nft
