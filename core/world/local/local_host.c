// See local_host.h. Files, rows and worlds are plain heap blocks: nothing here is called from
// inside a world's tick.
#include "core/world/local/local_host.h"

#include "core/base/check.h"
#include "core/base/heap_reserve.h"
#include "core/base/json_read.h"
#include "core/base/json_write.h"
#include "core/base/limits.h"
#include "core/base/sha256.h"
#include "core/script/check/check_place.h"
#include "core/world/save/row.h"

#include <stdio.h>
#include <string.h>

#define HEAP_BYTES     (128u << 20) // what a small place asks for; it uses a tenth of it
#define COMPILED_FIRST (1u << 20)   // and twice the files; doubled until it fits
#define COMPILED_MAX   (64u << 20)
#define DIFF_TREE_MAX  (64u << 20)
#define PATH_MAX_BYTES 128

typedef struct OwnFile {
    char path[PATH_MAX_BYTES];
    uint8_t *data;
    size_t bytes;
} OwnFile;

typedef struct OwnRow {
    RowType type;
    uint8_t key[ROW_KEY_BYTES];
    uint32_t key_bytes;
    uint8_t *bytes; // as row_write wrote it
    size_t byte_count;
} OwnRow;

// What a set of files was compiled into.
typedef struct Built {
    uint8_t *stripped;
    size_t stripped_bytes;
    Place *place;
} Built;

typedef struct OwnScript {
    char path[SCRIPT_PATH_BYTES];
    RunContext context;
    uint8_t *rune; // NULL: its file is empty
    size_t rune_bytes;
} OwnScript;

// What the scripts among them were compiled into.
typedef struct OwnScripts {
    OwnScript items[LOCAL_HOST_FILES_MAX];
    uint32_t count;
} OwnScripts;

// A script that was compiled without a warning. The key is a hash of all that its check depends on:
// names, contexts and languages of the place's scripts, its own name, and its source.
typedef struct KnownRune {
    uint8_t key[SHA256_BYTES];
    uint8_t *rune;
    size_t bytes;
    bool is_used; // by the scripts that are being compiled
} KnownRune;

struct LocalHost {
    Heap *heap;
    LocalHostConfig config;
    OwnFile files[LOCAL_HOST_FILES_MAX];
    uint32_t file_count;
    Built built;
    World *world;
    uint64_t epoch;
    uint32_t manifest_version;
    bool reload_waits; // for the next tick
    OwnRow *rows;
    uint32_t row_count, row_max;
    MemoryStore *store;
    uint64_t unix_ms;
    KnownRune *known; // of the scripts as they are now
    uint32_t known_count, known_max, known_next;
    uint32_t checked;
    uint8_t answer[STORE_ANSWER_MAX];
};

LocalHostConfig local_host_config_default(void)
{
    return (LocalHostConfig){
        .player_max = 16, .entity_max = 2048, .visible_max = 128, .scripts = true, .seed = 1};
}

// --- files --------------------------------------------------------------------------------------

static OwnFile *file_find(LocalHost *host, const char *path)
{
    for (uint32_t i = 0; i < host->file_count; i++) {
        if (strcmp(host->files[i].path, path) == 0) {
            return &host->files[i];
        }
    }
    return NULL;
}

static void file_drop(LocalHost *host, OwnFile *file)
{
    heap_free(host->heap, file->data);
    *file = host->files[--host->file_count];
}

static Status file_put(LocalHost *host, const char *path, const void *data, size_t bytes)
{
    if (strlen(path) >= PATH_MAX_BYTES) {
        return STATUS_RANGE;
    }
    OwnFile *file = file_find(host, path);
    if (file == NULL && host->file_count == LOCAL_HOST_FILES_MAX) {
        return STATUS_LIMIT;
    }
    uint8_t *copy = heap_alloc(host->heap, bytes + 1);
    if (copy == NULL) {
        return STATUS_LIMIT;
    }
    if (bytes > 0) {
        memcpy(copy, data, bytes);
    }
    if (file == NULL) {
        file = &host->files[host->file_count++];
        snprintf(file->path, sizeof file->path, "%s", path);
    } else {
        heap_free(host->heap, file->data);
    }
    file->data = copy;
    file->bytes = bytes;
    return STATUS_OK;
}

static bool is_script(const char *path)
{
    const size_t length = strlen(path);
    return (length > 4 && strcmp(path + length - 4, ".lua") == 0) ||
           (length > 5 && strcmp(path + length - 5, ".luau") == 0);
}

// --- building -----------------------------------------------------------------------------------

static void built_free(LocalHost *host, Built *built)
{
    place_unload(host->heap, built->place);
    heap_free(host->heap, built->stripped);
    *built = (Built){0};
}

