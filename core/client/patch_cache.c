// Parts of the scene that differ from it. Every cell of the scene has a version; rows that lead
// from at most our version to a later one are applied, anything else is requested. The server waits
// for a word on each cell that it names, so a cell is also asked for once if nothing is missing.
// Poses, part data and removals go to prediction, attributes to scripts; paint is kept here for the
// page.
#include "core/client/client_bind.h"
#include "core/sim/chunk_coord.h"

#include <string.h>

// --- memory -------------------------------------------------------------------------------------

static uint32_t cells_max(uint32_t part_count)
{
    return part_count < PATCH_CELLS_MAX ? part_count : PATCH_CELLS_MAX;
}

static size_t block_bytes(uint32_t part_count)
{
    const uint32_t cells = cells_max(part_count) + 1;
    return id_map_bytes(cells) + arena_need(heap_array_bytes(cells, sizeof(PatchKnown))) +
           arena_need(heap_array_bytes((size_t)part_count + 1, sizeof(Paint))) +
           2 * arena_need(heap_array_bytes((size_t)part_count / 64 + 1, sizeof(uint64_t)));
}

Status patch_cache_open(Client *client)
{
    PatchCache *cache = &client->patch;
    patch_cache_close(client);
    const uint32_t parts = scene_part_count(client->place->scene);
    const size_t bytes = block_bytes(parts);
    cache->block = heap_alloc(client->heap, bytes);
    if (cache->block == NULL) {
        return STATUS_LIMIT;
    }
    Arena arena;
    arena_init_zeroed(&arena, cache->block, bytes);
    cache->part_count = parts;
    cache->base_tick = client->place->patch_tick;
    cache->cell_max = cells_max(parts);
    cache->cells = arena_array(&arena, cache->cell_max + 1, sizeof *cache->cells);
    cache->paints = arena_array(&arena, (size_t)parts + 1, sizeof *cache->paints);
    cache->painted = arena_array(&arena, (size_t)parts / 64 + 1, sizeof *cache->painted);
    cache->labelled = arena_array(&arena, (size_t)parts / 64 + 1, sizeof *cache->labelled);
    ASSERT(cache->cells != NULL && cache->paints != NULL && cache->painted != NULL &&
           cache->labelled != NULL);
    return id_map_init(&cache->map, &arena, cache->cell_max + 1);
}

void patch_cache_close(Client *client)
{
    heap_free(client->heap, client->patch.block);
    client->patch.block = NULL;
    client->patch.cell_count = 0;
}

void patch_cache_restart(Client *client)
{
    for (uint32_t i = 0; i < client->patch.want_count; i++) {
        client->patch.wants[i].asked = false;
    }
}

// Scripts see the attributes that the scene has.
static void attributes_clear(Client *client)
{
    PatchCache *cache = &client->patch;
    bool any = false;
    for (uint64_t index = 0; index < cache->part_count; index++) {
        if ((cache->labelled[index / 64] >> (index % 64) & 1) != 0) {
            client_script_restore(client, index + 1);
            any = true;
        }
    }
    memset(cache->labelled, 0, ((size_t)cache->part_count / 64 + 1) * sizeof *cache->labelled);
    if (any) {
        client_bind_scene_rows(client);
    }
}

void patch_cache_clear(Client *client)
{
    PatchCache *cache = &client->patch;
    cache->want_count = 0;
    if (cache->block == NULL) {
        return;
    }
    for (uint32_t i = 0; i < cache->cell_count; i++) {
        cache->cells[i].version = 0;
    }
    memset(cache->painted, 0, ((size_t)cache->part_count / 64 + 1) * sizeof *cache->painted);
    cache->change += 1;
    attributes_clear(client);
    predict_unpatch(client->predict);
}

// --- versions -----------------------------------------------------------------------------------

static uint64_t version_of(const PatchCache *cache, ChunkCoord at)
{
    const uint32_t number = id_map_find(&cache->map, chunk_coord_key(at));
    const uint64_t version = number == 0 ? 0 : cache->cells[number - 1].version;
    return version > cache->base_tick ? version : cache->base_tick;
}

