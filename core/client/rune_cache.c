// The runes of a world: which there are (the manifest), which are missing, and their bytes until
// the scripts are loaded. A manifest is staged first and becomes current when all its runes are
// here; so a reload never runs a mix of two sets.
// Bytecode is only as trustworthy as its source, so only runes whose SHA-256 is in the manifest are
// kept, and nothing of the server's own services is accepted.
#include "core/client/client_inside.h"

#include "core/script/rune/rune.h"
#include "core/wire/script_path.h"

#include <string.h>

// --- memory -------------------------------------------------------------------------------------

size_t rune_cache_bytes(void)
{
    return 2 * arena_need(CLIENT_RUNES_MAX * sizeof(ClientRune));
}

Status rune_cache_init(RuneCache *cache, Arena *arena)
{
    cache->current.runes = arena_array(arena, CLIENT_RUNES_MAX, sizeof(ClientRune));
    cache->staged.runes = arena_array(arena, CLIENT_RUNES_MAX, sizeof(ClientRune));
    return cache->current.runes == NULL || cache->staged.runes == NULL ? STATUS_LIMIT : STATUS_OK;
}

static void manifest_clear(Client *client, Manifest *manifest)
{
    heap_free(client->heap, manifest->store);
    *manifest = (Manifest){.runes = manifest->runes};
}

void rune_cache_free(Client *client)
{
    manifest_clear(client, &client->runes.current);
    manifest_clear(client, &client->runes.staged);
    transfer_free(client->heap, &client->runes.transfer);
    manifest_proof_free(client);
}

ClientRune *rune_cache_find(const Manifest *manifest, const char *path)
{
    for (uint32_t i = 0; i < manifest->count; i++) {
        if (strcmp(manifest->runes[i].path, path) == 0) {
            return &manifest->runes[i];
        }
    }
    return NULL;
}

static ClientRune *find_text(const Manifest *manifest, Text path)
{
    for (uint32_t i = 0; i < manifest->count; i++) {
        if (strlen(manifest->runes[i].path) == path.bytes &&
            memcmp(manifest->runes[i].path, path.data, path.bytes) == 0) {
            return &manifest->runes[i];
        }
    }
    return NULL;
}

// --- the manifest -------------------------------------------------------------------------------

static const char *refuse_path(Text path, ScriptService service)
{
    const size_t prefix = strlen(script_service_names[service]);
    if (path.bytes >= SCRIPT_PATH_BYTES || path.bytes <= prefix + 1 ||
        memcmp(path.data, script_service_names[service], prefix) != 0 || path.data[prefix] != '/') {
        return "its path does not fit its service";
    }
    for (uint32_t i = 0; i < path.bytes; i++) {
        if ((unsigned char)path.data[i] < 0x20) {
            return "its path has control characters";
        }
    }
    return NULL;
}

// Why a script is rejected; NULL if it is not.
static const char *refuse_script(const WireManifestScript *script, ScriptService *service)
{
    uint32_t i = 0;
    while (i < SERVICE_SERVER_SCRIPT && !text_is(script->service, script_service_names[i])) {
        i += 1;
    }
    if (i == SERVICE_SERVER_SCRIPT) {
        return "it is of a service that is not for clients";
    }
    *service = (ScriptService)i;
    if (!text_is(script->run_context, run_context_names[CONTEXT_CLIENT]) &&
        !text_is(script->run_context, run_context_names[CONTEXT_BOTH])) {
        return "it does not run on clients";
    }
    if (script->size_bytes < RUNE_HEADER_BYTES || script->size_bytes > RUNE_BYTES_MAX) {
        return "its size makes no sense";
    }
    return refuse_path(script->path, *service);
}

