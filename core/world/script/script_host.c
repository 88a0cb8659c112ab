// The scripts of a world: those that the owner sends before the first tick or stages for a reload,
// those that run here, and what clients get of them.
// Every script is stored as a rune, even if it came as source, so there is one path for all. The
// service in its path decides where it runs and whether anything of it may leave the server;
// scripts in ServerScriptService are never named to a client. A path in no known service is
// rejected.
#include "core/world/script/script_host_inside.h"

#include "core/base/sha256.h"
#include "core/base/text.h"
#include "core/script/api/script_api.h"
#include "core/script/rune/rune.h"

#include <string.h>

static const Service SERVICES[SERVICE_COUNT] = {
    [SERVICE_SERVER_SCRIPT] = {SERVICE_SERVER_SCRIPT, false, true, false, CONTEXT_SERVER},
    [SERVICE_REPLICATED_STORAGE] = {SERVICE_REPLICATED_STORAGE, true, true, false, CONTEXT_BOTH},
    [SERVICE_WORKSPACE] = {SERVICE_WORKSPACE, true, true, true, CONTEXT_BOTH},
    [SERVICE_STARTER_GUI] = {SERVICE_STARTER_GUI, true, false, true, CONTEXT_CLIENT},
    [SERVICE_STARTER_PLAYER] = {SERVICE_STARTER_PLAYER, true, false, true, CONTEXT_CLIENT},
    [SERVICE_REPLICATED_FIRST] = {SERVICE_REPLICATED_FIRST, true, false, true, CONTEXT_CLIENT},
};

// --- creation -----------------------------------------------------------------------------------

// Room for that many more bytes of runes. False: it cannot be, or the heap is frozen.
static bool bytes_grow(ScriptHost *host, size_t more)
{
    Heap *heap = host->config.heap;
    const size_t need = host->bytes_used + more;
    if (need <= host->bytes_capacity) {
        return true;
    }
    if (need > HOST_BYTES_MAX || heap->frozen) {
        return false;
    }
    size_t capacity = 2 * host->bytes_capacity;
    capacity = capacity < need ? need : capacity;
    capacity = capacity < HOST_BYTES_MAX ? capacity : HOST_BYTES_MAX;
    uint8_t *bytes = heap_alloc(heap, capacity);
    if (bytes == NULL) {
        return false;
    }
    if (host->bytes_used > 0) {
        memcpy(bytes, host->bytes, host->bytes_used);
    }
    heap_free(heap, host->bytes);
    host->bytes = bytes;
    host->bytes_capacity = capacity;
    return true;
}

// The same; before the world has started also for a second set, which a reload would bring: later
// the heap is frozen.
static bool bytes_reserve(ScriptHost *host, size_t more)
{
    const size_t again = host->bytes_used + HOST_BYTES_BEGIN / 2;
    return (!host->config.run->started && bytes_grow(host, 2 * more + again)) ||
           bytes_grow(host, more);
}

static Status create_scripts(ScriptHost *host)
{
    Heap *heap = host->config.heap;
    const uint32_t slots = path_index_slots(HOST_SCRIPTS_MAX);
    host->scripts = heap_alloc(heap, heap_array_bytes(HOST_SCRIPTS_MAX, sizeof(HostScript)));
    host->order = heap_alloc(heap, heap_array_bytes(HOST_SCRIPTS_MAX, sizeof *host->order));
    uint32_t *now = heap_alloc(heap, heap_array_bytes(slots, sizeof *now));
    uint32_t *staged = heap_alloc(heap, heap_array_bytes(slots, sizeof *staged));
    host->index.slots = now; // freed with the host, whatever fails
    host->staged_index.slots = staged;
    Status status = script_manifest_create(host);
    if (status == STATUS_OK) {
        status = script_parameters_create(host);
    }
    if (host->scripts == NULL || host->order == NULL || now == NULL || staged == NULL ||
        !bytes_grow(host, HOST_BYTES_BEGIN) || status != STATUS_OK) {
        return STATUS_LIMIT;
    }
    path_index_init(&host->index, now, slots, host->scripts, sizeof(HostScript));
    path_index_init(&host->staged_index, staged, slots, host->scripts, sizeof(HostScript));
    ScriptConfig config = host->config.script;
    config.world = authority_world(host->config.authority);
    config.api = &script_api;
    config.tick_rate = host->config.clock->tick_rate;
    config.log = config.log != NULL ? config.log : host->config.log;
    return script_create(heap, &config, &host->system);
}

