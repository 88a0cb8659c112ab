// The manifest of a world's scripts for clients. If the owner has signed one, it is sent as it was
// signed, field by field, so that a client can write the exact text again and verify it. Rows that
// do not fit a message are a text of their own, which is fetched like the scene; it is the same for
// every world of the place, so that the host can serve it and clients can keep it. Without a signed
// manifest one is made from the scripts that are here, in their order.
#include "core/world/script/script_host_inside.h"

#include "core/base/sha256.h"

#include <string.h>

#define ROW_BYTES_MOST 80 // of a row without its path and what it requires

// --- memory -------------------------------------------------------------------------------------

Status script_manifest_create(ScriptHost *host)
{
    Heap *heap = host->config.heap;
    host->rows =
        heap_alloc(heap, heap_array_bytes(MANIFEST_MESSAGE_ROWS, sizeof(WireManifestScript)));
    host->requires =
        heap_alloc(heap, heap_array_bytes(MANIFEST_MESSAGE_REQUIRES, sizeof(WireScriptPath)));
    return host->rows != NULL && host->requires != NULL ? STATUS_OK : STATUS_LIMIT;
}

void script_manifest_destroy(ScriptHost *host)
{
    heap_free(host->config.heap, host->signed_next.block);
    heap_free(host->config.heap, host->signed_now.block);
    heap_free(host->config.heap, host->requires);
    heap_free(host->config.heap, host->rows);
}

// Both at once, with the first manifest: a world that begins with a signed one has room for the
// next when its heap is frozen, and one that never sees any takes no memory for it.
static Status blocks_allocate(ScriptHost *host)
{
    SignedManifest *both[2] = {&host->signed_now, &host->signed_next};
    for (uint32_t i = 0; i < 2; i++) {
        if (both[i]->block == NULL && !host->config.heap->frozen) {
            both[i]->block = heap_alloc(host->config.heap, MANIFEST_BLOCK_BYTES);
        }
        if (both[i]->block == NULL) {
            return STATUS_LIMIT;
        }
    }
    return STATUS_OK;
}

// --- the message --------------------------------------------------------------------------------

static Status row_of_signed(ScriptHost *host, const ManifestRow *from, uint32_t *require_count,
                            WireManifestScript *to)
{
    if (from->require_count > MANIFEST_MESSAGE_REQUIRES - *require_count) {
        return STATUS_LIMIT;
    }
    *to = (WireManifestScript){
        .path = from->path,
        .size_bytes = from->size_bytes,
        .run_context = from->run_context,
        .service = from->service,
        .replicate = from->replicate,
        .requires = &host->requires[*require_count],
        .requires_count = from->require_count,
    };
    memcpy(to->rune_hash.bytes, from->rune_hash, sizeof to->rune_hash.bytes);
    for (uint32_t i = 0; i < from->require_count; i++) {
        host->requires[(*require_count)++] = (WireScriptPath){.path = from->requires[i]};
    }
    return STATUS_OK;
}

// STATUS_LIMIT: it does not fit a message.
static Status message_of_signed(ScriptHost *host, const SignedManifest *manifest,
                                MessageScriptManifest *out)
{
    const ManifestList *list = &manifest->list;
    uint32_t require_count = 0;
    if (list->row_count > MANIFEST_MESSAGE_ROWS) {
        return STATUS_LIMIT;
    }
    for (uint32_t i = 0; i < list->row_count; i++) {
        const Status status = row_of_signed(host, &list->rows[i], &require_count, &host->rows[i]);
        if (status != STATUS_OK) {
            return status;
        }
    }
    *out = (MessageScriptManifest){
        .version = list->version,
        .scripts = host->rows,
        .scripts_count = list->row_count,
        .signature = {manifest->signature, sizeof manifest->signature},
        .server_tick = list->server_tick,
        .cdn_base = list->cdn_base,
    };
    const Status status = message_check(MESSAGE_SCRIPT_MANIFEST, out);
    if (status != STATUS_OK) {
        return status;
    }
    const Message message = {.number = MESSAGE_SCRIPT_MANIFEST, .seq = UINT32_MAX, .body = out};
    ByteWriter counter = byte_counter();
    message_encode(&message, &counter);
    return counter.at <= MANIFEST_MESSAGE_BYTES ? STATUS_OK : STATUS_LIMIT;
}

static MessageScriptManifest message_of_text(const SignedManifest *manifest)
{
    const ManifestList *list = &manifest->list;
    MessageScriptManifest message = {.version = list->version,
                                     .server_tick = list->server_tick,
                                     .cdn_base = list->cdn_base,
                                     .text_bytes = manifest->text_bytes};
    if (manifest->is_signed) {
        message.signature = (WireBytes){manifest->signature, sizeof manifest->signature};
    }
    memcpy(message.text_hash.bytes, manifest->text_hash, sizeof message.text_hash.bytes);
    return message;
}

