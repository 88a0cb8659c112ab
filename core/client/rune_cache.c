// The runes of a world: which there are (the manifest), which are missing, and their bytes until
// the scripts are loaded. A manifest is staged first and becomes current when all runes that it
// needs are here; so a reload never runs a mix of two sets.
// Bytecode is only as trustworthy as its source, so only runes whose SHA-256 is in the manifest are
// kept, and nothing of the server's own services is accepted.
#include "core/client/client_inside.h"

#include "core/script/rune/rune.h"
#include "core/wire/script_path.h"

#include <string.h>

// --- memory -------------------------------------------------------------------------------------

static void manifest_clear(Client *client, Manifest *manifest)
{
    heap_free(client->heap, manifest->store);
    heap_free(client->heap, manifest->runes);
    *manifest = (Manifest){0};
}

static void text_clear(Client *client)
{
    transfer_free(client->heap, &client->runes.text.transfer);
    client->runes.text = (ManifestText){0};
}

void rune_cache_free(Client *client)
{
    manifest_clear(client, &client->runes.current);
    manifest_clear(client, &client->runes.staged);
    text_clear(client);
    rune_fetch_clear(client);
    manifest_proof_free(client);
    client_parameters_free(client);
    client_bound_clear(client);
}

static size_t count_requires(const ManifestList *list)
{
    size_t count = 0;
    for (uint32_t i = 0; i < list->row_count; i++) {
        count += list->rows[i].require_count;
    }
    return count;
}

// Runes, both tables and the links between runes are one block.
static bool manifest_allocate(Client *client, Manifest *manifest, const ManifestList *list)
{
    const uint32_t slots = path_index_slots(list->row_count);
    const size_t runes = list->row_count * sizeof(ClientRune);
    const size_t numbers = (2 * (size_t)slots + count_requires(list)) * sizeof(uint32_t);
    uint8_t *block = heap_alloc(client->heap, runes + numbers);
    if (block == NULL) {
        return false;
    }
    manifest->runes = (ClientRune *)(void *)block;
    uint32_t *number = (uint32_t *)(void *)(block + runes);
    path_index_init(&manifest->index, number, slots, manifest->runes, sizeof(ClientRune));
    manifest->hash_slots = number + slots;
    manifest->requires = number + 2 * (size_t)slots;
    return true;
}
_Static_assert(sizeof(ClientRune) % sizeof(uint64_t) == 0, "numbers follow runes in a block");

// --- finding ------------------------------------------------------------------------------------

ClientRune *rune_cache_find_text(const Manifest *manifest, Text path)
{
    const uint32_t number = path_index_find(&manifest->index, path);
    return number == PATH_INDEX_NONE ? NULL : &manifest->runes[number];
}

ClientRune *rune_cache_find(const Manifest *manifest, const char *path)
{
    return rune_cache_find_text(manifest, text_from(path));
}

// The slot of a hash, or the free one where it would go. Half of them are free.
static uint32_t hash_slot(const Manifest *manifest, const uint8_t hash[SHA256_BYTES])
{
    uint32_t at = 0;
    memcpy(&at, hash, sizeof at);
    for (;; at++) {
        at &= manifest->index.slot_count - 1;
        const uint32_t number = manifest->hash_slots[at];
        if (number == 0 || memcmp(manifest->runes[number - 1].hash, hash, SHA256_BYTES) == 0) {
            return at;
        }
    }
}

ClientRune *rune_cache_find_hash(const Manifest *manifest, const uint8_t hash[SHA256_BYTES])
{
    if (manifest->count == 0) {
        return NULL;
    }
    const uint32_t number = manifest->hash_slots[hash_slot(manifest, hash)];
    return number == 0 ? NULL : &manifest->runes[number - 1];
}