static void version_set(Client *client, ChunkCoord at, uint64_t version)
{
    PatchCache *cache = &client->patch;
    uint32_t number = id_map_find(&cache->map, chunk_coord_key(at));
    if (number == 0) {
        if (cache->cell_count == cache->cell_max) {
            client->stats.patches_refused += 1;
            return;
        }
        number = ++cache->cell_count;
        cache->cells[number - 1].at = at;
        id_map_put(&cache->map, chunk_coord_key(at), number);
    }
    cache->cells[number - 1].version = version;
}

static uint32_t want_find(const PatchCache *cache, ChunkCoord at)
{
    uint32_t i = 0;
    while (i < cache->want_count && !chunk_coord_equal(cache->wants[i].at, at)) {
        i += 1;
    }
    return i;
}

static void want_remove(PatchCache *cache, ChunkCoord at)
{
    const uint32_t i = want_find(cache, at);
    if (i < cache->want_count) {
        cache->want_count -= 1;
        cache->wants[i] = cache->wants[cache->want_count];
    }
}

// NULL: there is no room; the server names the cell again after a while.
static PatchWant *want(Client *client, ChunkCoord at, uint64_t version)
{
    PatchCache *cache = &client->patch;
    const uint32_t i = want_find(cache, at);
    if (i == PATCH_WANTS_MAX) {
        client->stats.patches_refused += 1;
        return NULL;
    }
    if (i == cache->want_count) {
        cache->wants[i] = (PatchWant){.at = at};
        cache->want_count += 1;
    }
    cache->wants[i].version = version;
    return &cache->wants[i];
}

void patch_cache_versions(Client *client, const WirePatchVersion *cells, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        ChunkCoord at;
        if (!client_chunk_coord(cells[i].at, &at)) {
            client_fail(client, "a cell outside the world");
            return;
        }
        PatchWant *wanted = want(client, at, cells[i].version);
        if (wanted != NULL) {
            wanted->asked = false;
        }
    }
}

// --- rows ---------------------------------------------------------------------------------------

// Whether a part is an entity that is seen: then that is what counts.
bool client_has_entity(const Client *client, uint64_t net_id)
{
    for (uint32_t slot = 0; slot < NET_SLOTS_MAX; slot++) {
        if (client->ids[slot] == net_id) {
            return true;
        }
    }
    return false;
}

static void paint_part(PatchCache *cache, const PatchRow *row)
{
    const uint64_t index = row->net_id - 1;
    cache->paints[index] = row->paint;
    cache->painted[index / 64] |= 1ull << (index % 64);
    cache->change += 1;
}

// False: the row cannot be applied yet.
static bool row_apply(Client *client, const PatchRow *row)
{
    if ((row->groups & PATCH_PAINT) != 0) {
        paint_part(&client->patch, row);
        client_painted_by_server(client, row->net_id);
    }
    if ((row->groups & PATCH_ATTRIBUTES) != 0) {
        const uint64_t index = row->net_id - 1;
        client->patch.labelled[index / 64] |= 1ull << (index % 64);
        client_script_attributes(client, row->net_id, row->attributes, row->attributes_bytes);
    }
    if ((row->groups & PATCH_GROUPS_SOLID) != 0 && client_has_entity(client, row->net_id)) {
        return false;
    }
    const bool ends = row->gone && client_part_is_there(client, row->net_id);
    const Status status = predict_patch(client->predict, row);
    if (ends) {
        client_script_part_gone(client, row->net_id);
    }
    client->stats.patches_refused += status == STATUS_OK ? 0 : 1;
    client->stats.patch_rows += 1;
    return true;
}

// Everything is read before anything is applied.
static Status rows_check(const Client *client, const MessagePatchData *data)
{
    ByteReader reader = byte_reader(data->data.data, data->data.bytes);
    PatchRow row = {0};
    while (byte_reader_left(&reader) > 0) {
        if (!patch_row_read(&reader, row.net_id, &row)) {
            return reader.status;
        }
        if (row.net_id > client->patch.part_count) {
            return STATUS_RANGE;
        }
    }
    return reader.status;
}

static bool rows_apply(Client *client, const MessagePatchData *data)
{
    ByteReader reader = byte_reader(data->data.data, data->data.bytes);
    PatchRow row = {0};
    bool whole = true;
    while (patch_row_read(&reader, row.net_id, &row)) {
        whole = row_apply(client, &row) && whole;
        if (byte_reader_left(&reader) == 0) {
            break;
        }
    }
    return whole;
}

