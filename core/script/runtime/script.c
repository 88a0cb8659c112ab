// Binding scripts to entities, events from outside, and the tick; the contract is in script.h.
#include "core/script/runtime/script.h"

#include "core/script/runtime/object.h"
#include "core/script/runtime/script_inside.h"
#include "core/script/runtime/value.h"

#include <stdio.h>
#include <string.h>

// --- creation -----------------------------------------------------------------------------------

ScriptConfig script_config_default(void)
{
    return (ScriptConfig){
        .vm = vm_config_default(),
        .script_max = 2048,
        .instance_max = 8192,
        .call_ms = 5,
        .tick_ms = 6,
        .loads_per_tick = 16,
        .tick_rate = 60,
        .seed = 1,
    };
}

// Each module has one besides.
static uint32_t instances_max(const ScriptConfig *config)
{
    return config->instance_max + config->script_max;
}

// For all scripts: what each has for itself, and what they share.
static uint32_t threads_max(const ScriptConfig *config)
{
    return config->script_max * SCRIPT_COROUTINES_OWN + SCRIPT_COROUTINES_SHARED;
}

static uint32_t deferred_max(const ScriptConfig *config)
{
    return config->script_max * SCRIPT_DEFERRED_OWN + SCRIPT_DEFERRED_SHARED + SCRIPT_EVENTS_MAX;
}

static size_t block_bytes(const ScriptConfig *config)
{
    return arena_need(sizeof(ScriptSystem)) + pool_bytes(config->script_max, sizeof(Script)) +
           pool_bytes(instances_max(config), sizeof(Instance)) +
           pool_bytes(threads_max(config), sizeof(Thread)) + id_map_bytes(threads_max(config)) +
           2 * arena_need((config->script_max + 1) * sizeof(uint32_t)) +
           arena_need(deferred_max(config) * sizeof(Deferred)) +
           arena_need(SCRIPT_EVENTS_MAX * sizeof(ScriptEvent)) + arena_need(SCRIPT_EVENT_DATA_MAX) +
           arena_need(SCRIPT_FAULTS_MAX * sizeof(ScriptFault)) +
           arena_need(2 * threads_max(config) * sizeof(SleepEntry)) +
           arena_need(SCRIPT_JSON_BYTES) + arena_need(config->api->memory_bytes);
}

static Status fill_block(ScriptSystem *system, Arena *arena)
{
    const ScriptConfig *config = &system->config;
    if (pool_init(&system->scripts, arena, config->script_max, sizeof(Script)) != STATUS_OK ||
        pool_init(&system->instances, arena, instances_max(config), sizeof(Instance)) !=
            STATUS_OK ||
        pool_init(&system->threads, arena, threads_max(config), sizeof(Thread)) != STATUS_OK ||
        id_map_init(&system->thread_slots, arena, threads_max(config)) != STATUS_OK) {
        return STATUS_LIMIT;
    }
    system->sleeper_max = 2 * threads_max(config);
    system->deferred_max = deferred_max(config);
    system->active = arena_array(arena, config->script_max + 1, sizeof(uint32_t));
    system->ready_scripts = arena_array(arena, config->script_max + 1, sizeof(uint32_t));
    system->deferred = arena_array(arena, system->deferred_max, sizeof(Deferred));
    system->events = arena_array(arena, SCRIPT_EVENTS_MAX, sizeof(ScriptEvent));
    system->event_data = arena_alloc(arena, SCRIPT_EVENT_DATA_MAX);
    system->faults = arena_array(arena, SCRIPT_FAULTS_MAX, sizeof(ScriptFault));
    system->sleepers = arena_array(arena, system->sleeper_max, sizeof(SleepEntry));
    system->api_memory = arena_alloc(arena, config->api->memory_bytes);
    void *json = arena_alloc(arena, SCRIPT_JSON_BYTES);
    if (system->deferred == NULL || system->events == NULL || system->event_data == NULL ||
        system->faults == NULL || system->sleepers == NULL || json == NULL ||
        system->api_memory == NULL || system->active == NULL || system->ready_scripts == NULL) {
        return STATUS_LIMIT;
    }
    arena_init(&system->json_arena, json, SCRIPT_JSON_BYTES);
    return STATUS_OK;
}

