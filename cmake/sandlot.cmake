# The flags of all our targets, and the functions that define targets. Sources are listed by hand in
# the CMakeLists.txt of their folder; tools/check finds those that are missing.

option(SANDLOT_FUZZ "Build fuzz targets with libFuzzer (the fuzz preset)" OFF)
set(SANDLOT_WASM OFF)
if(CMAKE_SYSTEM_PROCESSOR STREQUAL "wasm32")
  set(SANDLOT_WASM ON)
  # Not in CMAKE_C_FLAGS, because those are also given to the linker: see cmake/wasm.cmake.
  add_compile_options(-O2 -ffunction-sections -fdata-sections)
endif()

# Paths in messages and in debug information are relative to the repository, so that a program does
# not tell where it was built; a debugger that is started in the repository finds the sources. The
# first option is for sources as CMake names them, the second as ccache does. The folder where the
# compiler runs has an option of its own; gcc takes the last one that fits.
file(RELATIVE_PATH source_from_build ${CMAKE_BINARY_DIR} ${PROJECT_SOURCE_DIR})
add_compile_options(-ffile-prefix-map=${PROJECT_SOURCE_DIR}/= -ffile-prefix-map=${source_from_build}=)
if(CMAKE_C_COMPILER_ID STREQUAL "Clang")
  add_compile_options(-fdebug-compilation-dir=.)
else()
  add_compile_options(-fdebug-prefix-map=${CMAKE_BINARY_DIR}=.)
endif()

add_library(sandlot_flags INTERFACE)
target_include_directories(sandlot_flags INTERFACE ${PROJECT_SOURCE_DIR})
target_link_libraries(sandlot_flags INTERFACE m)
target_compile_options(sandlot_flags INTERFACE
  -Wall -Wextra -Wshadow -Wconversion -Wundef -Wvla -Werror
  $<$<COMPILE_LANGUAGE:C>:-Wmissing-prototypes> $<$<COMPILE_LANGUAGE:C>:-Wstrict-prototypes>
  -ffp-contract=off -fno-math-errno -fno-strict-aliasing)

# The test presets link some 200 programs; lld does that in half the time. What is shipped (release)
# keeps the system's linker. tools/setup installs lld for WebAssembly, under a folder of its own.
if(SANDLOT_PRESET MATCHES "^(dev|clang|tsan)$")
  find_program(LLD ld.lld HINTS /usr/lib/llvm-14/bin)
  if(LLD)
    get_filename_component(lld_folder ${LLD} DIRECTORY)
    add_link_options(-fuse-ld=lld -B${lld_folder})
  endif()
endif()

# Groups of programs to build under one name. docs/DEVELOPMENT.md says which preset tests what.
add_custom_target(fuzzers)        # everything libFuzzer runs
add_custom_target(benches)        # every benchmark
add_custom_target(scenario_tests) # label scenario: the o0 preset
add_custom_target(thread_tests)   # label threads: the tsan preset
add_custom_target(portable_tests) # label portable: clang and wasm, in `make test`
add_custom_target(speed_tests)    # label speed: the release preset, in `make test`

# clang compiles the sources that its tests need, and only reads all others for its warnings.
if(SANDLOT_PRESET STREQUAL "clang")
  set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
  add_custom_target(warnings
    COMMAND ${PROJECT_SOURCE_DIR}/tools/check-warnings ${CMAKE_BINARY_DIR} portable_tests
    COMMENT "Reading the other sources for warnings" VERBATIM)
  add_dependencies(warnings portable_tests)
endif()

# sandlot_label(LABEL TEST TARGET…): adds a test to a group, and the programs it runs to the group's target.
function(sandlot_label label test)
  set_property(TEST ${test} APPEND PROPERTY LABELS ${label})
  if(ARGN)
    if(label STREQUAL "scenario")
      add_dependencies(scenario_tests ${ARGN})
    elseif(label STREQUAL "threads")
      add_dependencies(thread_tests ${ARGN})
    elseif(label STREQUAL "portable")
      add_dependencies(portable_tests ${ARGN})
    elseif(label STREQUAL "speed")
      add_dependencies(speed_tests ${ARGN})
    endif()
  endif()