Manifest *rune_cache_fetched(Client *client)
{
    RuneCache *cache = &client->runes;
    return cache->staged.version != 0 ? &cache->staged : &cache->current;
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
static const char *refuse_row(const ManifestRow *row, ClientRune *out)
{
    uint32_t service = 0;
    while (service < SERVICE_SERVER_SCRIPT &&
           !text_is(row->service, script_service_names[service])) {
        service += 1;
    }
    if (service == SERVICE_SERVER_SCRIPT) {
        return "it is of a service that is not for clients";
    }
    out->service = (ScriptService)service;
    out->context =
        text_is(row->run_context, run_context_names[CONTEXT_BOTH]) ? CONTEXT_BOTH : CONTEXT_CLIENT;
    if (!row->replicate || !text_is(row->run_context, run_context_names[out->context])) {
        return "it does not run on clients";
    }
    if (row->size_bytes < RUNE_HEADER_BYTES || row->size_bytes > RUNE_BYTES_MAX) {
        return "its size makes no sense";
    }
    return refuse_path(script_path_plain(row->path), out->service);
}

static const char *add_rune(Manifest *staged, const ManifestRow *row, ClientRune *read)
{
    const Text path = script_path_plain(row->path);
    const uint32_t number = staged->count;
    read->bytes = row->size_bytes;
    read->offset = (uint32_t)staged->store_bytes;
    memcpy(read->path, path.data, path.bytes);
    memcpy(read->hash, row->rune_hash, SHA256_BYTES);
    staged->runes[number] = *read;
    if (!path_index_put(&staged->index, number)) {
        return "it is named twice";
    }
    const uint32_t slot = hash_slot(staged, read->hash);
    if (staged->hash_slots[slot] != 0) {
        return "its rune is another one's too"; // a rune holds its path
    }
    staged->hash_slots[slot] = number + 1;
    staged->count += 1;
    staged->store_bytes += row->size_bytes;
    return staged->store_bytes > MANIFEST_RUNES_BYTES ? "all of them together are too large" : NULL;
}

// In the order of the services, which is the order in which scripts are loaded.
static const char *read_rows(Manifest *staged, const ManifestList *list)
{
    for (uint32_t rank = 0; rank < SERVICE_SERVER_SCRIPT; rank++) {
        for (uint32_t i = 0; i < list->row_count; i++) {
            ClientRune read = {0};
            const char *refused = refuse_row(&list->rows[i], &read);
            if (refused == NULL && (uint32_t)read.service == rank) {
                refused = add_rune(staged, &list->rows[i], &read);
            }
            if (refused != NULL) {
                return refused;
            }
        }
    }
    return NULL;
}

// --- what needs what ----------------------------------------------------------------------------

// Modules that the manifest does not name are left out: `require` says so when it is reached.
static void link_requires(Manifest *staged, const ManifestList *list)
{
    uint32_t used = 0;
    for (uint32_t i = 0; i < list->row_count; i++) {
        const ManifestRow *row = &list->rows[i];
        ClientRune *rune = rune_cache_find_text(staged, script_path_plain(row->path));
        ASSERT(rune != NULL);
        rune->require_first = used;
        for (uint32_t k = 0; k < row->require_count; k++) {
            const ClientRune *needed =
                rune_cache_find_text(staged, script_path_plain(row->requires[k]));
            if (needed != NULL) {
                staged->requires[used++] = (uint32_t)(needed - staged->runes);
            }
        }
        rune->require_count = used - rune->require_first;
    }
}

// Everything that this one requires becomes as urgent, over any number of steps and round any
// circle. What is urgent already is not entered again, so each rune is entered once. The runes
// that are still to be followed are a list through `request`, which nothing uses yet.
static void spread_priority(Manifest *staged, ClientRune *from, ClientPriority priority)
{
    uint32_t next = 0; // number + 1
    from->priority = priority;
    for (ClientRune *rune = from; rune != NULL;) {
        for (uint32_t i = 0; i < rune->require_count; i++) {
            const uint32_t number = staged->requires[rune->require_first + i];
            ClientRune *needed = &staged->runes[number];
            if (needed->priority > priority) {
                needed->priority = priority;
                needed->request = next;
                next = number + 1;
            }
        }
        rune = next == 0 ? NULL : &staged->runes[next - 1];
        if (rune != NULL) {
            next = rune->request;
            rune->request = 0;
        }
    }
}

// A manifest that is not signed says nothing about what scripts require: then all is needed, and
// modules are there before the first script.
static void set_priorities(Manifest *staged, bool knows_requires)
{
    staged->knows_requires = knows_requires;
    for (uint32_t i = 0; i < staged->count; i++) {
        ClientRune *rune = &staged->runes[i];
        rune->priority = knows_requires                                ? CLIENT_LATER
                         : rune->service <= SERVICE_REPLICATED_STORAGE ? CLIENT_FIRST
                                                                       : CLIENT_NEEDED;
    }
    for (uint32_t i = 0; i < staged->count && knows_requires; i++) {
        ClientRune *rune = &staged->runes[i];
        if (rune->service == SERVICE_REPLICATED_FIRST) {
            spread_priority(staged, rune, CLIENT_FIRST);
        } else if (rune->service != SERVICE_REPLICATED_STORAGE && rune->priority > CLIENT_NEEDED) {
            spread_priority(staged, rune, CLIENT_NEEDED);
        }
    }
}

// --- taking a manifest --------------------------------------------------------------------------

// Runes that did not change are here already. A rune holds its path, so one with the same hash has
// the same path. What a script waits for, it still waits for; a module that is in use is needed.
static void keep_known(Manifest *staged, const Manifest *current)
{
    for (uint32_t i = 0; i < staged->count; i++) {
        ClientRune *rune = &staged->runes[i];
        const ClientRune *known = rune_cache_find(current, rune->path);
        if (known == NULL) {
            continue;
        }
        if (rune->priority > CLIENT_NEEDED && known->priority == CLIENT_DEMANDED) {
            rune->priority = known->loaded ? CLIENT_NEEDED : CLIENT_DEMANDED;
        }
        if (known->here && known->bytes == rune->bytes &&
            memcmp(known->hash, rune->hash, SHA256_BYTES) == 0) {
            memcpy(staged->store + rune->offset, current->store + known->offset, rune->bytes);
            rune->here = true;
            staged->here_count += 1;
        }
    }
}

// False: the session has ended.
static bool stage(Client *client, const ManifestList *list, const uint8_t *signature)
{
    Manifest *staged = &client->runes.staged;
    if (!manifest_allocate(client, staged, list)) {
        client_close(client, "scripts: %s", status_text(STATUS_LIMIT));
        return false;
    }
    const char *refused = read_rows(staged, list);
    if (refused != NULL) {
        client_fail(client, "a script of the manifest: %s", refused);
        return false;
    }
    staged->store = heap_alloc(client->heap, (size_t)staged->store_bytes + 1);
    if (staged->store == NULL) {
        client_close(client, "scripts: %s", status_text(STATUS_LIMIT));
        return false;
    }
    const ProofState proof = manifest_proof_begin(client, list, signature);
    staged->is_good = proof == PROOF_GOOD;
    staged->is_proven = proof == PROOF_GOOD && client->config.verify != NULL;
    link_requires(staged, list);
    set_priorities(staged, signature != NULL);
    return proof != PROOF_BAD;
}

static void take_list(Client *client, const ManifestList *list, const uint8_t *signature)
{
    RuneCache *cache = &client->runes;
    if (cache->staged.first_done) {
        // Its first scripts are running already: the reload starts from them.
        rune_cache_switch(client);
    }
    manifest_clear(client, &cache->staged);
    rune_fetch_clear(client);
    text_clear(client);
    cache->change += 1;
    if (!stage(client, list, signature)) {
        manifest_clear(client, &cache->staged);
        return;
    }
    const bool is_reload = cache->reload_version == list->version;
    cache->staged.version = list->version;
    cache->staged.at_tick = is_reload ? cache->reload_tick : 0;
    cache->staged.waits_for_word = !is_reload;
    keep_known(&cache->staged, &cache->current);
}

// The fields of a message as a list; false: they are not in the signed order, or there is no room.
static bool take_message(Client *client, const MessageScriptManifest *message)
{
    size_t requires = 0;
    for (uint32_t i = 0; i < message->scripts_count; i++) {
        requires += message->scripts[i].requires_count;
    }
    ManifestRow *rows = heap_alloc(client->heap, (message->scripts_count + 1) * sizeof *rows);
    Text *texts = heap_alloc(client->heap, (requires + 1) * sizeof *texts);
    const bool has_room = rows != NULL && texts != NULL;
    Text *text = texts;
    for (uint32_t i = 0; i < message->scripts_count && has_room; i++) {
        const WireManifestScript *from = &message->scripts[i];
        rows[i] = (ManifestRow){.path = from->path,
                                .size_bytes = (uint32_t)from->size_bytes,
                                .run_context = from->run_context,
                                .service = from->service,
                                .replicate = from->replicate,
                                .requires = text,
                                .require_count = from->requires_count};
        memcpy(rows[i].rune_hash, from->rune_hash.bytes, sizeof rows[i].rune_hash);
        for (uint32_t k = 0; k < from->requires_count; k++) {
            *text++ = from->requires[k].path;
        }
    }
    if (has_room) {
        const ManifestList list = {.version = (uint32_t)message->version,
                                   .server_tick = message->server_tick,
                                   .cdn_base = message->cdn_base,
                                   .rows = rows,
                                   .row_count = message->scripts_count};
        const bool is_signed = message->signature.bytes == MANIFEST_SIGNATURE_BYTES;
        take_list(client, &list, is_signed ? message->signature.data : NULL);
    }
    heap_free(client->heap, texts);
    heap_free(client->heap, rows);
    return has_room;
}

static void fetch_text(Client *client, const MessageScriptManifest *message)
{
    ManifestText *text = &client->runes.text;
    text_clear(client);
    text->version = (uint32_t)message->version;
    text->server_tick = message->server_tick;
    ASSERT(message->cdn_base.bytes < sizeof text->cdn_base); // the schema bounds it
    text->cdn_bytes = message->cdn_base.bytes;
    if (text->cdn_bytes > 0) {
        memcpy(text->cdn_base, message->cdn_base.data, text->cdn_bytes);
    }
    text->is_signed = message->signature.bytes == MANIFEST_SIGNATURE_BYTES;
    if (text->is_signed) {
        memcpy(text->signature, message->signature.data, MANIFEST_SIGNATURE_BYTES);
    }
    text->bytes = (uint32_t)message->text_bytes;
    client->runes.text_bytes = 0;
    memcpy(text->hash, message->text_hash.bytes, SHA256_BYTES);
    client->runes.change += 1;
}

uint32_t rune_cache_newest(const RuneCache *cache)
{
    return cache->text.version != 0     ? cache->text.version
           : cache->staged.version != 0 ? cache->staged.version
                                        : cache->current.version;
}

void rune_cache_manifest(Client *client, const MessageScriptManifest *message)
{
    const uint32_t version = (uint32_t)message->version;
    const uint32_t newest = rune_cache_newest(&client->runes);
    if (version < newest) {
        client_fail(client, "manifest %u after %u", version, newest);
    } else if (version == newest) {
        return; // repeated after a resume, or there are none
    } else if (message->text_bytes > 0) {
        fetch_text(client, message);
    } else if (!take_message(client, message)) {
        client_close(client, "scripts: %s", status_text(STATUS_LIMIT));
    }
}

// What reading takes is about ten times the text, and given back at once.
static size_t reading_bytes(size_t bytes)
{
    const size_t most = 24 * bytes + 65536;
    return most < MANIFEST_ARENA_BYTES ? most : MANIFEST_ARENA_BYTES;
}

// What the message said about the rows.
static void take_rows(Client *client, ManifestList list)
{
    const ManifestText text = client->runes.text; // taking the list clears it
    list.version = text.version;
    list.server_tick = text.server_tick;
    list.cdn_base = (Text){text.cdn_base, text.cdn_bytes};
    take_list(client, &list, text.is_signed ? text.signature : NULL);
}

void rune_cache_text(Client *client, const uint8_t *text, size_t bytes)
{
    client->runes.text_bytes = (uint32_t)bytes;
    uint8_t *block = heap_alloc(client->heap, reading_bytes(bytes));
    if (block == NULL) {
        client_close(client, "scripts: %s", status_text(STATUS_LIMIT));
        return;
    }
    Arena arena;
    arena_init_zeroed(&arena, block, reading_bytes(bytes));
    ManifestList list;
    uint8_t signature[MANIFEST_SIGNATURE_BYTES];
    bool has_signature = false;
    JsonError error = {0};
    const Status status =
        manifest_read(&arena, (const char *)text, bytes, &list, signature, &has_signature, &error);
    if (status != STATUS_OK) {
        client_fail(client, "the manifest cannot be read: %s %s", error.path, error.message);
    } else if (list.version != 0 || list.server_tick != 0 || has_signature) {
        client_fail(client, "the rows of the manifest have a version, a tick or a signature");
    } else if (list.row_count > MANIFEST_SCRIPTS_MAX) {
        client_fail(client, "the manifest has too many scripts");
    } else {
        take_rows(client, list);
    }
    heap_free(client->heap, block);
}

void rune_cache_verified(Client *client, bool good)
{
    Manifest *staged = &client->runes.staged;
    client->runes.change += 1;
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

// --- when it runs -------------------------------------------------------------------------------

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
        cache->staged.waits_for_word = false;
    }
}

