#include "cli/protected_paths.h"

#include <variant>

#include <fmt/format.h>

namespace cli {
namespace {

using Addresses = std::set<net::Address>;

bool spares_node(const state::Selector& selector, const Addresses& own) {
  if (selector.invert) return false;
  if (selector.mark && selector.mark->value != 0) return true;
  const bool is_single = selector.from && selector.from->length() == selector.from->address().bits();
  return is_single && !own.contains(selector.from->address());
}

struct Looking {
  const Addresses& own;
  std::vector<std::string>& out;

  void look(const state::Rule& rule) const {
    if (!spares_node(rule.selector, own)) out.push_back(fmt::format("rule {}", state::text(rule)));
  }
  void look(std::string_view map, const std::map<net::Address, std::uint32_t>& elements) const {
    for (const auto& [address, mark] : elements) {
      if (own.contains(address)) out.push_back(fmt::format("element {} {}", map, address.text()));
    }
  }

  void operator()(const plan::AddRule& op) const { look(op.rule); }
  void operator()(const plan::RemoveRule& op) const { look(op.rule); }
  void operator()(const plan::ChangeNft& op) const {
    look("src", op.change->add_sources);
    look("src", op.change->remove_sources);
    look("vip", op.change->add_vips);
    look("vip", op.change->remove_vips);
  }
  // Of anything else nobody has checked what it does to the node's own packets.
  void operator()(const auto& op) const { out.push_back(plan::text(plan::Op(op))); }
};

}  // namespace

std::vector<std::string> lines_about_node(const plan::Plan& plan, const Addresses& own) {
  std::vector<std::string> out;
  for (const plan::Op& op : plan.ops) std::visit(Looking{.own = own, .out = out}, op);
  return out;
}

}  // namespace cli
