// How runes come: from the owner (a cache, HTTP) or in chunks from the world, several at the same
// time. Each is kept only if its hash is the manifest's; one that is damaged is fetched once more,
// from the host itself, and then refused. The server is told what is here, in lists, and answers on
// joining by telling which scripts run.
#include "core/client/client_inside.h"

#include "core/script/rune/rune.h"

#include <string.h>

// --- requests -----------------------------------------------------------------------------------

static void request_leave(RuneCache *cache, ClientRune *rune)
{
    if (rune->request != 0) {
        cache->requests[rune->request - 1].left -= 1;
        rune->request = 0;
    }
}

// Its runes are requested again.
static void request_forget(Client *client, uint32_t number)
{
    Manifest *set = rune_cache_fetched(client);
    for (uint32_t i = 0; i < set->count; i++) {
        if (set->runes[i].request == number + 1) {
            set->runes[i].request = 0;
        }
    }
    client->runes.requests[number] = (RuneRequest){0};
}

void rune_fetch_clear(Client *client)
{
    RuneCache *cache = &client->runes;
    for (uint32_t i = 0; i < CLIENT_REQUESTS_MAX; i++) {
        request_forget(client, i);
        transfer_free(client->heap, &cache->transfers[i]);
    }
    for (uint32_t i = 0; i < cache->current.count; i++) {
        cache->current.runes[i].request = 0;
    }
}

// Chunks that are here stay: their transfers go on where they broke off.
void rune_fetch_restart(Client *client)
{
    RuneCache *cache = &client->runes;
    for (uint32_t i = 0; i < CLIENT_REQUESTS_MAX; i++) {
        request_forget(client, i);
    }
    cache->text.transfer.asked_ms = 0;
    cache->text.transfer.seq = 0;
    Manifest *set = rune_cache_fetched(client);
    for (uint32_t i = 0; i < set->count; i++) {
        // The answer may have been lost with the connection.
        set->runes[i].reported = set->runes[i].reported && set->runes[i].told;
    }
}

void rune_fetch_refused(Client *client, uint32_t seq)
{
    RuneCache *cache = &client->runes;
    for (uint32_t i = 0; i < CLIENT_REQUESTS_MAX; i++) {
        RuneRequest *request = &cache->requests[i];
        if (request->left > 0 && request->seq == seq) {
            request->asked_ms = client->now_ms - CLIENT_RETRY_MS + CLIENT_REFUSED_MS;
            // It may have named a chunk that is not there any more.
            for (uint32_t t = 0; t < CLIENT_REQUESTS_MAX; t++) {
                cache->transfers[t].next_chunk = 0;
                cache->transfers[t].bytes = 0;
                cache->transfers[t].again = true;
            }
        }
    }
    if (cache->text.version != 0 && cache->text.transfer.seq == seq) {
        transfer_restart(&cache->text.transfer, client->now_ms);
    }
}

// --- reports ------------------------------------------------------------------------------------

void rune_fetch_report(Client *client, const ClientRune *rune, const uint8_t hash[SHA256_BYTES],
                       const char *reason)
{
    MessageScriptVerify verify = {.script_path = text_from(rune->path),
                                  .reason = text_from(reason)};
    memcpy(verify.hash.bytes, hash, SHA256_BYTES);
    (void)client_send(client, MESSAGE_SCRIPT_VERIFY, &verify);
    if (client->config.log != NULL) {
        log_write(client->config.log, client->merge.last.tick, LOG_WARN, "client",
                  "the script %s: %s", rune->path, reason);
    }
}

