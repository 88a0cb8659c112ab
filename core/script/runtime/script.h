// The room core/script/runtime. It always holds that Lua is entered in hook.c and nowhere else,
// that an error of a script ends there as a fault, and that no script can take the time of another.
// The runtime does not know what scripts can call: that is the API (core/script/api), which it is
// given when it is created.
//
// All scripts of one side of one world: loading, hooks, coroutines, timers, signals, faults and
// costs. The owner (core/world, core/client, a test, the command line) compiles or loads scripts,
// binds them to entities, feeds events and completions, and calls script_tick once per tick;
// everything a script does to the world goes through script_world.h.
//
// Within a tick, in this order: scripts waiting to be loaded (a bounded number), completions and
// events in the order they were fed, timers and resumed coroutines by due tick then number,
// onUpdate by instance number, then the signals fired meanwhile, round by round, until none are
// left or the tick's budget is used up. No script runs inside another's budget.
//
// When a tick's budget does not suffice for all, it is shared fairly among scripts for a while
// (share.c): the order above then holds for each script, but scripts that use more than their share
// run after the others. What has to wait is kept in order; onUpdate is left out and gets the whole
// time since it ran; an event for a script that has too much waiting already is dropped and
// counted.
//
// Everything a script makes (connections, timers, coroutines, handlers) belongs to the instance
// that made it and ends with it.
#pragma once

#include "core/base/heap.h"
#include "core/base/log.h"
#include "core/script/runtime/remote_cost.h"
#include "core/script/runtime/script_world.h"
#include "core/script/vm/vm.h"

#define SCRIPT_PATH_BYTES      128
#define SCRIPT_FILE_BYTES      160 // with its ending; LUA_IDSIZE
#define SCRIPT_MESSAGE_BYTES   240
#define SCRIPT_TRACEBACK_BYTES 1024
#define SCRIPT_FAULT_BYTES     (SCRIPT_FILE_BYTES + 16 + SCRIPT_MESSAGE_BYTES) // "file:12: message"

typedef struct ScriptSystem ScriptSystem;
typedef struct ScriptApi ScriptApi; // core/script/api/script_api.h has the only one

// The plain path of a script, from the forms that scenes and files use (core/wire/script_path.h).
Text script_path_plain(Text path);
// What `require` is given, with the short name of a spell's module ("@fire") written out in
// `space`.
Text script_path_whole(Text written, char space[SCRIPT_PATH_BYTES]);

typedef struct ScriptConfig {
    ScriptWorld *world;   // kept
    const ScriptApi *api; // what scripts can call; kept
    VmConfig vm;
    uint32_t script_max;   // loaded scripts
    uint32_t instance_max; // scripts bound to entities, and one for each that is bound to none;
                           // there is room for each module besides
    uint32_t call_ms;      // steps of one entry, by VM_STEPS_PER_MS: 5
    uint32_t tick_ms;      // of all entries of a tick: 6
    uint32_t loads_per_tick;
    uint32_t tick_rate;
    uint64_t seed; // of Random
    LogSink *log;  // kept
    // A clock in milliseconds, for times in results and statistics. Without it they are computed
    // from steps. It never affects behaviour.
    double (*clock_ms)(void *user);
    void *clock_user;
    // A client may not have every module yet. Asked when a script requires one that is not loaded:
    // true if it will come; then the script waits in `require`, at most REQUIRE_WAIT_SECONDS. NULL:
    // all that there is is loaded.
    bool (*demand)(void *user, const char *path);
    void *demand_user;
} ScriptConfig;

ScriptConfig script_config_default(void);
MUST_USE Status script_create(Heap *heap, const ScriptConfig *config, ScriptSystem **out);
void script_destroy(Heap *heap, ScriptSystem *system);
// True once the scripts have used up even the reserve of memory: nothing runs any more, and the
// owner creates a new system.
bool script_is_dead(const ScriptSystem *system);

