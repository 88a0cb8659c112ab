// The inside of a ScriptSystem, for the files of this room and for the API (core/script/api) alone.
//
//   script.c    binding, events, the tick           script_source.c  sources to code, run once
//   hook.c      the only place that enters Lua      schedule.c  sleeping and waiting coroutines
//   signal.c    signals, connections, deferred      account.c   faults, throttling, statistics
//   signal_count.c  how many of them a script has
//   share.c     who may run in a tick, and caps     params.c    parameters from JSON
//   object.c    objects that scripts hold           value.c     values as bytes
//   blame.c     players who cause faults in scripts
//   script_memory.c  who holds how much, and the end of who holds most
//
// Lua values that C must find again live in the registry under integer references (luaL_ref); 0
// means none here, because luaL_ref never gives it.
#pragma once

#include "core/base/check.h"
#include "core/base/id_map.h"
#include "core/base/limits.h"
#include "core/base/pool.h"
#include "core/base/rng.h"
#include "core/script/runtime/script.h"
#include "core/script/vm/vm.h"

#include <lauxlib.h>
#include <lua.h>

#define SCRIPT_HASH_BYTES     72
#define SCRIPT_EVENTS_MAX     4096
#define SCRIPT_FAULTS_MAX     64
#define SCRIPT_EVENT_DATA_MAX (512 << 10) // bytes of all queued payloads
#define SCRIPT_LOG_PER_SECOND 20
// A call costs this beyond the steps of the script: taking a coroutine, pushing arguments,
// counting.
#define SCRIPT_DROP_STEPS  20
#define SCRIPT_ENTRY_STEPS 200
// A coroutine that cannot be used again, so that another one has to be made.
#define SCRIPT_COROUTINE_STEPS 400
#define SCRIPT_ROUNDS_MAX      16 // handlers that fire signals, one inside the other
#define SCRIPT_REQUIRE_MAX     32
#define SCRIPT_IDLE_MAX        64
#define SCRIPT_JSON_BYTES      (4 << 20) // scratch for one JSON text
#define SCHEDULE_ELAPSED       (-1)      // argument_count of a sleeper that gets the time slept

typedef enum ScriptLoad {
    LOAD_PENDING,
    LOAD_RUNNING,
    LOAD_BESIDE, // its top level waits, and the hooks that it has defined so far run meanwhile
    LOAD_DONE,
    LOAD_FAILED,
    LOAD_ENDED // it held too much memory; there is no code until it changes
} ScriptLoad;

// How many signals or connections a script has (signal_count.c).
typedef struct SignalCount {
    uint32_t count;   // made, and not known to be gone
    uint32_t held;    // of them, after the last collection
    bool was_refused; // one more, since then
} SignalCount;

// What a script has of the things that all scripts share: time, coroutines, deferred calls
// (share.c).
typedef struct ScriptShare {
    int64_t credit_steps; // time it has left; below zero it is in debt
    uint64_t used_steps;  // in the tick `used_tick`
    uint64_t used_tick;
    uint64_t charged_steps; // between ticks, for its next one
    uint32_t good_ticks;    // in a row, in which it ran and kept to its share
    uint32_t over_count;    // ticks in which it used more, since the last good one
    uint64_t over_until;    // it counts as throttled until this tick
    uint64_t over_said;     // the tick in which that was last said, 0: never
    uint64_t drop_said;     // the tick in which a dropped call was last said, 0: never
    uint64_t skip_said;     // the tick in which an onUpdate left out was last said, 0: never
    bool has_called;        // something besides its top level has run in that tick
    bool waits;             // something of it could not run in this round
    bool is_listed;         // in ScriptSystem.ready_scripts
    uint32_t ready_first, ready_last, ready_count; // threads that wait for its share, in order
    uint32_t thread_count, deferred_count;
    SignalCount signals, connections;
} ScriptShare;

// Which player made something happen.
typedef struct Cause {
    uint64_t player_id; // 0: nobody, or not a player
    bool is_remote;     // by what it sent: a remote or a text
    bool is_message;    // by a remote: what its handler spawns belongs to the player
} Cause;