// One list in each update; each has a fraction of what a message may have.
static void send_reports(Client *client)
{
    static const Text nothing = {"", 0};
    Manifest *set = rune_cache_fetched(client);
    WireScriptVerdict verdicts[SCRIPT_VERDICTS_MAX];
    ClientRune *runes[SCRIPT_VERDICTS_MAX];
    uint32_t count = 0;
    for (uint32_t i = 0; i < set->count && count < SCRIPT_VERDICTS_MAX; i++) {
        ClientRune *rune = &set->runes[i];
        if (rune->here && !rune->reported) {
            verdicts[count] = (WireScriptVerdict){
                .script_path = text_from(rune->path), .success = true, .reason = nothing};
            memcpy(verdicts[count].hash.bytes, rune->hash, SHA256_BYTES);
            runes[count++] = rune;
        }
    }
    const MessageScriptVerifyList list = {.scripts = verdicts, .scripts_count = count};
    if (count > 0 && client_send(client, MESSAGE_SCRIPT_VERIFY_LIST, &list) != 0) {
        for (uint32_t i = 0; i < count; i++) {
            runes[i]->reported = true;
        }
    }
}

// --- arriving -----------------------------------------------------------------------------------

// The hash is right; the bytes must also be a rune of that path.
static Status rune_keep(Client *client, Manifest *set, ClientRune *rune, const uint8_t *bytes)
{
    Rune checked;
    const Status status = rune_check(bytes, rune->bytes, &checked);
    if (status != STATUS_OK || strcmp(checked.path, rune->path) != 0) {
        client_fail(client, "the rune %s makes no sense", rune->path);
        return STATUS_MALFORMED;
    }
    // An unpacked rune is there already.
    memmove(set->store + rune->offset, bytes, rune->bytes);
    rune->here = true;
    set->here_count += 1;
    request_leave(&client->runes, rune);
    client->runes.change += 1;
    client->runes.late = true;
    return STATUS_OK;
}

// One that arrived damaged is fetched once more, from the host and uncompressed; the second time it
// is refused, on both sides in words, and the other scripts go on without it.
static void rune_damaged(Client *client, ClientRune *rune, const uint8_t *hash, const char *reason)
{
    request_leave(&client->runes, rune);
    client->runes.change += 1;
    rune->refused = rune->retried;
    rune->retried = true;
    client->runes.refused_count += rune->refused;
    rune_fetch_report(client, rune, hash, reason);
}

static Manifest *verified_set(Client *client)
{
    Manifest *set = rune_cache_fetched(client);
    return set->is_good ? set : NULL;
}

static Status give_text(Client *client, const uint8_t *bytes, size_t count,
                        const uint8_t hash[SHA256_BYTES])
{
    ManifestText *text = &client->runes.text;
    if (count == text->bytes && memcmp(hash, text->hash, SHA256_BYTES) == 0) {
        rune_cache_text(client, bytes, count);
        return client_is_open(client) ? STATUS_OK : STATUS_MALFORMED;
    }
    if (text->retried) {
        client_fail(client, "the manifest is not what its hash says");
    }
    text->retried = true;
    client->runes.change += 1;
    return STATUS_MISMATCH;
}

Status rune_fetch_give(Client *client, const uint8_t hash[SHA256_BYTES], const uint8_t *bytes,
                       size_t count)
{
    const ManifestText *text = &client->runes.text;
    uint8_t real[SHA256_BYTES];
    if (text->version != 0 && memcmp(hash, text->hash, SHA256_BYTES) == 0) {
        sha256_of(bytes, count, real);
        return give_text(client, bytes, count, real);
    }
    Manifest *set = verified_set(client);
    ClientRune *rune = set == NULL ? NULL : rune_cache_find_hash(set, hash);
    if (rune == NULL || rune->here || rune->refused) {
        return STATUS_NOT_FOUND;
    }
    sha256_of(bytes, count, real);
    if (count != rune->bytes || memcmp(real, hash, SHA256_BYTES) != 0) {
        rune_damaged(client, rune, real, "it is not the one of the manifest");
        return STATUS_MISMATCH;
    }
    return rune_keep(client, set, rune, bytes);
}