// Loads the whole form; `capacity` is for the stripped one. STATUS_LIMIT if that is too small.
static Status load_into(LocalHost *host, const uint8_t *whole, size_t bytes, size_t capacity,
                        Built *out)
{
    out->stripped = heap_alloc(host->heap, capacity);
    if (out->stripped == NULL) {
        return STATUS_LIMIT;
    }
    ByteWriter stripped = byte_writer(out->stripped, capacity);
    const Status status = place_load_whole(host->heap, whole, bytes, &stripped, &out->place);
    out->stripped_bytes = stripped.at;
    return status;
}

// Compiles the files; both forms must fit into `capacity`.
static Status compile_into(LocalHost *host, const PlaceFile *files, size_t capacity, Built *out,
                           PlaceError *error)
{
    uint8_t *block = heap_alloc(host->heap, capacity);
    if (block == NULL) {
        return STATUS_LIMIT;
    }
    ByteWriter whole = byte_writer(block, capacity);
    Status status = place_compile(host->heap, files, host->file_count, &whole, error);
    if (status == STATUS_OK) {
        status = load_into(host, block, whole.at, capacity, out);
    }
    heap_free(host->heap, block);
    return status;
}

static PlaceFile *list_files(LocalHost *host)
{
    PlaceFile *files = heap_alloc(host->heap, (host->file_count + 1) * sizeof *files);
    for (uint32_t i = 0; files != NULL && i < host->file_count; i++) {
        files[i] = (PlaceFile){host->files[i].path, host->files[i].data, host->files[i].bytes};
    }
    return files;
}

// Of a place that comes compiled.
static Status load_compiled(LocalHost *host, const uint8_t *whole, size_t bytes, PlaceError *error,
                            Built *out)
{
    Status status = bytes <= COMPILED_MAX / 2 ? STATUS_LIMIT : STATUS_RANGE;
    // With poses in the world it may be larger than it was.
    for (size_t size = bytes + bytes / 2 + 4096; status == STATUS_LIMIT && size <= COMPILED_MAX;
         size *= 2) {
        built_free(host, out);
        status = load_into(host, whole, bytes, size, out);
    }
    if (status != STATUS_OK) {
        built_free(host, out);
        *error = (PlaceError){.status = status, .path = "the compiled place"};
        snprintf(error->where.message, sizeof error->where.message, "%s", status_text(status));
    }
    return status;
}

static Status compile_place(LocalHost *host, PlaceError *error, Built *out)
{
    PlaceFile *files = list_files(host);
    if (files == NULL) {
        return STATUS_LIMIT;
    }
    size_t first = COMPILED_FIRST;
    for (uint32_t i = 0; i < host->file_count && first < COMPILED_MAX; i++) {
        first += 2 * files[i].bytes;
    }
    first = first < COMPILED_MAX ? first : COMPILED_MAX;
    Status status = STATUS_LIMIT;
    for (size_t size = first; status == STATUS_LIMIT && size <= COMPILED_MAX; size *= 2) {
        *error = (PlaceError){0};
        built_free(host, out);
        status = compile_into(host, files, size, out, error);
    }
    heap_free(host->heap, files);
    if (status != STATUS_OK) {
        built_free(host, out);
    }
    return status;
}

static void secret_of(const LocalHost *host, uint8_t secret[32])
{
    // Nothing here is secret: everybody who can connect controls the world.
    const uint64_t words[2] = {host->config.seed, host->epoch};
    uint8_t bytes[16];
    ByteWriter writer = byte_writer(bytes, sizeof bytes);
    byte_write_u64(&writer, words[0]);
    byte_write_u64(&writer, words[1]);
    sha256_of(bytes, sizeof bytes, secret);
}

// --- scripts ------------------------------------------------------------------------------------

static void scripts_free(LocalHost *host, OwnScripts *scripts)
{
    for (uint32_t i = 0; scripts != NULL && i < scripts->count; i++) {
        heap_free(host->heap, scripts->items[i].rune);
    }
    heap_free(host->heap, scripts);
}

static void script_failed(PlaceError *error, const char *file, Status status, const char *message)
{
    *error = (PlaceError){.status = status};
    error->where.status = status;
    snprintf(error->path, sizeof error->path, "%s", file);
    snprintf(error->where.message, sizeof error->where.message, "%s", message);
}

typedef struct Told {
    LocalHost *host;
    PlaceError *error; // the first one
    bool has_error;
    uint32_t warnings;
} Told;

// The first error is why there is no world; warnings go to the log.
static void take_diagnostic(void *user, const CheckDiagnostic *diagnostic)
{
    Told *told = user;
    told->warnings += diagnostic->level == CHECK_WARNING;
    if (diagnostic->level == CHECK_WARNING && told->host->config.log == NULL) {
        return;
    }
    if (diagnostic->level == CHECK_WARNING) {
        log_write(told->host->config.log, 0, LOG_WARN, "script", "%s:%u: %s [%s]", diagnostic->file,
                  diagnostic->line, diagnostic->message, diagnostic->code);
    } else if (!told->has_error) {
        told->has_error = true;
        script_failed(told->error, diagnostic->file, STATUS_MALFORMED, diagnostic->message);
        told->error->where.line = diagnostic->line;
        told->error->where.column = diagnostic->column;
    }
}

