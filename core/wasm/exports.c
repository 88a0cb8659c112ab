// The flat interface of core.wasm: what a page or its worker calls. Handles are addresses; texts
// and bytes are an address and a length; a result is at the returned address, its length at
// resultBytes(), until the next call. Numbers that need more than 32 bits (times, ids) are doubles,
// which hold every net id and tick exactly. docs/ARCHITECTURE.md lists the functions.
// It contains no rules: each function is a call of client.h, world.h or local_host.h. Functions for
// drawing are in exports_draw.c.
#include "core/base/check.h"
#include "core/base/json_member.h"
#include "core/base/json_read.h"
#include "core/script/check/check_place.h"
#include "core/script/rune/rune_unpack.h"
#include "core/wasm/exports_inside.h"
#include "core/wasm/packed_files.h"
#include "core/world/local/local_host.h"

#include <stdio.h>
#include <string.h>

#define HEAP_BYTES_MAX (1ull << 30)
#define TEXT_BYTES     (1u << 20) // of all wants, with the longest paths
#define LOG_LINES      64
#define WANTS_MAX      2002 // a scene, a manifest and all its scripts

// A module instance is one process: this is its only state.
static struct {
    Heap heap;
    bool ready;
    size_t result_bytes;
    char error[JSON_ERROR_TEXT_BYTES + 160];
    uint8_t text[TEXT_BYTES];
    _Alignas(16) uint8_t scratch[EXPORTS_SCRATCH_BYTES];
    double numbers[EXPORTS_NUMBERS_MAX];
    LogSink log;
    LogEvent lines[LOG_LINES]; // a ring
    uint32_t line_first, line_count;
    uint8_t *kept;      // of the last worldKeep
    RuneUnpack *unpack; // made when it is first asked for, and kept
    PackedFiles packed;
} module;

static void keep_line(void *user, const LogEvent *event)
{
    (void)user;
    if (module.line_count == LOG_LINES) {
        module.line_first = (module.line_first + 1) % LOG_LINES;
        module.line_count -= 1;
    }
    module.lines[(module.line_first + module.line_count) % LOG_LINES] = *event;
    module.line_count += 1;
}

static Heap *heap(void)
{
    if (!module.ready) {
        module.heap = heap_make(HEAP_BYTES_MAX);
        module.log = (LogSink){.write = keep_line, .level_min = LOG_INFO};
        module.ready = true;
    }
    return &module.heap;
}

const void *exports_result(const void *data, size_t bytes)
{
    module.result_bytes = bytes;
    return data;
}

double *exports_numbers(void)
{
    return module.numbers;
}

void *exports_scratch(void)
{
    return module.scratch;
}

static void keep_error(const char *text)
{
    snprintf(module.error, sizeof module.error, "%s", text);
}

EXPORT("alloc") void *export_alloc(uint32_t bytes)
{
    return heap_alloc(heap(), bytes);
}

EXPORT("release") void export_release(void *block)
{
    heap_free(heap(), block);
}

EXPORT("resultBytes") uint32_t export_result_bytes(void)
{
    return (uint32_t)module.result_bytes;
}

// Why the last failed call failed.
EXPORT("errorText") const void *export_error_text(void)
{
    return exports_result(module.error, strlen(module.error));
}

// The oldest line of the log, "warn script: …", or 0 when there is none.
EXPORT("logLine") const void *export_log_line(void)
{
    if (module.line_count == 0) {
        return NULL;
    }
    const LogEvent *event = &module.lines[module.line_first];
    module.line_first = (module.line_first + 1) % LOG_LINES;
    module.line_count -= 1;
    const int bytes = snprintf((char *)module.text, TEXT_BYTES, "%s %s: %s",
                               log_level_name(event->level), event->area, event->text);
    return exports_result(module.text, (size_t)bytes);
}

JsonWriter exports_begin_json(ByteWriter *writer)
{
    *writer = byte_writer(module.text, TEXT_BYTES);
    return json_writer(writer, 0);
}