// Unpacks into its own place in the store, which is not used until the hash is checked; NULL if
// there is no rune in it.
static const uint8_t *unpacked_rune(Client *client, const Manifest *set, const ClientRune *rune,
                                    const uint8_t *packed, size_t packed_bytes)
{
    const ClientConfig *config = &client->config;
    uint8_t *out = set->store + rune->offset;
    return config->unpack != NULL && config->unpack(config->unpack_user, rune->path, packed,
                                                    packed_bytes, out, rune->bytes) == STATUS_OK
               ? out
               : NULL;
}

Status rune_fetch_give_packed(Client *client, const uint8_t hash[SHA256_BYTES],
                              const uint8_t *packed, size_t packed_bytes)
{
    Manifest *set = verified_set(client);
    ClientRune *rune = set == NULL ? NULL : rune_cache_find_hash(set, hash);
    if (rune == NULL || rune->here || rune->refused) {
        return STATUS_NOT_FOUND;
    }
    const uint8_t *bytes = unpacked_rune(client, set, rune, packed, packed_bytes);
    if (bytes == NULL) {
        return STATUS_MALFORMED;
    }
    uint8_t real[SHA256_BYTES];
    sha256_of(bytes, rune->bytes, real);
    return memcmp(real, hash, SHA256_BYTES) == 0 ? rune_keep(client, set, rune, bytes)
                                                 : STATUS_MISMATCH;
}

// --- chunks -------------------------------------------------------------------------------------

// The transfer of that rune, or else a free one, or else the one that has waited longest.
static Transfer *transfer_of(Client *client, const Manifest *set, uint32_t number)
{
    Transfer *transfers = client->runes.transfers;
    Transfer *best = &transfers[0];
    for (uint32_t i = 0; i < CLIENT_REQUESTS_MAX; i++) {
        Transfer *one = &transfers[i];
        if (one->data != NULL && one->rune == number) {
            return one;
        }
        const bool is_free = one->data == NULL || set->runes[one->rune].here;
        const bool best_is_free = best->data == NULL || set->runes[best->rune].here;
        if (is_free ? !best_is_free : !best_is_free && one->asked_ms < best->asked_ms) {
            best = one;
        }
    }
    transfer_free(client->heap, best);
    // Data that cannot be compressed grows a little.
    const size_t bytes = set->runes[number].bytes;
    best->capacity = bytes + bytes / 64 + 1024;
    best->data = heap_alloc(client->heap, best->capacity);
    best->rune = number;
    return best->data == NULL ? NULL : best;
}

