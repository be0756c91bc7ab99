#pragma once

#include "state/rule.h"

// How the kernel compares rules when it is asked to add or to delete one (net/core/fib_rules.c). Both comparisons treat
// some of what a rule does not have as "any", so a request can hit another rule than the one it was made from.
namespace state {

// rule_find(): would a delete request that carries everything `request` has take `rule`?
bool delete_takes(const Rule& request, const Rule& rule);

// rule_exists(): would an exclusive add of `added` be refused because of `rule`?
bool blocks_exclusive_add(const Rule& rule, const Rule& added);

}  // namespace state
