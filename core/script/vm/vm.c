// The life of a Vm: one block, one Lua state in it, entries with a budget, and the traceback of the
// last failure.
#include "core/script/vm/vm.h"

#include "core/base/check.h"
#include "core/script/vm/lua_guard.h"
#include "core/script/vm/sandbox.h"
#include "core/script/vm/vm_heap.h"

#include <lauxlib.h>
#include <lua.h>
#include <lualib.h>
#include <stdio.h>
#include <string.h>

#define TRACEBACK_BYTES 2048
#define STEPS_UNLIMITED (INT64_MAX / 2)
// Ordinary source takes about ten a byte; some sources make the compiler's lists long.
#define COMPILE_STEPS          100000
#define COMPILE_STEPS_PER_BYTE 100

struct Vm {
    VmHeap heap;
    lua_State *main;
    void *user;
    VmConfig config;
    bool dead;
    bool was_short;
    uint32_t press_pages; // with fewer free pages a collection is made
    uint64_t refuse_in;   // allocations until one is refused, for tests; 0: none is
    uint32_t entry_owner; // of the entry that runs; a module that it loads has its own
    lua_State *entry;     // the thread of the entry that runs
    bool entry_was_shown; // the script was given it
    VmResumeCheck *resume_check;
    uint64_t steps_used, steps_total;
    double unix_seconds, world_seconds;
    uint32_t fault_line;
    size_t traceback_bytes;
    lua_State *fault_thread; // the thread that is in the traceback already
    char traceback[TRACEBACK_BYTES];
};

VmConfig vm_config_default(void)
{
    return (VmConfig){.memory_soft_bytes = 16u << 20, .memory_hard_bytes = 28u << 20};
}

// --- memory -------------------------------------------------------------------------------------
static void *vm_alloc(void *user, void *block, size_t old_bytes, size_t new_bytes)
{
    Vm *vm = user;
    if (new_bytes == 0) {
        if (block != NULL && old_bytes > 0) {
            vm_heap_free(&vm->heap, block, old_bytes);
        }
        return NULL;
    }
    void *result = NULL;
    if (vm->refuse_in == 0 || (block != NULL && new_bytes <= old_bytes) || --vm->refuse_in > 0) {
        result = block == NULL ? vm_heap_alloc(&vm->heap, new_bytes)
                               : vm_heap_realloc(&vm->heap, block, old_bytes, new_bytes);
    }
    if (vm->heap.free_pages < vm->press_pages) {
        guard_press(vm->main);
    }
    if (result == NULL) {
        vm->dead = true;
        vm_heap_release_reserve(&vm->heap); // the unwinding may still need a little
    }
    return result;
}

VmMemory vm_memory(const Vm *vm)
{
    return (VmMemory){.used_bytes = vm->heap.used_bytes,
                      .peak_bytes = vm->heap.peak_bytes,
                      .soft_bytes = vm->config.memory_soft_bytes,
                      .hard_bytes = vm->config.memory_hard_bytes};
}

bool vm_is_sound(const Vm *vm)
{
    return vm_heap_is_sound(&vm->heap);
}

// So much of the block is reserved for allocations that must not fail.
#define MARGIN_BYTES (512u << 10)
#define ROOM_MIN     (64u << 10)

static uint32_t most_held_bytes(const Vm *vm)
{
    uint32_t most = 0;
    for (uint32_t owner = 1; owner <= VM_OWNERS_MAX; owner++) {
        most = vm->heap.held_bytes[owner] > most ? vm->heap.held_bytes[owner] : most;
    }
    return most;
}

static void set_limits(Vm *vm)
{
    guard_of(vm->main)->soft_bytes = vm->config.memory_soft_bytes;
    vm->press_pages = (uint32_t)(vm->config.memory_hard_bytes / VM_PAGE_BYTES / 8);
}

static int is_full(void *user)
{
    const Vm *vm = user;
    return vm->heap.free_pages < vm->press_pages + vm->press_pages / 4;
}

static int can_hold(void *user, size_t bytes)
{
    Vm *vm = user;
    return vm_heap_can_hold(&vm->heap, bytes);
}