static MessageScriptManifest message_of_scripts(const ScriptHost *host)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < host->script_count; i++) {
        const HostScript *script = &host->scripts[i];
        if (!script_host_is_sent(script)) {
            continue;
        }
        ASSERT(count < MANIFEST_MESSAGE_ROWS);
        ASSERT(script->service->kind != SERVICE_SERVER_SCRIPT); // never named to a client
        ASSERT(script->context != CONTEXT_SERVER);
        WireManifestScript *row = &host->rows[count++];
        *row =
            (WireManifestScript){.path = text_from(script->path),
                                 .size_bytes = script->byte_count,
                                 .run_context = text_from(run_context_names[script->context]),
                                 .service = text_from(script_service_names[script->service->kind]),
                                 .replicate = true};
        memcpy(row->rune_hash.bytes, script->hash, sizeof row->rune_hash.bytes);
    }
    return (MessageScriptManifest){.version = host->config.run->manifest_version,
                                   .scripts = host->rows,
                                   .scripts_count = count};
}

void script_manifest_send(ScriptHost *host, Session *session)
{
    const SignedManifest *now = &host->signed_now;
    MessageScriptManifest message;
    if (!now->is_set) {
        message = message_of_scripts(host);
    } else if (now->is_blob) {
        message = message_of_text(now);
    } else {
        const Status status = message_of_signed(host, now, &message);
        ASSERT(status == STATUS_OK); // it was tried when it was taken
    }
    ASSERT(message.version == host->config.run->manifest_version);
    session_send(host->config.sessions, session, MESSAGE_SCRIPT_MANIFEST, &message);
}

bool script_manifest_blob(const ScriptHost *host, const uint8_t hash[32], WireBytes *out)
{
    const SignedManifest *now = &host->signed_now;
    if (!now->is_set || !now->is_blob || memcmp(hash, now->text_hash, SHA256_BYTES) != 0) {
        return false;
    }
    *out = (WireBytes){now->text, now->text_bytes};
    return true;
}

// --- taking one ---------------------------------------------------------------------------------

static bool is_same(const ScriptHost *host, const ManifestRow *row)
{
    const HostScript *script = script_host_after(host, script_path_plain(row->path));
    return script != NULL && script_host_is_sent(script) && row->replicate &&
           script->byte_count == row->size_bytes &&
           memcmp(script->hash, row->rune_hash, sizeof script->hash) == 0 &&
           text_is(row->service, script_service_names[script->service->kind]) &&
           text_is(row->run_context, run_context_names[script->context]);
}

// Exactly the runes that clients will be able to request, none more and none less. Two rows cannot
// mean one script (Door.lua, Door.ts): then another one would be missing.
static Status compare(const ScriptHost *host, const ManifestList *list)
{
    uint32_t sent = 0;
    for (uint32_t i = 0; i < host->script_count + host->staged_count; i++) {
        const HostScript *script = &host->scripts[i];
        sent += script_host_is_sent(script) &&
                script_host_after(host, text_from(script->path)) == script;
    }
    for (uint32_t i = 0; i < list->row_count; i++) {
        if (!is_same(host, &list->rows[i])) {
            return STATUS_MISMATCH;
        }
    }
    return sent == list->row_count ? STATUS_OK : STATUS_MISMATCH;
}

static Status parse_signed_manifest(SignedManifest *next, const uint8_t *text, size_t bytes)
{
    arena_init(&next->arena, next->block, MANIFEST_BLOCK_BYTES);
    JsonError error = {0};
    const Status status = manifest_read(&next->arena, (const char *)text, bytes, &next->list,
                                        next->signature, &next->is_signed, &error);
    return status != STATUS_OK || next->is_signed ? status : STATUS_DENIED;
}

static Status write_rows(SignedManifest *next)
{
    const ManifestList *list = &next->list;
    ByteWriter counter = byte_counter();
    Status status = manifest_write_rows(list->rows, list->row_count, &counter);
    uint8_t *text = status == STATUS_OK && counter.at <= MANIFEST_BYTES_MAX
                        ? arena_alloc(&next->arena, counter.at)
                        : NULL;
    if (text == NULL) {
        return STATUS_LIMIT;
    }
    ByteWriter writer = byte_writer(text, counter.at);
    status = manifest_write_rows(list->rows, list->row_count, &writer);
    next->text = text;
    next->text_bytes = (uint32_t)writer.at;
    sha256_of(text, writer.at, next->text_hash);
    return status;
}

