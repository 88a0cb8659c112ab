// The Lua that was made of other languages lies beside the runes: it is what a creator reads when
// TypeScript or a model surprised them, and what `scriptPath` names. The manifest knows runes
// alone, so another list says which Lua it is, and of which manifest. It is text that `sha256sum
// -c` reads:
//
//   # sandlot: made Lua 1
//   <64 hex digits>  ReplicatedStorage/Maths.lua
//   <64 hex digits>  manifest.json
//   # signed <128 hex digits>: Ed25519 over everything before this line
#pragma once

#include "core/wire/place.h"
#include "server/build/base/buffer.h"
#include "server/build/sign/signing_key.h"

#define GENERATED_LUA_LIST_FILE      "made.sha256"
#define GENERATED_LUA_LIST_BYTES_MAX (1u << 20)

// Of manifest.json and all Lua among `files`, in their order.
MUST_USE Status generated_lua_list_write(const PlaceFile *files, uint32_t count,
                                         const SigningKey *key, Buffer *out);
// Whether it is signed by one of the keys. The text may be any bytes.
bool generated_lua_list_verify(const void *text, size_t bytes, const SigningPublicKeys *halves);
// Whether this file, with these bytes, is in the list.
bool generated_lua_list_has(const void *text, size_t bytes, const PlaceFile *file);