static int on_short(void *user, size_t bytes)
{
    Vm *vm = user;
    VmHeap *heap = &vm->heap;
    const size_t free_bytes = (size_t)heap->free_pages * VM_PAGE_BYTES;
    vm->was_short = true;
    vm_heap_measure(heap);
    if (heap->held_bytes[heap->owner] + bytes >= most_held_bytes(vm) ||
        free_bytes < bytes + MARGIN_BYTES + ROOM_MIN || !vm_heap_can_hold(heap, bytes)) {
        return 0;
    }
    const size_t room = (free_bytes - bytes - MARGIN_BYTES) / 2;
    guard_of(vm->main)->soft_bytes = guard_bytes(vm->main) + bytes + room;
    vm->press_pages = heap->free_pages - (uint32_t)((bytes + room) / VM_PAGE_BYTES);
    return 1;
}

static size_t own_bytes(void *user)
{
    const Vm *vm = user;
    return vm->heap.owned_bytes[vm->heap.owner];
}

static void on_caught(void *user)
{
    Vm *vm = user;
    vm->heap.owner = vm->entry_owner;
}

uint32_t vm_set_owner(Vm *vm, uint32_t owner)
{
    ASSERT(owner <= VM_OWNERS_MAX);
    const uint32_t before = vm->heap.owner;
    vm->heap.owner = owner;
    return before;
}

size_t vm_owned_bytes(const Vm *vm, uint32_t owner)
{
    return owner <= VM_OWNERS_MAX ? vm->heap.owned_bytes[owner] : 0;
}

size_t vm_held_bytes(const Vm *vm, uint32_t owner)
{
    return owner <= VM_OWNERS_MAX ? vm->heap.held_bytes[owner] : 0;
}

bool vm_has_room(const Vm *vm, size_t bytes)
{
    return (size_t)vm->heap.free_pages * VM_PAGE_BYTES >= bytes + MARGIN_BYTES;
}

void vm_set_memory_short(Vm *vm)
{
    vm->was_short = true;
}

uint64_t vm_refuse_allocation(Vm *vm, uint64_t number)
{
    const uint64_t left = vm->refuse_in;
    vm->refuse_in = number;
    return left;
}

bool vm_is_pressed(const Vm *vm)
{
    return vm->was_short || guard_of(vm->main)->uncharged_bytes > 0;
}

bool vm_take_memory_short(Vm *vm)
{
    const bool was_short = vm->was_short;
    vm->was_short = false;
    set_limits(vm);
    return was_short;
}

bool vm_collect_all(Vm *vm)
{
    if (vm->dead) {
        return true;
    }
    (void)lua_gc(vm->main, LUA_GCCOLLECT);
    vm_heap_measure(&vm->heap);
    return guard_has_slack(vm->main) != 0;
}

static uint32_t owner_of(void *user, const void *block)
{
    const Vm *vm = user;
    return vm_heap_owner(&vm->heap, block);
}

void vm_free_owned(Vm *vm, uint32_t owner)
{
    if (!vm->dead && owner != 0) {
        guard_free_owned(vm->main, owner, owner_of, vm);
    }
}

uint64_t vm_uncharged_steps(Vm *vm)
{
    Guard *guard = guard_of(vm->main);
    const uint64_t steps = guard->uncharged_bytes / BUDGET_FULL_COLLECTION;
    guard->uncharged_bytes = 0;
    return steps;
}

void vm_collect(Vm *vm, uint32_t kib)
{
    if (!vm->dead) {
        (void)lua_gc(vm->main, LUA_GCSTEP, (int)(kib < 1u << 20 ? kib : 1u << 20));
    }
}

// --- tracebacks ---------------------------------------------------------------------------------
static void trace_line(Vm *vm, const char *text)
{
    const size_t bytes = strlen(text);
    if (vm->traceback_bytes + bytes < TRACEBACK_BYTES) {
        memcpy(vm->traceback + vm->traceback_bytes, text, bytes + 1);
        vm->traceback_bytes += bytes;
    }
}

