// See local_host.h: the files of a place, a world made from them, and what that world stores.
// Files, rows and worlds are plain heap blocks: nothing here is called from inside a world's tick.
#include "core/world/local/local_inside.h"

#include "core/base/heap_reserve.h"
#include "core/base/limits.h"

#include <stdio.h>
#include <string.h>

#define HEAP_BYTES     (128u << 20) // what a small place asks for; it uses a tenth of it
#define COMPILED_FIRST (1u << 20)   // and twice the files; doubled until it fits
#define COMPILED_MAX   (64u << 20)

LocalHostConfig local_host_config_default(void)
{
    return (LocalHostConfig){
        .player_max = 16, .entity_max = 2048, .visible_max = 128, .scripts = true, .seed = 1};
}

// --- files --------------------------------------------------------------------------------------

LocalFile *local_file_find(LocalHost *host, const char *path)
{
    for (uint32_t i = 0; i < host->file_count; i++) {
        if (strcmp(host->files[i].path, path) == 0) {
            return &host->files[i];
        }
    }
    return NULL;
}

void local_file_drop(LocalHost *host, LocalFile *file)
{
    heap_free(host->heap, file->data);
    *file = host->files[--host->file_count];
}

Status local_file_put(LocalHost *host, const char *path, const void *data, size_t bytes)
{
    if (strlen(path) >= LOCAL_PATH_BYTES) {
        return STATUS_RANGE;
    }
    LocalFile *file = local_file_find(host, path);
    if (file == NULL && host->file_count == PLACE_FILES_MAX) {
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

bool local_file_is_script(const char *path)
{
    const size_t length = strlen(path);
    return (length > 4 && strcmp(path + length - 4, ".lua") == 0) ||
           (length > 5 && strcmp(path + length - 5, ".luau") == 0);
}

// --- building -----------------------------------------------------------------------------------

void local_built_free(LocalHost *host, LocalBuilt *built)
{
    place_unload(host->heap, built->place);
    heap_free(host->heap, built->stripped);
    *built = (LocalBuilt){0};
}

// Loads the whole form; `capacity` is for the stripped one. STATUS_LIMIT if that is too small.
static Status load_into(LocalHost *host, const uint8_t *whole, size_t bytes, size_t capacity,
                        LocalBuilt *out)
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
static Status compile_into(LocalHost *host, const PlaceFile *files, size_t capacity,
                           LocalBuilt *out, PlaceError *error)
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

PlaceFile *local_files_list(LocalHost *host)
{
    PlaceFile *files = heap_alloc(host->heap, (host->file_count + 1) * sizeof *files);
    for (uint32_t i = 0; files != NULL && i < host->file_count; i++) {
        files[i] = (PlaceFile){host->files[i].path, host->files[i].data, host->files[i].bytes};
    }
    return files;
}

// Of a place that comes compiled.
static Status load_compiled(LocalHost *host, const uint8_t *whole, size_t bytes, PlaceError *error,
                            LocalBuilt *out)
{
    Status status = bytes <= COMPILED_MAX / 2 ? STATUS_LIMIT : STATUS_RANGE;
    // With poses in the world it may be larger than it was.
    for (size_t size = bytes + bytes / 2 + 4096; status == STATUS_LIMIT && size <= COMPILED_MAX;
         size *= 2) {
        local_built_free(host, out);
        status = load_into(host, whole, bytes, size, out);
    }
    if (status != STATUS_OK) {
        local_built_free(host, out);
        *error = (PlaceError){.status = status, .path = "the compiled place"};
        snprintf(error->where.message, sizeof error->where.message, "%s", status_text(status));
    }
    return status;
}

Status local_built_compile(LocalHost *host, PlaceError *error, LocalBuilt *out)
{
    PlaceFile *files = local_files_list(host);
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
        local_built_free(host, out);
        status = compile_into(host, files, size, out, error);
    }
    heap_free(host->heap, files);
    if (status != STATUS_OK) {
        local_built_free(host, out);
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

// --- a world ------------------------------------------------------------------------------------

// A world over a built place, with the rows there are and the scripts.
Status local_world_open(LocalHost *host, const LocalBuilt *built, const LocalScripts *scripts,
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
        status = local_scripts_enter(world, scripts, error);
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
        LocalRow *rows = heap_alloc(host->heap, more * sizeof *rows);
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
    LocalRow *own = &host->rows[host->row_count++];
    *own = (LocalRow){.type = row->type, .key_bytes = row->key_bytes, .bytes = copy};
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
    const MemoryStoreConfig store = memory_store_config_default();
    Status status = memory_store_create(heap, &store, &host->store);
    for (uint32_t i = 0; i < file_count && status == STATUS_OK; i++) {
        status = local_file_put(host, files[i].path, files[i].data, files[i].bytes);
    }
    if (status == STATUS_OK) {
        status =
            config->compiled != NULL
                ? load_compiled(host, config->compiled, config->compiled_bytes, error, &host->built)
                : local_built_compile(host, error, &host->built);
    }
    if (status == STATUS_OK && config->kept != NULL) {
        status = read_kept(host, config->kept, config->kept_bytes);
    }
    if (status == STATUS_OK && config->runes != NULL) {
        status = local_runes_read(host, config->runes, config->rune_bytes);
    }
    LocalScripts *scripts = NULL;
    if (status == STATUS_OK) {
        status = local_scripts_compile(host, NULL, &scripts, error);
    }
    if (status == STATUS_OK) {
        status = local_world_open(host, &host->built, scripts, &host->world, error);
        local_scripts_free(host, scripts);
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
    local_built_free(host, &host->built);
    local_runes_free(host);
    while (host->file_count > 0) {
        local_file_drop(host, &host->files[0]);
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