endfunction()

# sandlot_library(NAME SOURCES … EDGES …): one static library per folder; EDGES are the only other
# folders it may include.
function(sandlot_library name)
  cmake_parse_arguments(ARG "" "" "SOURCES;EDGES" ${ARGN})
  add_library(${name} STATIC ${ARG_SOURCES})
  target_link_libraries(${name} PUBLIC sandlot_flags ${ARG_EDGES})
  if(CMAKE_CURRENT_SOURCE_DIR MATCHES "^${PROJECT_SOURCE_DIR}/core/")
    set_property(GLOBAL APPEND PROPERTY SANDLOT_CORE_LIBRARIES ${name})
  endif()
  # Rooms whose code runs only in a process that has locked itself in; tools/check-jail reads that
  # nobody else refers to them.
  if(CMAKE_CURRENT_SOURCE_DIR MATCHES "^${PROJECT_SOURCE_DIR}/server/(build/inside|shell)(/|$)")
    set_property(GLOBAL APPEND PROPERTY SANDLOT_JAILED_LIBRARIES ${name})
  elseif(CMAKE_CURRENT_SOURCE_DIR MATCHES "^${PROJECT_SOURCE_DIR}/server/")
    set_property(GLOBAL APPEND PROPERTY SANDLOT_OUTSIDE_LIBRARIES ${name})
  endif()
endfunction()

# The code of most tests is run once and need not be quick: -O0 compiles it in a third of the time. What
# it tests is optimised as the preset says.
set(SANDLOT_TEST_OPTIONS $<$<STREQUAL:${SANDLOT_PRESET},dev>:-O0>)

# sandlot_share(OUTPUT LIBS OPTIONS SOURCE…): sets OUTPUT to the objects of sources that several test
# programs list. Each is compiled once, with the libraries and options of the first that lists it.
function(sandlot_share output libs options)
  set(objects)
  foreach(source ${ARGN})
    get_filename_component(path ${source} ABSOLUTE)
    file(RELATIVE_PATH target ${PROJECT_SOURCE_DIR} ${path})
    string(REGEX REPLACE "[^A-Za-z0-9_]" "_" target "shared_${target}")
    if(NOT TARGET ${target})
      add_library(${target} OBJECT EXCLUDE_FROM_ALL ${path})
      target_link_libraries(${target} PRIVATE sandlot_flags ${libs})
      target_compile_options(${target} PRIVATE ${options})
    endif()
    list(APPEND objects $<TARGET_OBJECTS:${target}>)
  endforeach()
  set(${output} ${objects} PARENT_SCOPE)
endfunction()

# sandlot_test(NAME SOURCES … LIBS … [LABELS …] [ARGS …] [NATIVE] [HEAVY]): one test program, registered
# with CTest under its name. The sources after the first are shared with other programs that list
# them. HEAVY: the test itself computes much, so it is optimised too, and is started early. NATIVE excludes it from the wasm preset. Labels: `long` excludes it from
# `make test` and adds it to `make torture`; `portable` says that its result must not depend on the
# compiler, so `make test` runs it with clang and in WASM too; `speed`: in the release preset instead
# of dev; `scenario` and `threads` add it to the o0 and tsan presets.
function(sandlot_test name)
  cmake_parse_arguments(ARG "NATIVE;HEAVY" "" "SOURCES;LIBS;LABELS;ARGS" ${ARGN})
  if(SANDLOT_WASM AND ARG_NATIVE)
    return()
  endif()
  list(POP_FRONT ARG_SOURCES main)
  set(options ${SANDLOT_TEST_OPTIONS})
  set(cost 0)
  if(ARG_HEAVY)
    set(options)
    set(cost 20)
  endif()
  sandlot_share(shared "${ARG_LIBS}" "${options}" ${ARG_SOURCES})
  add_executable(${name} ${main} ${shared})
  target_link_libraries(${name} PRIVATE test_support ${ARG_LIBS})
  target_compile_options(${name} PRIVATE ${options})
  add_test(NAME ${name} COMMAND ${name} ${ARG_ARGS})
  set_tests_properties(${name} PROPERTIES TIMEOUT 600 COST ${cost})
  foreach(label ${ARG_LABELS})
    sandlot_label(${label} ${name} ${name})
  endforeach()
