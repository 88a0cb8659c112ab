# What every target of ours is built with, and the functions that make targets.

add_library(sandlot_flags INTERFACE)
target_include_directories(sandlot_flags INTERFACE ${PROJECT_SOURCE_DIR})
target_compile_options(sandlot_flags INTERFACE
  -Wall -Wextra -Wshadow -Wconversion -Wundef -Wvla -Wmissing-prototypes -Wstrict-prototypes -Werror
  -ffp-contract=off -fno-strict-aliasing)

# sandlot_library(NAME SOURCES … EDGES …): one static library per folder; EDGES are the only other
# folders it may include.
function(sandlot_library name)
  cmake_parse_arguments(ARG "" "" "SOURCES;EDGES" ${ARGN})
  add_library(${name} STATIC ${ARG_SOURCES})
  target_link_libraries(${name} PUBLIC sandlot_flags ${ARG_EDGES})
endfunction()

# sandlot_test(NAME SOURCES … LIBS …): one test program, registered with CTest under its name.
function(sandlot_test name)
  cmake_parse_arguments(ARG "" "" "SOURCES;LIBS" ${ARGN})
  add_executable(${name} ${ARG_SOURCES})
  target_link_libraries(${name} PRIVATE test_support ${ARG_LIBS})
  add_test(NAME ${name} COMMAND ${name})
endfunction()
