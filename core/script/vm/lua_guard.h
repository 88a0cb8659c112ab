// What our build of Lua has and other builds do not: a counter of steps, a soft limit of memory,
// numbers in place of addresses, and tables that cannot be written. cmake/lua/lua.substitutions
// puts the calls into Lua's source, cmake/lua/guard.c holds the code behind them, and vm.c drives
// them.
//
// A step is one instruction of the virtual machine. They are not counted one by one but where the
// flow bends: a jump takes the instructions that it goes back over (a jump ahead gives back those
// it leaves out), a return takes those since the function's beginning. Calls, allocations and
// everything whose work depends on a size take what budget.def says.
//
// When a Vm has stopped (`fault` is not zero) no script code runs any more: protected calls and
// coroutines pass the error on, __close is left out, until the entry that began it has ended.
#pragma once

#include <stddef.h>
#include <stdint.h>

typedef struct lua_State lua_State;

// Costs by name: BUDGET_STRING_REP and so on.
enum {
#define BUDGET(name, kind, where, cost, constant) BUDGET_##name = (constant),
#include "core/script/vm/budget.def"
#undef BUDGET
    BUDGET_END
};

typedef enum GuardFault {
    GUARD_NONE,
    GUARD_BUDGET, // out of steps
    GUARD_MEMORY, // past the soft limit, after a full collection, and no other owner holds more
    GUARD_DEAD    // the allocator refused
} GuardFault;

// The status of the error that cannot be caught, beside LUA_ERRRUN and its kind.
#define LUA_ERRSTOP 7

// Part of Lua's global state.
typedef struct Guard {
    int64_t steps; // left; below zero nothing continues
    uint8_t fault; // GuardFault
    uint8_t entered;
    uint8_t pressed;    // few pages are left: collect at the next safe point
    uint32_t created;   // the number of the object made last
    int64_t steps_over; // by how much the budget was passed when it tripped
    size_t soft_bytes;
    lua_State *running; // the innermost thread that is being resumed, NULL outside
    void (*on_fault)(void *user, lua_State *thread);
    // Memory is short after a collection, and `bytes` more are needed: whether the running owner
    // may continue all the same. Then it has raised soft_bytes.
    int (*on_short)(void *user, size_t bytes);
    int (*is_full)(void *user);                // whether pages are few
    int (*can_hold)(void *user, size_t bytes); // whether such a block can be had
    void (*on_caught)(void *user);             // an error was caught
    // Before coroutine.resume; may raise an error on `thread`.
    void (*on_resume)(void *user, lua_State *thread, lua_State *coroutine);
    size_t (*own_bytes)(void *user); // that the one who runs holds
    uint64_t uncharged_bytes;        // bytes that collections marked for others
    void *user;
} Guard;

// --- for Lua's own files ------------------------------------------------------------------------
void guard_init(Guard *guard);
_Noreturn void guard_trip(lua_State *thread);
// Trips because a charge of so many steps, already taken, was too much.
_Noreturn void guard_refuse(lua_State *thread, int64_t steps);
// Takes steps, and trips if there are too few.
void guard_charge(lua_State *thread, uint64_t steps);
void guard_ask_resume(lua_State *thread, lua_State *coroutine);
int64_t *guard_counter(lua_State *thread);
// The same for bytes, so many per step; charges at least one step.
void guard_charge_bytes(lua_State *thread, size_t bytes, size_t bytes_per_step);
// Continues the unwinding if the Vm has stopped.
void guard_pass_on(lua_State *thread);
// False if a large allocation would exceed the soft limit even after a collection.
int guard_room(lua_State *thread, size_t bytes);
// The allocator has failed.
void guard_exhausted(lua_State *thread);
_Noreturn void guard_no_memory(lua_State *thread);
// Past the soft limit at a safe point: collects, and trips if that did not help.
void guard_squeeze(lua_State *thread);
_Noreturn void guard_read_only(lua_State *thread);
_Noreturn void guard_string_too_long(lua_State *thread);
// Charges the Lua frames that a caught error or a yield leaves, which have not been charged yet.
void guard_charge_frames(lua_State *thread, const void *until, int all);
// Closes the open variables of a failed coroutine, on the C stack of `from`; returns its status.
int guard_reset_thread(lua_State *thread, lua_State *from);
// The creation number of a table, function, thread or userdata; 0 for anything else.
uint32_t guard_number(lua_State *thread, int index);

// Userdata of this size without user values are plain values: three floats that never change. As
// keys of tables they are equal if their numbers are; -0 is 0 there, and one NaN is like another,
// so that every such key is found again and the order of pairs is the same everywhere.
#define GUARD_PLAIN_BYTES 12
uint32_t guard_plain_hash(const void *value);
int guard_plain_equal(const void *a, const void *b);

// --- for vm.c -----------------------------------------------------------------------------------
typedef struct GuardEntry {
    int64_t steps, steps_over;
    uint8_t fault, entered;
} GuardEntry;
// Between these two the thread's steps and memory are limited; they nest.
void guard_enter(lua_State *thread, int64_t steps, GuardEntry *outer);
// Returns how the entry ended, and how many steps it took.
GuardFault guard_leave(lua_State *thread, int64_t steps, const GuardEntry *outer,
                       uint64_t *steps_used);
Guard *guard_of(lua_State *thread);
// Runs a function and catches every error, even the uncatchable one. Returns Lua's status; an error
// leaves one value on the stack.
int guard_protect(lua_State *thread, void (*call)(lua_State *thread, void *user), void *user);
void guard_freeze(lua_State *thread, int index);
int guard_is_frozen(lua_State *thread, int index);
size_t guard_bytes(lua_State *thread); // what Lua has allocated
// Requests a collection at the next safe point.
void guard_press(lua_State *thread);
// Whether a sixteenth of the memory is free. After a collection it must be: a script at the limit
// would otherwise collect at every allocation.
int guard_has_slack(lua_State *thread);

// --- taking back
// ---------------------------------------------------------------------------------- Both walk over
// everything there is, like a collection. Sets the first user value to nil in all userdata that
// have the metatable on top of the stack and of which `is_over` is true.
void guard_drop_values(lua_State *thread, int (*is_over)(void *user, const void *memory),
                       void *user);
// Empties the tables of an owner wherever they are kept, and removes its long strings from the
// tables and upvalues of others. A table belongs to its creator, or to the owner who made it very
// large. What belongs to 0 is not changed.
typedef uint32_t GuardOwnerOf(void *user, const void *block);
void guard_free_owned(lua_State *thread, uint32_t owner, GuardOwnerOf *owner_of, void *user);

// One call on a thread's stack, for tracebacks. `frame` goes into lua_Debug by guard_frame_debug.
typedef struct lua_Debug lua_Debug;
#define GUARD_FRAMES_FIRST 10
#define GUARD_FRAMES_LAST  11
#define GUARD_FRAMES_MAX   (GUARD_FRAMES_FIRST + GUARD_FRAMES_LAST)
// The innermost and the outermost frames, in one walk; returns how many there are in all.
size_t guard_frames(lua_State *thread, void *frames[GUARD_FRAMES_MAX], size_t *count);
void guard_frame_debug(lua_State *thread, void *frame, lua_Debug *debug);
