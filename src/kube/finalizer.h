#pragma once

#include <string_view>

#include "kube/client.h"
#include "meta/meta.h"

namespace kube {

// An object that is held stays, marked as deleted, until the last who holds it lets go. True: the server was told;
// false: it was so already, and nothing was sent. `seen` is the object as a view has it, with its finalizers; when it
// has changed since, the answer is `conflict`, and nothing of what others wrote is lost: look again, decide again.

// `conflict` also where it is being deleted: the server takes no new finalizer then.
Result<bool> hold(Client& client, const Resource& resource, const meta::Meta& seen, std::string_view finalizer,
                  const Limit& limit);

// False also where the object is gone.
Result<bool> let_go(Client& client, const Resource& resource, const meta::Meta& seen, std::string_view finalizer,
                    const Limit& limit);

}  // namespace kube