Status script_host_create(const ScriptHostConfig *config, ScriptHost **out)
{
    ScriptHost *host = heap_alloc(config->heap, sizeof *host);
    if (host == NULL) {
        return STATUS_LIMIT;
    }
    host->config = *config;
    Status status = remote_create(host);
    if (status == STATUS_OK) {
        status = client_cost_create(host);
    }
    if (status == STATUS_OK) {
        status = client_verdict_create(host);
    }
    if (status == STATUS_OK) {
        status = script_sound_create(host);
    }
    if (status == STATUS_OK) {
        status = transfer_create(host);
    }
    if (status == STATUS_OK && config->has_scripts) {
        status = create_scripts(host);
    }
    if (status != STATUS_OK) {
        script_host_destroy(host);
        return status;
    }
    *out = host;
    return STATUS_OK;
}

void script_host_destroy(ScriptHost *host)
{
    if (host == NULL) {
        return;
    }
    Heap *heap = host->config.heap;
    script_destroy(heap, host->system);
    script_bound_destroy(host);
    script_parameters_destroy(host);
    script_manifest_destroy(host);
    heap_free(heap, host->bytes);
    heap_free(heap, host->staged_index.slots);
    heap_free(heap, host->index.slots);
    heap_free(heap, host->order);
    heap_free(heap, host->scripts);
    transfer_destroy(host);
    client_verdict_destroy(host);
    script_sound_destroy(host);
    client_cost_destroy(host);
    remote_destroy(host);
    heap_free(heap, host);
}

ScriptSystem *script_host_system(ScriptHost *host)
{
    return host->system;
}

void script_host_forget(ScriptHost *host, const Session *session)
{
    remote_forget(host, session);
    transfer_forget(host, session);
    script_sound_forget(host, session);
}

// --- paths --------------------------------------------------------------------------------------

static const Service *service_of(const char *path)
{
    const ScriptService service = script_path_service(path, strlen(path));
    return service == SERVICE_COUNT ? NULL : &SERVICES[service];
}

// The plain path, terminated; false: it is not a path.
static bool copy_path(Text path, char to[SCRIPT_PATH_BYTES])
{
    const Text from = script_path_plain(path);
    if (from.bytes < 1 || from.bytes >= SCRIPT_PATH_BYTES ||
        !text_is_valid(from.data, from.bytes)) {
        return false;
    }
    for (size_t i = 0; i < from.bytes; i++) {
        if ((uint8_t)from.data[i] < 0x20 || from.data[i] == 0x7f || from.data[i] == '\\') {
            return false;
        }
    }
    memcpy(to, from.data, from.bytes);
    to[from.bytes] = 0;
    return true;
}

static HostScript *find_in(const ScriptHost *host, const PathIndex *index, Text path)
{
    const uint32_t number = path_index_find(index, path);
    return number == PATH_INDEX_NONE ? NULL : &host->scripts[number];
}

static bool replicates(const HostScript *script)
{
    return script->service->replicates && script->context != CONTEXT_SERVER;
}

static bool runs_here(const HostScript *script)
{
    return script->service->runs_here && script->context != CONTEXT_CLIENT;
}

bool script_host_is_sent(const HostScript *script)
{
    return replicates(script) && script->byte_count > 0;
}

const HostScript *script_host_after(const ScriptHost *host, Text path)
{
    const HostScript *script = find_in(host, &host->staged_index, path);
    return script != NULL ? script : find_in(host, &host->index, path);
}

bool script_host_at(const ScriptHost *host, uint32_t number, HostRune *out)
{
    if (number >= host->script_count || !script_host_is_sent(&host->scripts[number])) {
        return false;
    }
    const HostScript *script = &host->scripts[number];
    *out = (HostRune){.path = script->path,
                      .bytes = host->bytes + script->offset,
                      .byte_count = script->byte_count,
                      .packed = host->bytes + script->offset + script->byte_count,
                      .packed_count = script->packed_count,
                      .packing = script->packing,
                      .number = number};
    memcpy(out->hash, script->hash, sizeof out->hash);
    return true;
}

bool script_host_find(const ScriptHost *host, Text path, HostRune *out)
{
    if (host->system == NULL) {
        return false;
    }
    const uint32_t number = path_index_find(&host->index, script_path_plain(path));
    return number != PATH_INDEX_NONE && script_host_at(host, number, out);
}

// --- coming in ----------------------------------------------------------------------------------