// What a player has caused in a script (blame.c).
typedef struct Blame {
    uint64_t player_id; // 0: free
    Handle script;
    uint64_t began_tick;   // of the minute that is counted
    uint64_t said_tick;    // when a fault of it was last shown
    uint64_t barred_until; // until then its remotes do not reach the script
    uint32_t fault_count;
} Blame;

// One source, with its environment. A slot of ScriptSystem.scripts.
// How long calls took, in buckets of about a fifth of their own size: microseconds up to a second.
// When it holds SCRIPT_TIMES_MAX calls, all counts are halved, so that old ones are forgotten.
#define SCRIPT_TIME_BUCKETS 76
#define SCRIPT_TIMES_MAX    2048
typedef struct ScriptTimes {
    uint16_t counts[SCRIPT_TIME_BUCKETS];
    uint16_t total;
} ScriptTimes;

typedef struct Script {
    char path[SCRIPT_PATH_BYTES];
    char file[SCRIPT_FILE_BYTES]; // what Lua calls it
    char hash[SCRIPT_HASH_BYTES];
    ScriptLoad load;
    int chunk_ref;       // the compiled file
    int environment_ref; // its globals
    int old_ref;         // globals of the version before, for onReload
    int old_module_ref;  // what it returned, for an onReload that is returned too
    int module_ref;      // what the file returned, once it has run
    int hook_refs[HOOK_COUNT];
    bool is_module;          // runs by require only
    uint32_t watch_number;   // as ScriptWatch.number when it came
    bool has_not_started;    // its top level, onStart or onReload has failed
    bool reload_is_exported; // onReload is in what the file returned
    // Faults: each adds one, and one is forgiven every minute.
    ScriptState state;
    uint32_t faults_held;
    uint64_t forgive_tick;
    uint64_t wake_tick; // throttled until then
    uint64_t log_tick;  // the second that log_count counts
    uint32_t log_count;
    uint64_t work_fault_tick; // the last fault for what its things cost
    uint64_t lost_tick;       // when it was last told that players did not get all; 0: never
    uint64_t ui_tick;         // in which it changed what is shown, `ui_changes` times
    uint32_t ui_changes, ui_above_changes;
    uint64_t moment_tick; // in which it showed `moment_count` bursts, beams and shakes on a client
    uint32_t moment_count;
    bool write_was_said;
    bool was_taken_back; // ended, and what others kept of it is emptied
    ScriptShare share;
    ScriptAccount account;
    ScriptTimes times;
} Script;

// A script bound to an entity, or to none. A slot of ScriptSystem.instances.
typedef struct Instance {
    Handle script;
    uint64_t entity;
    uint64_t number; // order of binding
    bool enabled;
    bool switch_due; // on or off, once no script runs
    bool started;    // its hooks run; onStart has run if it was there
    bool start_due;  // onStart or onReload: the top level may still define it
    bool enable_due; // onEnable, after it
    bool reloaded;   // onReload is due
    bool ending;
    bool has_sounds;         // it has started some that go on until they are stopped
    uint32_t missed_updates; // since onUpdate ran
    uint64_t update_tick;    // in which it ran
    uint32_t thread_count;
    uint64_t generation_number; // changes with a reload: what was made before it is dead
    int params_ref;
    char params_hash[SCRIPT_HASH_BYTES];
    ScriptAccount account;
} Instance;

typedef enum ThreadState {
    THREAD_FREE,    // pooled, its coroutine may be used again
    THREAD_READY,   // has a function and arguments on its stack
    THREAD_RUNNING, // is being resumed now
    THREAD_SLEEPING,
    THREAD_QUEUED,  // could run, but its script has used up its share
    THREAD_WAITING, // for a signal or for an answer from outside
    THREAD_PARKED   // yielded by itself; only another coroutine can go on with it
} ThreadState;

