// The room core/script/vm: Lua made safe. vm.c runs it, vm_heap.c is its memory, sandbox.c what a
// script finds in its environment, lua_guard.h what our changes to Lua call, number*.c its
// mathematics and number texts. It always holds that no script can use more memory or steps than it
// was given, and that the same calls give the same results natively and in WebAssembly.
//
// One sandboxed Lua: all memory from its own block, all work counted in steps, and nothing
// reachable from a script that was not put there on purpose. A Vm knows nothing of worlds, entities
// or hooks; it is Lua made safe, the same natively and in WebAssembly.
//
// Steps are the only clock. The interpreter takes one at each loop back-edge and function entry,
// and every function or operation whose work depends on a size charges for it before it begins
// (budget.def). When the budget of an entry is used up the Vm trips: the error that unwinds it
// cannot be caught by pcall, by a coroutine or by __close, and lasts until the entry is over.
//
// Memory has a soft cap, which raises an uncatchable fault at the next safe point, and a hard cap,
// which only an allocation that cannot fail may pass: then the Vm is dead (VM_DEAD) and its owner
// makes another. Every block belongs to a number that is set before Lua runs. At the soft cap only
// the number that holds most has the fault. Another one goes on, with what is between the caps, and
// the Vm says afterwards that memory is short, so that the one who holds most can be ended.
#pragma once

#include "core/base/heap.h"
#include "core/base/limits.h"
#include "core/base/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct lua_State lua_State;
typedef struct Vm Vm;

// A step is one instruction of the interpreter. On a present-day core programs take 0.7 ns for one
// on average and 2 ns at worst; limits in milliseconds are converted by that. On a core that shares
// its caches and units with others the worst take up to 3.5 ns (test_neighbours_time): what a tick
// may take leaves room for it.
#define VM_STEPS_PER_MS 500000

#define VM_STRING_BYTES_MAX (1 << 20)
#define VM_SOURCE_BYTES_MAX SCRIPT_SOURCE_BYTES_MAX

typedef struct VmConfig {
    size_t memory_soft_bytes;
    // The size of the block; at least soft + 2 MiB. Blocks are rounded up by at most a half, and
    // what is left then is for those who do not hold most.
    size_t memory_hard_bytes;
} VmConfig;

VmConfig vm_config_default(void); // 16 MiB soft
MUST_USE Status vm_create(Heap *heap, const VmConfig *config, Vm **out);
void vm_destroy(Heap *heap, Vm *vm);

lua_State *vm_main(const Vm *vm);
// The innermost thread that runs, or the main one outside of entries. Inside an entry everything is
// made through it: an error raised on another thread would not end in that entry.
lua_State *vm_running(const Vm *vm);
Vm *vm_of(lua_State *thread);

// What a script finds in its globals before the API is added: a fresh table, pushed, holding the
// whitelisted base library. The library tables in it (string, table, math, utf8, coroutine, os) are
// shared by all scripts of the Vm and frozen: a write to one raises.
void vm_push_environment(lua_State *thread);
// Freezes the table at the index: every later write to it, rawset included, raises.
void vm_freeze(lua_State *thread, int index);

// Text → a function on the stack, with the environment at `environment_index` as its _ENV. Bytecode
// is refused here (rune.h loads it, when a manifest names it). On failure a message "name:line:
// what" is pushed instead.
MUST_USE Status vm_compile(lua_State *thread, const char *name, const char *source, size_t bytes,
                           int environment_index);

typedef enum VmOutcome {
    VM_DONE,    // results are on the thread's stack
    VM_YIELDED, // yielded values are on the thread's stack
    VM_ERROR,   // the error value, a string or any other value, is on the thread's stack
    VM_OVER_BUDGET,
    VM_OVER_MEMORY,
    VM_DEAD // past the hard cap: destroy the Vm
} VmOutcome;

