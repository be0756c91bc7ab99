#pragma once

namespace runtime {

// Makes the C library hold less memory for later, for a program that lives long and works little: first thing in main,
// before there are threads.
void hold_little_memory();

// Gives back what the work until now needed and the next will not: freed blocks, and pages of the program and its
// libraries, of which starting up touches far more than running does. What is used again comes from the page cache.
void release_memory();

}  // namespace runtime
