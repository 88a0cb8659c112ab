// The Vm as its owner sees it: outcomes, steps, memory, tracebacks, nesting.
#include "core/script/vm/vm.h"

#include "core/script/vm/lua_guard.h"
#include "tests/support/test.h"

#include <lauxlib.h>
#include <lua.h>
#include <string.h>

#define STEPS 200000

static Heap heap;
static Vm *vm;
static char message[512];
static char trace[4096];
static int results;

static void open_vm(void)
{
    heap = heap_make(1ull << 30);
    VmConfig config = vm_config_default();
    config.memory_soft_bytes = 4u << 20;
    config.memory_hard_bytes = 8u << 20;
    CHECK_OK(vm_create(&heap, &config, &vm));
}

static void close_vm(void)
{
    vm_destroy(&heap, vm);
    CHECK_INT(heap.bytes_now, 0);
}

// A thread, anchored on the main stack, with the compiled function on it.
static lua_State *load_thread(const char *source)
{
    lua_State *thread = lua_newthread(vm_main(vm));
    vm_push_environment(thread);
    const Status status = vm_compile(thread, "test", source, strlen(source), -1);
    if (status != STATUS_OK) {
        (void)snprintf(message, sizeof message, "%s", lua_tostring(thread, -1));
        return NULL;
    }
    lua_remove(thread, 1);
    return thread;
}

static VmOutcome finish(lua_State *thread, VmOutcome outcome)
{
    message[0] = '\0';
    if (outcome == VM_ERROR || (outcome == VM_DONE && results > 0)) {
        const char *text = lua_tostring(thread, -1);
        (void)snprintf(message, sizeof message, "%s", text != NULL ? text : "(no text)");
    }
    (void)vm_traceback(vm, trace, sizeof trace);
    return outcome;
}

static VmOutcome run(const char *source, uint64_t steps)
{
    lua_State *thread = load_thread(source);
    if (thread == NULL) {
        return VM_ERROR;
    }
    const VmOutcome outcome = finish(thread, vm_resume(vm, thread, 0, steps, &results));
    lua_settop(vm_main(vm), 0);
    return outcome;
}

TEST(results)
{
    open_vm();
    CHECK_INT(run("return 'a' .. 1", STEPS), VM_DONE);
    CHECK_INT(results, 1);
    CHECK_TEXT(message, "a1");
    CHECK(vm_steps_used(vm) > 0 && vm_steps_used(vm) < 200);
    close_vm();
}

TEST(errors)
{
    open_vm();
    CHECK_INT(run("local function f()\n  error('no')\nend\nf()", STEPS), VM_ERROR);
    CHECK_TEXT(message, "test:2: no");
    CHECK_INT(vm_fault_line(vm), 2);
    CHECK_TEXT(trace, "\n\t[C]: in function 'error'\n\ttest:2: in function 'f'\n\ttest:4: in main "
                      "chunk");
    CHECK_INT(run("return 1 +", STEPS), VM_ERROR);
    CHECK_TEXT(message, "test:1: unexpected symbol near <eof>");
    CHECK_INT(run("error({})", STEPS), VM_ERROR);
    CHECK_TEXT(message, "(no text)");
    close_vm();
}

TEST(budget)
{
    open_vm();
    CHECK_INT(run("while true do end", STEPS), VM_OVER_BUDGET);
    CHECK(vm_steps_used(vm) >= STEPS && vm_steps_used(vm) < STEPS + 100);
    CHECK_INT(vm_fault_line(vm), 1);
    CHECK_TEXT(trace, "\n\ttest:1: in main chunk");
    CHECK_INT(run("for i = 1, 1e9 do end", STEPS), VM_OVER_BUDGET);
    CHECK_INT(run("pcall(function() while true do end end) return 1", STEPS), VM_OVER_BUDGET);
    CHECK_INT(run("local c = coroutine.wrap(function() while true do end end) pcall(c) while true "
                  "do pcall(c) end",
                  STEPS),
              VM_OVER_BUDGET);
    CHECK_INT(run("local c <close> = setmetatable({}, {__close = function() while true do end "
                  "end}) while true do end",
                  STEPS),
              VM_OVER_BUDGET);
    CHECK(vm_steps_used(vm) < STEPS + 100);
    CHECK_INT(run("return 1", STEPS), VM_DONE);
    close_vm();
}

