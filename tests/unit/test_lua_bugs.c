// One test for each bug of Lua 5.4.4 that our substitutions fix; docs/decisions/0031-lua-bugs.md
// lists all of them, also those that cannot be reached.
#include "core/script/vm.h"
#include "tests/support/test.h"

#include <lauxlib.h>
#include <lua.h>
#include <string.h>

static char message[512];

// Runs a script that checks itself; true if it came to its end.
static bool passes(const char *source)
{
    Heap heap = heap_make(1ull << 28);
    const VmConfig config = vm_config_default();
    Vm *vm;
    if (vm_create(&heap, &config, &vm) != STATUS_OK) {
        return false;
    }
    lua_State *thread = lua_newthread(vm_main(vm));
    vm_push_environment(thread);
    int results = 0;
    VmOutcome outcome = VM_ERROR;
    if (vm_compile(thread, "bug", source, strlen(source), -1) == STATUS_OK) {
        lua_remove(thread, 1);
        outcome = vm_resume(vm, thread, 0, 50000000, &results);
    }
    message[0] = '\0';
    if (outcome == VM_ERROR) {
        (void)snprintf(message, sizeof message, "%s", lua_tostring(thread, -1));
    }
    vm_destroy(&heap, vm);
    return outcome == VM_DONE;
}

#define PASSES(source)                                                       \
    do {                                                                     \
        if (!passes(source)) {                                               \
            test_fail(__FILE__, __LINE__, "the script failed: %s", message); \
        }                                                                    \
    } while (0)

// Constants past the 255th do not fit into an instruction.
TEST(bitwise_constants)
{
    PASSES("local t = {}\n"
           "for i = 1, 300 do t[i] = 'x = ' .. i .. '.5' end\n"
           "local f = load(table.concat(t, ' ') .. ' local a = 5 return a | 0x12345, 0x12345 ~ a, "
           "(a & 0x7654321) << 1, a ~ 0x1111111 | 0x222222')\n"
           "local p, q, r, s = f()\n"
           "assert(p == 5 | 0x12345 and q == 0x12345 ~ 5 and r == (5 & 0x7654321) << 1)\n"
           "assert(s == 5 ~ 0x1111111 | 0x222222)");
}

TEST(comparison_as_index)
{
    PASSES("local t = {[true] = 'yes', [false] = 'no'}\n"
           "local function f(a, b) return t[a == b], t[a < b], t[not (a == b)] end\n"
           "local x, y, z = f(1, 2)\n"
           "assert(x == 'no' and y == 'yes' and z == 'yes')\n"
           "local u = {} u[1 < x:len()] = 1 assert(u[true] == 1)");
}

// gsub's callback closes nothing, but table.concat and friends pop buffers while others wait.
static int settop_closes(lua_State *L)
{
    lua_settop(L, 0);
    luaL_loadstring(L,
                    "local function deep(n) if n > 0 then return 1 + deep(n - 1) end return 0 end"
                    " deep(4000)");
    lua_createtable(L, 0, 0);
    lua_createtable(L, 0, 1);
    lua_pushvalue(L, 1);
    lua_setfield(L, -2, "__close");
    lua_setmetatable(L, -2);
    lua_toclose(L, 2);
    lua_settop(L, 1); // closes, which moves the stack
    lua_pushinteger(L, lua_gettop(L));
    return 1;
}

TEST(settop_moves_the_stack)
{
    Heap heap = heap_make(1ull << 28);
    const VmConfig config = vm_config_default();
    Vm *vm;
    REQUIRE(vm_create(&heap, &config, &vm) == STATUS_OK);
    lua_State *thread = lua_newthread(vm_main(vm));
    int results = 0;
    lua_pushcfunction(thread, settop_closes);
    CHECK_INT(vm_resume(vm, thread, 0, 1000000, &results), VM_DONE);
    CHECK_INT(lua_tointeger(thread, -1), 1);
    vm_destroy(&heap, vm);
}

TEST(break_closes)
{
    PASSES(
        "local closed = 0\n"
        "local function guard() return setmetatable({}, {__close = function() closed = closed + 1 "
        "end}) end\n"
        "local function f()\n"
        "  for i = 1, 3 do\n"
        "    local a <close> = guard()\n"
        "    local b = function() return i end\n"
        "    if i == 2 then break end\n"
        "  end\n"
        "  for k in function(_, c) if not c then return 1 end end, nil, nil, guard() do\n"
        "    local x = function() return k end\n"
        "    break\n"
        "  end\n"
        "end\n"
        "f() assert(closed == 3, closed)");
}

TEST(line_of_division_by_zero)
{
    for (const char *const *operator=(const char *const[]){"x // y", "x % y", "x // 0", "x % 0",
                                                           NULL};
         *operator!= NULL; operator++) {
        char source[256];
        (void)snprintf(source, sizeof source,
                       "local x, y = 1, 0\nlocal ok, e = pcall(function()\nlocal a = 1\nlocal b = "
                       "2\nreturn a,\n %s\nend) assert(e:find('bug:6:', 1, true), e)",
                       *operator);
        PASSES(source);
    }
}