static void rune_whole(Client *client, Manifest *set, ClientRune *rune, const Transfer *transfer)
{
    static const uint8_t nothing[SHA256_BYTES] = {0};
    const uint8_t *bytes = transfer->data;
    size_t count = transfer->bytes;
    if (transfer->encoding != 0) {
        bytes = transfer->encoding == client->config.packing
                    ? unpacked_rune(client, set, rune, bytes, count)
                    : NULL;
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
    (void)!rune_keep(client, set, rune, bytes); // the session has ended if it is no rune
}

void rune_fetch_chunk(Client *client, const MessageScriptChunk *chunk)
{
    RuneCache *cache = &client->runes;
    Manifest *set = verified_set(client);
    ClientRune *rune =
        set == NULL ? NULL : rune_cache_find_text(set, script_path_plain(chunk->script_path));
    if (rune == NULL || rune->here || rune->refused) {
        return; // of an old manifest, or requested twice
    }
    Transfer *transfer = transfer_of(client, set, (uint32_t)(rune - set->runes));
    if (transfer == NULL) {
        client_close(client, "scripts: %s", status_text(STATUS_LIMIT));
        return;
    }
    if (transfer->encoding != chunk->encoding) {
        transfer->next_chunk = 0;
        transfer->total_chunks = 0;
        transfer->bytes = 0;
        transfer->again = false;
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
    transfer->asked_ms = client->now_ms;
    if (step != TRANSFER_SKIP && rune->request != 0) {
        cache->requests[rune->request - 1].asked_ms = client->now_ms;
    } else if (step == TRANSFER_SKIP && transfer->again && !was_again) {
        request_leave(cache, rune); // the next update requests it
    }
    if (step == TRANSFER_DONE) {
        rune_whole(client, set, rune, transfer);
        transfer_free(client->heap, transfer);
    }
}

bool rune_fetch_text_chunk(Client *client, const MessageBlobChunk *chunk)
{
    ManifestText *text = &client->runes.text;
    Transfer *transfer = &text->transfer;
    if (text->version == 0 || transfer->data == NULL ||
        memcmp(chunk->hash.bytes, text->hash, SHA256_BYTES) != 0) {
        return false;
    }
    const bool was_again = transfer->again;
    const TransferStep step =
        transfer_append(transfer, chunk->chunk_index, chunk->total_chunks, chunk->data);
    if (step == TRANSFER_BAD) {
        client_fail(client, "chunk %llu of the manifest does not fit",
                    (unsigned long long)chunk->chunk_index);
    } else if (step == TRANSFER_SKIP) {
        transfer->asked_ms = transfer->again && !was_again ? 0 : transfer->asked_ms;
    } else {
        transfer->asked_ms = client->now_ms;
    }
    if (step == TRANSFER_DONE) {
        uint8_t hash[SHA256_BYTES];
        sha256_of(transfer->data, transfer->bytes, hash);
        if (give_text(client, transfer->data, transfer->bytes, hash) == STATUS_MISMATCH) {
            transfer_restart(transfer, client->now_ms);
        }
    }
    return true;
}

// --- asking -------------------------------------------------------------------------------------

static void send_request(Client *client, Manifest *set, uint32_t number, const uint32_t *runes,
                         uint32_t count, uint32_t from_chunk)
{
    WireScriptPath paths[CLIENT_REQUEST_MAX];
    bool as_it_is = client->config.unpack == NULL;
    for (uint32_t i = 0; i < count; i++) {
        ClientRune *rune = &set->runes[runes[i]];
        paths[i] = (WireScriptPath){.path = text_from(rune->path)};
        rune->request = number + 1;
        as_it_is |= rune->retried;
    }
    const MessageScriptRequest request = {.script_paths = paths,
                                          .script_paths_count = count,
                                          .from_chunk = from_chunk,
                                          .encoding = as_it_is ? 0 : client->config.packing};
    client->runes.requests[number] =
        (RuneRequest){.left = count,
                      .asked_ms = client->now_ms,
                      .seq = client_send(client, MESSAGE_SCRIPT_REQUEST, &request)};
}

static bool is_to_ask(const Client *client, const ClientRune *rune)
{
    return rune_is_wanted(rune) && rune->request == 0 &&
           (!client->config.owner_fetches || rune->over_wire);
}

// A transfer that broke off; it is requested alone, because only the first of a request goes on.
static bool ask_rest(Client *client, Manifest *set, uint32_t number)
{
    for (uint32_t i = 0; i < CLIENT_REQUESTS_MAX; i++) {
        const Transfer *transfer = &client->runes.transfers[i];
        if (transfer->data != NULL && transfer->next_chunk > 0 &&
            is_to_ask(client, &set->runes[transfer->rune])) {
            send_request(client, set, number, &transfer->rune, 1, transfer->next_chunk);
            return true;
        }
    }
    return false;
}

// The most urgent ones. Those that came damaged go alone: they must not come packed.
static void ask_more(Client *client, Manifest *set, uint32_t number)
{
    uint32_t missing[CLIENT_REQUEST_MAX];
    uint32_t count = 0;
    for (uint32_t urgent = CLIENT_FIRST; urgent < CLIENT_LATER && count < CLIENT_REQUEST_MAX;
         urgent++) {
        for (uint32_t i = 0; i < set->count && count < CLIENT_REQUEST_MAX; i++) {
            const ClientRune *rune = &set->runes[i];
            if ((uint32_t)rune->priority != urgent || !is_to_ask(client, rune)) {
                continue;
            }
            if (rune->retried && count > 0) {
                continue; // the next request begins with it
            }
            missing[count++] = i;
            if (rune->retried) {
                send_request(client, set, number, missing, 1, 0);
                return;
            }
        }
    }
    if (count > 0) {
        send_request(client, set, number, missing, count, 0);
    }
}

static void ask_runes(Client *client)
{
    RuneCache *cache = &client->runes;
    Manifest *set = verified_set(client);
    if (set == NULL || set->here_count == set->count) {
        return;
    }
    for (uint32_t i = 0; i < CLIENT_REQUESTS_MAX; i++) {
        RuneRequest *request = &cache->requests[i];
        if (request->left > 0 && client->now_ms - request->asked_ms >= CLIENT_RETRY_MS) {
            request_forget(client, i);
        }
        if (request->left == 0 && !ask_rest(client, set, i)) {
            ask_more(client, set, i);
        }
    }
}

static void ask_text(Client *client)
{
    ManifestText *text = &client->runes.text;
    Transfer *transfer = &text->transfer;
    if (text->version == 0 || (client->config.owner_fetches && !text->over_wire)) {
        return;
    }
    if (transfer->data == NULL) {
        transfer->data = heap_alloc(client->heap, text->bytes);
        transfer->capacity = text->bytes;
        transfer->asked_ms = 0;
        if (transfer->data == NULL) {
            client_close(client, "scripts: %s", status_text(STATUS_LIMIT));
            return;
        }
    } else if (transfer->asked_ms != 0 && client->now_ms - transfer->asked_ms < CLIENT_RETRY_MS) {
        return;
    }
    MessageBlobRequest request = {.from_chunk = transfer->next_chunk};
    memcpy(request.hash.bytes, text->hash, SHA256_BYTES);
    transfer->asked_ms = client->now_ms;
    transfer->seq = client_send(client, MESSAGE_BLOB_REQUEST, &request);
}

void rune_fetch_update(Client *client)
{
    if (client->state != CLIENT_PLAYING || !client->config.scripts) {
        return;
    }
    ask_text(client);
    if (client->state == CLIENT_PLAYING) {
        ask_runes(client);
        send_reports(client);
    }
}

void rune_fetch_over_wire(Client *client)
{
    client->runes.change += 1; // the next update asks for it
}

bool client_fetch_one_over_wire(Client *client, const uint8_t hash[SHA256_BYTES])
{
    RuneCache *cache = &client->runes;
    if (cache->text.version != 0 && memcmp(hash, cache->text.hash, SHA256_BYTES) == 0) {
        cache->text.over_wire = true;
        return true;
    }
    if (connect_scene_over_wire(client, hash)) {
        return true;
    }
    ClientRune *rune = rune_cache_find_hash(rune_cache_fetched(client), hash);
    if (rune == NULL || !rune_is_wanted(rune)) {
        return false;
    }
    rune->over_wire = true;
    return true;
}

// --- looking ------------------------------------------------------------------------------------

// Fills up to `most` after leaving out the first `skip`.
typedef struct WantList {
    ClientWant *out;
    uint32_t skip, count, most;
} WantList;

static void want_add(WantList *list, const uint8_t hash[SHA256_BYTES], ClientWant want)
{
    if (list->skip > 0) {
        list->skip -= 1;
    } else if (list->count < list->most) {
        memcpy(want.hash, hash, SHA256_BYTES);
        list->out[list->count++] = want;
    }
}

static void want_walk(const Client *client, WantList *list)
{
    const RuneCache *cache = &client->runes;
    const Manifest *set = cache->staged.version != 0 ? &cache->staged : &cache->current;
    if (client->state == CLIENT_FETCHING) {
        want_add(list, client->scene_hash,
                 (ClientWant){.kind = CLIENT_WANT_SCENE, .bytes = client->scene_bytes, .path = ""});
    }
    if (cache->text.version != 0) {
        want_add(list, cache->text.hash,
                 (ClientWant){.kind = CLIENT_WANT_MANIFEST,
                              .bytes = cache->text.bytes,
                              .from_host = cache->text.retried,
                              .path = ""});
    }
    for (uint32_t urgent = CLIENT_FIRST; urgent < CLIENT_LATER && set->is_good; urgent++) {
        for (uint32_t i = 0; i < set->count && list->count < list->most; i++) {
            const ClientRune *rune = &set->runes[i];
            if (rune_is_wanted(rune) && (uint32_t)rune->priority == urgent) {
                want_add(list, rune->hash,
                         (ClientWant){.kind = CLIENT_WANT_RUNE,
                                      .priority = rune->priority,
                                      .bytes = rune->bytes,
                                      .from_host = rune->retried,
                                      .path = rune->path});
            }
        }
    }
}

uint32_t client_wants(const Client *client, ClientWant *out, uint32_t most)
{
    WantList list = {.out = out, .most = most};
    want_walk(client, &list);
    return list.count;
}

bool client_want(const Client *client, uint32_t index, ClientWant *out)
{
    WantList list = {.out = out, .most = 1, .skip = index};
    want_walk(client, &list);
    return list.count == 1;
}

static void progress_of_runes(const Client *client, ClientProgress *out)
{
    const RuneCache *cache = &client->runes;
    const Manifest *set = cache->staged.version != 0 ? &cache->staged : &cache->current;
    for (uint32_t i = 0; i < set->count; i++) {
        const ClientRune *rune = &set->runes[i];
        const bool counts = rune->priority < CLIENT_LATER;
        out->scripts_wanted += counts;
        out->scripts_here += counts && rune->here;
        out->scripts_later += !counts && !rune->here;
        out->bytes_wanted += counts ? rune->bytes : 0;
        out->bytes_here += counts && rune->here ? rune->bytes : 0;
    }
    for (uint32_t i = 0; i < CLIENT_REQUESTS_MAX; i++) {
        const Transfer *transfer = &cache->transfers[i];
        if (transfer->data != NULL && transfer->rune < set->count &&
            !set->runes[transfer->rune].here) {
            const uint32_t whole = set->runes[transfer->rune].bytes;
            out->bytes_here += transfer->bytes < whole ? transfer->bytes : whole;
        }
        out->in_flight += cache->requests[i].left > 0;
    }
}

uint32_t client_wants_change(const Client *client)
{
    return 2 * client->runes.change + (client->state == CLIENT_FETCHING);
}

ClientProgress client_fetch_progress(const Client *client)
{
    const RuneCache *cache = &client->runes;
    const bool has_scene = client->predict != NULL;
    ClientProgress progress = {
        .bytes_wanted = client->scene_bytes + cache->text_bytes,
        .bytes_here = (has_scene ? client->scene_bytes : client->scene.bytes) + cache->text_bytes,
        .scripts_refused = cache->refused_count,
        .first_is_running = cache->current.version != 0 || cache->staged.first_done,
        .fetching = "",
        .change = client_wants_change(client),
    };
    if (cache->text.version != 0) {
        progress.bytes_wanted += cache->text.bytes;
        progress.bytes_here += cache->text.transfer.bytes;
    }
    progress_of_runes(client, &progress);
    ClientWant want;
    if (client_wants(client, &want, 1) > 0) {
        static const char *const names[] = {
            [CLIENT_WANT_SCENE] = "scene", [CLIENT_WANT_MANIFEST] = "manifest"};
        progress.fetching = want.kind == CLIENT_WANT_RUNE ? want.path : names[want.kind];
    }
    return progress;
}

float client_progress(const Client *client)
{
    const ClientProgress progress = client_fetch_progress(client);
    return progress.bytes_wanted == 0
               ? 0
               : (float)((double)progress.bytes_here / (double)progress.bytes_wanted);
}