static Status write_rune(ScriptHost *host, const Entry *entry, HostScript *script)
{
    const bool is_source = (entry->flags & ENTRY_SOURCE) != 0;
    if (!bytes_reserve(host, is_source ? RUNE_BYTES_MAX : entry->byte_count)) {
        return STATUS_LIMIT;
    }
    uint8_t *to = host->bytes + host->bytes_used;
    const size_t room = host->bytes_capacity - host->bytes_used;
    if (is_source) {
        char error[SCRIPT_MESSAGE_BYTES];
        const CompileRequest request = {.script_id = script->path,
                                        .code = (const char *)entry->bytes,
                                        .code_bytes = entry->byte_count};
        const Status status =
            script_make_rune(host->system, &request, to, room, &script->byte_count, error);
        if (status != STATUS_OK) {
            log_write(host->config.log, host->config.clock->tick, LOG_ERROR, "script", "%s",
                      error[0] != 0 ? error : status_text(status));
        }
        return status;
    }
    Rune rune;
    const Status status = rune_check(entry->bytes, entry->byte_count, &rune);
    if (status != STATUS_OK) {
        return status;
    }
    if (entry->byte_count > room) {
        return STATUS_LIMIT;
    }
    memcpy(to, entry->bytes, entry->byte_count);
    script->byte_count = entry->byte_count;
    return STATUS_OK;
}

// Counts what clients will have with this script, instead of the one that it replaces. False: that
// is too much.
static bool count_sent(ScriptHost *host, const HostScript *script)
{
    const HostScript *old = find_in(host, &host->index, text_from(script->path));
    const bool was_sent = old != NULL && script_host_is_sent(old);
    const bool is_sent = script_host_is_sent(script);
    const uint32_t count = host->sent_count - was_sent + is_sent;
    const size_t bytes =
        host->sent_bytes - (was_sent ? old->byte_count : 0) + (is_sent ? script->byte_count : 0);
    if (is_sent && (count > MANIFEST_SCRIPTS_MAX || bytes > MANIFEST_RUNES_BYTES)) {
        return false;
    }
    host->sent_count = count;
    host->sent_bytes = bytes;
    return true;
}

// A place may restrict where a script runs, never widen it.
static bool set_context(HostScript *script, uint64_t wanted)
{
    const RunContext own = script->service->context;
    if (wanted > entry_context(CONTEXT_BOTH)) {
        return false;
    }
    script->context = wanted == ENTRY_CONTEXT_SERVICE ? own : (RunContext)(wanted - 1);
    return script->context == own || own == CONTEXT_BOTH;
}

// The last rune again, packed, for clients that can unpack it. It cannot be checked here; the
// client that unpacks it compares the hash.
static Status add_packed(ScriptHost *host, const Entry *entry, const char *path)
{
    HostScript *last =
        host->staged_count > 0 ? &host->scripts[host->script_count + host->staged_count - 1] : NULL;
    if (last == NULL || strcmp(last->path, path) != 0 || last->packed_count > 0 ||
        !script_host_is_sent(last)) {
        return STATUS_NOT_FOUND;
    }
    if (entry->number == 0 || entry->number > UINT32_MAX) {
        return STATUS_RANGE;
    }
    if (entry->byte_count == 0 || !bytes_reserve(host, entry->byte_count)) {
        return STATUS_LIMIT;
    }
    ASSERT(last->offset + last->byte_count == host->bytes_used);
    memcpy(host->bytes + host->bytes_used, entry->bytes, entry->byte_count);
    last->packed_count = entry->byte_count;
    last->packing = (uint32_t)entry->number;
    host->bytes_used += entry->byte_count;
    return STATUS_OK;
}

Status script_host_add(ScriptHost *host, const Entry *entry)
{
    if (host->system == NULL) {
        return STATUS_OK; // this world runs no scripts
    }
    HostScript script = {0};
    if (!copy_path((Text){entry->name, entry->name_bytes}, script.path)) {
        return STATUS_MALFORMED;
    }
    script.service = service_of(script.path);
    if (script.service == NULL) {
        log_write(host->config.log, host->config.clock->tick, LOG_ERROR, "script",
                  "%s is in no service; use " SCRIPT_SERVICES_TEXT, script.path);
        return STATUS_MALFORMED;
    }
    const bool is_packed = (entry->flags & ENTRY_PACKED) != 0;
    if ((!is_packed && !set_context(&script, entry->number)) ||
        ((entry->flags & ENTRY_REPLICATE) != 0 && !replicates(&script))) {
        return STATUS_DENIED;
    }
    if (host->reload_waits && (host->config.run->started || host->signed_next.is_set)) {
        return STATUS_BLOCKED; // the staged scripts are about to be applied, and may be signed
    }
    if (is_packed) {
        return add_packed(host, entry, script.path);
    }
    if (host->script_count + host->staged_count == HOST_SCRIPTS_MAX) {
        return STATUS_LIMIT;
    }
    if (find_in(host, &host->staged_index, text_from(script.path)) != NULL) {
        return STATUS_EXISTS;
    }
    if (entry->byte_count > 0) {
        const Status status = write_rune(host, entry, &script);
        if (status != STATUS_OK) {
            return status;
        }
    }
    if (!count_sent(host, &script)) {
        return STATUS_LIMIT;
    }
    script.offset = host->bytes_used;
    sha256_of(host->bytes + script.offset, script.byte_count, script.hash);
    host->bytes_used += script.byte_count;
    const uint32_t number = host->script_count + host->staged_count++;
    host->scripts[number] = script;
    (void)path_index_put(&host->staged_index, number);
    return STATUS_OK;
}