// A check makes a rune in a block for the largest there may be; all of a place's would be too much.
static Status copy_rune(LocalHost *host, const uint8_t *rune, size_t bytes, OwnScript *script)
{
    script->rune = heap_alloc(host->heap, bytes);
    if (script->rune == NULL) {
        return STATUS_LIMIT;
    }
    memcpy(script->rune, rune, bytes);
    script->rune_bytes = bytes;
    return STATUS_OK;
}

static void known_free(LocalHost *host)
{
    for (uint32_t i = 0; i < host->known_count; i++) {
        heap_free(host->heap, host->known[i].rune);
    }
    heap_free(host->heap, host->known);
    host->known = NULL;
    host->known_count = host->known_max = 0;
}

// They are asked for in the order in which they were added.
static KnownRune *known_find(LocalHost *host, const uint8_t key[SHA256_BYTES])
{
    for (uint32_t i = 0; i < host->known_count; i++) {
        const uint32_t at = (host->known_next + i) % host->known_count;
        if (memcmp(host->known[at].key, key, SHA256_BYTES) == 0) {
            host->known_next = at + 1;
            return &host->known[at];
        }
    }
    return NULL;
}

// Without memory for it the script is checked again next time.
static void known_add(LocalHost *host, const uint8_t key[SHA256_BYTES], const uint8_t *rune,
                      size_t bytes)
{
    if (known_find(host, key) != NULL) {
        return;
    }
    if (host->known_count == host->known_max) {
        const uint32_t most = host->known_max == 0 ? 16 : 2 * host->known_max;
        KnownRune *more = heap_alloc(host->heap, heap_array_bytes(most, sizeof *more));
        if (more == NULL) {
            return;
        }
        if (host->known_count != 0) {
            memcpy(more, host->known, host->known_count * sizeof *more);
        }
        heap_free(host->heap, host->known);
        host->known = more;
        host->known_max = most;
    }
    KnownRune *at = &host->known[host->known_count];
    at->rune = heap_alloc(host->heap, bytes);
    if (at->rune != NULL) {
        memcpy(at->key, key, SHA256_BYTES);
        memcpy(at->rune, rune, bytes);
        at->bytes = bytes;
        at->is_used = true;
        host->known_count += 1;
    }
}

// Of all scripts of a place: what none of them is any more goes. After a failure what was added
// goes.
static void known_settle(LocalHost *host, uint32_t count_before, bool is_done)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < host->known_count; i++) {
        if (is_done ? host->known[i].is_used : i < count_before) {
            host->known[kept++] = host->known[i];
        } else {
            heap_free(host->heap, host->known[i].rune);
        }
    }
    host->known_count = kept;
}

static void hash_text(Sha256 *hash, const char *text)
{
    sha256_update(hash, text, strlen(text) + 1);
}

// What a check of any script depends on beside the script itself.
static void names_hash(const CheckPlace *place, uint8_t out[SHA256_BYTES])
{
    Sha256 hash;
    sha256_init(&hash);
    for (uint32_t i = 0; i < place->module_count; i++) {
        const CheckModule *module = &place->modules[i];
        const uint8_t numbers[3] = {(uint8_t)module->language, (uint8_t)module->service,
                                    (uint8_t)module->context};
        hash_text(&hash, module->path);
        sha256_update(&hash, numbers, sizeof numbers);
    }
    sha256_final(&hash, out);
}

static void script_key(const uint8_t names[SHA256_BYTES], const PlaceFile *file,
                       uint8_t out[SHA256_BYTES])
{
    Sha256 hash;
    sha256_init(&hash);
    sha256_update(&hash, names, SHA256_BYTES);
    hash_text(&hash, file->path);
    sha256_update(&hash, file->data, file->bytes);
    sha256_final(&hash, out);
}

// Checks a script, or takes the rune that its source had before.
static Status make_rune(Told *told, const CheckPlace *place, const PlaceFile *file,
                        const uint8_t key[SHA256_BYTES], OwnScript *script)
{
    LocalHost *host = told->host;
    const CheckSink sink = {take_diagnostic, told};
    KnownRune *known = known_find(host, key);
    if (known != NULL) {
        known->is_used = true;
        return copy_rune(host, known->rune, known->bytes, script);
    }
    CheckOutput output = {0};
    const uint32_t warnings = told->warnings;
    host->checked += 1;
    Status status = check_place_script(host->heap, place, file, &sink, &output);
    status = status == STATUS_OK && output.error_count > 0 ? STATUS_MALFORMED : status;
    status = status == STATUS_OK ? copy_rune(host, output.rune, output.rune_bytes, script) : status;
    if (status == STATUS_OK && told->warnings == warnings) {
        known_add(host, key, output.rune, output.rune_bytes);
    }
    check_output_free(host->heap, &output);
    return status;
}

