#pragma once

#include "kube/client.h"

namespace kube {

// Whether the server offers this kind, by its own word: true and false are both answers of 200. A 404 for an object or
// a list says less (a proxy, a server that is just starting), and an error says nothing.
Result<bool> is_served(Client& client, const Resource& resource, const Limit& limit);

}  // namespace kube