// Runs or resumes a thread made by lua_newthread, with the arguments on its stack: the only way
// into Lua. Never raises. After a failure vm_traceback returns where.
VmOutcome vm_resume(Vm *vm, lua_State *thread, int argument_count, uint64_t steps_max,
                    int *result_count);
// For the owner's work in Lua outside of entries: calls the function; false if memory ran out. Then
// the Vm is dead. Inside an entry it only calls: the entry gets the error.
MUST_USE bool vm_protect(Vm *vm, void (*call)(void *user), void *user);
// Whether the script has got hold of the thread of the last vm_resume (coroutine.running). It may
// keep it, so the thread is never used for another script.
bool vm_entry_was_shown(const Vm *vm);
void vm_note_shown(lua_State *thread);
// Called before coroutine.resume goes on with a coroutine; may raise an error on `thread`.
typedef void VmResumeCheck(lua_State *thread, lua_State *coroutine);
void vm_set_resume_check(Vm *vm, VmResumeCheck *check);
uint64_t vm_steps_used(const Vm *vm);  // by the last vm_resume
uint64_t vm_steps_total(const Vm *vm); // since create
// "\n\tpath:line: in function 'name'" lines of the last failed entry, at most `capacity` bytes with
// the terminator; and the innermost script line, 0 when there is none.
size_t vm_traceback(const Vm *vm, char *out, size_t capacity);
uint32_t vm_fault_line(const Vm *vm);

// A pointer of the owner, found again from any thread of the Vm.
void vm_set_user(Vm *vm, void *user);
void *vm_user(const Vm *vm);

// For C functions that scripts call: takes steps before the work is done, and trips if there are
// too few. It raises, so hold nothing that needs release.
void vm_charge(lua_State *thread, uint64_t steps);
// Charges for reading or writing that many bytes.
void vm_charge_bytes(lua_State *thread, size_t bytes);

typedef struct VmMemory {
    size_t used_bytes, peak_bytes, soft_bytes, hard_bytes;
} VmMemory;
VmMemory vm_memory(const Vm *vm);
// Walks the whole heap; for tests.
bool vm_is_sound(const Vm *vm);
// Whether the block has room for so many bytes in small pieces, and some more.
bool vm_has_room(const Vm *vm, size_t bytes);
// Records that memory is short, for vm_take_memory_short.
void vm_set_memory_short(Vm *vm);
// For tests: the allocation with this number from now on (1: the next) fails; 0: none does. Returns
// how many were left until the previously requested one.
uint64_t vm_refuse_allocation(Vm *vm, uint64_t number);
// Sets the owner of later allocations; 0: all. Returns the previous one.
uint32_t vm_set_owner(Vm *vm, uint32_t owner);
size_t vm_owned_bytes(const Vm *vm, uint32_t owner);
// Whether one of vm_take_memory_short and vm_uncharged_steps has something to say.
bool vm_is_pressed(const Vm *vm);
// Whether memory was short since the last call.
bool vm_take_memory_short(Vm *vm);
// The bytes that only this owner kept in use at the last vm_collect_all: including the gaps between
// its blocks, if nobody else has a block there.
size_t vm_held_bytes(const Vm *vm, uint32_t owner);
// Collects all garbage; returns whether memory is sufficient again.
bool vm_collect_all(Vm *vm);
// Removes everything that belongs to an owner, also where others keep it (lua_guard.h,
// guard_free_owned).
void vm_free_owned(Vm *vm, uint32_t owner);
// Steps of collections caused by the memory of other owners than the running one, since the last
// call.
uint64_t vm_uncharged_steps(Vm *vm);
// A bounded piece of garbage collection, for the end of a tick.
void vm_collect(Vm *vm, uint32_t kib);

// os.time, os.clock: values that the owner sets with each tick; scripts see no other clock.
void vm_set_time(Vm *vm, double unix_seconds, double world_seconds);
double vm_unix_seconds(const Vm *vm);
double vm_world_seconds(const Vm *vm);