// A coroutine that the scheduler knows: one of ours from the pool, or a script's own that waits.
typedef struct Thread {
    lua_State *lua;
    int ref; // anchors it in the registry
    ThreadState state;
    bool pooled; // made by us, used again
    bool shown;  // a script has it, and might go on with it: not used again
    Handle instance;
    Handle script;                      // of the instance, also when that is gone
    uint32_t ready_before, ready_after; // queued: its neighbours in the script's queue
    uint32_t depth;                     // of the signal that it handles
    bool listed;                        // schedule_find finds it
    ScriptHook hook;
    uint64_t due_tick;                 // sleeping
    uint64_t number;                   // order of coming to sleep, breaks ties
    uint64_t began_tick;               // when it went to sleep or began to wait
    uint64_t request_id;               // waiting for an answer from outside
    int argument_count;                // ready: values on the stack
    uint64_t invoke_id, invoke_player; // its results answer a remote call
    uint32_t invoke_line;              // where its handler begins, 0: in another file
    Cause cause;                       // of what it handles
    Cause begun_by;                    // the same when it began; a player's stays
    uint64_t trigger_other;            // inside a trigger hook: who entered
    Handle load_script;                // runs the top level of this one
    int timer_ref;                     // runs the handler of this timer's Connection, 0: none
} Thread;

// A deferred call: a signal that fired, or a function from task.defer.
typedef struct Deferred {
    int target_ref;           // the Signal, or a function
    int arguments_ref;        // a packed table, 0: none
    Handle instance;          // of a function; none for a signal
    Handle script;            // that fired or deferred it; none for an event of the world
    uint64_t connection_last; // an event of the world: connections made later do not hear it
    uint32_t depth;           // handlers inside each other
    Cause cause;
} Deferred;

// A coroutine of ours, and the reference that holds it.
typedef struct Coroutine {
    lua_State *lua;
    int ref;
} Coroutine;

typedef struct SleepEntry {
    uint64_t due_tick;
    uint64_t number;
    Handle thread;
} SleepEntry;

typedef enum ObjectClass {
    OBJECT_VECTOR,
    OBJECT_ENTITY,
    OBJECT_PLAYER,
    OBJECT_CLASS_COUNT
} ObjectClass;

struct ScriptSystem {
    ScriptConfig config;
    Heap *heap;
    Vm *vm;
    lua_State *lua; // the main thread: for building things, never for running scripts
    const ScriptWorldMethods *methods;

    Pool scripts;                    // of Script
    Pool instances;                  // of Instance
    Pool threads;                    // of Thread
    Coroutine idle[SCRIPT_IDLE_MAX]; // coroutines that ended and may be used again
    uint32_t idle_count;
    SleepEntry *sleepers; // heap
    uint32_t sleeper_count, sleeper_max;
    IdMap thread_slots; // lua_State of a thread that pauses → its slot
    Arena json_arena;
    Rng rng;
    bool is_dead;       // the Vm passed its hard cap
    uint64_t room_tick; // in which room was last made between entries

    uint64_t tick;
    uint64_t next_number;
    uint64_t next_request;
    uint32_t update_next;   // slot at which onUpdate goes on when a tick ran out of steps
    uint32_t update_missed; // the first slot whose onUpdate had to wait in this round, 0: none
    uint64_t skip_tick;     // the second in which `skip_lines` have said that one was left out
    uint32_t skip_lines;

    // The time of a tick, and who gets it (share.c).
    int64_t tick_steps_left;
    int64_t overrun_steps;     // that ticks took too much, and later ones pay for
    int64_t reserved_steps;    // of this tick for that
    int64_t charge_steps_left; // that may still be taken for work charged between ticks
    bool in_tick;
    int64_t share_steps;  // what a script gets in each tick while time is short
    uint64_t short_until; // time is short until this tick
    uint32_t trust_floor; // while time is short: scripts below it wait in this round
    uint32_t round_count;
    bool ignores_share; // runs in any case: script_execute, onDestroy
    uint32_t serving;   // slot of the script whose queue is being run
    uint32_t *active;   // slots of the scripts that ran or waited in this tick
    uint32_t active_count;
    uint32_t *ready_scripts; // slots of those that have a queue
    uint32_t ready_script_count;
    uint32_t threads_shared, deferred_shared, deferred_of_world; // taken

    Handle require_stack[SCRIPT_REQUIRE_MAX]; // modules that are running their top level
    uint32_t require_count;

    uint64_t work_seen; // of the world's work; the rest is still to be charged to who runs

    // What is running now.
    Handle current_instance;
    uint32_t current_thread;
    uint32_t current_depth;
    Cause cause;
    Blame blames[SCRIPT_BLAMES_MAX];
    uint32_t call_ms_now;
    char capability_text[SCRIPT_MESSAGE_BYTES]; // the last error that said: not on this side