static const char *read_message(Manifest *staged, const MessageScriptManifest *message)
{
    uint64_t bytes = 0;
    // In the order of the services, so that what is needed first is requested first.
    for (uint32_t rank = 0; rank < SERVICE_SERVER_SCRIPT; rank++) {
        for (uint32_t i = 0; i < message->scripts_count; i++) {
            const WireManifestScript *script = &message->scripts[i];
            ScriptService service = SERVICE_REPLICATED_FIRST;
            const char *refused = refuse_script(script, &service);
            if (refused != NULL) {
                return refused;
            }
            if ((uint32_t)service != rank) {
                continue;
            }
            if (find_text(staged, script->path) != NULL) {
                return "it is named twice";
            }
            ClientRune *rune = &staged->runes[staged->count++];
            *rune = (ClientRune){.bytes = (uint32_t)script->size_bytes,
                                 .offset = (uint32_t)bytes,
                                 .service = service};
            memcpy(rune->path, script->path.data, script->path.bytes);
            memcpy(rune->hash, script->rune_hash.bytes, SHA256_BYTES);
            bytes += script->size_bytes;
            if (bytes > CLIENT_RUNES_BYTES_MAX) {
                return "all of them together are too large";
            }
        }
    }
    staged->store_bytes = bytes;
    return NULL;
}

// Runes that did not change are here already.
static void keep_known(Manifest *staged, const Manifest *current)
{
    for (uint32_t i = 0; i < staged->count; i++) {
        ClientRune *rune = &staged->runes[i];
        for (uint32_t k = 0; k < current->count && !rune->here; k++) {
            const ClientRune *known = &current->runes[k];
            if (known->here && known->bytes == rune->bytes &&
                memcmp(known->hash, rune->hash, SHA256_BYTES) == 0) {
                memcpy(staged->store + rune->offset, current->store + known->offset, rune->bytes);
                rune->here = true;
                staged->here_count += 1;
            }
        }
    }
}

static size_t rune_bytes_most(const Manifest *manifest)
{
    size_t most = 0;
    for (uint32_t i = 0; i < manifest->count; i++) {
        most = manifest->runes[i].bytes > most ? manifest->runes[i].bytes : most;
    }
    return most;
}

// Data that cannot be compressed grows a little.
static bool transfer_allocate(Client *client)
{
    Transfer *transfer = &client->runes.transfer;
    const size_t most = rune_bytes_most(&client->runes.staged);
    transfer->capacity = most + most / 64 + 1024;
    transfer->data = heap_alloc(client->heap, transfer->capacity);
    return transfer->data != NULL;
}

static bool staged_allocate(Client *client)
{
    Manifest *staged = &client->runes.staged;
    Transfer *transfer = &client->runes.transfer;
    transfer_free(client->heap, transfer);
    client->runes.request_left = 0;
    if (staged->count == 0) {
        return true;
    }
    staged->store = heap_alloc(client->heap, (size_t)staged->store_bytes);
    return staged->store != NULL && (client->config.owner_fetches || transfer_allocate(client));
}

void rune_cache_over_wire(Client *client)
{
    const Manifest *staged = &client->runes.staged;
    if (client_is_open(client) && staged->here_count < staged->count &&
        client->runes.transfer.data == NULL && !transfer_allocate(client)) {
        client_close(client, "scripts: %s", status_text(STATUS_LIMIT));
    }
}

void rune_cache_manifest(Client *client, const MessageScriptManifest *message)
{
    RuneCache *cache = &client->runes;
    const uint32_t version = (uint32_t)message->version;
    const uint32_t newest =
        cache->staged.version != 0 ? cache->staged.version : cache->current.version;
    if (version < newest) {
        client_fail(client, "manifest %u after %u", version, newest);
        return;
    }
    if (version == newest) {
        return; // repeated after a resume, or there are none
    }
    if (cache->staged.first_done) {
        // Its first scripts are running already: the reload starts from them.
        rune_cache_switch(client);
    }
    manifest_clear(client, &cache->staged);
    const char *refused = read_message(&cache->staged, message);
    if (refused != NULL) {
        manifest_clear(client, &cache->staged);
        client_fail(client, "a script of the manifest: %s", refused);
        return;
    }
    if (!staged_allocate(client)) {
        manifest_clear(client, &cache->staged);
        client_close(client, "scripts: %s", status_text(STATUS_LIMIT));
        return;
    }
    const ProofState proof = manifest_proof_begin(client, message);
    if (proof == PROOF_BAD) {
        manifest_clear(client, &cache->staged);
        return;
    }
    cache->staged.version = version;
    cache->staged.is_good = proof == PROOF_GOOD;
    cache->staged.is_proven = proof == PROOF_GOOD && client->config.verify != NULL;
    cache->staged.at_tick = cache->reload_version == version ? cache->reload_tick : 0;
    keep_known(&cache->staged, &cache->current);
}