static void trace_frame(Vm *vm, lua_State *thread, void *frame)
{
    lua_Debug debug;
    char line[LUA_IDSIZE + 128];
    char place[LUA_IDSIZE + 16];
    guard_frame_debug(thread, frame, &debug);
    const bool in_script = debug.currentline > 0;
    if (in_script) {
        (void)snprintf(place, sizeof place, "%s:%d:", debug.short_src, debug.currentline);
    } else {
        (void)snprintf(place, sizeof place, "%s:", debug.short_src);
    }
    if (*debug.what == 'm') {
        (void)snprintf(line, sizeof line, "\n\t%s in main chunk", place);
    } else if (debug.name != NULL) {
        (void)snprintf(line, sizeof line, "\n\t%s in function '%.80s'", place, debug.name);
    } else if (in_script) {
        (void)snprintf(line, sizeof line, "\n\t%s in function <%d>", place, debug.linedefined);
    } else {
        (void)snprintf(line, sizeof line, "\n\t%s in ?", place);
    }
    trace_line(vm, line);
    if (in_script && vm->fault_line == 0) {
        vm->fault_line = (uint32_t)debug.currentline;
    }
}

static void trace_thread(Vm *vm, lua_State *thread)
{
    void *frames[GUARD_FRAMES_MAX];
    size_t count;
    const size_t total = guard_frames(thread, frames, &count);
    for (size_t i = 0; i < count; i++) {
        if (i == GUARD_FRAMES_FIRST && total > count) {
            char line[64];
            (void)snprintf(line, sizeof line, "\n\t... (%zu more)", total - count);
            trace_line(vm, line);
        }
        trace_frame(vm, thread, frames[i]);
    }
}

static void on_fault(void *user, lua_State *thread)
{
    Vm *vm = user;
    vm->fault_thread = thread;
    vm->fault_line = 0;
    vm->traceback_bytes = 0;
    trace_thread(vm, thread);
}

size_t vm_traceback(const Vm *vm, char *out, size_t capacity)
{
    ASSERT(capacity > 0);
    const size_t bytes = vm->traceback_bytes < capacity ? vm->traceback_bytes : capacity - 1;
    memcpy(out, vm->traceback, bytes);
    out[bytes] = '\0';
    return bytes;
}

uint32_t vm_fault_line(const Vm *vm)
{
    return vm->fault_line;
}

// --- create and destroy -------------------------------------------------------------------------
// The owner's work outside of entries goes through vm_protect, so this is never called.
static int panic(lua_State *thread)
{
    (void)thread;
    check_fail(__FILE__, __LINE__, "Lua raised an error outside of vm_resume");
}

static void open_sandbox(lua_State *thread, void *user)
{
    (void)user;
    sandbox_open(thread);
}

static void tune_collector(lua_State *thread)
{
    // A cycle begins when memory has grown by half, and goes twice as fast as allocation, in steps
    // of 8 KiB: no step is long.
    (void)lua_gc(thread, LUA_GCINC, 150, 200, 13);
}

#define HEAD_BYTES     ((sizeof(Vm) + 15) & ~(size_t)15) // then the block of its heap
#define WIPE_BYTES_MAX ((size_t)1 << 20)

Status vm_create(Heap *heap, const VmConfig *config, Vm **out)
{
    ASSERT(config->memory_hard_bytes >= config->memory_soft_bytes + (2u << 20));
    ASSERT(config->memory_hard_bytes <= (size_t)1 << 30);
    uint8_t *block = heap_alloc(heap, HEAD_BYTES + vm_heap_bytes(config->memory_hard_bytes));
    if (block == NULL) {
        return STATUS_LIMIT;
    }
    Vm *vm = (Vm *)(void *)block;
    vm->config = *config;
    vm_heap_init(&vm->heap, block + HEAD_BYTES, config->memory_hard_bytes);
    vm->main = lua_newstate(vm_alloc, vm);
    if (vm->main == NULL) {
        vm_destroy(heap, vm);
        return STATUS_LIMIT;
    }
    (void)lua_atpanic(vm->main, panic);
    memcpy(lua_getextraspace(vm->main), &vm, sizeof vm);
    Guard *guard = guard_of(vm->main);
    set_limits(vm);
    guard->is_full = is_full;
    guard->can_hold = can_hold;
    guard->on_fault = on_fault;
    guard->on_short = on_short;
    guard->on_caught = on_caught;
    guard->own_bytes = own_bytes;
    guard->user = vm;
    tune_collector(vm->main);
    if (guard_protect(vm->main, open_sandbox, NULL) != LUA_OK || vm->dead) {
        vm_destroy(heap, vm);
        return STATUS_LIMIT;
    }
    *out = vm;
    return STATUS_OK;
}