const void *exports_end_json(JsonWriter *json, const ByteWriter *writer)
{
    return json_writer_finish(json) == STATUS_OK ? exports_result(module.text, writer->at) : NULL;
}

// --- a world ------------------------------------------------------------------------------------

// False: see errorText.
static bool read_files(const uint8_t *packed, uint32_t bytes)
{
    const char *wrong = packed_files_read(packed, bytes, &module.packed);
    if (wrong != NULL) {
        keep_error(wrong);
    }
    return wrong == NULL;
}

static LocalHost *load(const uint8_t *packed, uint32_t bytes, LocalHostConfig config)
{
    if (!read_files(packed, bytes)) {
        return NULL;
    }
    config.log = heap() != NULL ? &module.log : NULL;
    LocalHost *host = NULL;
    PlaceError error;
    const Status status =
        local_host_create(heap(), &config, module.packed.files, module.packed.count, &host, &error);
    if (status != STATUS_OK) {
        place_error_text(&error, module.error, sizeof module.error);
        return NULL;
    }
    return host;
}

// 0 on failure.
EXPORT("loadScene") LocalHost *export_load_scene(const uint8_t *packed, uint32_t bytes)
{
    return load(packed, bytes, local_host_config_default());
}

// The same of a place that is compiled already (editCompile): of the files place.json and the
// scripts are needed. `kept` and `runes`: of the world that this one replaces (worldKeep,
// worldRunes); 0 bytes: none. Runes run as they are: they never come from outside of the page.
EXPORT("loadCompiled")
LocalHost *export_load_compiled(const uint8_t *packed, uint32_t bytes, const uint8_t *compiled,
                                uint32_t compiled_bytes, const uint8_t *kept, uint32_t kept_bytes,
                                const uint8_t *runes, uint32_t rune_bytes)
{
    LocalHostConfig config = local_host_config_default();
    config.compiled = compiled;
    config.compiled_bytes = compiled_bytes;
    config.kept = kept_bytes > 0 ? kept : NULL;
    config.kept_bytes = kept_bytes;
    config.runes = rune_bytes > 0 ? runes : NULL;
    config.rune_bytes = rune_bytes;
    return load(packed, bytes, config);
}

typedef void (*WriteKept)(const LocalHost *host, ByteWriter *writer);

static const void *give_kept(const LocalHost *host, WriteKept write)
{
    ByteWriter counter = byte_counter();
    write(host, &counter);
    heap_free(heap(), module.kept);
    module.kept = heap_alloc(heap(), counter.at + 1);
    if (module.kept == NULL) {
        keep_error("there is not enough memory");
        return NULL;
    }
    ByteWriter writer = byte_writer(module.kept, counter.at);
    write(host, &writer);
    return writer.status == STATUS_OK ? exports_result(module.kept, writer.at) : NULL;
}

// What a world that replaces this one begins with: its rows, and what scripts stored.
EXPORT("worldKeep") const void *export_world_keep(LocalHost *host)
{
    local_host_save(host);
    return give_kept(host, local_host_keep);
}

// The runes of its scripts, for loadCompiled in the same page.
EXPORT("worldRunes") const void *export_world_runes(LocalHost *host)
{
    return give_kept(host, local_host_runes);
}

// What a build says about the script that is the first of the files, as JSON (check_place_json). Of
// the others place.json is read, and the names of the scripts. 0 on failure.
EXPORT("checkScript") const void *export_check_script(const uint8_t *packed, uint32_t bytes)
{
    if (!read_files(packed, bytes)) {
        return NULL;
    }
    ByteWriter writer = byte_writer(module.scratch, EXPORTS_SCRATCH_BYTES);
    const Status status =
        check_place_json(heap(), module.packed.files, module.packed.count,
                         module.packed.count > 0 ? module.packed.paths[0] : "", &writer);
    if (status != STATUS_OK) {
        keep_error(status == STATUS_UNSUPPORTED ? "only Lua scripts can be checked here"
                                                : status_text(status));
        return NULL;
    }
    return exports_result(module.scratch, writer.at);
}