static Status compile_script(Told *told, const CheckPlace *place, const uint8_t names[SHA256_BYTES],
                             const PlaceFile *file, OwnScripts *out)
{
    const CheckModule *module = check_place_module(place, file->path);
    OwnScript *script = &out->items[out->count];
    if (module == NULL) {
        return STATUS_OK; // told already, or made of a soul that is not there
    }
    Status status = STATUS_OK;
    if (file->bytes > 0) {
        uint8_t key[SHA256_BYTES];
        script_key(names, file, key);
        status = make_rune(told, place, file, key, script);
    }
    if (status == STATUS_OK) {
        snprintf(script->path, sizeof script->path, "%s", module->path);
        script->context = module->context;
        out->count += 1;
    } else if (!told->has_error) {
        script_failed(told->error, file->path, status, status_text(status));
    }
    return status;
}

// The scripts of all files, or of those that `wanted` names; nothing is loaded by that.
static Status compile_files(Told *told, const PlaceFile *files, const JsonNode *wanted,
                            OwnScripts *out)
{
    LocalHost *host = told->host;
    const CheckSink sink = {take_diagnostic, told};
    CheckPlace place;
    Status status = check_place_open(host->heap, files, host->file_count, &sink, &place);
    if (status != STATUS_OK) {
        return status;
    }
    uint8_t names[SHA256_BYTES];
    names_hash(&place, names);
    status = told->has_error ? STATUS_MALFORMED : STATUS_OK;
    for (uint32_t i = 0; i < host->file_count && status == STATUS_OK; i++) {
        if (is_script(files[i].path) &&
            (wanted == NULL || json_find(wanted, files[i].path) != NULL)) {
            status = compile_script(told, &place, names, &files[i], out);
        }
    }
    check_place_close(host->heap, &place);
    return status;
}

static Status compile_scripts(LocalHost *host, const JsonNode *wanted, OwnScripts **out,
                              PlaceError *error)
{
    OwnScripts *scripts = heap_alloc(host->heap, sizeof *scripts);
    PlaceFile *files = list_files(host);
    Told told = {.host = host, .error = error};
    const uint32_t count_before = host->known_count;
    for (uint32_t i = 0; i < host->known_count; i++) {
        host->known[i].is_used = false;
    }
    Status status = scripts == NULL || files == NULL ? STATUS_LIMIT : STATUS_OK;
    if (status == STATUS_OK && host->config.scripts) {
        status = compile_files(&told, files, wanted, scripts);
    }
    if (status != STATUS_OK || wanted == NULL) {
        known_settle(host, count_before, status == STATUS_OK);
    }
    heap_free(host->heap, files);
    if (status != STATUS_OK) {
        scripts_free(host, scripts);
        return status;
    }
    *out = scripts;
    return STATUS_OK;
}

static Status enter_script(World *world, const OwnScript *script, PlaceError *error)
{
    const Entry entry = {.type = ENTRY_SCRIPT,
                         .flags = script->context == CONTEXT_SERVER ? 0u : ENTRY_REPLICATE,
                         .number = entry_context(script->context),
                         .name = script->path,
                         .name_bytes = (uint32_t)strlen(script->path),
                         .bytes = script->rune,
                         .byte_count = script->rune_bytes};
    const Status status = world_enter(world, &entry);
    if (status != STATUS_OK) {
        script_failed(error, script->path, status, status_text(status));
    }
    return status;
}

static Status enter_scripts(World *world, const OwnScripts *scripts, PlaceError *error)
{
    Status status = STATUS_OK;
    for (uint32_t i = 0; i < scripts->count && status == STATUS_OK; i++) {
        status = enter_script(world, &scripts->items[i], error);
    }
    return status;
}

// A world over a built place, with the rows there are and the scripts.
static Status open_world(LocalHost *host, const Built *built, const OwnScripts *scripts,
                         World **out, PlaceError *error)
{
    WorldConfig config = world_config_default();
    config.place = built->place;
    config.stripped = built->stripped;
    config.stripped_bytes = built->stripped_bytes;
    snprintf(config.world_id, sizeof config.world_id, "world_local");
    snprintf(config.room_code, sizeof config.room_code, "LOCAL");
    config.epoch = host->epoch;
    secret_of(host, config.secret);
    config.seed = host->config.seed;
    config.development = true;
    config.player_max = host->config.player_max;
    config.entity_max = host->config.entity_max;
    config.visible_max = host->config.visible_max;
    config.json_session_max = 2;
    config.scripts = host->config.scripts;
    config.log = host->config.log;
    World *world = NULL;
    Status status = world_create(host->heap, &config, &world);
    for (uint32_t i = 0; i < host->row_count && status == STATUS_OK; i++) {
        const Entry entry = {.type = ENTRY_ROW,
                             .bytes = host->rows[i].bytes,
                             .byte_count = host->rows[i].byte_count};
        // A row that no longer fits the place is left out; the world counts it.
        status_ignore(world_enter(world, &entry));
    }
    if (status == STATUS_OK) {
        status = enter_scripts(world, scripts, error);
    }
    if (status != STATUS_OK) {
        if (world != NULL) {
            world_destroy(host->heap, world);
        }
        return status;
    }
    *out = world;
    return STATUS_OK;
}