static void open_api(void *user)
{
    ScriptSystem *system = user;
    system->config.api->open(system);
}

Status script_create(Heap *heap, const ScriptConfig *config, ScriptSystem **out)
{
    if (config->world == NULL || config->api == NULL || config->script_max < 1 ||
        config->script_max > SCRIPTS_OF_A_SIDE_MAX || config->instance_max < 1 ||
        config->call_ms < 1 || config->call_ms > 1000 || config->tick_ms < 1 ||
        config->tick_ms > 1000 || config->loads_per_tick < 1 || config->tick_rate < 1) {
        return STATUS_RANGE;
    }
    const size_t bytes = block_bytes(config);
    void *block = heap_alloc(heap, bytes);
    if (block == NULL) {
        return STATUS_LIMIT;
    }
    Arena arena;
    arena_init_zeroed(&arena, block, bytes);
    ScriptSystem *system = arena_alloc(&arena, sizeof *system);
    ASSERT(system != NULL);
    system->config = *config;
    system->methods = config->world->methods;
    system->rng = rng_make(config->seed, 7);
    system->call_ms_now = config->call_ms;
    remote_costs_init(&system->remotes);
    Status status = fill_block(system, &arena);
    if (status == STATUS_OK) {
        status = vm_create(heap, &config->vm, &system->vm);
    }
    if (status != STATUS_OK) {
        heap_free(heap, block);
        return status;
    }
    vm_set_user(system->vm, system);
    system->lua = vm_main(system->vm);
    if (!memory_protect(system, open_api, system)) {
        script_destroy(heap, system);
        return STATUS_LIMIT;
    }
    *out = system;
    return STATUS_OK;
}

void script_destroy(Heap *heap, ScriptSystem *system)
{
    if (system != NULL) {
        vm_destroy(heap, system->vm);
        heap_free(heap, system); // the system is the first thing in its block
    }
}

bool script_is_dead(const ScriptSystem *system)
{
    return system->is_dead;
}

uint64_t script_ticks(const ScriptSystem *system, double seconds)
{
    // Less than a tick (and NaN) is one tick; a day is the maximum.
    const double ticks = seconds * (double)system->config.tick_rate;
    if (!(ticks >= 1)) {
        return 1;
    }
    const double most = 86400.0 * (double)system->config.tick_rate;
    return (uint64_t)(ticks < most ? ticks + 0.5 : most);
}

// --- instances ----------------------------------------------------------------------------------

Status script_bind(ScriptSystem *system, const InstanceDesc *desc, uint32_t *out)
{
    if (desc->script_id == NULL || desc->script_id[0] == 0) {
        if (desc->enabled) {
            char text[96];
            snprintf(text, sizeof text, "entity %llu has an enabled script without a path; skipped",
                     (unsigned long long)desc->entity);
            account_say(system, LOG_WARN, "scene", text);
        }
        return STATUS_NOT_FOUND;
    }
    const Handle script = script_find(system, desc->script_id);
    if (handle_is_none(script)) {
        return STATUS_NOT_FOUND;
    }
    const Handle handle = pool_acquire(&system->instances);
    Instance *instance = instance_at(system, handle);
    if (instance == NULL) {
        return STATUS_LIMIT;
    }
    instance->script = script;
    instance->entity = desc->entity;
    instance->number = ++system->next_number;
    instance->generation_number = instance->number;
    instance->enabled = desc->enabled;
    instance->start_due = instance->enable_due = true;
    script_set_parameters(system, handle.index, desc->parameters, desc->parameters_bytes,
                          desc->parameters_hash);
    *out = handle.index;
    return STATUS_OK;
}

typedef struct ParametersCall {
    ScriptSystem *system;
    uint32_t slot;
    const char *json;
    size_t bytes;
    const char *hash;
} ParametersCall;