Status script_manifest_take(ScriptHost *host, const uint8_t *text, size_t bytes, uint64_t version)
{
    SignedManifest *next = &host->signed_next;
    next->is_set = false;
    Status status = blocks_allocate(host);
    if (status == STATUS_OK) {
        status = parse_signed_manifest(next, text, bytes);
    }
    if (status == STATUS_OK && next->list.version != version) {
        status = STATUS_MISMATCH;
    }
    if (status == STATUS_OK && next->list.row_count > MANIFEST_SCRIPTS_MAX) {
        status = STATUS_LIMIT;
    }
    if (status == STATUS_OK) {
        status = compare(host, &next->list);
    }
    if (status == STATUS_OK) {
        MessageScriptManifest message;
        status = message_of_signed(host, next, &message);
        next->is_blob = status == STATUS_LIMIT;
        status = next->is_blob ? write_rows(next) : status;
    }
    next->is_set = status == STATUS_OK;
    return status;
}

void script_manifest_clear_next(ScriptHost *host)
{
    host->signed_next.is_set = false;
}

// --- without a signature ------------------------------------------------------------------------

static bool path_is_after(const HostScript *a, const HostScript *b)
{
    return strcmp(a->path, b->path) > 0;
}

static bool make_row(SignedManifest *next, const HostScript *script, ManifestRow *row)
{
    static const char ending[] = ".lua"; // the language of the source is not known here
    const size_t bytes = strlen(script->path) + sizeof ending - 1;
    char *path = arena_alloc(&next->arena, bytes + 1);
    if (path == NULL || bytes > MANIFEST_PATH_BYTES_MAX) {
        return false;
    }
    memcpy(path, script->path, strlen(script->path));
    memcpy(path + strlen(script->path), ending, sizeof ending);
    *row = (ManifestRow){.path = {path, bytes},
                         .size_bytes = (uint32_t)script->byte_count,
                         .run_context = text_from(run_context_names[script->context]),
                         .service = text_from(script_service_names[script->service->kind]),
                         .replicate = true};
    memcpy(row->rune_hash, script->hash, sizeof row->rune_hash);
    return true;
}

static uint32_t order_sent(ScriptHost *host)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < host->script_count; i++) {
        if (script_host_is_sent(&host->scripts[i])) {
            host->order[count++] = i;
        }
    }
    script_host_order(host, count, path_is_after);
    return count;
}

static Status make_text(ScriptHost *host, SignedManifest *next)
{
    const uint32_t count = order_sent(host);
    Status status = blocks_allocate(host);
    if (status != STATUS_OK) {
        return status;
    }
    arena_init(&next->arena, next->block, MANIFEST_BLOCK_BYTES);
    ManifestRow *rows = arena_array(&next->arena, count, sizeof *rows);
    for (uint32_t i = 0; i < count; i++) {
        if (rows == NULL || !make_row(next, &host->scripts[host->order[i]], &rows[i])) {
            return STATUS_LIMIT;
        }
    }
    next->list = (ManifestList){
        .version = host->config.run->manifest_version, .rows = rows, .row_count = count};
    return write_rows(next);
}

// Those that run now have no signed manifest. Few fit a message, which is made whenever one is
// sent; many become a text here.
static void make_unsigned(ScriptHost *host)
{
    SignedManifest *next = &host->signed_next;
    size_t bytes = 0;
    uint32_t count = 0;
    for (uint32_t i = 0; i < host->script_count; i++) {
        const bool is_sent = script_host_is_sent(&host->scripts[i]);
        count += is_sent;
        bytes += is_sent ? strlen(host->scripts[i].path) + ROW_BYTES_MOST : 0;
    }
    if (count <= MANIFEST_MESSAGE_ROWS && bytes <= MANIFEST_MESSAGE_BYTES) {
        return;
    }
    const Status status = make_text(host, next);
    if (status != STATUS_OK) {
        log_write(host->config.log, host->config.clock->tick, LOG_ERROR, "script",
                  "clients cannot be told of %u scripts: %s", count, status_text(status));
    }
    next->is_blob = true;
    next->text_bytes = status == STATUS_OK ? next->text_bytes : 0;
    next->list = status == STATUS_OK
                     ? next->list
                     : (ManifestList){.version = host->config.run->manifest_version};
    next->is_set = true;
}

void script_manifest_switch(ScriptHost *host)
{
    if (!host->signed_next.is_set) {
        host->signed_next.is_signed = false;
        make_unsigned(host);
    }
    // Texts of the list point into its block, which moves with it.
    const SignedManifest before = host->signed_now;
    host->signed_now = host->signed_next;
    host->signed_next = before;
    host->signed_next.is_set = false;
}
