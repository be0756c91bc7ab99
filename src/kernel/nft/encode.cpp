#include "kernel/nft/encode.h"

#include <map>
#include <set>

#include <fmt/format.h>

#include "json/writer.h"
#include "kernel/nft/layout.h"

namespace kernel::nft {
namespace {

using state::NftChange;
using state::NftClass;
using state::NftClassKind;
using Elements = std::map<net::Address, std::uint32_t>;

class Commands {
 public:
  explicit Commands(json::Array& out, const NftChange& change) : out_(out), change_(change) {}

  void write() {
    using enum NftChange::Table;
    if (change_.table == destroy) return table("delete");
    // `add` is no error where it is there already: nobody made it meanwhile, or it goes all the same.
    if (change_.table != keep) {
      table("add");
      table("delete");
      table("add");
      base();
    }
    put_classes();
    elements("delete", change_.remove_sources, source_map, NftClassKind::source);
    elements("add", change_.add_sources, source_map, NftClassKind::source);
    elements("delete", change_.remove_vips, vip_map, NftClassKind::reply);
    elements("add", change_.add_vips, vip_map, NftClassKind::reply);
    own("delete", change_.remove_own);
    own("add", change_.add_own);
    remove_classes();
  }

 private:
  template <typename Fill>
  void command(std::string_view verb, std::string_view kind, Fill fill) {
    out_.object([&](json::Object& command) {
      command.object(verb, [&](json::Object& object) {
        object.object(kind, [&](json::Object& body) {
          body.put("family", "inet");
          if (kind != "table") body.put("table", state::kNftTableName);
          fill(body);
        });
      });
    });
  }

  void table(std::string_view verb) {
    command(verb, "table", [](json::Object& body) { body.put("name", state::kNftTableName); });
  }

  void base() {
    for (const Set& set : kSets) {
      command("add", set.is_map ? "map" : "set", [&](json::Object& body) {
        body.put("name", set.name);
        body.put("type", set.type);
        if (set.is_map) {
          body.put("map", "verdict");
        } else {
          body.put_json("flags", R"(["interval"])");
        }
      });
    }
    for (const BaseChain& chain : kBaseChains) {
      command("add", "chain", [&](json::Object& body) {
        body.put("name", chain.name);
        if (chain.hook.empty()) return;
        body.put("type", chain.type);
        body.put("hook", chain.hook);
        body.put("prio", kManglePriority);
        body.put("policy", "accept");
      });
    }
    for (const BaseRule& rule : kBaseRules) add_rule(rule.chain, rule.json);
  }

  void add_rule(std::string_view chain, std::string_view statements) {
    command("add", "rule", [&](json::Object& body) {
      body.put("chain", chain);
      body.put_json("expr", statements);
    });
  }

  void chain(std::string_view verb, std::string_view name) {
    command(verb, "chain", [&](json::Object& body) { body.put("name", name); });
  }

  // All chains before their rules: a rule names other chains.
  void put_classes() {
    for (const auto& [mark, entry] : change_.put_classes) {
      chain(change_.new_classes.contains(mark) ? "add" : "flush", name_of(entry.kind, mark));
    }
    for (const auto& [mark, entry] : change_.put_classes) {
      const std::string name = name_of(entry.kind, mark);
      for (const auto& [reply, both] : entry.joins) {
        add_rule(name,
                 fmt::format(R"([{{"match":{{"op":"==","left":{{"&":[{{"meta":{{"key":"mark"}}}},{}]}},"right":{}}}}},)"
                             R"({{"goto":{{"target":"{}"}}}}])",
                             change_.window, reply, name_of(NftClassKind::both, both)));
      }
      add_rule(name, fmt::format(R"([{{"mangle":{{"key":{{"meta":{{"key":"mark"}}}},)"
                                 R"("value":{{"|":[{{"&":[{{"meta":{{"key":"mark"}}}},{}]}},{}]}}}}}}])",
                                 ~change_.window, mark));
    }
  }

  // In two rounds: a chain that another one still names cannot go.
  void remove_classes() {
    for (const char* verb : {"flush", "delete"}) {
      for (const auto& [mark, entry] : change_.remove_classes) chain(verb, name_of(entry.kind, mark));
    }
  }

  template <typename Map>
  void elements(std::string_view verb, const Elements& entries, Map map, NftClassKind kind) {
    for (const auto family : {net::Family::v4, net::Family::v6}) {
      std::string list;
      for (const auto& [address, mark] : entries) {
        if (address.family() != family) continue;
        fmt::format_to(std::back_inserter(list), R"({}["{}",{{"goto":{{"target":"{}"}}}}])", list.empty() ? "" : ",",
                       address.text(), name_of(kind, mark));
      }
      element(verb, map(family), list);
    }
  }

  void own(std::string_view verb, const std::set<net::Prefix>& prefixes) {
    for (const auto family : {net::Family::v4, net::Family::v6}) {
      std::string list;
      for (const auto& prefix : prefixes) {
        if (prefix.family() != family) continue;
        fmt::format_to(std::back_inserter(list), R"({}{{"prefix":{{"addr":"{}","len":{}}}}})", list.empty() ? "" : ",",
                       prefix.address().text(), prefix.length());
      }
      element(verb, own_set(family), list);
    }
  }

  void element(std::string_view verb, std::string_view set, const std::string& list) {
    if (list.empty()) return;
    command(verb, "element", [&](json::Object& body) {
      body.put("name", set);
      body.put_json("elem", "[" + list + "]");
    });
  }

  std::string name_of(NftClassKind kind, std::uint32_t mark) const {
    return state::chain_name(kind, mark, change_.window);
  }

  json::Array& out_;
  const NftChange& change_;
};

}  // namespace

std::string encode(const NftChange& change) {
  return json::object([&](json::Object& root) {
    root.array("nftables", [&](json::Array& commands) { Commands(commands, change).write(); });
  });
}

}  // namespace kernel::nft