static void set_parameters(void *user)
{
    const ParametersCall *call = user;
    ScriptSystem *system = call->system;
    Instance *instance = pool_at(&system->instances, call->slot);
    const char *json = call->json;
    const char *hash = call->hash;
    if (instance->params_ref != 0 && hash != NULL && strcmp(hash, instance->params_hash) == 0) {
        return;
    }
    char error[SCRIPT_MESSAGE_BYTES];
    bool pushed = false;
    const uint32_t owner = memory_enter(system, instance->script);
    if (json != NULL) {
        pushed = params_push(system->lua, json, call->bytes, error, sizeof error);
        if (!pushed) {
            const Script *script = script_at(system, instance->script);
            char text[SCRIPT_MESSAGE_BYTES + 64];
            snprintf(text, sizeof text, "parameters of entity %llu: %s",
                     (unsigned long long)instance->entity, error);
            account_say(system, LOG_ERROR, script->path, text);
            system->totals.params_failed += 1;
        }
    }
    memory_leave(system, owner);
    if (json != NULL && !pushed && instance->params_ref != 0) {
        return; // the last valid ones stay
    }
    if (!pushed) {
        lua_newtable(system->lua);
    }
    script_forget_ref(system, &instance->params_ref);
    instance->params_ref = luaL_ref(system->lua, LUA_REGISTRYINDEX);
    snprintf(instance->params_hash, sizeof instance->params_hash, "%s",
             pushed && hash != NULL ? hash : "");
}

void script_set_parameters(ScriptSystem *system, uint32_t slot, const char *json, size_t bytes,
                           const char *hash)
{
    ParametersCall call = {system, slot, json, bytes, hash};
    if (pool_is_live(&system->instances, slot)) {
        (void)memory_has_room(system, json != NULL ? bytes : 0);
        (void)!memory_protect(system, set_parameters, &call);
    }
}

void script_replace_parameters(ScriptSystem *system, const char *script_id,
                               bool (*matches)(void *user, uint64_t entity), void *user,
                               const char *json, size_t bytes)
{
    const Handle script = script_find(system, script_id);
    for (uint32_t i = pool_next(&system->instances, 1); i != 0;
         i = pool_next(&system->instances, i + 1)) {
        const Instance *instance = pool_at(&system->instances, i);
        if (handle_equal(instance->script, script) && matches(user, instance->entity)) {
            script_set_parameters(system, i, bytes > 0 ? json : NULL, bytes, NULL);
        }
    }
}

// Pushes the self of hooks: the entity, or nil. Returns 1.
static int push_self(ScriptSystem *system, const Instance *instance)
{
    object_push_entity(system->lua, instance->entity);
    return 1;
}

static void call_hook(ScriptSystem *system, uint32_t slot, ScriptHook hook)
{
    Instance *instance = pool_at(&system->instances, slot);
    const Script *script = script_at(system, instance->script);
    if (script != NULL && script->hook_refs[hook] != 0) {
        const int count = push_self(system, instance);
        hook_call(system, pool_handle(&system->instances, slot), hook, script->hook_refs[hook],
                  count);
    }
}

typedef struct HookCall {
    ScriptSystem *system;
    uint32_t slot;
    ScriptHook hook;
} HookCall;

// For a hook that cannot wait: it runs at once, whatever its script's share, unless the script is
// very deep in debt.
static void run_hook_now(void *user)
{
    const HookCall *call = user;
    ScriptSystem *system = call->system;
    const uint32_t slot = call->slot;
    const ScriptHook hook = call->hook;
    const Instance *instance = pool_at(&system->instances, slot);
    Script *script = script_at(system, instance->script);
    if (script == NULL || script->hook_refs[hook] == 0) {
        return;
    }
    system->ignores_share = true;
    if (share_may_run(system, script)) {
        call_hook(system, slot, hook);
    } else {
        account_dropped(system, script, hook_name(hook));
    }
    system->ignores_share = false;
}

static void call_hook_now(ScriptSystem *system, uint32_t slot, ScriptHook hook)
{
    HookCall call = {system, slot, hook};
    (void)!memory_protect(system, run_hook_now, &call);
}