// 0: done while it runs; 1: the world was made anew, connect again; -1: refused, see errorText.
EXPORT("applyDiff") int32_t export_apply_diff(LocalHost *host, const char *json, uint32_t bytes)
{
    bool remade = false;
    PlaceError error;
    if (local_host_apply_diff(host, json, bytes, &remade, &error) != STATUS_OK) {
        place_error_text(&error, module.error, sizeof module.error);
        return -1;
    }
    return remade ? 1 : 0;
}

// 0: done; 1: it cannot be done while it is played, the world must be made anew; -1: refused, see
// errorText.
EXPORT("worldEdit") int32_t export_world_edit(LocalHost *host, const char *json, uint32_t bytes)
{
    PlaceError error;
    const Status status = local_host_edit(host, json, bytes, &error);
    if (status == STATUS_OK) {
        return 0;
    }
    if (status == STATUS_NOT_FOUND || status == STATUS_LIMIT || status == STATUS_UNSUPPORTED ||
        status == STATUS_EXISTS) {
        return 1;
    }
    place_error_text(&error, module.error, sizeof module.error);
    return -1;
}

EXPORT("worldDestroy") void export_world_destroy(LocalHost *host)
{
    local_host_destroy(host);
}

// The stripped scene, as clients fetch it.
EXPORT("worldScene") const void *export_world_scene(const LocalHost *host)
{
    size_t bytes;
    const uint8_t *scene = local_host_scene(host, &bytes);
    return exports_result(scene, bytes);
}

// Any entry as bytes (core/world/entry/entry.h). Returns the status.
EXPORT("worldEnter")
int32_t export_world_enter(LocalHost *host, const uint8_t *data, uint32_t bytes)
{
    ByteReader reader = byte_reader(data, bytes);
    Entry entry;
    Status status = entry_read(&reader, &entry);
    if (status == STATUS_OK) {
        status = byte_reader_finish(&reader);
    }
    return (int32_t)(status == STATUS_OK ? local_host_enter(host, &entry) : status);
}

EXPORT("worldTick") void export_world_tick(LocalHost *host, double unix_ms)
{
    const double sane = unix_ms >= 0 && unix_ms < 9.0e15 ? unix_ms : 0;
    const Entry entry = {.type = ENTRY_TICK, .number = (uint64_t)sane};
    status_ignore(local_host_enter(host, &entry));
}

EXPORT("worldConnect")
int32_t export_world_connect(LocalHost *host, uint32_t connection, int32_t json)
{
    const Entry entry = {
        .type = ENTRY_CONNECT, .flags = json != 0 ? ENTRY_JSON : 0, .connection = connection};
    return (int32_t)local_host_enter(host, &entry);
}

EXPORT("worldDisconnect") int32_t export_world_disconnect(LocalHost *host, uint32_t connection)
{
    const Entry entry = {.type = ENTRY_DISCONNECT, .connection = connection};
    return (int32_t)local_host_enter(host, &entry);
}

EXPORT("worldMessage")
int32_t export_world_message(LocalHost *host, uint32_t connection, const uint8_t *data,
                             uint32_t bytes)
{
    const Entry entry = {
        .type = ENTRY_MESSAGE, .connection = connection, .bytes = data, .byte_count = bytes};
    return (int32_t)local_host_enter(host, &entry);
}

// The oldest message for a connection, or 0; worldOutputTake goes on to the next.
EXPORT("worldOutput") const void *export_world_output(LocalHost *host, uint32_t connection)
{
    const uint8_t *bytes;
    size_t count;
    return world_output(local_host_world(host), connection, &bytes, &count)
               ? exports_result(bytes, count)
               : NULL;
}

EXPORT("worldOutputTake") void export_world_output_take(LocalHost *host, uint32_t connection)
{
    world_output_take(local_host_world(host), connection);
}

