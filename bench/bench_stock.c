// Compiled with the unchanged Lua and linked with it into one object that exports only stock_run,
// so that one program can contain both versions of Lua.
#include "bench/bench_stock.h"

#include <lauxlib.h>
#include <lua.h>
#include <lualib.h>

static const luaL_Reg LIBRARIES[] = {
    {LUA_GNAME, luaopen_base},       {LUA_COLIBNAME, luaopen_coroutine},
    {LUA_TABLIBNAME, luaopen_table}, {LUA_STRLIBNAME, luaopen_string},
    {LUA_MATHLIBNAME, luaopen_math},
};

double stock_run(const char *text, size_t bytes, double (*seconds)(void))
{
    lua_State *lua = luaL_newstate();
    for (size_t i = 0; i < sizeof LIBRARIES / sizeof LIBRARIES[0]; i++) {
        luaL_requiref(lua, LIBRARIES[i].name, LIBRARIES[i].func, 1);
        lua_pop(lua, 1);
    }
    (void)lua_gc(lua, LUA_GCINC, 150, 200, 13); // as ours
    double taken = -1;
    lua_State *thread = lua_newthread(lua);
    if (luaL_loadbufferx(thread, text, bytes, "=bench", "t") == LUA_OK) {
        int count;
        const double begin = seconds();
        if (lua_resume(thread, NULL, 0, &count) == LUA_OK) {
            taken = seconds() - begin;
        }
    }
    lua_close(lua);
    return taken;
}