void script_set_enabled(ScriptSystem *system, uint32_t slot, bool enabled)
{
    if (!pool_is_live(&system->instances, slot)) {
        return;
    }
    Instance *instance = pool_at(&system->instances, slot);
    if (instance->enabled == enabled) {
        return;
    }
    instance->enabled = enabled;
    instance->switch_due = false;
    if (instance->started) {
        call_hook_now(system, slot, enabled ? HOOK_ENABLE : HOOK_DISABLE);
    }
}

void script_silence(ScriptSystem *system, Instance *instance)
{
    ScriptSound forget = {.act = SCRIPT_SOUND_FORGET, .owner = instance->number};
    if (instance->has_sounds) {
        (void)!system->methods->sound(system->config.world, &forget); // counted if it is lost
        instance->has_sounds = false;
    }
}

void script_unbind(ScriptSystem *system, uint32_t slot)
{
    if (!pool_is_live(&system->instances, slot)) {
        return;
    }
    Instance *instance = pool_at(&system->instances, slot);
    const Handle handle = pool_handle(&system->instances, slot);
    if (instance->ending) {
        return;
    }
    instance->ending = true;
    if (instance->started && !system->is_dead) {
        call_hook_now(system, slot, HOOK_DESTROY);
    }
    system->methods->forget(system->config.world, instance->number);
    if (!system->is_dead) {
        schedule_cancel_instance(system, handle);
        script_forget_ref(system, &instance->params_ref);
        system->config.api->forget_handlers(system, handle); // and what it shows disappears
    }
    script_silence(system, instance);
    (void)pool_release(&system->instances, handle);
}

void script_unbind_entity(ScriptSystem *system, uint64_t entity)
{
    for (uint32_t i = pool_next(&system->instances, 1); i != 0 && entity != 0;
         i = pool_next(&system->instances, i + 1)) {
        if (((Instance *)pool_at(&system->instances, i))->entity == entity) {
            script_unbind(system, i);
        }
    }
    object_forget_entity(system, entity);
}

uint32_t script_instance_of(const ScriptSystem *system, uint64_t entity, uint32_t after)
{
    for (uint32_t i = pool_next(&system->instances, after + 1); i != 0;
         i = pool_next(&system->instances, i + 1)) {
        if (((const Instance *)pool_at(&system->instances, i))->entity == entity) {
            return i;
        }
    }
    return 0;
}

void script_call_hook(ScriptSystem *system, uint32_t slot, ScriptHook hook, uint64_t other)
{
    Instance *instance = pool_at(&system->instances, slot);
    const Script *script = script_at(system, instance->script);
    if (script == NULL || script->hook_refs[hook] == 0 || !instance->started ||
        !instance->enabled) {
        return;
    }
    const Handle handle = pool_handle(&system->instances, slot);
    const uint32_t thread = hook_event_thread(system, handle, hook);
    if (thread == 0) {
        return;
    }
    lua_State *lua = thread_at(system, thread)->lua;
    thread_at(system, thread)->trigger_other = other;
    lua_rawgeti(lua, LUA_REGISTRYINDEX, script->hook_refs[hook]);
    object_push_entity(lua, instance->entity);
    object_push_entity(lua, other);
    hook_run(system, thread, 2);
}

// Whether its hooks are known, perhaps while its top level still waits.
static bool may_call(const Script *script)
{
    return script->load == LOAD_DONE || script->load == LOAD_BESIDE;
}

