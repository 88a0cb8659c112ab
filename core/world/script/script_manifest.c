// The manifest of a world's scripts for clients. If the owner has signed one, it is sent field by
// field as it was signed, so that a client can write the exact text again and verify it. Otherwise
// it is made from the scripts that are here, in their order, without a signature.
#include "core/world/script/script_host_inside.h"

#include <string.h>

// --- memory -------------------------------------------------------------------------------------

Status script_manifest_create(ScriptHost *host)
{
    host->rows =
        heap_alloc(host->config.heap, heap_array_bytes(MANIFEST_MAX, sizeof(WireManifestScript)));
    host->requires = heap_alloc(host->config.heap,
                                heap_array_bytes(MANIFEST_REQUIRES_ALL, sizeof(WireScriptPath)));
    host->signed_now.block = heap_alloc(host->config.heap, MANIFEST_BLOCK_BYTES);
    host->signed_next.block = heap_alloc(host->config.heap, MANIFEST_BLOCK_BYTES);
    return host->rows != NULL && host->requires != NULL && host->signed_now.block != NULL &&
                   host->signed_next.block != NULL
               ? STATUS_OK
               : STATUS_LIMIT;
}

void script_manifest_destroy(ScriptHost *host)
{
    heap_free(host->config.heap, host->signed_next.block);
    heap_free(host->config.heap, host->signed_now.block);
    heap_free(host->config.heap, host->requires);
    heap_free(host->config.heap, host->rows);
}

// --- the message --------------------------------------------------------------------------------

// Where the ending of a source begins: at the last dot of its last part.
static size_t ending_at(Text path)
{
    for (size_t i = path.bytes; i > 0 && path.data[i - 1] != '/'; i--) {
        if (path.data[i - 1] == '.') {
            return i - 1;
        }
    }
    return path.bytes;
}

static Status row_of_signed(ScriptHost *host, const ManifestRow *from, uint32_t *require_count,
                            WireManifestScript *to)
{
    const size_t ending = ending_at(from->path);
    if (from->require_count > MANIFEST_REQUIRES_ALL - *require_count) {
        return STATUS_LIMIT;
    }
    *to = (WireManifestScript){
        .path = {from->path.data, ending},
        .size_bytes = from->size_bytes,
        .run_context = from->run_context,
        .service = from->service,
        .ending = {from->path.data + ending, from->path.bytes - ending},
        .requires = &host->requires[*require_count],
        .requires_count = from->require_count,
    };
    memcpy(to->rune_hash.bytes, from->rune_hash, sizeof to->rune_hash.bytes);
    for (uint32_t i = 0; i < from->require_count; i++) {
        host->requires[(*require_count)++] = (WireScriptPath){.path = from->requires[i]};
    }
    return STATUS_OK;
}

static Status message_of_signed(ScriptHost *host, const SignedManifest *manifest,
                                MessageScriptManifest *out)
{
    const ManifestList *list = &manifest->list;
    uint32_t require_count = 0;
    if (list->row_count > MANIFEST_MAX) {
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
    return STATUS_OK;
}

static MessageScriptManifest message_of_scripts(const ScriptHost *host)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < host->script_count; i++) {
        const HostScript *script = &host->scripts[i];
        if (!script_host_is_sent(script)) {
            continue;
        }
        ASSERT(count < MANIFEST_MAX);
        ASSERT(script->service->kind != SERVICE_SERVER_SCRIPT); // never named to a client
        ASSERT(script->context != CONTEXT_SERVER);
        WireManifestScript *row = &host->rows[count++];
        *row =
            (WireManifestScript){.path = text_from(script->path),
                                 .size_bytes = script->byte_count,
                                 .run_context = text_from(run_context_names[script->context]),
                                 .service = text_from(script_service_names[script->service->kind])};
        memcpy(row->rune_hash.bytes, script->hash, sizeof row->rune_hash.bytes);
    }
    return (MessageScriptManifest){.version = host->config.run->manifest_version,
                                   .scripts = host->rows,
                                   .scripts_count = count};
}