// Nothing in the block needs closing: it has no finalizers. A Vm that hardly used its block, as one
// that only compiles, gives it back as clean as it was.
void vm_destroy(Heap *heap, Vm *vm)
{
    if (vm == NULL) {
        return;
    }
    if (vm_heap_wipe(&vm->heap, WIPE_BYTES_MAX)) {
        memset(vm, 0, HEAD_BYTES);
        heap_free_clean(heap, vm);
    } else {
        heap_free(heap, vm);
    }
}

lua_State *vm_main(const Vm *vm)
{
    return vm->main;
}

lua_State *vm_running(const Vm *vm)
{
    lua_State *running = guard_of(vm->main)->running;
    return running != NULL ? running : vm->main;
}

void vm_set_user(Vm *vm, void *user)
{
    vm->user = user;
}

void *vm_user(const Vm *vm)
{
    return vm->user;
}

Vm *vm_of(lua_State *thread)
{
    Vm *vm;
    memcpy(&vm, lua_getextraspace(thread), sizeof vm);
    return vm;
}

void vm_push_environment(lua_State *thread)
{
    sandbox_push_environment(thread);
}

void vm_freeze(lua_State *thread, int index)
{
    guard_freeze(thread, index);
}

// --- compiling ----------------------------------------------------------------------------------
typedef struct Source {
    const char *name;
    const char *text;
    size_t bytes;
    int environment_index;
    int status;
} Source;

static void load_source(lua_State *thread, void *user)
{
    Source *source = user;
    source->status = luaL_loadbufferx(thread, source->text, source->bytes, source->name, "t");
    if (source->status == LUA_OK) {
        lua_pushvalue(thread, source->environment_index);
        (void)lua_setupvalue(thread, -2, 1);
    }
}

Status vm_compile(lua_State *thread, const char *name, const char *source, size_t bytes,
                  int environment_index)
{
    char chunk_name[LUA_IDSIZE];
    (void)snprintf(chunk_name, sizeof chunk_name, "@%s", name);
    if (bytes > VM_SOURCE_BYTES_MAX) {
        lua_pushfstring(thread, "%s:1: the source is larger than %d KiB", name,
                        VM_SOURCE_BYTES_MAX >> 10);
        return STATUS_LIMIT;
    }
    Source request = {chunk_name, source, bytes, lua_absindex(thread, environment_index), LUA_OK};
    GuardEntry outer;
    uint64_t steps_used;
    const int64_t steps = COMPILE_STEPS + (int64_t)bytes * COMPILE_STEPS_PER_BYTE;
    guard_enter(thread, steps, &outer);
    const int status = guard_protect(thread, load_source, &request);
    const GuardFault fault = guard_leave(thread, steps, &outer, &steps_used);
    if (fault != GUARD_NONE) {
        lua_pop(thread, 1);
        lua_pushfstring(thread, "%s:1: %s", name,
                        fault == GUARD_BUDGET ? "too complex to compile"
                                              : "not enough memory to compile it");
        return STATUS_LIMIT;
    }
    return status == LUA_OK && request.status == LUA_OK ? STATUS_OK : STATUS_MALFORMED;
}

