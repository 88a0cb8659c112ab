// A recorded session on the island: the world's hash and those of two clients after ten seconds of
// fixed inputs. test_local_host.c plays it in every build, tests/wasm/test_exports.mjs through the
// flat interface of core.wasm; all of them end with these numbers. If you change the island,
// the rules or the protocol on purpose, copy the new numbers from the test's output.
#pragma once

#define ISLAND_WORLD_HASH "3d8ee81cf98411f0"
#define ISLAND_ADA_HASH   "a93e40c6366b899e"
#define ISLAND_BO_HASH    "a91f76fe7162e2f1"
