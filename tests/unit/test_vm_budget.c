// budget.def against the real environment: every function that a script can reach has a row, every
// row a function, and charging code exists for the rows that have a number.
#include "core/script/vm/lua_guard.h"
#include "core/script/vm/vm.h"
#include "tests/support/test.h"

#include <lua.h>
#include <stdio.h>
#include <string.h>

typedef struct Row {
    const char *name;
    bool is_function;
    const char *where;
    const char *cost;
    int constant;
} Row;

#define KIND_FUNCTION  true
#define KIND_OPERATION false
static const Row ROWS[] = {
#define BUDGET(name, kind, where, cost, constant) {#name, KIND_##kind, where, cost, constant},
#include "core/script/vm/budget.def"
#undef BUDGET
};
#define ROW_COUNT (sizeof ROWS / sizeof ROWS[0])

static bool seen[ROW_COUNT];
static uint32_t function_count;

static void note_function(const char *path)
{
    function_count++;
    for (size_t i = 0; i < ROW_COUNT; i++) {
        if (ROWS[i].is_function && strcmp(ROWS[i].where, path) == 0) {
            seen[i] = true;
            return;
        }
    }
    test_fail(__FILE__, __LINE__, "%s has no row in budget.def", path);
}

// Walks the table at the top of the stack; `_G` is the table itself.
static void walk(lua_State *L, const char *prefix, int depth)
{
    char path[128];
    lua_pushnil(L);
    while (lua_next(L, -2) != 0) {
        const char *key = lua_tostring(L, -2);
        (void)snprintf(path, sizeof path, "%s%s", prefix, key);
        if (lua_isfunction(L, -1)) {
            note_function(path);
        } else if (lua_istable(L, -1) && strcmp(key, "_G") != 0) {
            CHECK(depth < 2);
            (void)snprintf(path, sizeof path, "%s%s.", prefix, key);
            CHECK(guard_is_frozen(L, -1));
            walk(L, path, depth + 1);
        }
        lua_pop(L, 1);
    }
}

TEST(every_function_has_a_row_and_every_row_a_function)
{
    Heap heap = heap_make(1ull << 28);
    const VmConfig config = vm_config_default();
    Vm *vm;
    REQUIRE(vm_create(&heap, &config, &vm) == STATUS_OK);
    lua_State *L = vm_main(vm);
    vm_push_environment(L);
    walk(L, "", 0);
    for (size_t i = 0; i < ROW_COUNT; i++) {
        if (ROWS[i].is_function && !seen[i]) {
            test_fail(__FILE__, __LINE__, "%s is in budget.def but not in the environment",
                      ROWS[i].where);
        }
    }
    CHECK(function_count > 75);
    vm_destroy(&heap, vm);
}

TEST(rows_are_complete)
{
    for (size_t i = 0; i < ROW_COUNT; i++) {
        CHECK(ROWS[i].cost[0] != '\0' && ROWS[i].where[0] != '\0' && ROWS[i].constant >= 0);
        for (size_t j = 0; j < i; j++) {
            CHECK(strcmp(ROWS[i].where, ROWS[j].where) != 0);
        }
    }
}

// Twice the size costs about twice the steps: a charge by size is really there.
static uint64_t steps_of(const char *format, int size)
{
    Heap heap = heap_make(1ull << 28);
    const VmConfig config = vm_config_default();
    Vm *vm;
    if (vm_create(&heap, &config, &vm) != STATUS_OK) {
        return 0;
    }
    char source[512];
    (void)snprintf(source, sizeof source, "local n = %d %s", size, format);
    lua_State *thread = lua_newthread(vm_main(vm));
    vm_push_environment(thread);
    uint64_t steps = 0;
    if (vm_compile(thread, "size", source, strlen(source), -1) == STATUS_OK) {
        lua_remove(thread, 1);
        int count;
        const VmOutcome outcome = vm_resume(vm, thread, 0, 1ull << 40, &count);
        if (outcome == VM_DONE) {
            steps = vm_steps_used(vm);
        } else {
            test_fail(__FILE__, __LINE__, "%s: outcome %d: %s", source, (int)outcome,
                      outcome == VM_ERROR ? lua_tostring(thread, -1) : "");
        }
    }
    vm_destroy(&heap, vm);
    return steps;
}

TEST(work_by_size_is_charged_by_size)
{
    static const char *const WORK[] = {
        "local s = ('x'):rep(n)",
        "local s = ('x'):rep(n):upper()",
        "local s = ('x'):rep(n):lower()",
        "local s = ('x'):rep(n):reverse()",
        "local s = ('x'):rep(n):find('y')",
        "local s = ('x'):rep(n):find('y', 1, true)",
        "local s = ('x'):rep(n):gsub('x', 'y')",
        "local s = ('x'):rep(n) .. 'y'",
        "local s = ('x'):rep(n) == ('x'):rep(n)",
        "local s = ('x'):rep(n) < ('x'):rep(n)",
        "local s = ('x'):rep(n):split(',')",
        "local s = ('x'):rep(n // 2):split('')",
        "local s = utf8.len(('x'):rep(n))",
        "local t = table.move({1}, 1, n, 1, {}) t[n] = 2 local i = table.find(t, 3)",
        "local t = {} for i = 1, n do t[i] = i end table.clear(t)",
        "local t = {} for i = 1, n do t[i] = i end table.clone(t)",
        "local s = utf8.offset(('x'):rep(n), n)",
        "local s = tonumber(('1'):rep(n))",
        "local s = load('return ' .. ('1'):rep(n))",
        "local s = ('%s'):format(('x'):rep(n))",
        "local s = ('%q'):format(('x'):rep(n))",
        "local s = string.pack('c' .. n, 'x')",
        "local t = table.move({}, 1, n, 2)",
        "local t = {} for i = 1, n do t[i] = i end",
        "local t = table.unpack(table.move({'x'}, 1, n // 100, 1, {}), 1, n // 100)",
    };
    for (size_t i = 0; i < sizeof WORK / sizeof WORK[0]; i++) {
        const uint64_t once = steps_of(WORK[i], 100000);
        const uint64_t twice = steps_of(WORK[i], 200000);
        CHECK(once > 100000 / 40);
        CHECK(twice > once + once / 2 && twice < 3 * once);
    }
}

// A back reference to "()" never fits. Its capture has a mark instead of a length.
TEST(a_back_reference_to_a_position_costs_no_more_than_others)
{
    CHECK(steps_of("assert(('ab'):find('()%1') == nil)", 0) < 1000);
}

TEST(each_escape_of_a_replacement_is_charged)
{
    CHECK(steps_of("local s = ('a'):gsub('a', ('%0'):rep(n))", 1000) > 8 * 1000);
    CHECK(steps_of("local s = ('a'):gsub('a', ('%%'):rep(n))", 1000) > 8 * 1000);
}
