// Included before every file of Lua: what Lua would otherwise take from the clock and from
// addresses is fixed here, so that the order of `pairs` is the same on every machine and in every
// run.
#pragma once

#define luai_makeseed(L)   0x5eed1234u
#define l_randomizePivot() 0u

// Calls that nest on the C stack: of C functions that call back, of metamethods, coroutines, and of
// the parser. The dearest, string.format with __tostring, takes 1.3 KiB each in WebAssembly, where
// the stack has 256 KiB.
#define LUAI_MAXCCALLS 130
