# Turns src/LAYERS into libraries: `folder_library(net)` in src/net makes library `net` from its sources, links the
# folders its line names, and makes test `net_test` from the *_test.cpp files beside the code.

set(LAYERS_FILE ${PROJECT_SOURCE_DIR}/src/LAYERS)
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${LAYERS_FILE})
file(STRINGS ${LAYERS_FILE} layer_lines REGEX "^[a-z]+:")
set(LAYER_FOLDERS "")
foreach(line IN LISTS layer_lines)
  string(REGEX MATCH "^([a-z]+): *(.*)$" _ "${line}")
  list(APPEND LAYER_FOLDERS ${CMAKE_MATCH_1})
  separate_arguments(LAYER_BELOW_${CMAKE_MATCH_1} UNIX_COMMAND "${CMAKE_MATCH_2}")
endforeach()

# The folders of LAYERS that have content today, lowest first.
function(add_layer_folders)
  foreach(folder IN LISTS LAYER_FOLDERS)
    if(EXISTS ${CMAKE_CURRENT_SOURCE_DIR}/${folder}/CMakeLists.txt)
      add_subdirectory(${folder})
    endif()
  endforeach()
endfunction()

# folder_library(NAME [SEPARATE] [SEPARATE_TESTS] [EXTERNAL third-party targets...])
# Where a preset sets IPRULE_JOIN, files of a folder are compiled some at a time: most of a compiler's time goes into the
# headers they share, and a build from nothing is three times as fast. Names in the unnamed namespaces of a folder must
# differ for that; SEPARATE is for a folder where they cannot, SEPARATE_TESTS for one whose tests have many small helpers
# of the same names.
function(folder_library name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "SEPARATE;SEPARATE_TESTS" "" "EXTERNAL")
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS *.cpp)
  set(tests ${sources})
  list(FILTER sources EXCLUDE REGEX "_test\\.cpp$")
  list(FILTER tests INCLUDE REGEX "_test\\.cpp$")

  if(IPRULE_JOIN AND NOT arg_SEPARATE)
    join_sources(sources ${name} 8 ${sources})
  endif()
  add_library(${name} STATIC ${sources})
  target_include_directories(${name} PUBLIC ${PROJECT_SOURCE_DIR}/src PRIVATE ${PROJECT_SOURCE_DIR})
  target_link_libraries(${name} PUBLIC fmt::fmt PRIVATE project_warnings ${arg_EXTERNAL})
  foreach(below IN LISTS LAYER_BELOW_${name})
    if(TARGET ${below})
      target_link_libraries(${name} PUBLIC ${below})
    endif()
  endforeach()
  add_dependencies(${name} check_layers)

  if(tests)
    set(separate "")
    if(arg_SEPARATE OR arg_SEPARATE_TESTS)
      set(separate SEPARATE)
    endif()
    test_program(${name}_test LABEL unit SOURCES ${tests} LINK ${name} ${arg_EXTERNAL} ${separate})
  endif()
endfunction()

# A forbidden include must not wait for a reviewer: every library depends on this check.
add_custom_command(
  OUTPUT ${PROJECT_BINARY_DIR}/layers.checked
  COMMAND ${PROJECT_SOURCE_DIR}/cmake/check-layers ${PROJECT_SOURCE_DIR}/src
  COMMAND ${CMAKE_COMMAND} -E touch ${PROJECT_BINARY_DIR}/layers.checked
  DEPENDS ${LAYERS_FILE} ${PROJECT_SOURCE_DIR}/cmake/check-layers ${all_sources}
  COMMENT "Checking who includes whom (src/LAYERS)"
  VERBATIM)
add_custom_target(check_layers DEPENDS ${PROJECT_BINARY_DIR}/layers.checked)