    Deferred *deferred;
    uint32_t deferred_count, deferred_max;
    uint32_t deferred_kept, deferred_next; // while they run: those between are done
    uint64_t connections_made;
    uint64_t counted_tick; // in which signals and connections were last counted
    bool count_is_due;     // a script comes near its limit
    ScriptEvent *events;   // names and payloads point into event_data
    uint32_t event_count;
    uint32_t events_told;   // of them, in the tick under way
    uint32_t joins_pending; // of the rest, those that say that a player came
    uint8_t *event_data;
    size_t event_data_bytes;

    ScriptWatch watch;
    bool enable_is_due;  // an instance wants to be switched on or off
    ScriptFault *faults; // ring
    uint32_t fault_first, fault_count;
    ScriptStats totals; // the sums; lists are filled by script_stats
    RemoteCosts remotes;

    void *api_memory; // the API's own

    // Metatables of the classes whose objects are checked most; by pointer, which is only compared.
    int class_refs[OBJECT_CLASS_COUNT];
    const void *class_pointers[OBJECT_CLASS_COUNT];

    // Registry references of shared things.
    int entities_ref; // net id → Entity object
    int players_ref;  // player id → Player object
    int signals_ref;  // "owner key" → Signal
    int ui_ref;       // instance number → handlers of the tree it shows
    int invokes_ref;  // message name → {handler, instance}
    int declares_ref; // message name → what was declared
    uint32_t declare_count;
    int resume_ref; // coroutine.resume
    int api_ref;    // the frozen API tables, copied into each environment
};

static inline ScriptSystem *script_of(lua_State *thread)
{
    return (ScriptSystem *)vm_user(vm_of(thread));
}
static inline Script *script_at(const ScriptSystem *system, Handle script)
{
    return (Script *)pool_find(&system->scripts, script);
}
static inline uint32_t script_slot(const ScriptSystem *system, const Script *script)
{
    return (uint32_t)(script - (const Script *)(const void *)system->scripts.items);
}
// What it has started and what goes on is not heard any more.
void script_silence(ScriptSystem *system, Instance *instance);
static inline Instance *instance_at(const ScriptSystem *system, Handle instance)
{
    return (Instance *)pool_find(&system->instances, instance);
}
static inline Thread *thread_at(const ScriptSystem *system, uint32_t slot)
{
    return (Thread *)pool_at(&system->threads, slot);
}
static inline void script_forget_ref(ScriptSystem *system, int *ref)
{
    if (*ref != 0) {
        luaL_unref(system->lua, LUA_REGISTRYINDEX, *ref);
        *ref = 0;
    }
}
static inline double script_now_ms(const ScriptSystem *system)
{
    return system->config.clock_ms != NULL ? system->config.clock_ms(system->config.clock_user) : 0;
}
// Whether a player came and scripts have not been told yet.
bool script_join_is_pending(const ScriptSystem *system, uint64_t player_id);
uint64_t script_ticks(const ScriptSystem *system, double seconds); // at least 1
// Makes a part report who touches it, if it does not yet.
void script_watch_touch(ScriptSystem *system, uint64_t net_id);
// Calls a hook with (self, other).
void script_call_hook(ScriptSystem *system, uint32_t instance, ScriptHook hook, uint64_t other);

// --- script_source.c ----------------------------------------------------------------------------
Handle script_find(const ScriptSystem *system, const char *path); // HANDLE_NONE when not loaded
// Runs the top level on behalf of an instance. Whether there is time for it was asked before.
void script_run_file(ScriptSystem *system, Handle script, Handle instance);
// Runs those that wait and whose turn it is; `left` is how many more the tick may.
void script_run_loads(ScriptSystem *system, uint32_t *left);
// For hook.c: the top level of a script has run, or failed.
void script_loaded(ScriptSystem *system, Handle script, lua_State *thread, int result_count);
// What a module's file starts belongs to an instance of the module without an entity: it ends when
// the module is replaced, not with the script that required it first. None if it is no module.
Handle script_module_instance(ScriptSystem *system, Handle script);
// The innermost module of require_stack has failed: what it has started ends.
void script_module_failed(ScriptSystem *system);
// The top level waits: the hooks that it has defined so far run beside it.
void script_load_waits(ScriptSystem *system, Thread *thread);
void script_load_failed(ScriptSystem *system, Handle script);
// Ends all that a script has running and forgets its code; its instances wait for other code.
void script_end(ScriptSystem *system, Handle script);

