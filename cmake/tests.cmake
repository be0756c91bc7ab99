# test_program(NAME LABEL unit|kernel|api|cluster SOURCES... LINK... [TIMEOUT seconds] [SEPARATE] [UNLISTED])
# One gtest program is one ctest entry: its cases share what is costly to start. Results are left as XML for the
# closing count. Kernel tests count packets and events, and run one at a time; those with a cluster of their own mostly
# wait for it, so others run beside them. Its files are compiled together like those of a folder (cmake/layers.cmake),
# unless it is SEPARATE. What is UNLISTED is run by another test, not by ctest.
function(test_program name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "SEPARATE;UNLISTED" "LABEL;TIMEOUT;MAIN" "SOURCES;LINK")
  if(NOT arg_TIMEOUT)
    set(arg_TIMEOUT 300)
  endif()
  if(NOT arg_MAIN)
    set(arg_MAIN GTest::gtest_main)
  endif()
  if(IPRULE_JOIN AND NOT arg_SEPARATE)
    join_sources(arg_SOURCES ${name} 6 ${arg_SOURCES})
  endif()
  add_executable(${name} ${arg_SOURCES})
  target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR})
  target_link_libraries(${name} PRIVATE project_warnings ${arg_LINK} ${arg_MAIN} GTest::gmock GTest::gtest rapidcheck_gtest)
  if(IPRULE_SANITIZE)
    # What is under test is instrumented in full. The tests themselves are large and run once: half the time of a build
    # went into optimising and instrumenting them.
    target_compile_options(${name} PRIVATE -O0 -fno-sanitize=undefined)
  endif()
  if(arg_UNLISTED)
    return()
  endif()
  add_test(NAME ${name} COMMAND ${name} --gtest_output=xml:${PROJECT_BINARY_DIR}/results/${name}.xml)
  set_tests_properties(${name} PROPERTIES LABELS ${arg_LABEL} TIMEOUT ${arg_TIMEOUT}
    COST ${arg_TIMEOUT})  # The long ones begin first.
  if(arg_LABEL STREQUAL kernel)
    set_tests_properties(${name} PROPERTIES RESOURCE_LOCK machine)
  endif()
endfunction()