TEST(line_of_call)
{
    PASSES(
        "local ok, e = pcall(function()\nlocal t = {f = function() error('x', 2) end}\nt\n.f\n(\n1"
        ")\nend)\n assert(e:find('bug:5:', 1, true), e)");
}

TEST(names_without_recursion)
{
    PASSES(
        "local t = {'local t = {} local x = t'}\n"
        "local e = 't' for i = 1, 100 do e = 't[' .. e .. ']' end\n"
        "local f = load('local t = setmetatable({}, {__index = function(t) return t end}) return ' "
        ".. e .. ' + 1')\n"
        "local ok, m = pcall(f) assert(not ok and m:find('arithmetic'))");
}

TEST(closing_in_failed_coroutines_counts_depth)
{
    PASSES("local depth = 0\n"
           "local function f()\n"
           "  depth = depth + 1\n"
           "  local c <close> = setmetatable({}, {__close = function() coroutine.wrap(f)() end})\n"
           "  error('x')\n"
           "end\n"
           "assert(not pcall(coroutine.wrap(f)))\n"
           "assert(depth < 400, depth)");
}

TEST(utf8_codes_refuses_stray_bytes)
{
    PASSES("local function all(s) for p, c in utf8.codes(s) do end end\n"
           "assert(pcall(all, 'a\\u{7ff}b'))\n"
           "for _, s in ipairs {'a\\x80', '\\u{7ff}\\xbf', '\\x80', 'ab\\x80\\x80c'} do\n"
           "  assert(not pcall(all, s))\n"
           "end");
}

// A string that holds a zero, compared with one that ends there.
TEST(order_of_strings_with_zeros)
{
    PASSES("assert('a\\0b' > 'a' and 'a\\0' < 'a\\0a' and not ('a\\0b' < 'a\\0a'))\n"
           "assert('' < '\\0' and '\\0' < '\\1' and '\\xff' > 'z')");
}

TEST(constant_environment)
{
    PASSES("local f, e = load('local _ENV <const> = 1 x = 2') assert(not pcall(f))\n"
           "assert(load('local a <const> = 1 local _ENV <const> = {y = 3} return y')() == 3)");
}

TEST(overflow_while_an_error_is_handled)
{
    PASSES("local t = setmetatable({}, {__index = function(t, k) error(t[k]) end})\n"
           "assert(not pcall(function() return t.x end))\n"
           "local function g() return xpcall(g, function(e) return t[e] end) end assert(g())");
}

// A metatable that is its own __newindex: writing that very field must still tell the collector
// which table has a new value, or the value is freed under it.
TEST(newindex_of_itself_keeps_its_value)
{
    // So many that the collector needs several steps to see them: some are written in between.
    PASSES("local all = {}\n"
           "for i = 1, 25000 do\n"
           "  local mt = {} mt.__newindex = mt all[i] = {mt, setmetatable({}, mt)}\n"
           "end\n"
           "local junk\n"
           "for i = 25000, 1, -1 do\n"
           "  all[i][2].__newindex = {'kept', i}\n"
           "  junk = {i, 0}\n"
           "end\n"
           "for i = 1, 30000 do junk = {i, 0} end\n"
           "for i = 1, 25000 do\n"
           "  local kept = rawget(all[i][1], '__newindex')\n"
           "  assert(type(kept) == 'table' and kept[1] == 'kept' and kept[2] == i)\n"
           "end");
}

TEST(a_failed_match_leaves_its_depth)
{
    PASSES("local f = ('ab'):rep(20):gmatch('a%b')\n"
           "for i = 1, 500 do\n"
           "  local ok, why = pcall(f)\n"
           "  assert(not ok and why:find('malformed'), why)\n"
           "end");
}

TEST(utf8_refuses_first_bytes_that_are_too_long)
{
    PASSES("for _, s in ipairs {'\\xfe', '\\xff', '\\xfe' .. ('\\x80'):rep(6), '\\xff' .. "
           "('\\xbf'):rep(7)} do\n"
           "  assert(not utf8.len(s, 1, -1, true) and not pcall(utf8.codepoint, s, 1, 1, true))\n"
           "end\n"
           "assert(utf8.len('\\u{7fffffff}', 1, -1, true) == 1)");
}

TEST(a_text_is_not_the_environment)
{
    PASSES("local ok, why = pcall(function() local s = {} ; return ('_ENV').x.y end)\n"
           "assert(not ok and why:find(\"field 'x'\", 1, true), why)\n"
           "ok, why = pcall(function() return nowhere.y end)\n"
           "assert(not ok and why:find(\"global 'nowhere'\", 1, true), why)");
}