// --- the facade: compile, execute, invalidate ---------------------------------------------------
typedef struct CompileRequest {
    const char *script_id; // its path, "Workspace/Door"
    const char *code;
    size_t code_bytes;
    const char *code_hash; // may be NULL; equal id and hash: nothing is compiled again
} CompileRequest;

typedef struct CompileResult {
    bool ok;
    bool cached;
    char error[SCRIPT_MESSAGE_BYTES]; // "Workspace/Door:12: unexpected symbol near 'end'"
    double compile_ms;                // measured, if the config has a clock
} CompileResult;
CompileResult script_compile(ScriptSystem *system, const CompileRequest *request);
// The same from a rune (rune.h), whose hash the caller has found in a signed manifest. As with
// script_compile, an equal hash loads nothing.
MUST_USE Status script_load_rune(ScriptSystem *system, const char *script_id, const void *rune,
                                 size_t bytes);
// Replaces a running script by a rune, even by an equal one, because a required module may have
// changed: instances get onReload(old).
MUST_USE Status script_reload_rune(ScriptSystem *system, const char *script_id, const void *rune,
                                   size_t bytes);
// Compiles source to a rune (rune.h) without loading it, to store or send it. STATUS_MALFORMED with
// a message in `error` for source that does not compile, STATUS_LIMIT if the rune does not fit.
MUST_USE Status script_make_rune(ScriptSystem *system, const CompileRequest *request, void *out,
                                 size_t capacity, size_t *bytes, char error[SCRIPT_MESSAGE_BYTES]);
// Removes a script: its instances end; if it was switched off, that is reset.
void script_invalidate(ScriptSystem *system, const char *script_id);
// Replaces a running script by new code: instances get onReload(old).
CompileResult script_reload(ScriptSystem *system, const CompileRequest *request);

typedef enum ScriptHook {
    HOOK_LOAD, // the top level of the file
    HOOK_START,
    HOOK_UPDATE,
    HOOK_DESTROY,
    HOOK_ENABLE,
    HOOK_DISABLE,
    HOOK_RELOAD,
    HOOK_TRIGGER_ENTER,
    HOOK_TRIGGER_LEAVE,
    HOOK_TOUCH,
    HOOK_HANDLER, // a signal, timer, coroutine or remote handler
    HOOK_COUNT
} ScriptHook;

// A script bound to an entity; 0 for one that belongs to none. Its onStart runs in the next tick.
typedef struct InstanceDesc {
    const char *script_id; // NULL or "": skipped with one warning
    uint64_t entity;
    bool enabled;
    const char *parameters; // JSON text or NULL
    size_t parameters_bytes;
    const char *parameters_hash; // parsed once per hash
} InstanceDesc;
MUST_USE Status script_bind(ScriptSystem *system, const InstanceDesc *desc, uint32_t *instance);
void script_unbind(ScriptSystem *system,
                   uint32_t instance); // onDestroy, then everything it made goes
void script_unbind_entity(ScriptSystem *system, uint64_t entity);
// The next instance bound to the entity after a slot, or 0.
uint32_t script_instance_of(const ScriptSystem *system, uint64_t entity, uint32_t after);
void script_set_enabled(ScriptSystem *system, uint32_t instance, bool enabled);
void script_set_parameters(ScriptSystem *system, uint32_t instance, const char *json, size_t bytes,
                           const char *hash);

// New parameters for every instance of that script whose entity `matches`. Invalid JSON is shown,
// and the last valid ones stay. No bytes: an empty table.
void script_replace_parameters(ScriptSystem *system, const char *script_id,
                               bool (*matches)(void *user, uint64_t entity), void *user,
                               const char *json, size_t bytes);

typedef struct ExecuteResult {
    bool ok;
    double exec_ms;
    uint64_t steps;
    char error[SCRIPT_MESSAGE_BYTES];
} ExecuteResult;
// Runs one hook of one instance now, outside the tick: the script-system facade's execute().
ExecuteResult script_execute(ScriptSystem *system, uint32_t instance, ScriptHook hook,
                             uint32_t execution_ms_max, float delta_seconds);