void rune_cache_execute(Client *client, const MessageScriptExecute *execute)
{
    static const uint8_t nothing[SHA256_BYTES] = {0};
    RuneCache *cache = &client->runes;
    const Text path = script_path_plain(execute->script_path);
    ClientRune *rune = rune_cache_find_text(&cache->staged, path);
    rune = rune != NULL ? rune : rune_cache_find_text(&cache->current, path);
    if (rune == NULL) {
        if (cache->text.version == 0) {
            client_fail(client, "a script that no manifest names is to run");
        }
    } else if (!text_is(execute->run_context, run_context_names[rune->context])) {
        cache->refused_count += 1;
        rune_fetch_report(client, rune, nothing, "its run_context is not for this client");
    } else {
        rune->told = true;
        rune->execute_tick = execute->at_tick;
    }
}

// One more step from what is demanded to what that requires. False: all of it was known.
static bool demand_more(Manifest *set)
{
    bool is_new = false;
    for (uint32_t i = 0; i < set->count; i++) {
        const ClientRune *rune = &set->runes[i];
        for (uint32_t k = 0; k < rune->require_count && rune->priority == CLIENT_DEMANDED; k++) {
            ClientRune *needed = &set->runes[set->requires[rune->require_first + k]];
            is_new |= needed->priority > CLIENT_DEMANDED;
            needed->priority =
                needed->priority > CLIENT_DEMANDED ? CLIENT_DEMANDED : needed->priority;
        }
    }
    return is_new;
}