// --- hook.c: entering Lua -----------------------------------------------------------------------
// A slot for a coroutine of an instance, counted; none when its script has too many.
Handle hook_slot(ScriptSystem *system, Handle instance, ScriptHook hook);
// A pooled thread for an instance, with an empty stack; 0 when its script has too many.
uint32_t hook_thread(ScriptSystem *system, Handle instance, ScriptHook hook);
// The same for something that happened: when there is no room it is dropped, and that is said.
uint32_t hook_event_thread(ScriptSystem *system, Handle instance, ScriptHook hook);
// Resumes a thread whose function and arguments (or results of a wait) are on its stack. Deals with
// the outcome: done, asleep, fault. Scripts that are throttled or off do not run: the thread is
// given back. When the script has used up its share the thread is queued and runs later.
void hook_run(ScriptSystem *system, uint32_t thread, int argument_count);
// Calls the function behind a registry reference with the values on the main stack's top.
void hook_call(ScriptSystem *system, Handle instance, ScriptHook hook, int function_ref,
               int argument_count);
// Records that a coroutine inside the running entry has failed; the error is on top of `thread`.
void hook_fault_of(ScriptSystem *system, lua_State *coroutine, lua_State *thread);
const char *hook_name(ScriptHook hook);                   // "onUpdate"
void hook_give_back(ScriptSystem *system, uint32_t slot); // ends a thread that is not running

// --- schedule.c ---------------------------------------------------------------------------------
// For API functions that pause: note why, then `return lua_yieldk(...)`. They raise when the
// coroutine may not yield, or when there are too many.
void schedule_sleep(lua_State *thread, double seconds);
uint64_t schedule_request(lua_State *thread); // waits for script_complete of the id it gives
Handle schedule_wait(lua_State *thread);      // waits for schedule_wake
// Makes a thread that will call the function at `function_index`, with the arguments after it, in
// that tick; gives its slot. The stack is as before.
uint32_t schedule_call(lua_State *thread, int function_index, int argument_count,
                       uint64_t due_tick);
// Runs a thread in that tick: its function and arguments are on its stack.
void schedule_later(ScriptSystem *system, uint32_t slot, int argument_count, uint64_t due_tick);
// Wakes a waiting thread with the values on top of the main stack, which are popped.
void schedule_wake(ScriptSystem *system, Handle thread, int argument_count);
void schedule_cancel(ScriptSystem *system, uint32_t slot);
void schedule_cancel_instance(ScriptSystem *system, Handle instance);
// Runs the queues, then what is due in this tick, by due tick, then number. What has to wait is
// queued.
void schedule_run(ScriptSystem *system);
// From now on schedule_find finds it. A thread is asked for by its coroutine once that pauses or a
// script has it; what a timer will call is not.
void schedule_list(ScriptSystem *system, uint32_t slot);
void schedule_forget(ScriptSystem *system, Thread *thread); // schedule_find finds it no more
Thread *schedule_find(ScriptSystem *system, lua_State *thread, uint32_t *slot); // NULL: not known

// --- signal.c -----------------------------------------------------------------------------------
// Pushes a new Signal. It counts as one of the script that runs, and raises when that has too many.
void signal_push_new(lua_State *thread);
// Pushes the signal of an engine event ("Players.PlayerAdded", "Entity:42.Touched"), making it if
// asked; false and nothing pushed when there is none.
bool signal_push_named(ScriptSystem *system, lua_State *thread, const char *key, bool make);
// Queues a firing of the signal at `index` with the top `argument_count` values, which are popped.
// STATUS_LIMIT when its script has too many queued, STATUS_RANGE when handlers nest too deep.
MUST_USE Status signal_defer(lua_State *thread, int index, int argument_count);
MUST_USE Status signal_defer_function(lua_State *thread, int function_index, int argument_count);
// Raises the error for what the two above give, unless that is STATUS_OK.
int signal_raise(lua_State *thread, Status status);
// Forgets what a script has fired and deferred, and the handlers of connections that are over.
void signal_forget_script(ScriptSystem *system, Handle script);
// The script of the first living connection to an engine's signal, or none.
Handle signal_listener(ScriptSystem *system, const char *key);
// Runs queued firings round by round, until there are none or the tick is over.
void signal_run(ScriptSystem *system);
// How many of the signals that a script has made there are, and of its connections that are alive:
// tells `count_one` of every Signal and Connection, after what nothing holds is gone.
void signal_visit(ScriptSystem *system,
                  void (*count_one)(ScriptSystem *system, Handle script, bool is_signal));
