// See local_inside.h: the scripts of a local world, from their files to the entries of a world. A
// script whose source and names are as they were keeps its rune, so that a change of one script
// does not check and compile all of them.
#include "core/world/local/local_inside.h"

#include "core/base/limits.h"
#include "core/script/check/check_place.h"

#include <stdio.h>
#include <string.h>

void local_scripts_free(LocalHost *host, LocalScripts *scripts)
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
static Status copy_rune(LocalHost *host, const uint8_t *rune, size_t bytes, LocalScript *script)
{
    script->rune = heap_alloc(host->heap, bytes);
    if (script->rune == NULL) {
        return STATUS_LIMIT;
    }
    memcpy(script->rune, rune, bytes);
    script->rune_bytes = bytes;
    return STATUS_OK;
}

void local_runes_free(LocalHost *host)
{
    for (uint32_t i = 0; i < host->known_count; i++) {
        heap_free(host->heap, host->known[i].rune);
    }
    heap_free(host->heap, host->known);
    host->known = NULL;
    host->known_count = host->known_max = 0;
}

// They are asked for in the order in which they were added.
static LocalRune *known_find(LocalHost *host, const uint8_t key[SHA256_BYTES])
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
        LocalRune *more = heap_alloc(host->heap, heap_array_bytes(most, sizeof *more));
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
    LocalRune *at = &host->known[host->known_count];
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
                        const uint8_t key[SHA256_BYTES], LocalScript *script)
{
    LocalHost *host = told->host;
    const CheckSink sink = {take_diagnostic, told};
    LocalRune *known = known_find(host, key);
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
                             const PlaceFile *file, LocalScripts *out)
{
    const CheckModule *module = check_place_module(place, file->path);
    LocalScript *script = &out->items[out->count];
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
                            LocalScripts *out)
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
        if (local_file_is_script(files[i].path) &&
            (wanted == NULL || json_find(wanted, files[i].path) != NULL)) {
            status = compile_script(told, &place, names, &files[i], out);
        }
    }
    check_place_close(host->heap, &place);
    return status;
}

Status local_scripts_compile(LocalHost *host, const JsonNode *wanted, LocalScripts **out,
                             PlaceError *error)
{
    LocalScripts *scripts = heap_alloc(host->heap, sizeof *scripts);
    PlaceFile *files = local_files_list(host);
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
        local_scripts_free(host, scripts);
        return status;
    }
    *out = scripts;
    return STATUS_OK;
}

static Status enter_script(World *world, const LocalScript *script, PlaceError *error)
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

Status local_scripts_enter(World *world, const LocalScripts *scripts, PlaceError *error)
{
    Status status = STATUS_OK;
    for (uint32_t i = 0; i < scripts->count && status == STATUS_OK; i++) {
        status = enter_script(world, &scripts->items[i], error);
    }
    return status;
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

Status local_runes_read(LocalHost *host, const uint8_t *bytes, size_t count)
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
