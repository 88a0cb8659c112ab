// A recorded session on the island: the world's hash and those of two clients after ten seconds of
// fixed inputs. test_local_host.c plays it in every build, tests/wasm/test_exports.mjs through the
// flat interface of core.wasm; all of them end with these numbers. If you change the island,
// the rules or the protocol on purpose, copy the new numbers from the test's output.
#pragma once

#define ISLAND_WORLD_HASH "4b56c6a49d8b0679"
#define ISLAND_ADA_HASH   "5fce840432be2b5b"
#define ISLAND_BO_HASH    "8ee3399414b367fc"