EXPORT("worldClosing") double export_world_closing(LocalHost *host)
{
    return (double)world_closing(local_host_world(host));
}

EXPORT("worldHash") uint64_t export_world_hash(LocalHost *host)
{
    return world_hash(local_host_world(host));
}

EXPORT("worldStats") const void *export_world_stats(LocalHost *host)
{
    const WorldStats stats = world_stats(local_host_world(host));
    ByteWriter writer;
    JsonWriter json = exports_begin_json(&writer);
    json_write_object_begin(&json);
    json_member_count(&json, "tick", stats.tick);
    json_member_count(&json, "players", stats.players);
    json_member_count(&json, "sessions", stats.sessions);
    json_member_count(&json, "snapshots", stats.snapshots);
    json_member_count(&json, "bytesDown", stats.bytes_down);
    json_member_count(&json, "bytesUp", stats.bytes_up);
    json_member_count(&json, "inputsLate", stats.inputs_late);
    json_member_count(&json, "corrections", stats.corrections);
    json_member_count(&json, "correctionsWithoutCause", stats.corrections_without_cause);
    json_write_object_end(&json);
    return exports_end_json(&json, &writer);
}

static const void *write_faults(ScriptSystem *scripts)
{
    static ScriptFault faults[16];
    const uint32_t count = scripts == NULL ? 0 : script_faults(scripts, faults, 16);
    ByteWriter writer;
    JsonWriter json = exports_begin_json(&writer);
    json_write_array_begin(&json);
    for (uint32_t i = 0; i < count; i++) {
        json_write_object_begin(&json);
        json_write_name(&json, "path");
        json_write_text(&json, faults[i].path);
        json_write_name(&json, "file");
        json_write_text(&json, faults[i].file);
        json_member_count(&json, "line", faults[i].line);
        json_write_name(&json, "message");
        json_write_text(&json, faults[i].message);
        json_member_count(&json, "tick", faults[i].tick);
        json_write_object_end(&json);
    }
    json_write_array_end(&json);
    return exports_end_json(&json, &writer);
}

// Faults of the server's scripts since the last call, as a list of
// {"path","line","message","tick"}.
EXPORT("worldFaults") const void *export_world_faults(LocalHost *host)
{
    return write_faults(world_scripts(local_host_world(host)));
}

// --- a client -----------------------------------------------------------------------------------

static void read_text_member(const JsonNode *root, const char *name, char *out, size_t capacity,
                             JsonError *error)
{
    const JsonNode *node = json_find(root, name);
    if (node != NULL) {
        const char *text = json_read_text(node, (uint32_t)capacity - 1, error);
        snprintf(out, capacity, "%s", text != NULL ? text : "");
    }
}

static RuneUnpack *rune_unpacker(void)
{
    if (module.unpack == NULL && rune_unpack_create(heap(), &module.unpack) != STATUS_OK) {
        module.unpack = NULL; // runes are then fetched uncompressed
    }
    return module.unpack;
}

static Status unpack(void *user, const char *path, const uint8_t *packed, size_t packed_bytes,
                     uint8_t *rune, size_t rune_bytes)
{
    return rune_unpack(user, path, packed, packed_bytes, rune, rune_bytes);
}

// The number of the packing format that can be unpacked here; 0: none.
EXPORT("packing") double export_packing(void)
{
    const RuneUnpack *unpacker = rune_unpacker();
    return unpacker != NULL ? rune_unpack_number(unpacker) : 0;
}