// --- what the world wants stored ----------------------------------------------------------------

static void keep_row(LocalHost *host, const Row *row, const uint8_t *bytes, size_t count)
{
    uint32_t at = 0;
    while (at < host->row_count &&
           (host->rows[at].type != row->type || host->rows[at].key_bytes != row->key_bytes ||
            memcmp(host->rows[at].key, row->key, row->key_bytes) != 0)) {
        at += 1;
    }
    if (at < host->row_count) {
        heap_free(host->heap, host->rows[at].bytes);
        host->rows[at] = host->rows[--host->row_count];
    }
    if (row->value_bytes == 0) {
        return;
    }
    if (host->row_count == host->row_max) {
        const uint32_t more = host->row_max == 0 ? 64 : host->row_max * 2;
        OwnRow *rows = heap_alloc(host->heap, more * sizeof *rows);
        if (rows == NULL) {
            return;
        }
        if (host->row_count > 0) {
            memcpy(rows, host->rows, host->row_count * sizeof *rows);
        }
        heap_free(host->heap, host->rows);
        host->rows = rows;
        host->row_max = more;
    }
    uint8_t *copy = heap_alloc(host->heap, count);
    if (copy == NULL) {
        return;
    }
    memcpy(copy, bytes, count);
    OwnRow *own = &host->rows[host->row_count++];
    *own = (OwnRow){.type = row->type, .key_bytes = row->key_bytes, .bytes = copy};
    own->byte_count = count;
    memcpy(own->key, row->key, row->key_bytes);
}

static void keep_rows(LocalHost *host, const uint8_t *bytes, size_t count)
{
    ByteReader reader = byte_reader(bytes, count);
    while (byte_reader_left(&reader) > 0) {
        const size_t from = reader.at;
        Row row;
        if (row_read(&reader, &row) != STATUS_OK) {
            return;
        }
        keep_row(host, &row, bytes + from, reader.at - from);
    }
}

static Status answer(LocalHost *host, const Command *command)
{
    Entry entry = {.type = ENTRY_STORED, .flags = ENTRY_OK, .number = command->request};
    if (command->type == COMMAND_SAVE) {
        keep_rows(host, command->bytes, command->byte_count);
    } else if (command->type == COMMAND_STORE) {
        ByteWriter writer = byte_writer(host->answer, sizeof host->answer);
        const bool ok =
            memory_store_run(host->store, &command->store, (double)host->unix_ms / 1000, &writer);
        entry.flags = ok ? ENTRY_OK : 0;
        entry.bytes = host->answer;
        entry.byte_count = writer.at;
    } else if (command->type == COMMAND_AUTH) {
        // In development no ticket is required; a given one is accepted.
        entry = (Entry){.type = ENTRY_AUTH,
                        .flags = ENTRY_OK | ENTRY_GUEST,
                        .connection = command->connection,
                        .number = command->connection,
                        .name = "guest",
                        .name_bytes = 5};
    } else {
        return STATUS_OK;
    }
    return world_enter(host->world, &entry);
}

// Answers may cause further commands; those wait for the next entry.
static void answer_all(LocalHost *host)
{
    uint32_t count;
    const Command *commands = world_commands(host->world, &count);
    for (uint32_t i = 0; i < count; i++) {
        status_ignore(answer(host, &commands[i])); // the script or session that asked may be gone
    }
    if (count > 0) {
        world_commands_clear(host->world);
    }
}

Status local_host_enter(LocalHost *host, const Entry *entry)
{
    if (entry->type == ENTRY_TICK) {
        host->unix_ms = entry->number;
        host->reload_waits = false;
    }
    const Status status = world_enter(host->world, entry);
    answer_all(host);
    return status;
}

// --- what outlives a world ----------------------------------------------------------------------

void local_host_save(LocalHost *host)
{
    const Entry save = {.type = ENTRY_ADMIN, .name = "save", .name_bytes = 4};
    status_ignore(local_host_enter(host, &save));
    const Entry tick = {.type = ENTRY_TICK, .number = host->unix_ms};
    status_ignore(local_host_enter(host, &tick));
}

// u64 epoch, u32 length of the rows, the rows as the world wrote them, the stored data.
void local_host_keep(const LocalHost *host, ByteWriter *writer)
{
    size_t bytes = 0;
    for (uint32_t i = 0; i < host->row_count; i++) {
        bytes += host->rows[i].byte_count;
    }
    byte_write_u64(writer, host->epoch);
    byte_write_u32(writer, (uint32_t)bytes);
    for (uint32_t i = 0; i < host->row_count; i++) {
        byte_write_bytes(writer, host->rows[i].bytes, host->rows[i].byte_count);
    }
    memory_store_write(host->store, writer);
}

// Each: the key, u32 length, the rune.
void local_host_runes(const LocalHost *host, ByteWriter *writer)
{
    for (uint32_t i = 0; i < host->known_count; i++) {
        byte_write_bytes(writer, host->known[i].key, SHA256_BYTES);
        byte_write_u32(writer, (uint32_t)host->known[i].bytes);
        byte_write_bytes(writer, host->known[i].rune, host->known[i].bytes);
    }
}