void rune_cache_verified(Client *client, bool good)
{
    Manifest *staged = &client->runes.staged;
    if (good) {
        staged->is_good = true;
        staged->is_proven = true;
        return;
    }
    manifest_clear(client, staged);
    if (client->state != CLIENT_IDLE) {
        client_fail(client, PROOF_BAD_TEXT);
    }
}

void rune_cache_reload(Client *client, const MessageScriptReload *reload)
{
    RuneCache *cache = &client->runes;
    if (reload->version < cache->current.version) {
        client_fail(client, "manifest %u after %u", (uint32_t)reload->version,
                    cache->current.version);
        return;
    }
    cache->reload_version = (uint32_t)reload->version;
    cache->reload_tick = reload->at_tick;
    if (cache->staged.version == reload->version) {
        cache->staged.at_tick = reload->at_tick;
    }
}

void rune_cache_execute(Client *client, const MessageScriptExecute *execute)
{
    ClientRune *rune = find_text(&client->runes.staged, execute->script_path);
    if (rune != NULL) {
        rune->execute_tick = execute->at_tick;
    } else if (find_text(&client->runes.current, execute->script_path) == NULL) {
        client_fail(client, "a script that no manifest names is to run");
    }
}

void rune_cache_switch(Client *client)
{
    RuneCache *cache = &client->runes;
    const Manifest before = cache->current;
    cache->current = cache->staged;
    cache->staged = before;
    manifest_clear(client, &cache->staged);
    transfer_free(client->heap, &cache->transfer);
    cache->request_left = 0;
}

bool rune_cache_is_ready(const Client *client, const Manifest *manifest, ScriptService last)
{
    const uint64_t now = client->merge.last.tick;
    for (uint32_t i = 0; i < manifest->count; i++) {
        const ClientRune *rune = &manifest->runes[i];
        if (rune->service <= last && (!rune->here || rune->execute_tick > now)) {
            return false;
        }
    }
    return manifest->version != 0 && manifest->is_good && manifest->at_tick <= now &&
           client->merge.last.seq != 0;
}

// Nothing came for a while: everything missing is requested again.
static void request_forget(RuneCache *cache)
{
    for (uint32_t i = 0; i < cache->staged.count; i++) {
        cache->staged.runes[i].asked = false;
    }
    cache->request_left = 0;
}

// --- arriving -----------------------------------------------------------------------------------

static void send_verify(Client *client, const ClientRune *rune, const uint8_t *hash, bool success,
                        const char *reason)
{
    MessageScriptVerify verify = {
        .script_path = text_from(rune->path), .success = success, .reason = text_from(reason)};
    memcpy(verify.hash.bytes, hash, SHA256_BYTES);
    (void)client_send(client, MESSAGE_SCRIPT_VERIFY, &verify);
}

// The hash is right; the bytes must also be a rune of that path.
static bool rune_keep(Client *client, ClientRune *rune, const uint8_t *bytes)
{
    Manifest *staged = &client->runes.staged;
    Rune checked;
    const Status status = rune_check(bytes, rune->bytes, &checked);
    if (status != STATUS_OK || strcmp(checked.path, rune->path) != 0) {
        client_fail(client, "the rune %s makes no sense", rune->path);
        return false;
    }
    // An unpacked rune is there already.
    memmove(staged->store + rune->offset, bytes, rune->bytes);
    rune->here = true;
    staged->here_count += 1;
    if (rune->asked) {
        rune->asked = false;
        client->runes.request_left -= 1;
    }
    send_verify(client, rune, rune->hash, true, "");
    return true;
}

