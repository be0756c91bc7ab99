#pragma once

#include <list>
#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"
#include "lab/host.h"

namespace lab {

// Machines and the cables between them, on this machine's kernel: every host is a network namespace, every cable a
// veth pair. It can be made only inside the sandbox and only where no default route leads away, so no packet of a
// world ever reaches the machine's own network. One thread at a time.
class World {
 public:
  static base::Result<World> make();
  World(World&&) = default;
  World& operator=(World&&) = delete;
  ~World();  // Ends the programs of all hosts first, then removes cables, then hosts.

  base::Result<Host*> add_host(const std::string& name);
  // The namespace of this program itself, where a test's cluster lives too.
  Host& here() { return *here_; }

  // A cable between two hosts; both ends are up.
  base::Status connect(Host& a, std::string_view link_a, Host& b, std::string_view link_b);

  // A switch inside a host, with the host attached under the same name; and a cable from another host into it.
  base::Status add_switch(Host& host, std::string_view name);
  base::Status plug(Host& host, std::string_view link, Host& switch_host, std::string_view port,
                    std::string_view switch_name);

  Host* find(std::string_view name);  // nullptr: there is none.
  std::size_t host_count() const { return hosts_.size(); }

 private:
  struct Link {
    Host* host;
    std::string name;
  };

  explicit World(std::unique_ptr<Host> here) : here_(std::move(here)) {}

  std::unique_ptr<Host> here_;
  std::list<std::unique_ptr<Host>> hosts_;
  std::list<Link> links_;
};

}  // namespace lab