// A JSON object: ticket, session_token, playerId, name, resumeToken, visibleMax, scripts,
// ownerFetches, ownerVerifies; all optional. 0 on failure.
EXPORT("clientCreate") Client *export_client_create(const char *text, uint32_t bytes)
{
    ClientConfig config = client_config_default();
    Arena arena;
    arena_init(&arena, module.scratch, EXPORTS_SCRATCH_BYTES);
    const JsonConfig parse = json_config_default(&arena);
    const JsonNode *root;
    JsonError error = {0};
    if (json_parse(&parse, text, bytes, &root, &error) == STATUS_OK) {
        read_text_member(root, "ticket", config.ticket, sizeof config.ticket, &error);
        read_text_member(root, "session_token", config.session_token, sizeof config.session_token,
                         &error);
        read_text_member(root, "playerId", config.player_id, sizeof config.player_id, &error);
        read_text_member(root, "name", config.name, sizeof config.name, &error);
        read_text_member(root, "resumeToken", config.resume_token, sizeof config.resume_token,
                         &error);
        const JsonNode *visible = json_find(root, "visibleMax");
        if (visible != NULL) {
            config.visible_max = (uint32_t)json_read_integer(visible, 1, NET_SLOTS_MAX, &error);
        }
        const JsonNode *scripts = json_find(root, "scripts");
        config.scripts = scripts != NULL && json_read_bool(scripts, &error);
        const JsonNode *fetches = json_find(root, "ownerFetches");
        config.owner_fetches = fetches != NULL && json_read_bool(fetches, &error);
        const JsonNode *verifies = json_find(root, "ownerVerifies");
        config.owner_verifies = verifies != NULL && json_read_bool(verifies, &error);
    }
    if (config.scripts && rune_unpacker() != NULL) {
        config.packing = rune_unpack_number(module.unpack);
        config.unpack = unpack;
        config.unpack_user = module.unpack;
    }
    config.view.ui_bytes_max = UI_WAITING_BYTES;
    config.log = heap() != NULL ? &module.log : NULL;
    config.script.log = config.log;
    Client *client = NULL;
    if (error.status != STATUS_OK) {
        json_error_text(&error, module.error);
    } else if (client_create(heap(), &config, &client) != STATUS_OK) {
        keep_error("there is no memory for a client");
        client = NULL;
    }
    return client;
}

EXPORT("clientDestroy") void export_client_destroy(Client *client)
{
    client_destroy(heap(), client);
}

EXPORT("clientConnect") void export_client_connect(Client *client, double now_ms)
{
    client_connect(client, now_ms);
}

// A terminated text. 0: it is too long.
EXPORT("clientSetTicket")
int32_t export_client_set_ticket(Client *client, const char *ticket)
{
    return client_set_ticket(client, ticket) ? 1 : 0;
}

EXPORT("clientReceive")
void export_client_receive(Client *client, double now_ms, const uint8_t *bytes, uint32_t count)
{
    client_receive(client, now_ms, bytes, count);
}

EXPORT("clientDisconnected") void export_client_disconnected(Client *client)
{
    client_disconnected(client);
}

EXPORT("clientOutput") const void *export_client_output(const Client *client)
{
    const uint8_t *bytes;
    size_t count;
    return client_output(client, &bytes, &count) ? exports_result(bytes, count) : NULL;
}

EXPORT("clientOutputTake") void export_client_output_take(Client *client)
{
    client_output_take(client);
}

EXPORT("clientState") int32_t export_client_state(const Client *client)
{
    return (int32_t)client_state(client);
}

EXPORT("clientResumeToken") const void *export_client_resume_token(const Client *client)
{
    const char *token = client_resume_token(client);
    return exports_result(token, strlen(token));
}

EXPORT("clientClosedReason") const void *export_client_closed_reason(const Client *client)
{
    const char *reason = client_closed_reason(client);
    return exports_result(reason, strlen(reason));
}

// The session ended because this page and the world were built from different versions.
EXPORT("clientOutdated") int32_t export_client_outdated(const Client *client)
{
    return client_is_outdated(client);
}

