// How Lua raises errors in WebAssembly. Natively Lua jumps with longjmp, which wasi-libc does not
// have; here it throws a wasm exception, which unwinds in the engine and costs nothing until it is
// thrown. The build includes this header before every file of Lua: ldo.c takes these macros in
// place of its own.
#pragma once

void lua_try(void *function, void *state, void *user);
_Noreturn void lua_throw(void);

// Lua expands the macro where `f` and `ud` are the function to protect and its argument.
#define LUAI_TRY(L, c, a) lua_try((void *)f, L, ud)
#define LUAI_THROW(L, c)  lua_throw()
#define luai_jmpbuf       int