// --- the tick -----------------------------------------------------------------------------------
void script_tick(ScriptSystem *system, double unix_seconds, double world_seconds);

// What happened; copied.
typedef enum ScriptEventType {
    SCRIPT_EVENT_TRIGGER_ENTER, // entity: trigger; other
    SCRIPT_EVENT_TRIGGER_LEAVE,
    SCRIPT_EVENT_TOUCH,
    SCRIPT_EVENT_PLAYER_ADDED, // player_id
    SCRIPT_EVENT_PLAYER_REMOVING,
    SCRIPT_EVENT_DIED, // entity; other: cause
    SCRIPT_EVENT_RESPAWNED,
    SCRIPT_EVENT_CHAT,      // player_id, text
    SCRIPT_EVENT_MESSAGE,   // a remote: player_id (server side), name, payload, invoke_id
    SCRIPT_EVENT_UI,        // client: other (the instance's number), entity (0: the screen), value
                            // (the handler), payload
    SCRIPT_EVENT_INPUT,     // client: name of key or action; value 1 down, 0 up
    SCRIPT_EVENT_NPC,       // entity, other, value: NpcState
    SCRIPT_EVENT_DESTROYED, // entity
    SCRIPT_EVENT_DAMAGED,   // entity; other: cause; value: amount
    SCRIPT_EVENT_LANDED,    // entity; value: speed
    SCRIPT_EVENT_JUMPED,    // entity
    SCRIPT_EVENT_HIT,    // entity: projectile; other: what it hit, 0: terrain; shooter, position,
                         // normal
    SCRIPT_EVENT_VOXEL,  // position; other: the kind before; value: the kind now; player_id
    SCRIPT_EVENT_VOXELS, // position and normal: the corners; value: the kind; player_id
    SCRIPT_EVENT_STRUCTURE_PLACED,  // entity; player_id: who built it
    SCRIPT_EVENT_STRUCTURE_REMOVED, // entity; value: StructureEnd; position
    SCRIPT_EVENT_ATTRIBUTE,         // entity, name; payload: the value now and before (value.h)
    SCRIPT_EVENT_TAG                // entity; name: the tag; value 1 added, 0 removed
} ScriptEventType;

typedef struct ScriptEvent {
    ScriptEventType type;
    uint64_t entity, other, player_id, invoke_id, shooter;
    double value;
    Vec3 position, normal;
    Text name;
    const uint8_t *payload;
    size_t payload_bytes;
    // Set by the runtime: it waits for the next tick, for so many ticks already.
    bool is_held;
    uint32_t held_ticks;
} ScriptEvent;
// Charges a script (by its slot, as in ScriptWorld.caller) for the world's work on its entities in
// this tick, besides what it requested itself. If some of them were skipped because the script had
// used up its share, there is a fault, once a second. It does not count towards switching the
// script off, because skipping is the throttle already.
void script_charge_work(ScriptSystem *system, uint32_t script, const SimMaker *work);
// Some effects of a script did not fit into what players can be sent: its creator gets a fault.
void script_effects_lost(ScriptSystem *system, uint32_t script, uint64_t count);

// Takes the remotes out of the queue that no script has seen yet, because they were sent to other
// scripts than those that run now. Each is given to `dropped` first.
void script_drop_messages(ScriptSystem *system,
                          void (*dropped)(void *user, const ScriptEvent *event), void *user);

// STATUS_LIMIT when the queue is full (counted).
MUST_USE Status script_event(ScriptSystem *system, const ScriptEvent *event);
// Whether a script that runs is connected to a global event, such as "Input.Pressed".
bool script_listens(ScriptSystem *system, const char *event);
// The answer to a request of a script: `bytes` is a value (value.h), or an error message if not ok.
// STATUS_NOT_FOUND if nobody waits for it any more.
MUST_USE Status script_complete(ScriptSystem *system, uint64_t request_id, bool ok,
                                const uint8_t *bytes, size_t count);

// --- faults and costs ---------------------------------------------------------------------------
typedef enum FaultKind {
    FAULT_ERROR,
    FAULT_BUDGET,
    FAULT_MEMORY,
    FAULT_CAPABILITY,
    FAULT_KIND_COUNT
} FaultKind;

