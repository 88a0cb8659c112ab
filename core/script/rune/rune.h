// The room core/script/rune: compiled scripts as bytes. rune.c makes and loads them; rune_unpack.c
// unpacks those that were compressed for sending, with a dictionary that both sides build
// (rune_dictionary.c). It always holds that the same source gives the same bytes in every build,
// and that bytes that are not exactly a rune are refused and change nothing.
//
// A rune: what the server compiled a script into, as bytes that name themselves by their hash. The
// same rune runs natively and in WebAssembly.
//
//   offset  bytes  content
//   0       4      "SLRN"
//   4       1      format: 1
//   5       1      Lua's version: 0x54
//   6       2      flags: 0
//   8       4      bytes of bytecode
//   12      32     SHA-256 of the bytecode
//   44      1      bytes of the path
//   45      …      path: the script's name in messages, "Workspace/Door"
//   …       …      bytecode, with line numbers
// Numbers are little-endian, and nothing follows.
//
// Lua trusts bytecode: a changed byte can make it read or write anywhere. The hash in the header
// finds damage, not malice. rune_load must therefore only be called with bytes whose own hash (of
// the whole rune) a manifest names that our server has signed.
#pragma once

#include "core/base/limits.h"
#include "core/base/sha256.h"
#include "core/base/status.h"
#include "core/script/vm/vm.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define RUNE_FORMAT         1
#define RUNE_LUA_VERSION    0x54
#define RUNE_HEADER_BYTES   45
#define RUNE_PATH_BYTES_MAX 127

typedef struct Rune {
    char path[RUNE_PATH_BYTES_MAX + 1];
    const uint8_t *bytecode; // into the bytes that were checked
    size_t bytecode_bytes;
    uint8_t hash[SHA256_BYTES]; // of the bytecode
} Rune;

// Writes the function on top of the stack, compiled by vm_compile, as a rune; the function stays
// there. STATUS_LIMIT if it does not fit into `capacity`.
MUST_USE Status rune_write(lua_State *thread, const char *path, void *out, size_t capacity,
                           size_t *bytes);
// Writes the header before bytecode that is already in its place in a rune of `bytes` bytes.
void rune_put_header(const char *path, uint8_t *rune, size_t bytes);
// Reads the header and checks the hash; accepts any bytes. STATUS_UNSUPPORTED for another format or
// version of Lua, STATUS_MISMATCH for a wrong hash.
MUST_USE Status rune_check(const void *data, size_t bytes, Rune *rune);
// Pushes the function with the environment at the index as its _ENV; on failure pushes nothing.
// Only for bytes that a signed manifest names: see above.
MUST_USE Status rune_load(lua_State *thread, const void *data, size_t bytes, int environment_index);