// Rows of api.def.
int signal_connect(lua_State *thread);
int signal_once(lua_State *thread);
int signal_wait(lua_State *thread);
int signal_fire(lua_State *thread);
int signal_disconnect_all(lua_State *thread);
int connection_disconnect(lua_State *thread);
bool connection_is_connected(lua_State *thread, int index);
int timer_after(lua_State *thread); // (seconds, function)
int timer_every(lua_State *thread);
// The handler of a timer has failed, and its thread is gone: Timer.Every goes on, Timer.After ends.
// The reference is the thread's, 0 if it was not one of a timer.
void timer_failed(ScriptSystem *system, Handle instance, int timer_ref);

// --- signal_count.c -----------------------------------------------------------------------------
// Counts one more signal or connection for the script that runs, or raises when it has too many.
void signal_count_take(lua_State *thread, bool is_signal);
// A connection has ended.
void signal_count_give(ScriptSystem *system, Handle script);
// At the end of a tick: counts again if a script is near its limit, at most once a second.
void signal_count_again(ScriptSystem *system);

// --- account.c ----------------------------------------------------------------------------------
void account_call(ScriptSystem *system, Instance *instance, uint64_t steps);
// Charges a script for work that something else did for it, as if it had used the steps itself.
void account_charge_work(ScriptSystem *system, Handle script, uint64_t steps);
// Something that happened was not told to the script, which is behind or has too much waiting.
void account_dropped(ScriptSystem *system, Script *script, const char *what);
// The onUpdate of one of the script's instances was left out, because the tick was full.
void account_update_skipped(ScriptSystem *system, Script *script, Instance *instance);
// Faults of a script as a whole, not of one of its calls. They are shown and do not count towards
// being switched off.
void account_budget_fault(ScriptSystem *system, Script *script, const char *message);
void account_refused_fault(ScriptSystem *system, Script *script, const char *message);
void account_over_share(ScriptSystem *system, Script *script);
void account_fault(ScriptSystem *system, Handle instance, ScriptHook hook, FaultKind kind,
                   uint32_t line, const char *message, const char *traceback);

// A fault of kind memory for a script that is ended because it holds most.
void account_memory_fault(ScriptSystem *system, Script *script, size_t bytes);

// --- blame.c ------------------------------------------------------------------------------------
// Who made an event happen.
Cause blame_cause(const ScriptSystem *system, const ScriptEvent *event);
// Counts a fault against the player that caused it, and names it in the message. Whether the fault
// is to be shown.
bool blame_fault(ScriptSystem *system, Handle script, char message[SCRIPT_MESSAGE_BYTES]);
// Whether what happens now is a remote of a player whose remotes do not reach this script.
bool blame_is_barred(const ScriptSystem *system, Handle script);
void blame_forget(ScriptSystem *system, Handle script); // it has changed

// Whether the script may run in this tick.
bool account_wakes(ScriptSystem *system, Script *script);
static inline bool account_may_run(ScriptSystem *system, Script *script)
{
    return script->state == SCRIPT_RUNNING || account_wakes(system, script);
}
void account_log(ScriptSystem *system, LogLevel level, const char *text, size_t bytes);
void account_say(ScriptSystem *system, LogLevel level, const char *path, const char *text);

// --- account_time.c ----------------------------------------------------------------------------
// An entry that began then, by script_now_ms, is over.
void account_time(ScriptSystem *system, Handle instance, double began_ms, uint64_t steps);
void account_compile_time(ScriptSystem *system, Handle script, double ms);
double account_time_p99_ms(const ScriptTimes *times); // 0: no call yet