uint32_t local_host_checked(const LocalHost *host)
{
    return host->checked;
}

static Status read_runes(LocalHost *host, const uint8_t *bytes, size_t count)
{
    ByteReader reader = byte_reader(bytes, count);
    while (byte_reader_left(&reader) > 0 && reader.status == STATUS_OK) {
        const uint8_t *key = byte_read_bytes(&reader, SHA256_BYTES);
        const uint32_t rune_bytes = byte_read_u32(&reader);
        const uint8_t *rune = byte_read_bytes(&reader, rune_bytes);
        if (key != NULL && rune != NULL && rune_bytes > 0) {
            known_add(host, key, rune, rune_bytes);
        }
    }
    return reader.status;
}

static Status read_kept(LocalHost *host, const uint8_t *bytes, size_t count)
{
    ByteReader reader = byte_reader(bytes, count);
    const uint64_t epoch = byte_read_u64(&reader);
    const uint32_t row_bytes = byte_read_u32(&reader);
    const uint8_t *rows = byte_read_bytes(&reader, row_bytes);
    if (rows == NULL) {
        return STATUS_TRUNCATED;
    }
    keep_rows(host, rows, row_bytes);
    host->epoch = epoch + 1;
    return memory_store_read(host->store, &reader);
}

// --- create and destroy -------------------------------------------------------------------------

Status local_host_create(Heap *heap, const LocalHostConfig *config, const PlaceFile *files,
                         uint32_t file_count, LocalHost **out, PlaceError *error)
{
    *error = (PlaceError){0};
    heap_reserve(HEAP_BYTES);
    LocalHost *host = heap_alloc(heap, sizeof *host);
    if (host == NULL) {
        return STATUS_LIMIT;
    }
    host->heap = heap;
    host->config = *config;
    host->config.compiled = host->config.kept = host->config.runes =
        NULL; // theirs, and read here only
    host->epoch = 1;
    host->manifest_version = 1;
    const MemoryStoreConfig store = memory_store_config_default();
    Status status = memory_store_create(heap, &store, &host->store);
    for (uint32_t i = 0; i < file_count && status == STATUS_OK; i++) {
        status = file_put(host, files[i].path, files[i].data, files[i].bytes);
    }
    if (status == STATUS_OK) {
        status =
            config->compiled != NULL
                ? load_compiled(host, config->compiled, config->compiled_bytes, error, &host->built)
                : compile_place(host, error, &host->built);
    }
    if (status == STATUS_OK && config->kept != NULL) {
        status = read_kept(host, config->kept, config->kept_bytes);
    }
    if (status == STATUS_OK && config->runes != NULL) {
        status = read_runes(host, config->runes, config->rune_bytes);
    }
    OwnScripts *scripts = NULL;
    if (status == STATUS_OK) {
        status = compile_scripts(host, NULL, &scripts, error);
    }
    if (status == STATUS_OK) {
        status = open_world(host, &host->built, scripts, &host->world, error);
        scripts_free(host, scripts);
    }
    if (status != STATUS_OK) {
        local_host_destroy(host);
        return status;
    }
    *out = host;
    return STATUS_OK;
}

void local_host_destroy(LocalHost *host)
{
    if (host == NULL) {
        return;
    }
    Heap *heap = host->heap;
    if (host->world != NULL) {
        world_destroy(heap, host->world);
    }
    built_free(host, &host->built);
    known_free(host);
    while (host->file_count > 0) {
        file_drop(host, &host->files[0]);
    }
    for (uint32_t i = 0; i < host->row_count; i++) {
        heap_free(heap, host->rows[i].bytes);
    }
    heap_free(heap, host->rows);
    if (host->store != NULL) {
        memory_store_destroy(heap, host->store);
    }
    heap_free(heap, host);
}

Heap *local_host_heap(const LocalHost *host)
{
    return host->heap;
}

const Place *local_host_place(const LocalHost *host)
{
    return host->built.place;
}

World *local_host_world(LocalHost *host)
{
    return host->world;
}

const uint8_t *local_host_scene(const LocalHost *host, size_t *bytes)
{
    *bytes = host->built.stripped_bytes;
    return host->built.stripped;
}

// --- differences --------------------------------------------------------------------------------

// 0: none; the compiler reports invalid ids.
static int64_t id_of(const JsonNode *entity)
{
    const JsonNode *id = entity->kind == JSON_OBJECT ? json_find(entity, "id") : entity;
    return id != NULL && id->kind == JSON_NUMBER && id->is_integer ? id->integer : 0;
}

// Finds an entity by id in a list of entities or of ids.
static const JsonNode *with_id(const JsonNode *list, int64_t id)
{
    if (list == NULL || list->kind != JSON_ARRAY || id == 0) {
        return NULL;
    }
    for (const JsonNode *item = list->first; item != NULL; item = item->next) {
        if (id_of(item) == id) {
            return item;
        }
    }
    return NULL;
}