Status rune_cache_give(Client *client, const uint8_t hash[SHA256_BYTES], const uint8_t *bytes,
                       size_t count)
{
    Manifest *staged = &client->runes.staged;
    Status status = STATUS_NOT_FOUND;
    for (uint32_t i = 0; i < staged->count && staged->is_good; i++) {
        ClientRune *rune = &staged->runes[i];
        if (!rune->here && rune->bytes == count && memcmp(rune->hash, hash, SHA256_BYTES) == 0) {
            status = rune_keep(client, rune, bytes) ? STATUS_OK : STATUS_MALFORMED;
        }
    }
    return status;
}

// Unpacks into its own place in the store, which is not used until the hash is checked; NULL if
// there is no rune in it.
static const uint8_t *unpacked_rune(Client *client, const ClientRune *rune, const uint8_t *packed,
                                    size_t packed_bytes)
{
    const ClientConfig *config = &client->config;
    uint8_t *out = client->runes.staged.store + rune->offset;
    return config->unpack != NULL && config->unpack(config->unpack_user, rune->path, packed,
                                                    packed_bytes, out, rune->bytes) == STATUS_OK
               ? out
               : NULL;
}

Status rune_cache_give_packed(Client *client, const uint8_t hash[SHA256_BYTES],
                              const uint8_t *packed, size_t packed_bytes)
{
    Manifest *staged = &client->runes.staged;
    for (uint32_t i = 0; i < staged->count && staged->is_good; i++) {
        ClientRune *rune = &staged->runes[i];
        if (rune->here || memcmp(rune->hash, hash, SHA256_BYTES) != 0) {
            continue;
        }
        const uint8_t *bytes = unpacked_rune(client, rune, packed, packed_bytes);
        uint8_t unpacked[SHA256_BYTES];
        if (bytes == NULL) {
            return STATUS_MALFORMED;
        }
        sha256_of(bytes, rune->bytes, unpacked);
        if (memcmp(unpacked, hash, SHA256_BYTES) != 0) {
            return STATUS_MISMATCH;
        }
        return rune_keep(client, rune, bytes) ? STATUS_OK : STATUS_MALFORMED;
    }
    return STATUS_NOT_FOUND;
}

// A rune that arrived damaged is requested once more, unpacked; the second time it is an error.
static void rune_damaged(Client *client, ClientRune *rune, const uint8_t *hash, const char *reason)
{
    if (rune->retried) {
        client_fail(client, "the rune %s: %s", rune->path, reason);
        return;
    }
    rune->retried = true;
    send_verify(client, rune, hash, false, reason);
    if (rune->asked) {
        rune->asked = false;
        client->runes.request_left -= 1;
    }
}

static void rune_whole(Client *client, ClientRune *rune)
{
    static const uint8_t nothing[SHA256_BYTES] = {0};
    RuneCache *cache = &client->runes;
    const uint8_t *bytes = cache->transfer.data;
    size_t count = cache->transfer.bytes;
    const uint64_t packing = cache->transfer.encoding;
    cache->transfer.next_chunk = 0;
    cache->transfer.bytes = 0;
    if (packing != 0) {
        bytes =
            packing == client->config.packing ? unpacked_rune(client, rune, bytes, count) : NULL;
        if (bytes == NULL) {
            rune_damaged(client, rune, nothing, "it cannot be unpacked");
            return;
        }
        count = rune->bytes;
    }
    uint8_t hash[SHA256_BYTES];
    sha256_of(bytes, count, hash);
    if (count != rune->bytes || memcmp(hash, rune->hash, SHA256_BYTES) != 0) {
        rune_damaged(client, rune, hash, "it is not the one of the manifest");
        return;
    }
    (void)rune_keep(client, rune, bytes);
}

