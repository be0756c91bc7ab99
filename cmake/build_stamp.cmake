# Writes the version, commit and build type for base/version.cpp; the file changes only when one of them does.
cmake_minimum_required(VERSION 3.25)
execute_process(COMMAND git -C ${SOURCE} describe --always --dirty --abbrev=12 --exclude=*
  OUTPUT_VARIABLE commit OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
if(NOT commit)
  set(commit unknown)
endif()
file(CONFIGURE OUTPUT ${OUTPUT} CONTENT
  [[constexpr std::string_view kVersion = "@VERSION@";
constexpr std::string_view kCommit = "@commit@";
constexpr std::string_view kBuildType = "@BUILD@";
]] @ONLY)