// The signed manifest must be the newest: a stored version must not be newer, because raising it
// would need a new signature.
static Status take_signed(ScriptHost *host, const Entry *entry, uint64_t version)
{
    const WorldClock *clock = host->config.clock;
    const uint64_t stored =
        host->config.run->started ? 0 : save_manifest_version(host->config.saves);
    if (version <= stored) {
        log_write(host->config.log, clock->tick, LOG_ERROR, "script",
                  "manifest %llu was signed, and an earlier life of this world had %llu",
                  (unsigned long long)version, (unsigned long long)stored);
        return STATUS_RANGE;
    }
    const Status status = script_manifest_take(host, entry->bytes, entry->byte_count, version);
    if (status != STATUS_OK) {
        log_write(host->config.log, clock->tick, LOG_ERROR, "script",
                  "the manifest cannot be used: %s", status_text(status));
    }
    return status;
}

Status script_host_reload(ScriptHost *host, const Entry *entry)
{
    if (host->system == NULL) {
        return STATUS_OK;
    }
    const uint64_t version =
        entry->number != 0 ? entry->number : host->config.run->manifest_version + 1ull;
    // Versions only rise; before the first tick the owner may set the first one.
    if (version > UINT32_MAX || version < host->config.run->manifest_version ||
        (host->config.run->started && version == host->config.run->manifest_version)) {
        return STATUS_RANGE;
    }
    const Status status = entry->byte_count > 0 ? take_signed(host, entry, version) : STATUS_OK;
    if (status != STATUS_OK) {
        return status;
    }
    if (entry->byte_count == 0) {
        script_manifest_clear_next(host);
    }
    host->reload_version = (uint32_t)version;
    host->reload_waits = true;
    return STATUS_OK;
}

static void recount_sent(ScriptHost *host)
{
    host->sent_count = 0;
    host->sent_bytes = 0;
    for (uint32_t i = 0; i < host->script_count; i++) {
        const HostScript *script = &host->scripts[i];
        host->sent_count += script_host_is_sent(script);
        host->sent_bytes += script_host_is_sent(script) ? script->byte_count : 0;
    }
}

// A reload that waits for the next tick is complete, and stays.
void script_host_unstage(ScriptHost *host)
{
    if (host->system == NULL || host->reload_waits) {
        return;
    }
    size_t used = 0;
    for (uint32_t i = 0; i < host->script_count; i++) {
        const HostScript *script = &host->scripts[i];
        const size_t end = script->offset + script->byte_count + script->packed_count;
        used = end > used ? end : used;
    }
    host->bytes_used = used;
    host->staged_count = 0;
    path_index_clear(&host->staged_index);
    recount_sent(host);
    script_parameters_unstage(host);
}

Status script_host_stored(ScriptHost *host, const Entry *entry)
{
    const bool ok = (entry->flags & ENTRY_OK) != 0;
    return host->system == NULL ? STATUS_NOT_FOUND
                                : script_complete(host->system, entry->number / 2, ok, entry->bytes,
                                                  entry->byte_count);
}

// --- taking over --------------------------------------------------------------------------------

static void load(ScriptHost *host, const HostScript *script, bool reload)
{
    const uint8_t *rune = host->bytes + script->offset;
    const Status status =
        reload ? script_reload_rune(host->system, script->path, rune, script->byte_count)
               : script_load_rune(host->system, script->path, rune, script->byte_count);
    if (status != STATUS_OK) {
        host->load_failed += 1;
        script_trial_load_failed(host, script->path, status);
        log_write(host->config.log, host->config.clock->tick, LOG_ERROR, "script",
                  "%s was not loaded: %s", script->path, status_text(status));
    }
}

