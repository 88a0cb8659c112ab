# Toolchain for the `wasm` preset: Debian's clang-14, lld-14 and wasi-libc, without a separate SDK. Test
# programs become WASI commands, which CTest runs under the pinned Node (tests/support/run_wasm.mjs).

set(CMAKE_SYSTEM_NAME Generic)
set(CMAKE_SYSTEM_PROCESSOR wasm32)
set(CMAKE_C_COMPILER clang-14)
set(CMAKE_CXX_COMPILER clang++-14)
set(CMAKE_C_COMPILER_TARGET wasm32-wasi)
set(CMAKE_CXX_COMPILER_TARGET wasm32-wasi)
set(CMAKE_AR llvm-ar-14)
set(CMAKE_RANLIB llvm-ranlib-14)
# The only C++ file uses no library, and there is no libc++ to link.
set(CMAKE_CXX_COMPILER_WORKS ON)
set(CMAKE_CXX_STANDARD_LIBRARIES_INIT -nostdlib++)

set(CMAKE_EXECUTABLE_SUFFIX .wasm)
set(CMAKE_EXECUTABLE_SUFFIX_C .wasm)
set(CMAKE_EXECUTABLE_SUFFIX_CXX .wasm)
# The stack is first in memory, so that an overflow traps and does not overwrite data. No -O here or in
# the C flags: with it at link time, clang would call wasm-opt, which rejects these modules.
set(CMAKE_EXE_LINKER_FLAGS_INIT "-Wl,--stack-first -Wl,-z,stack-size=1048576 -Wl,--gc-sections")

set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)

set(CMAKE_CROSSCOMPILING_EMULATOR
  ${CMAKE_CURRENT_LIST_DIR}/../tools/node ${CMAKE_CURRENT_LIST_DIR}/../tests/support/run_wasm.mjs)