void script_manifest_send(ScriptHost *host, Session *session)
{
    MessageScriptManifest message;
    if (host->signed_now.is_set) {
        const Status status = message_of_signed(host, &host->signed_now, &message);
        ASSERT(status == STATUS_OK); // it was checked when it was taken
        ASSERT(message.version == host->config.run->manifest_version);
    } else {
        message = message_of_scripts(host);
    }
    session_send(host->config.sessions, session, MESSAGE_SCRIPT_MANIFEST, &message);
}

// --- taking one ---------------------------------------------------------------------------------

static bool is_same(const ScriptHost *host, const WireManifestScript *row)
{
    char path[SCRIPT_PATH_BYTES];
    if (row->path.bytes >= sizeof path) {
        return false;
    }
    memcpy(path, row->path.data, row->path.bytes);
    path[row->path.bytes] = 0;
    const HostScript *script = script_host_after(host, path);
    return script != NULL && script_host_is_sent(script) && script->byte_count == row->size_bytes &&
           memcmp(script->hash, row->rune_hash.bytes, sizeof script->hash) == 0 &&
           text_is(row->service, script_service_names[script->service->kind]) &&
           text_is(row->run_context, run_context_names[script->context]);
}

// Exactly the runes that clients will be able to request, none more and none less.
static Status compare(const ScriptHost *host, const MessageScriptManifest *message)
{
    uint32_t sent = 0;
    for (uint32_t i = 0; i < host->script_count + host->staged_count; i++) {
        const HostScript *script = &host->scripts[i];
        sent += script_host_is_sent(script) && script_host_after(host, script->path) == script;
    }
    for (uint32_t i = 0; i < message->scripts_count; i++) {
        if (!is_same(host, &message->scripts[i])) {
            return STATUS_MISMATCH;
        }
    }
    return sent == message->scripts_count ? STATUS_OK : STATUS_MISMATCH;
}

static Status can_be_sent(const MessageScriptManifest *body)
{
    const Status status = message_check(MESSAGE_SCRIPT_MANIFEST, body);
    if (status != STATUS_OK) {
        return status;
    }
    const Message message = {.number = MESSAGE_SCRIPT_MANIFEST, .seq = UINT32_MAX, .body = body};
    ByteWriter counter = byte_counter();
    message_encode(&message, &counter);
    return counter.at <= MANIFEST_WIRE_BYTES_MAX ? STATUS_OK : STATUS_LIMIT;
}

static Status read_text(SignedManifest *next, const uint8_t *text, size_t bytes)
{
    arena_init(&next->arena, next->block, MANIFEST_BLOCK_BYTES);
    JsonError error = {0};
    bool has_signature = false;
    const Status status = manifest_read(&next->arena, (const char *)text, bytes, &next->list,
                                        next->signature, &has_signature, &error);
    return status != STATUS_OK || has_signature ? status : STATUS_DENIED;
}

Status script_manifest_take(ScriptHost *host, const uint8_t *text, size_t bytes, uint64_t version)
{
    SignedManifest *next = &host->signed_next;
    next->is_set = false;
    Status status = read_text(next, text, bytes);
    if (status == STATUS_OK && next->list.version != version) {
        status = STATUS_MISMATCH;
    }
    MessageScriptManifest message;
    if (status == STATUS_OK) {
        status = message_of_signed(host, next, &message);
    }
    if (status == STATUS_OK) {
        status = can_be_sent(&message);
    }
    if (status == STATUS_OK) {
        status = compare(host, &message);
    }
    next->is_set = status == STATUS_OK;
    return status;
}

void script_manifest_clear_next(ScriptHost *host)
{
    host->signed_next.is_set = false;
}

void script_manifest_switch(ScriptHost *host)
{
    // Texts of the list point into its block, which moves with it.
    const SignedManifest before = host->signed_now;
    host->signed_now = host->signed_next;
    host->signed_next = before;
    host->signed_next.is_set = false;
}
