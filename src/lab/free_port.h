#pragma once

#include <cstdint>

namespace lab {

// A port nobody in the sandbox uses, below those the kernel gives to outgoing connections. Never the same twice.
std::uint16_t free_port();

}  // namespace lab
