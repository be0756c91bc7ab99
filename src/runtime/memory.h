#pragma once

namespace runtime {

// Makes the C library hold less memory for later, for a program that lives long and works little: first thing in main,
// before there are threads.
void hold_little_memory();

}  // namespace runtime