void patch_cache_data(Client *client, const MessagePatchData *data)
{
    PatchCache *cache = &client->patch;
    ChunkCoord at;
    if (!client_chunk_coord(data->at, &at) || data->from > data->version) {
        client_fail(client, "a patch outside the world");
        return;
    }
    if (cache->block == NULL) {
        (void)want(client, at, data->version); // the scene is not there yet
        return;
    }
    const Status status = rows_check(client, data);
    if (status != STATUS_OK) {
        client_fail(client, "a patch of the scene cannot be read: %s", status_text(status));
        return;
    }
    const uint64_t known = version_of(cache, at);
    if (known > data->version) {
        return; // it was asked for before all of it came by other means
    }
    if (known < data->from) {
        (void)want(client, at, data->version);
        return;
    }
    client->stats.patch_bytes += data->data.bytes;
    if (!rows_apply(client, data)) {
        PatchWant *again = want(client, at, data->version);
        if (again != NULL) {
            again->asked = true;
            again->asked_ms = client->now_ms - PATCH_RETRY_MS + PATCH_SETTLE_MS;
        }
        return;
    }
    if (data->last) {
        version_set(client, at, data->version);
        client->stats.patches_applied += 1;
        const uint32_t i = want_find(cache, at);
        if (i < cache->want_count && cache->wants[i].version <= data->version) {
            want_remove(cache, at);
        }
    }
}

// --- asking -------------------------------------------------------------------------------------

void patch_cache_ask(Client *client)
{
    PatchCache *cache = &client->patch;
    if (cache->block == NULL || cache->want_count == 0) {
        return;
    }
    uint32_t out_count = 0;
    for (uint32_t i = 0; i < cache->want_count; i++) {
        PatchWant *wanted = &cache->wants[i];
        wanted->asked = wanted->asked && client->now_ms - wanted->asked_ms < PATCH_RETRY_MS;
        out_count += wanted->asked;
    }
    WirePatchVersion cells[PATCH_REQUEST_MAX];
    uint32_t count = 0;
    for (uint32_t i = 0;
         i < cache->want_count && count < PATCH_REQUEST_MAX && out_count + count < PATCH_OUT_MAX;
         i++) {
        PatchWant *wanted = &cache->wants[i];
        if (!wanted->asked) {
            cells[count++] = (WirePatchVersion){.at = {wanted->at.x, wanted->at.y, wanted->at.z},
                                                .version = version_of(cache, wanted->at)};
            wanted->asked = true;
            wanted->asked_ms = client->now_ms;
        }
    }
    const MessagePatchRequest request = {.cells = cells, .cells_count = count};
    if (count == 0 || client_send(client, MESSAGE_PATCH_REQUEST, &request) == 0) {
        return;
    }
    client->stats.patches_asked += count;
    for (uint32_t i = 0; i < count; i++) {
        const ChunkCoord at = {cells[i].at.x, cells[i].at.y, cells[i].at.z};
        if (cache->wants[want_find(cache, at)].version <= cells[i].version) {
            want_remove(cache, at); // nothing is missing: no answer comes
        }
    }
}

// --- reading ------------------------------------------------------------------------------------

bool client_part_paint(const Client *client, uint64_t net_id, Paint *out)
{
    const PatchCache *cache = &client->patch;
    if (cache->block == NULL || net_id < 1 || net_id > cache->part_count ||
        (cache->painted[(net_id - 1) / 64] >> ((net_id - 1) % 64) & 1) == 0) {
        return false;
    }
    *out = cache->paints[net_id - 1];
    return true;
}

uint64_t client_next_painted(const Client *client, uint64_t after)
{
    const PatchCache *cache = &client->patch;
    const uint32_t count = cache->block == NULL ? 0 : cache->part_count;
    for (uint64_t at = after; at < count;) {
        const uint64_t bits = cache->painted[at / 64] >> (at % 64);
        if (bits != 0) {
            return at + (uint64_t)__builtin_ctzll(bits) + 1;
        }
        at = (at / 64 + 1) * 64;
    }
    return 0;
}

uint32_t client_paint_change(const Client *client)
{
    return client->patch.change;
}