static ExecuteResult execute(ScriptSystem *system, uint32_t slot, ScriptHook hook,
                             uint32_t execution_ms_max, float delta_seconds)
{
    ExecuteResult result = {.ok = false};
    if (!pool_is_live(&system->instances, slot) || (unsigned)hook >= HOOK_HANDLER) {
        snprintf(result.error, sizeof result.error, "there is no such instance or hook");
        return result;
    }
    Instance *instance = pool_at(&system->instances, slot);
    const Handle handle = pool_handle(&system->instances, slot);
    const uint64_t faults = instance->account.fault_count;
    const uint64_t steps = instance->account.step_count;
    const double began = script_now_ms(system);
    system->call_ms_now = execution_ms_max != 0 ? execution_ms_max : system->config.call_ms;
    system->ignores_share = true;
    Script *script = script_at(system, instance->script);
    if (script != NULL) {
        script->share.credit_steps = 0; // the caller wants this call to run
    }
    if (script != NULL && script->load == LOAD_PENDING) {
        script_run_file(system, instance->script, handle);
    }
    if (script != NULL && may_call(script) && hook != HOOK_LOAD) {
        int count = push_self(system, instance);
        if (hook == HOOK_UPDATE) {
            lua_pushnumber(system->lua, (double)delta_seconds);
            count += 1;
        }
        if (hook == HOOK_START) {
            instance->started = true;
            instance->start_due = instance->enable_due = false;
        }
        hook_call(system, handle, hook, script->hook_refs[hook], count);
    }
    system->ignores_share = false;
    system->call_ms_now = system->config.call_ms;
    instance = instance_at(system, handle);
    if (instance != NULL) {
        result.steps = instance->account.step_count - steps;
        result.ok = instance->account.fault_count == faults;
    }
    result.exec_ms = system->config.clock_ms != NULL ? script_now_ms(system) - began
                                                     : (double)result.steps / VM_STEPS_PER_MS;
    if (!result.ok && system->fault_count > 0) {
        const uint32_t last = (system->fault_first + system->fault_count - 1) % SCRIPT_FAULTS_MAX;
        snprintf(result.error, sizeof result.error, "%s", system->faults[last].message);
    }
    return result;
}

typedef struct ExecuteCall {
    ScriptSystem *system;
    uint32_t slot;
    ScriptHook hook;
    uint32_t execution_ms_max;
    float delta_seconds;
    ExecuteResult result;
} ExecuteCall;

static void run_execute(void *user)
{
    ExecuteCall *call = user;
    call->result =
        execute(call->system, call->slot, call->hook, call->execution_ms_max, call->delta_seconds);
}

ExecuteResult script_execute(ScriptSystem *system, uint32_t slot, ScriptHook hook,
                             uint32_t execution_ms_max, float delta_seconds)
{
    ExecuteCall call = {system, slot, hook, execution_ms_max, delta_seconds, {.ok = false}};
    if (!memory_protect(system, run_execute, &call)) {
        snprintf(call.result.error, sizeof call.result.error, "the scripts have no memory left");
    }
    return call.result;
}

// --- what comes from outside --------------------------------------------------------------------

static const uint8_t *keep_bytes(ScriptSystem *system, const void *data, size_t bytes)
{
    uint8_t *kept = system->event_data + system->event_data_bytes;
    if (bytes > 0) {
        memcpy(kept, data, bytes);
    }
    system->event_data_bytes += bytes;
    return kept;
}

Status script_event(ScriptSystem *system, const ScriptEvent *event)
{
    const size_t bytes = event->name.bytes + event->payload_bytes;
    if (system->event_count == SCRIPT_EVENTS_MAX ||
        bytes > SCRIPT_EVENT_DATA_MAX - system->event_data_bytes) {
        system->totals.events_dropped += 1;
        return STATUS_LIMIT;
    }
    ScriptEvent kept = *event;
    kept.name.data = (const char *)keep_bytes(system, event->name.data, event->name.bytes);
    kept.payload = keep_bytes(system, event->payload, event->payload_bytes);
    system->events[system->event_count++] = kept;
    system->joins_pending += event->type == SCRIPT_EVENT_PLAYER_ADDED;
    return STATUS_OK;
}

void script_drop_messages(ScriptSystem *system,
                          void (*dropped)(void *user, const ScriptEvent *event), void *user)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < system->event_count; i++) {
        if (system->events[i].type == SCRIPT_EVENT_MESSAGE) {
            dropped(user, &system->events[i]);
        } else {
            system->events[kept++] = system->events[i];
        }
    }
    system->event_count = kept;
    system->event_data_bytes = kept > 0 ? system->event_data_bytes : 0;
}

bool script_join_is_pending(const ScriptSystem *system, uint64_t player_id)
{
    for (uint32_t i = system->events_told; system->joins_pending > 0 && i < system->event_count;
         i++) {
        const ScriptEvent *event = &system->events[i];
        if (event->type == SCRIPT_EVENT_PLAYER_ADDED && event->player_id == player_id) {
            return true;
        }
    }
    return false;
}