typedef struct ScriptFault {
    FaultKind kind;
    ScriptHook hook;
    uint64_t tick;
    uint64_t entity; // 0: none
    uint32_t line;   // 0: unknown
    char path[SCRIPT_PATH_BYTES];
    char file[SCRIPT_FILE_BYTES]; // as messages and tracebacks name it: "Workspace/Door.ts"
    char message[SCRIPT_MESSAGE_BYTES];
    char traceback[SCRIPT_TRACEBACK_BYTES];
} ScriptFault;
// Faults since the last call, oldest first; a bounded ring, overwritten ones are counted.
uint32_t script_faults(ScriptSystem *system, ScriptFault *out, uint32_t max);

// The newest one, also if it was given already. False: there was none.
bool script_fault_last(const ScriptSystem *system, ScriptFault *out);

// Watches a new set of scripts: those that are loaded or replaced from now on. Faults that a player
// caused do not count.
void script_watch_begin(ScriptSystem *system);
typedef struct ScriptWatch {
    uint32_t number;      // of the watch; scripts that it watches have the same
    uint32_t fault_count; // since it began
    bool has_failed;      // one of them at the top level of a file, in onStart or in onReload
    char text[SCRIPT_FAULT_BYTES]; // the first of them, or the one that decided
} ScriptWatch;
const ScriptWatch *script_watch(const ScriptSystem *system);

typedef enum ScriptState { SCRIPT_RUNNING, SCRIPT_THROTTLED, SCRIPT_OFF } ScriptState;

typedef struct ScriptAccount {
    char path[SCRIPT_PATH_BYTES];
    uint64_t entity; // in per-entity rows
    ScriptState state;
    uint64_t call_count, step_count, fault_count, throttle_count;
    double exec_ms;     // by VM_STEPS_PER_MS
    double time_ms;     // by the clock that was given, for people; without one, as exec_ms
    double time_p99_ms; // 99 of 100 calls took less, of the last two thousand; rows of scripts only
    double compile_ms;  // compiling and loading it, by that clock; rows of scripts only
    size_t memory_bytes; // that the script holds, also in the rows of its entities
    // A script that uses more than its share: its debt, how many of its calls wait, and how many
    // were dropped because too many waited.
    int64_t debt_steps;
    uint32_t waiting_count;
    uint64_t dropped_count;
    uint64_t update_skipped_count; // times that an onUpdate was left out because the tick was full
    uint64_t ignored_write_count;
    uint64_t work_step_count;    // that the world took for its things; not in step_count
    uint64_t work_skipped_count; // times that one of them stood still in a tick
} ScriptAccount;

#define SCRIPT_STATS_ROWS     64
#define SCRIPT_STATS_ENTITIES 20
typedef struct ScriptStats {
    uint64_t compile_count, compile_cached_count;
    double compile_ms, exec_ms, time_ms;
    uint64_t call_count, throttle_count;
    uint32_t pending_loads, throttled_count, off_count; // scripts
    uint64_t step_count, fault_count, events_dropped, faults_dropped, log_dropped, params_failed,
        messages_dropped, updates_skipped;
    VmMemory memory;
    uint32_t script_count, instance_count, coroutine_count, connection_count, timer_count;
    ScriptAccount scripts[SCRIPT_STATS_ROWS];
    uint32_t scripts_listed;
    ScriptAccount entities[SCRIPT_STATS_ENTITIES];
    uint32_t entities_listed;
} ScriptStats;
// getScriptSystemStats() of the script-system document.
void script_stats(const ScriptSystem *system, ScriptStats *out);
// How loud each remote is. Its owner, which sends and receives them, counts.
RemoteCosts *script_remotes(ScriptSystem *system);
// A message of a client reached no handler: counts it, and shows the creator each reason once.
void script_remote_refused(ScriptSystem *system, Text name, uint64_t player_id,
                           RemoteRefusal reason, const char *why);