void rune_cache_chunk(Client *client, const MessageScriptChunk *chunk)
{
    RuneCache *cache = &client->runes;
    Transfer *transfer = &cache->transfer;
    ClientRune *rune = find_text(&cache->staged, chunk->script_path);
    if (rune == NULL || rune->here || transfer->data == NULL || !cache->staged.is_good) {
        return; // of an old manifest, or requested twice
    }
    const uint32_t index = (uint32_t)(rune - cache->staged.runes);
    if (transfer->rune != index || transfer->encoding != chunk->encoding) {
        // One rune at a time: another one that was begun starts again.
        transfer->next_chunk = 0;
        transfer->total_chunks = 0;
        transfer->bytes = 0;
        transfer->again = false;
        transfer->rune = index;
        transfer->encoding = chunk->encoding;
    }
    const bool was_again = transfer->again;
    const TransferStep step =
        transfer_append(transfer, chunk->chunk_index, chunk->total_chunks, chunk->data);
    if (step == TRANSFER_BAD) {
        client_fail(client, "chunk %u of the rune %s does not fit", (uint32_t)chunk->chunk_index,
                    rune->path);
        return;
    }
    if (step != TRANSFER_SKIP) {
        transfer->asked_ms = client->now_ms;
    } else if (transfer->again && !was_again) {
        request_forget(cache); // the next update requests it
    }
    if (step == TRANSFER_DONE) {
        rune_whole(client, rune);
    }
}

// --- asking -------------------------------------------------------------------------------------

static void send_request(Client *client, const uint32_t *runes, uint32_t count, uint32_t from_chunk)
{
    WireScriptPath paths[CLIENT_REQUEST_MAX];
    bool as_it_is = client->config.unpack == NULL;
    for (uint32_t i = 0; i < count; i++) {
        ClientRune *rune = &client->runes.staged.runes[runes[i]];
        paths[i] = (WireScriptPath){.path = text_from(rune->path)};
        rune->asked = true;
        as_it_is |= rune->retried;
    }
    const MessageScriptRequest request = {.script_paths = paths,
                                          .script_paths_count = count,
                                          .from_chunk = from_chunk,
                                          .encoding = as_it_is ? 0 : client->config.packing};
    client->runes.request_left = count;
    client->runes.transfer.asked_ms = client->now_ms;
    client->runes.transfer.seq = client_send(client, MESSAGE_SCRIPT_REQUEST, &request);
}

void rune_cache_ask(Client *client)
{
    RuneCache *cache = &client->runes;
    const Manifest *staged = &cache->staged;
    if (client->config.owner_fetches || staged->here_count == staged->count || !staged->is_good ||
        client->state != CLIENT_PLAYING) {
        return;
    }
    if (cache->request_left > 0) {
        if (client->now_ms - cache->transfer.asked_ms < CLIENT_RETRY_MS) {
            return;
        }
        request_forget(cache);
    }
    const Transfer *transfer = &cache->transfer;
    if (transfer->next_chunk > 0 && !staged->runes[transfer->rune].here) {
        send_request(client, &transfer->rune, 1, transfer->next_chunk);
        return;
    }
    uint32_t missing[CLIENT_REQUEST_MAX];
    uint32_t count = 0;
    for (uint32_t i = 0; i < staged->count && count < CLIENT_REQUEST_MAX; i++) {
        if (!staged->runes[i].here) {
            missing[count++] = i;
        }
    }
    send_request(client, missing, count, 0);
}

void rune_cache_refused(Client *client, uint32_t seq)
{
    RuneCache *cache = &client->runes;
    if (cache->request_left > 0 && seq == cache->transfer.seq) {
        transfer_restart(&cache->transfer, client->now_ms);
    }
}

void rune_cache_restart(Client *client)
{
    request_forget(&client->runes);
}