// Whatever the budget, once the loop runs (from line 4 on) the line is one of its own: neither the
// code before it nor the last called function. Each is charged in another place of Lua.
TEST(a_budget_fault_names_a_line_of_its_loop)
{
    static const struct {
        const char *code;
        uint32_t first, last;
    } loops[] = {
        {"while true do\n n = n + 1\nend", 5, 5},
        {"while n < 1 do\n n = 0\nend", 4, 5},
        {"repeat\n n = n + 1\n\nuntil n < 0", 7, 7},
        {"repeat\n local m = n\n local function f() return m end\nuntil n == 1", 6, 7},
        {"::again::\nif n == 0 then\n goto again\nend", 6, 6},
        {"for i = 1, 1e9 do\n n = n + i\nend", 4, 4},
        {"for i = 1.5, 1e9 do\n n = n + i\nend", 4, 4},
        {"for _ in function() return 1 end do\n n = 1\nend", 4, 4},
        {"while true do\n n = {}\n n = {1, 2, 3}\n n = {a = 1}\nend", 5, 7},
        {"while true do\n n = {table.unpack(list)}\nend", 5, 5},
        {"while true do\n n = n .. 'a'\nend", 5, 5},
        {"while true do\n n = n % 3 + n ^ 3\nend", 5, 5},
        {"while true do\n n = #list + (list[1] or 0)\nend", 5, 5},
        {"while true do\n list[#list + 1] = n\nend", 5, 5},
        {"while true do\n n = text .. 1 == text .. 2\nend", 5, 5},
        {"while true do\n n = function() return n end\nend", 5, 5},
        {"while true do\n n = tostring(n)\nend", 5, 5},
        {"while true do\n text:find('b')\nend", 5, 5},
        {"while true do\n pcall(error)\nend", 5, 5},
        {"while true do\n n = list.x\nend", 2, 5},
    };
    open_vm();
    for (size_t i = 0; i < sizeof loops / sizeof loops[0]; i++) {
        char code[512];
        (void)snprintf(code, sizeof code,
                       "local list = setmetatable({1, 2, 3, 4, 5, 6, 7, 8},\n"
                       " {__index = function() return 1 end})\n"
                       "local n, text = 0, ('a'):rep(60)\n%s",
                       loops[i].code);
        for (uint64_t steps = 300; steps < 600; steps++) {
            CHECK_INT(run(code, steps), VM_OVER_BUDGET);
            const uint32_t line = vm_fault_line(vm);
            if (line < loops[i].first || line > loops[i].last) {
                test_fail(__FILE__, __LINE__, "line %u with %d steps:\n%s", line, (int)steps, code);
                break;
            }
        }
    }
    close_vm();
}

TEST(memory)
{
    open_vm();
    CHECK_INT(run("local t = {} for i = 1, 1e9 do t[i] = {} end", 1u << 30), VM_OVER_MEMORY);
    CHECK(strstr(trace, "test:1:") != NULL);
    CHECK_INT(run("local t = {} for i = 1, 1e9 do t[i] = ('x'):rep(100000 + i) end", 1u << 30),
              VM_OVER_MEMORY);
    CHECK_INT(run("pcall(function() local t = {} for i = 1, 1e9 do t[i] = {} end end) return 1",
                  1u << 30),
              VM_OVER_MEMORY);
    CHECK_INT(run("return 1", STEPS), VM_DONE);
    close_vm();
}

// Whatever the keys are, a table that grows and shrinks keeps each of them once.
TEST(tables_keep_their_keys)
{
    static const char SOURCE[] =
        "local function check(make, count)\n"
        "    local t, sum = {}, 0\n"
        "    for i = 1, count do t[make(i)] = i end\n"
        "    for i = 1, count do assert(t[make(i)] == i) end\n"
        "    for _, i in pairs(t) do sum = sum + i end\n"
        "    assert(sum == count * (count + 1) // 2)\n"
        "    for i = 1, count, 2 do t[make(i)] = nil end\n"
        "    for i = 1, count do t[-i - 0.5] = i end\n"
        "    for i = 1, count do assert(t[make(i)] == (i % 2 == 0 and i or nil)) end\n"
        "    for i = 1, count do assert(t[-i - 0.5] == i) end\n"
        "end\n"
        "local objects = {}\n"
        "for i = 1, 5000 do objects[i] = i % 3 == 0 and function() return i end or {} end\n"
        "check(function(i) return i end, 20000)\n"
        "check(function(i) return 20001 - i end, 20000)\n"
        "check(function(i) return i * 1023 end, 20000)\n"
        "check(function(i) return i * 0xffffffff end, 500)\n"
        "check(function(i) return i % 2 == 0 and i or i * 0xffff end, 5000)\n"
        "check(function(i) return i / 7 + 0.01 end, 5000)\n"
        "check(function(i) return 'key ' .. i end, 5000)\n"
        "check(function(i) return ('long '):rep(20) .. i end, 500)\n"
        "check(function(i) return objects[i] end, 5000)\n";
    open_vm();
    CHECK_INT(run(SOURCE, 200 * (uint64_t)STEPS), VM_DONE);
    CHECK_TEXT(message, "");
    close_vm();
}