bool rune_cache_demand(Client *client, const char *path)
{
    Manifest *set = rune_cache_fetched(client);
    ClientRune *rune = rune_cache_find(set, path);
    if (rune == NULL || rune->refused || !set->is_good) {
        return false;
    }
    if (rune->priority > CLIENT_DEMANDED) {
        rune->priority = CLIENT_DEMANDED;
        while (demand_more(set)) {
        }
        client->runes.change += 1;
        client->runes.late = true;
    }
    return !rune->loaded; // what is loaded and still not found failed to load
}

void rune_cache_switch(Client *client)
{
    RuneCache *cache = &client->runes;
    const Manifest before = cache->current;
    cache->current = cache->staged;
    cache->staged = before;
    manifest_clear(client, &cache->staged);
    rune_fetch_clear(client);
    cache->change += 1;
}

static bool rune_is_due(const Manifest *manifest, const ClientRune *rune, uint64_t now)
{
    const bool waits_for_word =
        manifest->waits_for_word && rune->service != SERVICE_REPLICATED_STORAGE && !rune->told;
    return rune->refused || (rune->here && !waits_for_word && rune->execute_tick <= now);
}

bool rune_cache_is_ready(const Client *client, const Manifest *manifest, ClientPriority last)
{
    const uint64_t now = client->merge.last.tick;
    if (manifest->version == 0 || !manifest->is_good || manifest->at_tick > now ||
        client->merge.last.seq == 0) {
        return false;
    }
    for (uint32_t i = 0; i < manifest->count; i++) {
        const ClientRune *rune = &manifest->runes[i];
        if (rune->priority <= last && !rune_is_due(manifest, rune, now)) {
            return false;
        }
    }
    return true;
}
