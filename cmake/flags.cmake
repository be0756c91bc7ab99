# How everything is compiled. Presets choose IPRULE_SANITIZE and the build type; nothing else varies.
set(CMAKE_CXX_STANDARD 23)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)

set(IPRULE_SANITIZE "" CACHE STRING "Sanitizers, as for -fsanitize=")
# A library that a program uses nothing of is not loaded by it: what folders need is linked along with them.
add_link_options(-Wl,--as-needed)

option(IPRULE_JOIN "Compile the files of a folder some at a time; see cmake/layers.cmake" OFF)
option(IPRULE_FUZZ "Link fuzz targets with libFuzzer (clang only) instead of the corpus replayer" OFF)

find_program(CCACHE ccache)
if(CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  # What a file includes is taken from the compiler's own list: to preprocess it once more beforehand was a fifth of a
  # first build.
  set(ccache_settings CCACHE_DEPEND=1)
  # Paths relative to the tree, so that another clone of it finds what this one compiled. In a folder with a blank in its
  # name ccache keeps them as they are, and another clone would look at this one's headers instead of its own.
  if(NOT PROJECT_SOURCE_DIR MATCHES " ")
    list(APPEND ccache_settings CCACHE_BASEDIR=${PROJECT_SOURCE_DIR} CCACHE_NOHASHDIR=1)
  endif()
  set(CMAKE_CXX_COMPILER_LAUNCHER env ${ccache_settings} ${CCACHE})
endif()

# Warnings are for our own code: an interface that only our targets link.
add_library(project_warnings INTERFACE)
target_compile_options(project_warnings INTERFACE
  -Wall -Wextra -Wpedantic -Wconversion -Wshadow -Wnon-virtual-dtor -Wold-style-cast -Werror
  -Wno-missing-field-initializers)  # Designated initializers name what matters; the rest has its default.

if(CMAKE_CXX_COMPILER_ID STREQUAL Clang)
  # libstdc++ 12's own stable_sort calls what C++17 deprecated; GCC knows its own headers, clang complains to us.
  target_compile_options(project_warnings INTERFACE -Wno-deprecated-declarations)
endif()

if(IPRULE_SANITIZE)
  add_compile_options(-fsanitize=${IPRULE_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all)
  add_link_options(-fsanitize=${IPRULE_SANITIZE})
  # TSan does not understand fences; Asio's queues are ordered by their mutexes, too.
  if(IPRULE_SANITIZE STREQUAL thread)
    add_compile_definitions(BOOST_ASIO_DISABLE_FENCED_BLOCK)
  endif()
  if(CMAKE_CXX_COMPILER_ID STREQUAL GNU)
    # Sanitizer instrumentation defeats GCC's flow analysis: these two then warn about code that is right.
    add_compile_options(-Wno-maybe-uninitialized -Wno-free-nonheap-object)
    # A check before each use of each pointer is a quarter of the compiler's time. AddressSanitizer stops at a null
    # pointer anyway, and the decoders, where a misaligned one could come from, are fuzzed under clang with all checks.
    add_compile_options(-fno-sanitize=null,alignment,object-size,vptr)
  endif()
endif()
if(IPRULE_FUZZ)
  add_compile_options(-fsanitize=fuzzer-no-link)
endif()

if(CMAKE_BUILD_TYPE STREQUAL Release)
  set(CMAKE_CXX_FLAGS_RELEASE "-O2 -DNDEBUG")
  set(CMAKE_INTERPROCEDURAL_OPTIMIZATION ON)
  add_compile_options(-fstack-protector-strong -fstack-clash-protection -fcf-protection
    -U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=2 -D_GLIBCXX_ASSERTIONS)
  add_link_options(-Wl,-z,relro,-z,now,-z,noexecstack -pie)
endif()