// --- entries ------------------------------------------------------------------------------------
static VmOutcome outcome_of(int status, GuardFault fault)
{
    switch (fault) {
    case GUARD_DEAD:
        return VM_DEAD;
    case GUARD_MEMORY:
        return VM_OVER_MEMORY;
    case GUARD_BUDGET:
        return VM_OVER_BUDGET;
    default:
        return status == LUA_OK ? VM_DONE : status == LUA_YIELD ? VM_YIELDED : VM_ERROR;
    }
}

VmOutcome vm_resume(Vm *vm, lua_State *thread, int argument_count, uint64_t steps_max,
                    int *result_count)
{
    if (vm->dead) {
        return VM_DEAD;
    }
    vm->fault_line = 0;
    vm->traceback_bytes = 0;
    vm->traceback[0] = '\0';
    vm->fault_thread = NULL;
    lua_State *const outer_entry = vm->entry;
    vm->entry = thread;
    vm->entry_was_shown = vm->entry_was_shown && outer_entry != NULL;
    const uint32_t outer_owner = vm->entry_owner;
    vm->entry_owner = vm->heap.owner;
    const int64_t steps = steps_max < STEPS_UNLIMITED ? (int64_t)steps_max : STEPS_UNLIMITED;
    GuardEntry outer;
    uint64_t used;
    int results = 0;
    guard_enter(thread, steps, &outer);
    const int status = lua_resume(thread, guard_of(thread)->running, argument_count, &results);
    const GuardFault fault = guard_leave(thread, steps, &outer, &used);
    vm->heap.owner = vm->entry_owner;
    vm->entry_owner = outer_owner;
    vm->entry = outer_entry;
    vm->steps_used = used;
    vm->steps_total += used;
    const VmOutcome outcome = outcome_of(status, fault);
    if (outcome != VM_DONE && outcome != VM_YIELDED) {
        if (vm->fault_thread != thread) {
            trace_thread(vm, thread); // the outer thread, below the one that failed
        }
        results = outcome == VM_ERROR ? 1 : 0;
    }
    *result_count = results;
    return outcome;
}

void vm_note_shown(lua_State *thread)
{
    Vm *vm = vm_of(thread);
    vm->entry_was_shown = vm->entry_was_shown || thread == vm->entry;
}

static void on_resume(void *user, lua_State *thread, lua_State *coroutine)
{
    const Vm *vm = user;
    vm->resume_check(thread, coroutine);
}

void vm_set_resume_check(Vm *vm, VmResumeCheck *check)
{
    vm->resume_check = check;
    guard_of(vm->main)->on_resume = on_resume;
}

bool vm_entry_was_shown(const Vm *vm)
{
    return vm->entry_was_shown;
}

typedef struct OwnCall {
    void (*call)(void *user);
    void *user;
} OwnCall;

static void run_own_call(lua_State *thread, void *user)
{
    (void)thread;
    const OwnCall *own = user;
    own->call(own->user);
}

bool vm_protect(Vm *vm, void (*call)(void *user), void *user)
{
    Guard *guard = guard_of(vm->main);
    if (guard->running != NULL) {
        call(user);
        return true;
    }
    OwnCall own = {call, user};
    const int top = lua_gettop(vm->main);
    if (guard_protect(vm->main, run_own_call, &own) == LUA_OK) {
        return true;
    }
    lua_settop(vm->main, top);
    guard->running = NULL;
    vm->heap.owner = vm->entry_owner = 0;
    vm->dead = true;
    return false;
}

uint64_t vm_steps_used(const Vm *vm)
{
    return vm->steps_used;
}

uint64_t vm_steps_total(const Vm *vm)
{
    return vm->steps_total;
}

void vm_charge(lua_State *thread, uint64_t steps)
{
    guard_charge(thread, steps);
}

void vm_charge_bytes(lua_State *thread, size_t bytes)
{
    guard_charge_bytes(thread, bytes, BUDGET_STRING_BYTES);
}

void vm_set_time(Vm *vm, double unix_seconds, double world_seconds)
{
    vm->unix_seconds = unix_seconds;
    vm->world_seconds = world_seconds;
}

double vm_unix_seconds(const Vm *vm)
{
    return vm->unix_seconds;
}

double vm_world_seconds(const Vm *vm)
{
    return vm->world_seconds;
}