static void bind(ScriptHost *host, const char *path, uint64_t entity, Text parameters, bool enabled)
{
    const InstanceDesc desc = {.script_id = path,
                               .entity = entity,
                               .enabled = enabled,
                               .parameters = parameters.bytes > 0 ? parameters.data : NULL,
                               .parameters_bytes = parameters.bytes};
    uint32_t instance = 0;
    const Status status = script_bind(host->system, &desc, &instance);
    if (status != STATUS_OK) {
        host->load_failed += 1;
        log_write(host->config.log, host->config.clock->tick, LOG_ERROR, "script",
                  "%s was not bound: %s", path, status_text(status));
    }
}

void script_host_bind(ScriptHost *host, const PlaceBinding *binding, uint64_t net_id,
                      const char *only)
{
    char path[SCRIPT_PATH_BYTES];
    if (binding->script_path.bytes == 0 || !copy_path(binding->script_path, path) ||
        (only != NULL && strcmp(path, only) != 0)) {
        return;
    }
    ScriptEntityInfo info;
    ScriptWorld *script_world = authority_world(host->config.authority);
    if (script_world->methods->entity(script_world, net_id, &info)) {
        bind(host, path, net_id, script_parameters_of(host, net_id, binding->parameters),
             binding->enabled);
    }
}

// For everything that the place binds; `only` one script, or NULL for all.
static void bind_places(ScriptHost *host, const char *only)
{
    const Place *place = host->config.place;
    for (uint32_t i = 0; i < place->binding_count; i++) {
        script_host_bind(host, &place->bindings[i], place->bindings[i].net_id, only);
    }
    const uint64_t first = (uint64_t)scene_part_count(place->scene) + 1;
    for (uint32_t i = 0; i < place->entity_count; i++) {
        script_host_bind(host, &place->entities[i].binding, first + i, only);
    }
    if (only != NULL) {
        script_bound_again(host, only);
    }
}

static bool is_server_script(const HostScript *script)
{
    return script->service == &SERVICES[SERVICE_SERVER_SCRIPT];
}

static void take_script(ScriptHost *host, const HostScript *staged, bool first)
{
    const bool known = find_in(host, &host->index, text_from(staged->path)) != NULL;
    if (!runs_here(staged)) {
        return;
    }
    if (staged->byte_count == 0) {
        script_invalidate(host->system, staged->path);
        return;
    }
    load(host, staged, known);
    if (!known && is_server_script(staged)) {
        bind(host, staged->path, 0, (Text){"", 0}, true);
    } else if (!known && !first) {
        bind_places(host, staged->path);
    }
}

// Staged scripts replace those of the same path, which keep their place in the order; the bytes of
// replaced ones are freed.
static void merge_staged(ScriptHost *host)
{
    HostScript *staged = &host->scripts[host->script_count];
    const uint32_t staged_count = host->staged_count;
    uint32_t fresh = 0;
    for (uint32_t i = 0; i < staged_count; i++) {
        const HostScript script = staged[i];
        HostScript *old = find_in(host, &host->index, text_from(script.path));
        if (old != NULL) {
            *old = script;
        } else {
            staged[fresh++] = script; // fresh is at most i
        }
    }
    const uint32_t all = host->script_count + fresh;
    uint32_t kept = 0;
    for (uint32_t i = 0; i < all; i++) {
        if (host->scripts[i].byte_count > 0) {
            host->scripts[kept++] = host->scripts[i];
        }
    }
    host->script_count = kept;
    host->staged_count = 0;
    path_index_fill(&host->index, 0, kept);
    path_index_clear(&host->staged_index);
}

// Shell sort: no memory, and quick enough for thousands that are almost in order.
void script_host_order(ScriptHost *host, uint32_t count,
                       bool (*is_after)(const HostScript *a, const HostScript *b))
{
    static const uint32_t gaps[] = {1750, 701, 301, 132, 57, 23, 10, 4, 1};
    uint32_t *order = host->order;
    for (uint32_t g = 0; g < sizeof gaps / sizeof gaps[0]; g++) {
        for (uint32_t i = gaps[g]; i < count; i++) {
            const uint32_t number = order[i];
            uint32_t at = i;
            while (at >= gaps[g] &&
                   is_after(&host->scripts[order[at - gaps[g]]], &host->scripts[number])) {
                order[at] = order[at - gaps[g]];
                at -= gaps[g];
            }
            order[at] = number;
        }
    }
}

static bool lies_after(const HostScript *a, const HostScript *b)
{
    return a->offset > b->offset;
}