typedef struct AnswerCall {
    ScriptSystem *system;
    Handle waiting;
    bool ok;
    const uint8_t *bytes;
    size_t count;
} AnswerCall;

// With (true, values…) or (false, message).
static void wake_with_answer(void *user)
{
    const AnswerCall *call = user;
    ScriptSystem *system = call->system;
    const Handle waiting = call->waiting;
    const bool ok = call->ok;
    const uint8_t *bytes = call->bytes;
    const size_t count = call->count;
    lua_State *thread = system->lua;
    const int before = lua_gettop(thread);
    const Thread *asking = pool_find(&system->threads, waiting);
    const uint32_t owner = memory_enter(system, asking != NULL ? asking->script : HANDLE_NONE);
    int pushed = 0;
    lua_pushboolean(thread, ok);
    if (!ok) {
        lua_pushlstring(thread, (const char *)bytes,
                        count < SCRIPT_MESSAGE_BYTES ? count : SCRIPT_MESSAGE_BYTES);
        pushed = 1;
    } else {
        const Status status = value_read(thread, bytes, count, &pushed);
        if (status != STATUS_OK) {
            lua_settop(thread, before);
            lua_pushboolean(thread, 0);
            lua_pushliteral(thread, "the answer cannot be read");
            pushed = 1;
        }
    }
    memory_leave(system, owner);
    schedule_wake(system, waiting, pushed + 1);
}

Status script_complete(ScriptSystem *system, uint64_t request_id, bool ok, const uint8_t *bytes,
                       size_t count)
{
    for (uint32_t i = pool_next(&system->threads, 1); i != 0 && request_id != 0;
         i = pool_next(&system->threads, i + 1)) {
        const Thread *thread = thread_at(system, i);
        if (thread->state != THREAD_WAITING || thread->request_id != request_id) {
            continue;
        }
        AnswerCall call = {system, pool_handle(&system->threads, i), ok, bytes, count};
        static const char full[] = "there is no memory for the answer";
        if (!memory_has_room(system, count)) {
            call.ok = false;
            call.bytes = (const uint8_t *)full;
            call.count = sizeof full - 1;
        }
        return memory_protect(system, wake_with_answer, &call) ? STATUS_OK : STATUS_LIMIT;
    }
    return STATUS_NOT_FOUND;
}

// Whether a handler of something that this player caused waits for its share of time.
static bool handler_waits(const ScriptSystem *system, uint64_t player_id)
{
    for (uint32_t i = 0; i < system->deferred_count; i++) {
        if (system->deferred[i].cause.player_id == player_id) {
            return true;
        }
    }
    for (uint32_t i = 0; i < system->ready_script_count; i++) {
        const Script *script = pool_at(&system->scripts, system->ready_scripts[i]);
        for (uint32_t slot = script->share.ready_first; slot != 0;
             slot = thread_at(system, slot)->ready_after) {
            if (thread_at(system, slot)->cause.player_id == player_id) {
                return true;
            }
        }
    }
    return false;
}

// The first body of a player comes in the same tick as the player. Spawned (and what happens to the
// body next) waits until the handlers of PlayerAdded have run, so that those which connect to it
// there are called.
static bool must_hold(const ScriptSystem *system, uint32_t at)
{
    const ScriptEvent *event = &system->events[at];
    if ((event->type != SCRIPT_EVENT_RESPAWNED && event->type != SCRIPT_EVENT_DIED) ||
        event->player_id == 0 || event->held_ticks >= SCRIPT_SPAWN_HELD_TICKS) {
        return false;
    }
    if (event->held_ticks > 0 && handler_waits(system, event->player_id)) {
        return true;
    }
    for (uint32_t i = 0; i < at; i++) {
        const ScriptEvent *before = &system->events[i];
        if (before->player_id == event->player_id &&
            (before->is_held || before->type == SCRIPT_EVENT_PLAYER_ADDED)) {
            return true;
        }
    }
    return false;
}