static void write_want(JsonWriter *json, const ClientWant *want)
{
    static const char *const kinds[] = {[CLIENT_WANT_SCENE] = "scene",
                                        [CLIENT_WANT_MANIFEST] = "manifest",
                                        [CLIENT_WANT_RUNE] = "rune"};
    char hex[65];
    for (uint32_t i = 0; i < 32; i++) {
        snprintf(hex + i * 2, 3, "%02x", want->hash[i]);
    }
    json_write_object_begin(json);
    json_write_name(json, "kind");
    json_write_text(json, kinds[want->kind]);
    json_write_name(json, "scene");
    json_write_bool(json, want->kind == CLIENT_WANT_SCENE);
    json_write_name(json, "hash");
    json_write_text(json, hex);
    json_member_count(json, "bytes", want->bytes);
    json_write_name(json, "path");
    json_write_text(json, want->path);
    json_member_count(json, "priority", (uint64_t)want->priority);
    json_write_name(json, "fromHost");
    json_write_bool(json, want->from_host);
    json_write_object_end(json);
}

// What is missing, the most urgent first: a list of at most `most` objects with `kind`
// ("scene", "manifest", "rune"), `hash`, `bytes`, `path`, `priority` (0 before the world appears, 1
// needed, 2 a script waits for it), `fromHost` (it came damaged: neither from a cache nor from a
// cdn).
EXPORT("clientWants") const void *export_client_wants(const Client *client, uint32_t most)
{
    static ClientWant wants[WANTS_MAX];
    const uint32_t count = client_wants(client, wants, most < WANTS_MAX ? most : WANTS_MAX);
    ByteWriter writer;
    JsonWriter json = exports_begin_json(&writer);
    json_write_array_begin(&json);
    for (uint32_t i = 0; i < count; i++) {
        write_want(&json, &wants[i]);
    }
    json_write_array_end(&json);
    return exports_end_json(&json, &writer);
}

// The index-th of them; 0 past the last.
EXPORT("clientWant") const void *export_client_want(const Client *client, uint32_t index)
{
    ClientWant want;
    if (!client_want(client, index, &want)) {
        return NULL;
    }
    ByteWriter writer;
    JsonWriter json = exports_begin_json(&writer);
    write_want(&json, &want);
    return exports_end_json(&json, &writer);
}

// How far the fetching is (ClientProgress), as JSON.
EXPORT("clientFetchProgress") const void *export_client_fetch_progress(const Client *client)
{
    const ClientProgress progress = client_fetch_progress(client);
    ByteWriter writer;
    JsonWriter json = exports_begin_json(&writer);
    json_write_object_begin(&json);
    json_member_count(&json, "bytesHere", progress.bytes_here);
    json_member_count(&json, "bytesWanted", progress.bytes_wanted);
    json_member_count(&json, "scriptsHere", progress.scripts_here);
    json_member_count(&json, "scriptsWanted", progress.scripts_wanted);
    json_member_count(&json, "scriptsLater", progress.scripts_later);
    json_member_count(&json, "scriptsRefused", progress.scripts_refused);
    json_member_count(&json, "inFlight", progress.in_flight);
    json_write_name(&json, "firstIsRunning");
    json_write_bool(&json, progress.first_is_running);
    json_write_name(&json, "fetching");
    json_write_text(&json, progress.fetching);
    json_member_count(&json, "change", progress.change);
    json_write_object_end(&json);
    return exports_end_json(&json, &writer);
}

// A number that changes whenever clientWants would give something else.
EXPORT("clientWantsChange") uint32_t export_client_wants_change(const Client *client)
{
    return client_wants_change(client);
}

// What was fetched for a hash (the first 32 bytes), uncompressed: client_give_for.
EXPORT("clientGiveFor")
int32_t export_client_give_for(Client *client, const uint8_t *bytes, uint32_t count)
{
    return (int32_t)(count < 32 ? STATUS_MALFORMED
                                : client_give_for(client, bytes, bytes + 32, count - 32));
}

// The thing of this hash (32 bytes) cannot be fetched by the page: the world is asked for it.
EXPORT("clientFetchOneOverWire")
int32_t export_client_fetch_one_over_wire(Client *client, const uint8_t *hash, uint32_t count)
{
    return count == 32 && client_fetch_one_over_wire(client, hash);
}