// Moves the runes down over the gaps, lowest first.
static void pack_bytes(ScriptHost *host)
{
    size_t used = 0;
    for (uint32_t i = 0; i < host->script_count; i++) {
        host->order[i] = i;
    }
    script_host_order(host, host->script_count, lies_after);
    for (uint32_t i = 0; i < host->script_count; i++) {
        HostScript *next = &host->scripts[host->order[i]];
        ASSERT(next->offset >= used);
        const size_t block = next->byte_count + next->packed_count;
        memmove(host->bytes + used, host->bytes + next->offset, block);
        next->offset = used;
        used += block;
    }
    host->bytes_used = used;
}

// `first`: the place's bindings follow when all scripts are loaded.
static void take_over(ScriptHost *host, bool first)
{
    // Modules first, so that scripts that require them get the new ones.
    for (uint32_t pass = 0; pass < 2; pass++) {
        for (uint32_t i = 0; i < host->staged_count; i++) {
            const HostScript *staged = &host->scripts[host->script_count + i];
            const bool module = staged->service == &SERVICES[SERVICE_REPLICATED_STORAGE];
            if (module == (pass == 0)) {
                take_script(host, staged, first);
            }
        }
    }
    merge_staged(host);
    pack_bytes(host);
    transfer_forget_scripts(host);
    if (host->reload_waits) {
        host->config.run->manifest_version = host->reload_version;
    }
    if (host->reload_waits || first) {
        script_manifest_switch(host);
        client_verdict_switch(host);
        host->reload_waits = false;
    }
}

void script_host_start(ScriptHost *host)
{
    if (host->config.run->manifest_version == 0) {
        host->config.run->manifest_version = 1;
    }
    if (host->system == NULL) {
        return;
    }
    if (host->reload_waits && host->reload_version < host->config.run->manifest_version) {
        host->reload_version = host->config.run->manifest_version; // an earlier run was further
    }
    take_over(host, true);
    bind_places(host, NULL);
}

// --- what clients are told ----------------------------------------------------------------------

void script_host_welcome(ScriptHost *host, Session *session)
{
    if (host->system != NULL) {
        script_parameters_send(host, session);
        script_bound_send(host, session);
        script_manifest_send(host, session);
        client_verdict_begin(host, session);
    }
    script_sound_forget(host, session); // its client is new
}

static void announce_reload(ScriptHost *host)
{
    Sessions *sessions = host->config.sessions;
    const MessageScriptReload reload = {.version = host->config.run->manifest_version,
                                        .at_tick = host->config.clock->tick + 1};
    for (uint32_t i = 0; i < sessions->high; i++) {
        Session *session = session_at(sessions, i);
        if (session->state == SESSION_PLAYING) {
            session_send(sessions, session, MESSAGE_SCRIPT_RELOAD, &reload);
            script_host_welcome(host, session);
        }
    }
}

// The client has the rune: it may run the script now. After a reload nobody waits for this.
static void send_execute(ScriptHost *host, Session *session, const HostScript *script)
{
    if (!script->service->executes) {
        return; // modules run by require
    }
    const MessageScriptExecute execute = {.script_path = text_from(script->path),
                                          .run_context =
                                              text_from(run_context_names[script->context]),
                                          .at_tick = host->config.clock->tick};
    session_send(host->config.sessions, session, MESSAGE_SCRIPT_EXECUTE, &execute);
}

// False: clients have no such script.
static bool take_verdict(ScriptHost *host, Session *session, const WireScriptVerdict *verdict)
{
    HostRune rune;
    if (!script_host_find(host, verdict->script_path, &rune)) {
        return false;
    }
    if (!verdict->success) {
        host->verify_failed += 1;
        client_verdict_take(host, session, rune.number, false);
        log_write(host->config.log, host->config.clock->tick, LOG_WARN, "script",
                  "player %llu could not verify %s: %.*s", (unsigned long long)session->player,
                  rune.path, (int)verdict->reason.bytes, verdict->reason.data);
    } else if (memcmp(rune.hash, verdict->hash.bytes, sizeof rune.hash) == 0) {
        client_verdict_take(host, session, rune.number, true);
        send_execute(host, session, &host->scripts[rune.number]);
    } // else it is of the set before, which a reload has replaced meanwhile
    return true;
}