endfunction()

# sandlot_fuzz(NAME SOURCES … LIBS … [CORPUS dir]): one LLVMFuzzerTestOneInput. The fuzz preset
# builds a libFuzzer program; every other native preset builds a program that replays the committed corpus
# (tests/fuzz/corpus/<name without fuzz_>/ unless CORPUS names another folder) as a test.
function(sandlot_fuzz name)
  cmake_parse_arguments(ARG "" "CORPUS" "SOURCES;LIBS" ${ARGN})
  if(SANDLOT_WASM)
    return()
  endif()
  string(REGEX REPLACE "^fuzz_" "" short "${name}")
  if(NOT ARG_CORPUS)
    set(ARG_CORPUS ${PROJECT_SOURCE_DIR}/tests/fuzz/corpus/${short})
  endif()
  get_filename_component(corpus "${ARG_CORPUS}" ABSOLUTE)
  if(SANDLOT_FUZZ)
    add_executable(fuzz_${short} ${ARG_SOURCES})
    target_link_libraries(fuzz_${short} PRIVATE sandlot_flags ${ARG_LIBS})
    target_link_options(fuzz_${short} PRIVATE -fsanitize=fuzzer)
    # `make fuzz` finds a program by a file next to it that names its corpus.
    set_target_properties(fuzz_${short} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR})
    file(WRITE ${CMAKE_BINARY_DIR}/fuzz_${short}.corpus "${corpus}\n")
    add_dependencies(fuzzers fuzz_${short})
  else()
    list(POP_FRONT ARG_SOURCES main)
    sandlot_share(shared "${ARG_LIBS}" ${SANDLOT_TEST_OPTIONS}
      ${PROJECT_SOURCE_DIR}/tests/support/replay.c ${ARG_SOURCES})
    add_executable(fuzz_${short} ${main} ${shared})
    target_link_libraries(fuzz_${short} PRIVATE sandlot_flags ${ARG_LIBS})
    target_compile_options(fuzz_${short} PRIVATE ${SANDLOT_TEST_OPTIONS})
    add_test(NAME fuzz_${short} COMMAND fuzz_${short} ${corpus})
    set_tests_properties(fuzz_${short} PROPERTIES LABELS fuzz TIMEOUT 300)
  endif()
endfunction()

# sandlot_bench(NAME SOURCES … LIBS … [NATIVE]): a benchmark program, bench_NAME at the top of the
# build folder of the release preset, and of the wasm preset unless NATIVE is given. In other presets
# it is built only on request.
function(sandlot_bench name)
  cmake_parse_arguments(ARG "NATIVE" "" "SOURCES;LIBS" ${ARGN})
  if(SANDLOT_WASM AND ARG_NATIVE)
    return()
  endif()
  string(REGEX REPLACE "^bench_" "" short "${name}")
  add_executable(bench_${short} ${ARG_SOURCES})
  target_link_libraries(bench_${short} PRIVATE sandlot_flags ${ARG_LIBS})
  set_target_properties(bench_${short} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR})
  if(NOT SANDLOT_WASM AND NOT SANDLOT_PRESET STREQUAL "release")
    set_target_properties(bench_${short} PROPERTIES EXCLUDE_FROM_ALL ON)
  endif()
  add_dependencies(benches bench_${short})
endfunction()
