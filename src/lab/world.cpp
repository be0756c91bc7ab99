#include "lab/world.h"

#include <ranges>
#include <utility>

#include "lab/sandbox.h"
#include "lab/wiring.h"

namespace lab {

base::Result<World> World::make() {
  if (!in_sandbox()) return base::fail(base::Fault::denied, "a world can be made only inside the sandbox");
  std::unique_ptr<Host> here = TRY(Host::here());
  TRY(require_no_default_route(here->rtnl()));
  return World(std::move(here));
}

World::~World() {
  for (const auto& host : hosts_) host->kill_programs();
  if (here_) here_->kill_programs();
  for (const Link& link : std::views::reverse(links_)) {
    (void)remove_link(link.host->rtnl(), link.name);  // Gone already if a test removed it.
  }
}

base::Result<Host*> World::add_host(const std::string& name) {
  hosts_.push_back(TRY(Host::make(name)));
  return hosts_.back().get();
}

base::Status World::connect(Host& a, std::string_view link_a, Host& b, std::string_view link_b) {
  TRY(add_veth(a.rtnl(), link_a, link_b, b.network()));
  links_.push_back({.host = &a, .name = std::string(link_a)});
  TRY(set_up(a.rtnl(), link_a));
  return set_up(b.rtnl(), link_b);
}

base::Status World::add_switch(Host& host, std::string_view name) {
  TRY(add_bridge(host.rtnl(), name));
  links_.push_back({.host = &host, .name = std::string(name)});
  return set_up(host.rtnl(), name);
}

base::Status World::plug(Host& host, std::string_view link, Host& switch_host, std::string_view port,
                         std::string_view switch_name) {
  TRY(connect(host, link, switch_host, port));
  return attach(switch_host.rtnl(), port, switch_name);
}

Host* World::find(std::string_view name) {
  for (const auto& host : hosts_) {
    if (host->name() == name) return host.get();
  }
  return nullptr;
}

}  // namespace lab