void script_host_verify(ScriptHost *host, Session *session, uint32_t seq,
                        const MessageScriptVerify *command)
{
    Sessions *sessions = host->config.sessions;
    const WireScriptVerdict verdict = {.script_path = command->script_path,
                                       .hash = command->hash,
                                       .success = command->success,
                                       .reason = command->reason};
    if (!session_rate(sessions, session, seq, RATE_SCRIPT)) {
        return;
    }
    if (!take_verdict(host, session, &verdict)) {
        session_deny(sessions, session, seq, STATUS_NOT_FOUND, "The manifest has no such script.");
        return;
    }
    session_ack(sessions, session, seq, 0);
}

void script_host_verify_list(ScriptHost *host, Session *session, uint32_t seq,
                             const MessageScriptVerifyList *command)
{
    Sessions *sessions = host->config.sessions;
    uint32_t unknown = 0;
    if (!session_rate(sessions, session, seq, RATE_SCRIPT)) {
        return;
    }
    for (uint32_t i = 0; i < command->scripts_count; i++) {
        unknown += !take_verdict(host, session, &command->scripts[i]);
    }
    if (command->scripts_count == 0 || unknown > 0) {
        session_deny(sessions, session, seq, unknown > 0 ? STATUS_NOT_FOUND : STATUS_RANGE,
                     unknown > 0 ? "The manifest does not have all of these scripts."
                                 : "Name a script of the manifest.");
        return;
    }
    session_ack(sessions, session, seq, 0);
}

// --- the tick -----------------------------------------------------------------------------------

// Like authority_feed, except for the paths in prefabs, which are written as in scenes.
static void feed(ScriptHost *host)
{
    Authority *authority = host->config.authority;
    ScriptWorld *script_world = authority_world(authority);
    authority_collect(authority);
    uint32_t count = 0;
    const AuthorityBind *binds = authority_binds(authority, &count);
    for (uint32_t i = 0; i < count; i++) {
        const Prefab *prefab = binds[i].prefab;
        char path[SCRIPT_PATH_BYTES];
        ScriptEntityInfo info;
        if (copy_path(text_from(prefab->script_path), path) &&
            script_world->methods->entity(script_world, binds[i].net_id, &info)) {
            const uint32_t number = (uint32_t)(prefab - host->config.place->prefabs.prefabs);
            const Text own = {prefab->parameters, prefab->parameters_bytes};
            bind(host, path, binds[i].net_id, script_parameters_of_prefab(host, number, own), true);
        }
    }
    authority_binds_clear(authority);
    script_bound_run(host);
    authority_feed(authority, host->system);
}

static void say_dead(ScriptHost *host)
{
    if (host->dead_told) {
        return;
    }
    host->dead_told = true;
    static const char reason[] = "the scripts have used up their memory";
    log_write(host->config.log, host->config.clock->tick, LOG_ERROR, "script", "%s", reason);
    const Command stop = {
        .type = COMMAND_STOP, .bytes = (const uint8_t *)reason, .byte_count = sizeof reason - 1};
    if (save_command(host->config.saves, &stop) != STATUS_OK) {
        host->dead_told = false; // again in the next tick
    }
}

void script_host_run(ScriptHost *host)
{
    const WorldClock *clock = host->config.clock;
    if (host->system == NULL) {
        return;
    }
    if (host->reload_waits) {
        script_trial_begin(host);
        remote_forget_waiting(host);
        take_over(host, false);
        script_parameters_switch(host);
        announce_reload(host);
    }
    if (script_is_dead(host->system)) {
        say_dead(host);
        return;
    }
    feed(host);
    const double world_seconds = (double)clock->tick / (double)clock->tick_rate;
    script_tick(host->system, (double)clock->unix_ms / 1000.0, world_seconds);
    script_trial_tick(host);
}

void script_host_events(ScriptHost *host)
{
    Authority *authority = host->config.authority;
    if (host->system != NULL && !script_is_dead(host->system)) {
        feed(host);
        return;
    }
    uint32_t count = 0;
    authority_collect(authority);
    (void)authority_events(authority, &count);
    authority_events_take(authority, count);
    authority_binds_clear(authority);
}

// --- effects ------------------------------------------------------------------------------------

static void to_one_or_all(ScriptHost *host, uint64_t player, uint8_t number, const void *body,
                          const ReplicatorEvent *where)
{
    Sessions *sessions = host->config.sessions;
    if (player == 0) {
        event_broadcast(sessions, number, body, where);
        return;
    }
    const Session *session = session_of_player(sessions, player);
    if (session != NULL && session->state == SESSION_PLAYING) {
        (void)!event_send(sessions, session, number, body,
                          where); // counted by the replicator
    }
}