// Moves what is left to the front: the events that were held, and those that were fed meanwhile.
static void keep_events(ScriptSystem *system, uint32_t told)
{
    uint32_t kept = 0;
    size_t bytes = 0;
    for (uint32_t i = 0; i < system->event_count; i++) {
        const ScriptEvent event = system->events[i];
        if (i >= told || event.is_held) {
            bytes += event.name.bytes + event.payload_bytes;
            system->events[kept++] = event;
        }
    }
    system->event_count = kept;
    system->event_data_bytes = bytes > 0 ? system->event_data_bytes : 0; // held ones have none
}

static void run_events(ScriptSystem *system)
{
    // Handlers may cause new events (in a local loop): they belong to the next tick.
    const uint32_t count = system->event_count;
    for (uint32_t i = 0; i < count && !system->is_dead; i++) {
        ScriptEvent *event = &system->events[i];
        system->events_told = i + 1;
        system->joins_pending -= event->type == SCRIPT_EVENT_PLAYER_ADDED;
        event->is_held = must_hold(system, i);
        event->held_ticks += event->is_held;
        if (event->is_held) {
            continue;
        }
        system->cause = blame_cause(system, event);
        if (memory_has_room(system, event->payload_bytes)) {
            system->config.api->event(system, event);
        } else {
            system->totals.events_dropped += 1;
        }
    }
    system->cause = (Cause){0};
    system->events_told = 0;
    keep_events(system, count);
}

// --- the tick -----------------------------------------------------------------------------------

// The argument of onReload: the globals of the previous version, or the table it returned if this
// version's hook is in its returned table too.
static void push_old(ScriptSystem *system, const Script *script)
{
    const int ref = script->reload_is_exported ? script->old_module_ref : script->old_ref;
    lua_rawgeti(system->lua, LUA_REGISTRYINDEX, ref); // nil for 0
    if (!lua_istable(system->lua, -1)) {
        lua_pop(system->lua, 1);
        lua_newtable(system->lua);
    }
}

// Only parts with a listener report touches.
void script_watch_touch(ScriptSystem *system, uint64_t net_id)
{
    PartData data;
    ScriptWorld *world = system->config.world;
    if (system->methods->side == SCRIPT_SERVER &&
        system->methods->part_data(world, net_id, &data) == STATUS_OK &&
        (data.flags & PART_TRIGGER) == 0) {
        data.flags |= PART_TRIGGER;
        (void)system->methods->set_part_data(world, net_id, &data);
    }
}

// While the top level still waits, onStart and onEnable may come with what it defines later.
static void call_due(ScriptSystem *system, uint32_t slot, ScriptHook hook, bool *due)
{
    const Instance *instance = pool_at(&system->instances, slot);
    const Script *script = script_at(system, instance->script);
    const bool is_there = script->hook_refs[hook] != 0;
    const bool calls = *due && is_there;
    *due = *due && !is_there && script->load == LOAD_BESIDE;
    if (calls && hook == HOOK_RELOAD) {
        push_old(system, script);
        hook_call(system, pool_handle(&system->instances, slot), HOOK_RELOAD,
                  script->hook_refs[HOOK_RELOAD], 1);
    } else if (calls) {
        call_hook(system, slot, hook);
    }
}

static void start_one(ScriptSystem *system, uint32_t slot)
{
    Instance *instance = pool_at(&system->instances, slot);
    Script *script = script_at(system, instance->script);
    if (script == NULL || !may_call(script) || !instance->enabled) {
        return;
    }
    const Handle handle = pool_handle(&system->instances, slot);
    const bool reloads = instance->reloaded && script->hook_refs[HOOK_RELOAD] != 0;
    const ScriptHook hook = reloads ? HOOK_RELOAD : HOOK_START;
    if (script->hook_refs[hook] != 0 && instance->start_due && !share_may_run(system, script)) {
        return;
    }
    if (script->hook_refs[HOOK_TOUCH] != 0) {
        script_watch_touch(system, instance->entity);
    }
    instance->started = true;
    instance->enable_due = instance->enable_due && !reloads; // it went on being switched on
    call_due(system, slot, hook, &instance->start_due);
    if (instance_at(system, handle) == instance && script_at(system, instance->script) != NULL) {
        instance->reloaded = instance->reloaded && instance->start_due;
        call_due(system, slot, HOOK_ENABLE, &instance->enable_due);
    }
}