// Whatever of it is missing, by its own hash.
EXPORT("clientGive")
int32_t export_client_give(Client *client, const uint8_t *bytes, uint32_t count)
{
    return (int32_t)client_give(client, bytes, count);
}

// The rune of a hash (the first 32 bytes), packed as packing() says.
EXPORT("clientGivePacked")
int32_t export_client_give_packed(Client *client, const uint8_t *bytes, uint32_t count)
{
    return (int32_t)(count < 32 ? STATUS_MALFORMED
                                : client_give_packed(client, bytes, bytes + 32, count - 32));
}

// A manifest to verify: u32 version (little-endian), 64 bytes of signature, then the text that must
// have been signed; 0: there is none.
EXPORT("clientProof") const void *export_client_proof(const Client *client)
{
    ClientProof proof;
    if (!client_proof(client, &proof)) {
        return NULL;
    }
    ByteWriter writer = byte_writer(module.scratch, EXPORTS_SCRATCH_BYTES);
    byte_write_u32(&writer, proof.version);
    byte_write_bytes(&writer, proof.signature, 64);
    byte_write_bytes(&writer, proof.text, proof.text_bytes);
    return writer.status == STATUS_OK ? exports_result(module.scratch, writer.at) : NULL;
}

EXPORT("clientVerified")
void export_client_verified(Client *client, uint32_t version, int32_t good)
{
    client_verified(client, version, good != 0);
}

// What clientWant lists cannot be fetched: it is requested over the wire.
EXPORT("clientFetchOverWire") void export_client_fetch_over_wire(Client *client)
{
    client_fetch_over_wire(client);
}

EXPORT("clientProgress") double export_client_progress(const Client *client)
{
    return (double)client_progress(client);
}

EXPORT("clientInput")
void export_client_input(Client *client, double move_x, double move_z, double yaw, double pitch,
                         uint32_t buttons, double turn_seen)
{
    const ClientInput input = {(float)move_x, (float)move_z, (float)yaw,
                               (float)pitch,  buttons,       turn_seen};
    client_set_input(client, &input);
}

EXPORT("clientUpdate") void export_client_update(Client *client, double now_ms)
{
    client_update(client, now_ms);
}

// Any command, as the JSON of docs/PROTOCOL.md; v and seq in it are not used. The number that the
// answer will name, or 0: see errorText.
EXPORT("clientSend") uint32_t export_client_send(Client *client, const char *text, uint32_t bytes)
{
    Arena arena;
    arena_init(&arena, module.scratch, EXPORTS_SCRATCH_BYTES);
    Message message;
    MessageJsonError error = {0};
    if (message_from_json(text, bytes, MESSAGE_UP, &arena, &message, &error) != STATUS_OK) {
        char where[JSON_ERROR_TEXT_BYTES];
        json_error_text(&error.where, where);
        snprintf(module.error, sizeof module.error, "%s: %s",
                 error_name(error.code != ERROR_NONE ? error.code : ERROR_MALFORMED), where);
        return 0;
    }
    return client_send(client, message.number, message.body);
}

// The next event or answer, as the JSON of its message with "tick" before it, or 0.
EXPORT("clientEvent") const void *export_client_event(Client *client)
{
    const ClientEvent *event = client_event(client);
    if (event == NULL) {
        return NULL;
    }
    ByteWriter writer = byte_writer(module.text, TEXT_BYTES);
    char head[64];
    const int bytes =
        snprintf(head, sizeof head, "{\"tick\":%llu,\"message\":", (unsigned long long)event->tick);
    byte_write_bytes(&writer, head, (size_t)bytes);
    message_to_json(&event->message, &writer);
    byte_write_u8(&writer, '}');
    return writer.status == STATUS_OK ? exports_result(module.text, writer.at) : NULL;
}

EXPORT("clientHash") uint64_t export_client_hash(const Client *client)
{
    return client_hash(client);
}