static void effect_chat_said(ScriptHost *host, const Effect *effect)
{
    const MessageChatSaid said = {.name = {"", 0},
                                  .text = {effect->text.data, (uint32_t)effect->text.bytes}};
    to_one_or_all(host, effect->player_id, MESSAGE_CHAT_SAID, &said, NULL);
}

static Vec3 inside_extent(Vec3 at)
{
    const float most = (float)WORLD_EXTENT_M;
    return vec3_min(vec3_max(at, vec3(-most, -most, -most)), vec3(most, most, most));
}

static void effect_shown(ScriptHost *host, const Effect *effect)
{
    const Moment *moment = &effect->moment;
    const MessageEffect shown = {.beam = moment->kind == MOMENT_BEAM,
                                 .effect = moment->effect,
                                 .position = inside_extent(moment->position),
                                 .to = inside_extent(moment->to),
                                 .colour = moment->colour,
                                 .size = moment->size,
                                 .seconds = moment->seconds};
    const ReplicatorEvent where = {.has_position = true, .position = shown.position};
    to_one_or_all(host, effect->player_id, MESSAGE_EFFECT, &shown, &where);
}

static void effect_store_asked(ScriptHost *host, const Effect *effect)
{
    const Command command = {.type = COMMAND_STORE, .store = effect->store};
    if (save_command(host->config.saves, &command) != STATUS_OK && host->system != NULL) {
        static const char busy[] =
            "too many requests to the store wait (256 of a world, and half of them of one script); "
            "put "
            "task.wait() between them, or store one table instead of many keys";
        (void)!script_complete(host->system, effect->store.request_id, false, (const uint8_t *)busy,
                               sizeof busy - 1);
    }
}

// The session ends once all effects are read (life_kicks): a script's last message comes before.
static void effect_kicked(ScriptHost *host, const Effect *effect)
{
    Session *session = session_of_player(host->config.sessions, effect->player_id);
    if (session == NULL || session->is_kicked) {
        return; // the first reason counts
    }
    session->is_kicked = true;
    _Static_assert(KICK_REASON_BYTES_MAX < SESSION_REASON_BYTES, "it fits");
    ASSERT(effect->text.bytes < sizeof session->kick_reason);
    memcpy(session->kick_reason, effect->text.data, effect->text.bytes);
    session->kick_reason[effect->text.bytes] = '\0';
}

// Informs the script if a part of its last effect was dropped.
static void tell_lost(ScriptHost *host, uint64_t before)
{
    const Replicator *replicator = host->config.sessions->config.replicator;
    const uint64_t lost = replicator_stats(replicator).events_dropped - before;
    if (lost > 0 && host->system != NULL) {
        script_effects_lost(host->system, host->config.run->effect_maker, lost);
    }
}

void script_host_effects(ScriptHost *host)
{
    const Replicator *replicator = host->config.sessions->config.replicator;
    uint32_t count = 0;
    const Effect *effects = authority_effects(host->config.authority, &count);
    for (uint32_t i = 0; i < count; i++) {
        const uint64_t lost_before = replicator_stats(replicator).events_dropped;
        host->config.run->effect_maker = effects[i].maker;
        switch (effects[i].type) {
        case EFFECT_MESSAGE:
            remote_down(host, &effects[i].message);
            break;
        case EFFECT_CHAT:
            effect_chat_said(host, &effects[i]);
            break;
        case EFFECT_SOUND:
            script_sound_play(host, &effects[i]);
            break;
        case EFFECT_MOMENT:
            effect_shown(host, &effects[i]);
            break;
        case EFFECT_STORE:
            effect_store_asked(host, &effects[i]);
            break;
        case EFFECT_KICK:
            effect_kicked(host, &effects[i]);
            break;
        }
        tell_lost(host, lost_before);
    }
    host->config.run->effect_maker = 0;
    authority_effects_clear(host->config.authority);
    script_sound_tick(host);
}

void script_host_hash(const ScriptHost *host, Hash64 *hash)
{
    hash_u64(hash, host->config.run->manifest_version);
    hash_u64(hash, host->script_count);
    hash_u64(hash, host->staged_count);
    for (uint32_t i = 0; i < host->script_count + host->staged_count; i++) {
        hash_bytes(hash, host->scripts[i].hash, sizeof host->scripts[i].hash);
    }
    hash_u64(hash, host->reload_waits);
    if (host->signed_now.is_set) {
        hash_bytes(hash, host->signed_now.signature, sizeof host->signed_now.signature);
    }
    script_parameters_hash(host, hash);
    script_bound_hash(host, hash);
    script_trial_hash(host, hash);
    script_sound_hash(host, hash);
}