// What scripts have switched on or off meanwhile.
static void run_switches(ScriptSystem *system)
{
    if (!system->enable_is_due) {
        return;
    }
    system->enable_is_due = false;
    for (uint32_t i = pool_next(&system->instances, 1); i != 0 && !system->is_dead;
         i = pool_next(&system->instances, i + 1)) {
        const Instance *instance = pool_at(&system->instances, i);
        if (instance->switch_due) {
            script_set_enabled(system, i, !instance->enabled);
        }
    }
}

static void run_starts(ScriptSystem *system)
{
    for (uint32_t i = pool_next(&system->instances, 1); i != 0 && !system->is_dead;
         i = pool_next(&system->instances, i + 1)) {
        const Instance *instance = pool_at(&system->instances, i);
        if (!instance->started || instance->start_due || instance->enable_due) {
            start_one(system, i);
        }
    }
}

// Whether onUpdate is still to be called in this tick.
static bool may_update(ScriptSystem *system, const Instance *instance, Script *script)
{
    return instance->started && instance->enabled && script->hook_refs[HOOK_UPDATE] != 0 &&
           instance->update_tick != system->tick && account_may_run(system, script);
}

static void update_one(ScriptSystem *system, uint32_t slot)
{
    Instance *instance = pool_at(&system->instances, slot);
    Script *script = script_at(system, instance->script);
    if (script == NULL || !may_update(system, instance, script)) {
        return;
    }
    if (!share_may_run(system, script)) {
        system->update_missed = system->update_missed != 0 ? system->update_missed : slot;
        return;
    }
    // One that was skipped gets the time it missed.
    const uint64_t ticks = instance->missed_updates + 1u;
    instance->missed_updates = 0;
    instance->update_tick = system->tick;
    const int count = push_self(system, instance);
    lua_pushnumber(system->lua, (double)ticks / (double)system->config.tick_rate);
    hook_call(system, pool_handle(&system->instances, slot), HOOK_UPDATE,
              script->hook_refs[HOOK_UPDATE], count + 1);
}

// Begins with the first that had no turn in the previous tick.
static void run_updates(ScriptSystem *system)
{
    uint32_t slot = pool_next(&system->instances, system->update_next);
    system->update_missed = 0;
    for (uint32_t seen = system->instances.count; seen > 0 && !system->is_dead; seen--) {
        if (slot == 0) {
            slot = pool_next(&system->instances, 1);
        }
        if (slot == 0) {
            break;
        }
        update_one(system, slot);
        slot = pool_next(&system->instances, slot + 1);
    }
}

// After the last round: instances without a turn get the time of this tick later.
static void count_missed_updates(ScriptSystem *system)
{
    system->update_next = system->update_missed != 0 ? system->update_missed : 1;
    if (system->update_missed == 0) {
        return;
    }
    for (uint32_t i = pool_next(&system->instances, 1); i != 0;
         i = pool_next(&system->instances, i + 1)) {
        Instance *instance = pool_at(&system->instances, i);
        Script *script = script_at(system, instance->script);
        if (script != NULL && script->share.used_tick == system->tick && script->share.waits &&
            may_update(system, instance, script)) {
            instance->missed_updates += 1;
            account_update_skipped(system, script, instance);
        }
    }
}

static void run_tick(void *user)
{
    ScriptSystem *system = user;
    uint32_t loads_left = system->config.loads_per_tick;
    share_begin(system);
    do {
        script_run_loads(system, &loads_left);
        if (system->round_count == 0) {
            run_events(system);
        }
        run_starts(system);
        schedule_run(system);
        run_updates(system);
        signal_run(system);
        schedule_run(system); // threads that signals woke
        run_switches(system);
    } while (share_next_round(system));
    share_end(system);
    count_missed_updates(system);
    signal_count_again(system);
    vm_collect(system->vm, 64);
}

void script_tick(ScriptSystem *system, double unix_seconds, double world_seconds)
{
    if (!system->is_dead) {
        system->tick += 1;
        vm_set_time(system->vm, unix_seconds, world_seconds);
        (void)!memory_protect(system, run_tick, system);
    }
}