// --- account_work.c -----------------------------------------------------------------------------
// Around an entry: the world knows who calls, and its work is charged to that script. A call that
// raised has not been charged by api_charge_work; leaving does it.
void account_enter(ScriptSystem *system, uint32_t script);
void account_leave(ScriptSystem *system);
// --- script_memory.c ----------------------------------------------------------------------------
// Between these two, what is allocated belongs to the script, or to all if there is none.
uint32_t memory_enter(ScriptSystem *system, Handle script);
void memory_leave(ScriptSystem *system, uint32_t before);
// For what is done in Lua outside of entries, with values and coroutines that have to be made:
// false when there was no memory, or there are no scripts any more. Then the scripts are at their
// end.
MUST_USE bool memory_protect(ScriptSystem *system, void (*call)(void *user), void *user);
// Whether values that take so many bytes on the wire can be made outside of an entry. If not, those
// who hold most are ended, once a tick.
bool memory_has_room(ScriptSystem *system, size_t wire_bytes);
// After an entry: if memory was short, those who hold most are ended until it is not.
void memory_end_largest(ScriptSystem *system);
static inline void memory_settle(ScriptSystem *system)
{
    if (vm_is_pressed(system->vm)) {
        memory_end_largest(system);
    }
}

// --- share.c ------------------------------------------------------------------------------------
void share_begin(ScriptSystem *system); // of a tick
// Whether there is another round in this tick: somebody waits, and there is time.
bool share_next_round(ScriptSystem *system);
void share_end(ScriptSystem *system);
bool share_decide(ScriptSystem *system, Script *script);
// Whether the script may run something now; if not, it is noted that it waits. The first answer is
// the one of a tick in which everything fits so far.
static inline bool share_may_run(ScriptSystem *system, Script *script)
{
    const bool fits = system->short_until <= system->tick && system->tick_steps_left > 0 &&
                      script->share.used_tick == system->tick && script->share.ready_count == 0;
    return (fits && !system->ignores_share) || share_decide(system, script);
}
void share_use(ScriptSystem *system, Script *script, uint64_t steps); // script may be NULL
// The same at any time, also between ticks.
void share_charge(ScriptSystem *system, Script *script, uint64_t steps);
// The queue of a script. The thread's arguments are on its stack.
void share_queue(ScriptSystem *system, Script *script, uint32_t thread, int argument_count);
void share_unqueue(ScriptSystem *system, uint32_t thread);
// Whether a script that has `own` things may take one more, and the counting of it.
static inline bool share_take(uint32_t *own, uint32_t *shared, uint32_t own_max, uint32_t most,
                              uint32_t shared_max)
{
    if (*own >= own_max) {
        if (*own >= most || *shared >= shared_max) {
            return false;
        }
        *shared += 1;
    }
    *own += 1;
    return true;
}

static inline void share_give(uint32_t *own, uint32_t *shared, uint32_t own_max)
{
    ASSERT(*own > 0);
    *own -= 1;
    if (*own >= own_max) {
        ASSERT(*shared > 0);
        *shared -= 1;
    }
}
void share_forget(ScriptSystem *system, Handle script); // before its slot is released

// --- params.c -----------------------------------------------------------------------------------
// Pushes a table for JSON text; on failure nothing, and a message.
bool params_push(lua_State *thread, const char *json, size_t bytes, char *error, size_t capacity);
// Pushes any value / reads any value; for Json.Decode and Json.Encode.
MUST_USE Status params_push_value(lua_State *thread, const char *json, size_t bytes, char *error,
                                  size_t capacity);
void params_encode(lua_State *thread, int index); // pushes the JSON text; raises

// --- the API, which is above the runtime and known by this table alone --------------------------
struct ScriptApi {
    size_t memory_bytes;                // that it has in ScriptSystem.api_memory
    void (*open)(ScriptSystem *system); // makes everything behind api_ref, once
    // What an event means for scripts: fires signals, and calls hooks of the entity's instances.
    void (*event)(ScriptSystem *system, const ScriptEvent *event);
    // A finished thread that answers a remote call.
    void (*answer)(ScriptSystem *system, Thread *thread, bool ok, int result_count);
    // Forgets the handlers of remote calls and of widgets that an instance has.
    void (*forget_handlers)(ScriptSystem *system, Handle instance);
};