TEST(yields)
{
    open_vm();
    lua_State *thread = load_thread("local a = coroutine.yield(1, 2) return a + 1");
    CHECK_INT(vm_resume(vm, thread, 0, STEPS, &results), VM_YIELDED);
    CHECK_INT(results, 2);
    lua_pop(thread, 2);
    lua_pushinteger(thread, 41);
    CHECK_INT(finish(thread, vm_resume(vm, thread, 1, STEPS, &results)), VM_DONE);
    CHECK_TEXT(message, "42");
    close_vm();
}

static int nested(lua_State *L)
{
    lua_State *inner = lua_newthread(L);
    vm_push_environment(inner);
    const char *source = "while true do end";
    if (vm_compile(inner, "inner", source, strlen(source), -1) != STATUS_OK) {
        return luaL_error(L, "not compiled");
    }
    int count;
    const VmOutcome outcome = vm_resume(vm_of(L), inner, 0, 1000, &count);
    lua_pushboolean(L, outcome == VM_OVER_BUDGET);
    return 1;
}

TEST(entries_nest)
{
    open_vm();
    lua_State *thread = lua_newthread(vm_main(vm));
    vm_push_environment(thread);
    lua_pushcfunction(thread, nested);
    lua_setfield(thread, -2, "nested");
    const char *source = "local ok = nested() for i = 1, 100 do end return tostring(ok)";
    CHECK_OK(vm_compile(thread, "outer", source, strlen(source), -1));
    lua_remove(thread, 1);
    CHECK_INT(finish(thread, vm_resume(vm, thread, 0, STEPS, &results)), VM_DONE);
    CHECK_TEXT(message, "true");
    CHECK(vm_steps_used(vm) < 4000);
    close_vm();
}

TEST(frozen_tables)
{
    open_vm();
    CHECK_INT(run("string.x = 1", STEPS), VM_ERROR);
    CHECK_TEXT(message, "test:1: attempt to modify a read-only table");
    CHECK_INT(run("string.rep = 1", STEPS), VM_ERROR);
    CHECK_TEXT(message, "test:1: attempt to modify a read-only table");
    CHECK_INT(run("rawset(string, 'rep', 1)", STEPS), VM_ERROR);
    CHECK_INT(run("table.insert(string, 1)", STEPS), VM_ERROR);
    CHECK_INT(run("setmetatable(string, {})", STEPS), VM_ERROR);
    CHECK_INT(run("x = 1 _G.y = 2 return x + y", STEPS), VM_DONE);
    CHECK_INT(run("return x", STEPS), VM_DONE);
    CHECK_TEXT(message, "(no text)");
    close_vm();
}

TEST(xpcall_handler)
{
    open_vm();
    CHECK_INT(run("local ok, a, b = xpcall(error, function(e) return e .. '!', 2 end, 'x') return "
                  "tostring(ok) .. a .. b",
                  STEPS),
              VM_DONE);
    CHECK_TEXT(message, "falsex!2");
    CHECK_INT(run("local ok, a, b = xpcall(function(...) return ... end, print or type, 7, 8) "
                  "return tostring(ok) .. a .. b",
                  STEPS),
              VM_DONE);
    CHECK_TEXT(message, "true78");
    close_vm();
}

TEST(load_environment)
{
    open_vm();
    CHECK_INT(run("y = 5 return load('return y')()", STEPS), VM_DONE);
    CHECK_TEXT(message, "5");
    CHECK_INT(run("return load('return y', 'n', 't', {y = 6})()", STEPS), VM_DONE);
    CHECK_TEXT(message, "6");
    CHECK_INT(run("local f, e = load('\\27Lua') return e", STEPS), VM_DONE);
    CHECK_TEXT(message, "attempt to load a binary chunk (mode is 't')");
    close_vm();
}