static void write_entities(JsonWriter *json, const JsonNode *old, const JsonNode *diff)
{
    const JsonNode *changed = json_find(diff, "entities");
    const JsonNode *removed = json_find(diff, "removed");
    json_write_array_begin(json);
    for (const JsonNode *entity = old != NULL ? old->first : NULL; entity != NULL;
         entity = entity->next) {
        const int64_t id = id_of(entity);
        if (with_id(removed, id) != NULL) {
            continue;
        }
        const JsonNode *now = with_id(changed, id);
        json_write_node(json, now != NULL ? now : entity);
    }
    for (const JsonNode *entity = changed != NULL ? changed->first : NULL; entity != NULL;
         entity = entity->next) {
        if (with_id(old, id_of(entity)) == NULL) {
            json_write_node(json, entity);
        }
    }
    json_write_array_end(json);
}

static size_t size_min(size_t a, size_t b)
{
    return a < b ? a : b;
}

// Merges the difference into scene.json.
static Status merge_scene(LocalHost *host, Arena *arena, const JsonNode *diff, size_t diff_bytes,
                          PlaceError *error)
{
    OwnFile *file = file_find(host, "scene.json");
    if (file == NULL) {
        snprintf(error->path, sizeof error->path, "scene.json");
        return STATUS_NOT_FOUND;
    }
    const JsonConfig config = json_config_default(arena);
    const JsonNode *scene;
    Status status =
        json_parse(&config, (const char *)file->data, file->bytes, &scene, &error->where);
    if (status != STATUS_OK) {
        snprintf(error->path, sizeof error->path, "scene.json");
        return status;
    }
    // A number may be written longer than it was ("1e9"), nothing else grows.
    const size_t capacity = size_min((file->bytes + diff_bytes) * 16 + 1024, JSON_BYTES_MAX);
    uint8_t *text = heap_alloc(host->heap, capacity);
    if (text == NULL) {
        return STATUS_LIMIT;
    }
    ByteWriter writer = byte_writer(text, capacity);
    JsonWriter json = json_writer(&writer, 0);
    json_write_object_begin(&json);
    bool has_entities = false;
    for (const JsonNode *member = scene->kind == JSON_OBJECT ? scene->first : NULL; member != NULL;
         member = member->next) {
        json_write_name(&json, member->name);
        if (strcmp(member->name, "entities") == 0 && member->kind == JSON_ARRAY) {
            has_entities = true;
            write_entities(&json, member, diff);
        } else {
            json_write_node(&json, member);
        }
    }
    if (!has_entities) {
        json_write_name(&json, "entities");
        write_entities(&json, NULL, diff);
    }
    json_write_object_end(&json);
    status = json_writer_finish(&json);
    if (status == STATUS_OK) {
        status = file_put(host, "scene.json", text, writer.at);
    }
    heap_free(host->heap, text);
    return status;
}

// Merges "files"; *scripts and *others say which kinds there were.
static Status merge_files(LocalHost *host, const JsonNode *files, bool *scripts, bool *others,
                          PlaceError *error)
{
    const JsonNode *item = files != NULL ? json_read_object(files, &error->where) : NULL;
    for (; item != NULL; item = item->next) {
        Status status = STATUS_OK;
        if (item->kind == JSON_NULL) {
            OwnFile *file = file_find(host, item->name);
            if (file != NULL) {
                file_drop(host, file);
            }
            *others = true; // what was bound to it cannot be left over
        } else if (item->kind == JSON_STRING) {
            *scripts = *scripts || is_script(item->name);
            *others = *others || !is_script(item->name);
            status = file_put(host, item->name, item->text, item->count);
        } else {
            json_fail(&error->where, STATUS_MALFORMED, item, "must be a string or null");
        }
        if (status != STATUS_OK) {
            return status;
        }
    }
    return error->where.status;
}

// Copies the files, to restore them after a failure.
static OwnFile *copy_files(LocalHost *host, uint32_t *count)
{
    OwnFile *copies = heap_alloc(host->heap, (host->file_count + 1) * sizeof *copies);
    if (copies == NULL) {
        return NULL;
    }
    *count = 0;
    for (uint32_t i = 0; i < host->file_count; i++) {
        copies[i] = host->files[i];
        copies[i].data = heap_alloc(host->heap, host->files[i].bytes + 1);
        if (copies[i].data == NULL) {
            for (uint32_t j = 0; j < i; j++) {
                heap_free(host->heap, copies[j].data);
            }
            heap_free(host->heap, copies);
            return NULL;
        }
        if (copies[i].bytes > 0) {
            memcpy(copies[i].data, host->files[i].data, copies[i].bytes);
        }
        *count += 1;
    }
    return copies;
}