EXPORT("clientStats") const void *export_client_stats(const Client *client)
{
    const ClientStats stats = client_stats(client);
    ByteWriter writer;
    JsonWriter json = exports_begin_json(&writer);
    json_write_object_begin(&json);
    json_member_count(&json, "state", (uint64_t)stats.state);
    json_member_count(&json, "viewTick", client_view_tick(client));
    json_member_number(&json, "rttMs", stats.clock.rtt_ms);
    json_member_number(&json, "jitterMs", stats.clock.jitter_ms);
    json_member_number(&json, "delayMs", stats.clock.delay_ms);
    json_member_number(&json, "leadTicks", stats.clock.lead_ticks);
    json_member_count(&json, "serverTick", stats.server_tick);
    json_member_count(&json, "inputSeq", stats.input_seq);
    json_member_count(&json, "pendingInputs", stats.pending_inputs);
    json_member_count(&json, "visible", stats.visible);
    json_member_count(&json, "corrections", stats.predict.corrections);
    json_member_count(&json, "correctionsWithoutCause", stats.predict.corrections_without_cause);
    json_member_number(&json, "correctionLastM", (double)stats.predict.correction_last_m);
    json_member_count(&json, "bytesDown", stats.bytes_down);
    json_member_count(&json, "bytesUp", stats.bytes_up);
    json_member_count(&json, "snapshots", stats.snapshots);
    json_member_number(&json, "snapshotIntervalP99Ms", stats.snapshot_interval_p99_ms);
    json_member_count(&json, "manifestVersion", stats.manifest_version);
    json_write_name(&json, "manifestProven");
    json_write_bool(&json, stats.manifest_is_proven);
    json_member_count(&json, "scripts", stats.script_count);
    json_member_count(&json, "runes", stats.rune_count);
    json_write_object_end(&json);
    return exports_end_json(&json, &writer);
}

// --- client scripts -----------------------------------------------------------------------------
// Keys and camera for scripts; the UI tree they want shown (core/script/runtime/value.h), or 0.
EXPORT("clientKey")
void export_client_key(Client *client, const char *key, uint32_t bytes, int32_t down)
{
    client_set_key(client, (Text){key, bytes}, down != 0);
}

EXPORT("clientCamera")
void export_client_camera(Client *client, double x, double y, double z, double forward_x,
                          double forward_y, double forward_z)
{
    View *view = client_script_view(client);
    if (view != NULL) {
        view_set_camera(view, vec3((float)x, (float)y, (float)z),
                        vec3((float)forward_x, (float)forward_y, (float)forward_z));
    }
}

// The same as worldFaults of the client's scripts.
EXPORT("clientFaults") const void *export_client_faults(Client *client)
{
    return write_faults(client_scripts(client));
}

// What scripts showed, the oldest: owner and entity as u64, then the tree (value.h), which is
// empty if it was taken away. NULL: nothing new.
EXPORT("clientShown") const void *export_client_shown(Client *client)
{
    View *view = client_script_view(client);
    const ViewShown *shown = view == NULL ? NULL : view_shown(view);
    if (shown == NULL) {
        return NULL;
    }
    ByteWriter writer = byte_writer(module.scratch, EXPORTS_SCRATCH_BYTES);
    byte_write_u64(&writer, shown->owner);
    byte_write_u64(&writer, shown->entity);
    byte_write_bytes(&writer, shown->tree, shown->bytes);
    view_shown_take(view);
    return exports_result(module.scratch, writer.at);
}

// A widget was used; `typed` is what stands in an input, NULL for a button.
EXPORT("clientWidget")
void export_client_widget(Client *client, double owner, double entity, double handler,
                          const char *typed, uint32_t bytes)
{
    const bool is_number = owner >= 0 && owner < 0x1p53 && entity >= 0 && entity < 0x1p53;
    if (is_number && handler >= 0) {
        client_use_widget(client, (uint64_t)owner, (uint64_t)entity, handler,
                          (Text){typed, typed == NULL ? 0 : bytes});
    }
}