// With the collector stopped nothing holds a C function to the soft limit.
static int eat(lua_State *L)
{
    (void)lua_gc(L, LUA_GCSTOP);
    lua_pushnil(L);
    for (;;) { // each keeps the one before it
        (void)lua_newuserdatauv(L, 4000, 1);
        lua_insert(L, -2);
        (void)lua_setiuservalue(L, -2, 1);
    }
    return 0;
}

TEST(past_the_hard_limit_the_vm_is_dead)
{
    open_vm();
    lua_State *thread = lua_newthread(vm_main(vm));
    vm_push_environment(thread);
    lua_pushcfunction(thread, eat);
    lua_setfield(thread, -2, "eat");
    const char *source = "while true do pcall(eat) end";
    CHECK_OK(vm_compile(thread, "test", source, strlen(source), -1));
    lua_remove(thread, 1);
    CHECK_INT(vm_resume(vm, thread, 0, STEPS * 1000, &results), VM_DEAD);
    (void)vm_traceback(vm, trace, sizeof trace);
    CHECK(strstr(trace, "in function 'eat'") != NULL || strstr(trace, "pcall") != NULL);
    CHECK_INT(vm_resume(vm, thread, 0, STEPS, &results), VM_DEAD);
    close_vm();
}

TEST(sources_that_are_too_large_or_too_complex)
{
    static char large[VM_SOURCE_BYTES_MAX + 2];
    open_vm();
    memset(large, ' ', sizeof large - 1);
    CHECK_INT(run(large, STEPS), VM_ERROR);
    CHECK_TEXT(message, "test:1: the source is larger than 256 KiB");
    // Each `or` walks the list of jumps of all before it.
    size_t at = 0;
    at += (size_t)snprintf(large, sizeof large, "return a");
    while (at + 8 < sizeof large) {
        memcpy(large + at, " or a", 6);
        at += 5;
    }
    CHECK_INT(run(large, STEPS), VM_ERROR);
    CHECK_TEXT(message, "test:1: too complex to compile");
    CHECK_INT(run("return 1", STEPS), VM_DONE);
    close_vm();
}

TEST(memory_is_counted)
{
    open_vm();
    const VmMemory before = vm_memory(vm);
    CHECK(before.used_bytes > 10000 && before.used_bytes < 200000);
    CHECK_INT(before.soft_bytes, 4 << 20);
    CHECK_INT(run("kept = ('x'):rep(500000)", STEPS), VM_DONE);
    CHECK(vm_memory(vm).peak_bytes > 500000);
    for (int i = 0; i < 50; i++) {
        vm_collect(vm, 64);
    }
    CHECK(vm_memory(vm).used_bytes < 250000);
    CHECK(vm_is_sound(vm));
    close_vm();
}

TEST(steps_add_up)
{
    open_vm();
    CHECK_INT(run("for i = 1, 1000 do end", STEPS), VM_DONE);
    const uint64_t first = vm_steps_used(vm);
    CHECK(first >= 1000 && first < 1100);
    CHECK_INT(run("for i = 1, 1000 do local a = i + 1 end", STEPS), VM_DONE);
    CHECK(vm_steps_used(vm) > first + 900);
    CHECK_INT(vm_steps_total(vm), first + vm_steps_used(vm));
    close_vm();
}

static int charge(lua_State *L)
{
    vm_charge(L, (uint64_t)lua_tointeger(L, 1));
    vm_charge_bytes(L, (size_t)lua_tointeger(L, 2));
    return 0;
}

TEST(charges_of_the_owner)
{
    open_vm();
    lua_State *thread = lua_newthread(vm_main(vm));
    vm_push_environment(thread);
    lua_pushcfunction(thread, charge);
    lua_setfield(thread, -2, "charge");
    const char *source = "charge(1000, 16000) charge(1 << 60, 0)";
    CHECK_OK(vm_compile(thread, "test", source, strlen(source), -1));
    lua_remove(thread, 1);
    CHECK_INT(vm_resume(vm, thread, 0, STEPS, &results), VM_OVER_BUDGET);
    CHECK(vm_steps_used(vm) > STEPS && vm_steps_used(vm) < STEPS + 10);
    close_vm();
}