static void end_copies(LocalHost *host, OwnFile *copies, uint32_t count, bool restore)
{
    if (restore) {
        while (host->file_count > 0) {
            file_drop(host, &host->files[0]);
        }
        memcpy(host->files, copies, count * sizeof *copies);
        host->file_count = count;
    } else {
        for (uint32_t i = 0; i < count; i++) {
            heap_free(host->heap, copies[i].data);
        }
    }
    heap_free(host->heap, copies);
}

// All of them must compile before the first is staged, because staging cannot be undone.
static Status reload_scripts(LocalHost *host, const JsonNode *files, PlaceError *error)
{
    OwnScripts *scripts = NULL;
    Status status = compile_scripts(host, files, &scripts, error);
    if (status != STATUS_OK) {
        return status;
    }
    if (host->reload_waits) {
        // The last change has not taken over yet.
        const Entry tick = {.type = ENTRY_TICK, .number = host->unix_ms};
        status = local_host_enter(host, &tick);
    }
    if (status == STATUS_OK) {
        status = enter_scripts(host->world, scripts, error);
    }
    scripts_free(host, scripts);
    if (status != STATUS_OK) {
        return status;
    }
    const Entry entry = {.type = ENTRY_RELOAD, .number = host->manifest_version + 1};
    status = local_host_enter(host, &entry);
    if (status == STATUS_OK) {
        host->manifest_version += 1;
        host->reload_waits = true;
    }
    return status;
}

// The new world is created first: until that succeeds, the old one is not changed.
static Status remake(LocalHost *host, PlaceError *error)
{
    Built built = {0};
    OwnScripts *scripts = NULL;
    Status status = compile_place(host, error, &built);
    World *world = NULL;
    host->epoch += 1;
    if (status == STATUS_OK) {
        status = compile_scripts(host, NULL, &scripts, error);
    }
    if (status == STATUS_OK) {
        status = open_world(host, &built, scripts, &world, error);
    }
    if (status == STATUS_OK) {
        world_destroy(host->heap, world);
        local_host_save(host);
        status = open_world(host, &built, scripts, &world, error);
    }
    scripts_free(host, scripts);
    if (status != STATUS_OK) {
        host->epoch -= 1;
        built_free(host, &built);
        return status;
    }
    world_destroy(host->heap, host->world);
    built_free(host, &host->built);
    host->world = world;
    host->built = built;
    host->manifest_version = 1;
    host->reload_waits = false;
    return STATUS_OK;
}

// Merges the difference into the files and applies it.
static Status apply(LocalHost *host, Arena *arena, const char *text, size_t bytes, bool *remade,
                    PlaceError *error)
{
    static const char *const names[] = {"entities", "removed", "files"};
    const JsonConfig config = json_config_default(arena);
    const JsonNode *diff = NULL;
    Status status = json_parse(&config, text, bytes, &diff, &error->where);
    if (status == STATUS_OK) {
        json_read_only(diff, names, 3, &error->where);
        for (uint32_t i = 0; i < 2 && error->where.status == STATUS_OK; i++) {
            const JsonNode *list = json_find(diff, names[i]);
            if (list != NULL && list->kind != JSON_ARRAY) {
                json_fail(&error->where, STATUS_MALFORMED, list, "must be a list");
            }
        }
        status = error->where.status;
    }
    if (status != STATUS_OK) {
        return status;
    }
    bool scripts = false, others = false;
    const JsonNode *files = json_find(diff, "files");
    status = merge_files(host, files, &scripts, &others, error);
    if (status == STATUS_OK &&
        (json_find(diff, "entities") != NULL || json_find(diff, "removed") != NULL)) {
        others = true;
        status = merge_scene(host, arena, diff, bytes, error);
    }
    if (status == STATUS_OK && others) {
        status = remake(host, error);
    } else if (status == STATUS_OK && scripts) {
        status = reload_scripts(host, files, error);
    }
    *remade = others;
    return status;
}

Status local_host_apply_diff(LocalHost *host, const char *json, size_t bytes, bool *remade,
                             PlaceError *error)
{
    *error = (PlaceError){0};
    const OwnFile *scene = file_find(host, "scene.json");
    const size_t text_bytes = bytes + (scene != NULL ? scene->bytes : 0);
    const size_t tree_bytes = size_min(text_bytes * 64 + (64u << 10), DIFF_TREE_MAX);
    uint8_t *block = heap_alloc(host->heap, tree_bytes);
    uint32_t copy_count = 0;
    OwnFile *copies = copy_files(host, &copy_count);
    Status status = block == NULL || copies == NULL ? STATUS_LIMIT : STATUS_OK;
    bool made = false;
    if (status == STATUS_OK) {
        Arena arena;
        arena_init(&arena, block, tree_bytes);
        status = apply(host, &arena, json, bytes, &made, error);
    }
    if (copies != NULL) {
        end_copies(host, copies, copy_count, status != STATUS_OK);
    }
    heap_free(host->heap, block);
    error->status = status;
    if (status == STATUS_OK) {
        *remade = made;
    } else if (error->where.message[0] == 0) {
        snprintf(error->where.message, sizeof error->where.message, "%s", status_text(status));
    }
    return status;
}
