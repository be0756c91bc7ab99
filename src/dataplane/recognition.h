#pragma once

#include <cstdint>

#include "dataplane/mark_class.h"
#include "dataplane/wishes.h"

namespace dataplane {

// Somebody removed rules of a class while nobody looked who remembers its mark: the rules alone no longer say whose it
// is, or seem to say another's. Its members still do. Whoever bears the mark then wants this class's path and no other,
// and so gets the missing rules back where it is, instead of a move to another mark.
Marks recognise(Marks marks, const Classes& sources, const Classes& replies, std::uint32_t window,
                std::uint8_t protocol);

}  // namespace dataplane
