// Proves that Lua is the same on both sides. The program is built natively and for WASM:
//   lua_smoke dump < script    compiles the script and writes its bytecode, unstripped
//   lua_smoke run  < either    runs bytecode or a script, which prints
// compare.mjs runs both builds crosswise and compares every byte.
#include <lauxlib.h>
#include <lua.h>
#include <lualib.h>

#include <stdio.h>
#include <string.h>

static char input[1 << 20];

static int write_chunk(lua_State *lua, const void *bytes, size_t count, void *file)
{
    (void)lua;
    return fwrite(bytes, 1, count, file) != count;
}

static int fail(lua_State *lua, const char *what)
{
    fprintf(stderr, "lua_smoke: %s: %s\n", what, lua_tostring(lua, -1));
    lua_close(lua);
    return 1;
}

static void open_libraries(lua_State *lua)
{
    static const luaL_Reg libraries[] = {
        {LUA_GNAME, luaopen_base},       {LUA_COLIBNAME, luaopen_coroutine},
        {LUA_TABLIBNAME, luaopen_table}, {LUA_STRLIBNAME, luaopen_string},
        {LUA_MATHLIBNAME, luaopen_math}, {LUA_UTF8LIBNAME, luaopen_utf8},
    };
    for (size_t i = 0; i < sizeof libraries / sizeof libraries[0]; i++) {
        luaL_requiref(lua, libraries[i].name, libraries[i].func, 1);
        lua_pop(lua, 1);
    }
}

int main(int argc, char **argv)
{
    if (argc != 2 || (strcmp(argv[1], "dump") != 0 && strcmp(argv[1], "run") != 0)) {
        fprintf(stderr, "usage: lua_smoke dump|run < file\n");
        return 2;
    }
    const size_t input_bytes = fread(input, 1, sizeof input, stdin);
    lua_State *lua = luaL_newstate();
    if (lua == NULL || input_bytes == 0 || input_bytes == sizeof input) {
        fprintf(stderr, "lua_smoke: no memory, or no input, or too much of it\n");
        return 2;
    }
    open_libraries(lua);
    if (luaL_loadbufferx(lua, input, input_bytes, "=smoke.lua", "bt") != LUA_OK) {
        return fail(lua, "load");
    }
    if (strcmp(argv[1], "dump") == 0) {
        if (lua_dump(lua, write_chunk, stdout, 0) != 0) {
            return fail(lua, "dump");
        }
    } else if (lua_pcall(lua, 0, 0, 0) != LUA_OK) {
        return fail(lua, "run");
    }
    lua_close(lua);
    return fflush(stdout) != 0;
}
