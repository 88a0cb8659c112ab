// Terrain that differs from the scene. Every chunk has a version. An edit that leads from our
// version to the next is applied here too; anything else is requested. Requests stay in a short
// table until the answer comes, and are repeated if none does. If the terrain is full, the farthest
// chunk is reset to the scene's; the server sends its version again when the player comes near.
#include "core/client/client_inside.h"

static Terrain *terrain_of(Client *client)
{
    return client->predict == NULL ? NULL : sim_terrain(predict_sim(client->predict));
}

bool client_chunk_coord(WireCoord at, ChunkCoord *out)
{
    const int32_t low = -CHUNK_COORD_MAX;
    const int32_t high = CHUNK_COORD_MAX - 1;
    *out = (ChunkCoord){at.x, at.y, at.z};
    return at.x >= low && at.x <= high && at.y >= low && at.y <= high && at.z >= low &&
           at.z <= high;
}

static uint32_t want_find(const Client *client, ChunkCoord at)
{
    uint32_t i = 0;
    while (i < client->want_count &&
           (client->wants[i].at.x != at.x || client->wants[i].at.y != at.y ||
            client->wants[i].at.z != at.z)) {
        i += 1;
    }
    return i;
}

static void want_remove(Client *client, uint32_t index)
{
    client->want_count -= 1;
    client->wants[index] = client->wants[client->want_count];
}

static void want(Client *client, ChunkCoord at, uint32_t version)
{
    const uint32_t i = want_find(client, at);
    if (i == CHUNK_WANTS_MAX) {
        client->stats.chunks_refused += 1;
        return;
    }
    if (i == client->want_count) {
        client->wants[i] = (ChunkWant){.at = at};
        client->want_count += 1;
    }
    client->wants[i].version = version;
}

void chunk_cache_versions(Client *client, const WireChunkVersion *chunks, uint32_t count)
{
    const Terrain *terrain = terrain_of(client);
    for (uint32_t i = 0; i < count; i++) {
        ChunkCoord at;
        if (!client_chunk_coord(chunks[i].at, &at)) {
            client_fail(client, "a chunk outside the world");
            return;
        }
        const uint32_t version = (uint32_t)chunks[i].version;
        if (terrain == NULL || terrain_chunk_version(terrain, at) != version) {
            want(client, at, version);
        }
    }
}

// --- room ---------------------------------------------------------------------------------------

static int64_t distance_squared(ChunkCoord a, ChunkCoord b)
{
    const int64_t x = (int64_t)a.x - b.x;
    const int64_t y = (int64_t)a.y - b.y;
    const int64_t z = (int64_t)a.z - b.z;
    return x * x + y * y + z * z;
}

// Resets the changed chunk that is farthest from the own body, if it is farther than this one.
static bool make_room(Client *client, Terrain *terrain, ChunkCoord for_whom)
{
    static const uint8_t as_the_scene[] = {2, 0, 0, 0, 0, 0}; // difference, version 0, no runs
    const PredictView own = predict_view(client->predict, 0);
    const ChunkCoord eye = voxel_chunk(voxel_at(own.position));
    int64_t farthest = distance_squared(for_whom, eye);
    ChunkCoord found = for_whom;
    bool any = false;
    for (uint32_t i = 0; i < terrain_changed_chunk_count(terrain); i++) {
        const ChunkCoord at = terrain_changed_chunk(terrain, i);
        if (distance_squared(at, eye) > farthest) {
            farthest = distance_squared(at, eye);
            found = at;
            any = true;
        }
    }
    ByteReader reader = byte_reader(as_the_scene, sizeof as_the_scene);
    return any && terrain_read_chunk(terrain, found, &reader) == STATUS_OK;
}

// --- edits --------------------------------------------------------------------------------------

static Status edit_apply(Terrain *terrain, const MessageTerraformApplied *edit)
{
    const VoxelKind kind = (VoxelKind)edit->voxel_kind;
    const VoxelCoord min = {edit->min.x, edit->min.y, edit->min.z};
    const VoxelCoord max = {edit->max.x, edit->max.y, edit->max.z};
    switch (edit->shape) {
    case 0:
        return terrain_set(terrain, min, kind, NULL);
    case 1:
        return terrain_fill_box(terrain, min, max, kind, NULL);
    default:
        return terrain_fill_sphere(terrain, edit->centre, edit->radius, kind, NULL);
    }
}

// Whether the edit can be applied here: every chunk that it changed is exactly one version behind.
static bool edit_follows(const Terrain *terrain, const MessageTerraformApplied *edit)
{
    for (uint32_t i = 0; i < edit->chunks_count; i++) {
        ChunkCoord at;
        if (!client_chunk_coord(edit->chunks[i].at, &at) ||
            (uint64_t)terrain_chunk_version(terrain, at) + 1 != edit->chunks[i].version) {
            return false;
        }
    }
    return edit->chunks_count > 0;
}

void chunk_cache_edit(Client *client, const MessageTerraformApplied *edit)
{
    Terrain *terrain = terrain_of(client);
    if (terrain != NULL && edit_follows(terrain, edit)) {
        ChunkCoord first = {0};
        (void)client_chunk_coord(edit->chunks[0].at, &first);
        Status status = edit_apply(terrain, edit);
        while (status == STATUS_LIMIT && make_room(client, terrain, first)) {
            status = edit_apply(terrain, edit);
        }
        if (status == STATUS_LIMIT) {
            // Requesting the chunks would fail in the same way.
            client->stats.chunks_refused += edit->chunks_count;
            return;
        }
        if (status != STATUS_OK) {
            client_fail(client, "an edit of terrain makes no sense: %s", status_text(status));
            return;
        }
        client->stats.edits_applied += 1;
    }
    for (uint32_t i = 0; i < edit->chunks_count; i++) {
        ChunkCoord at;
        if (!client_chunk_coord(edit->chunks[i].at, &at)) {
            client_fail(client, "a chunk outside the world");
            return;
        }
        const uint32_t version = (uint32_t)edit->chunks[i].version;
        if (terrain == NULL || terrain_chunk_version(terrain, at) < version) {
            want(client, at, version);
        }
    }
}

// --- whole chunks -------------------------------------------------------------------------------

void chunk_cache_data(Client *client, const MessageChunkData *data)
{
    Terrain *terrain = terrain_of(client);
    ChunkCoord at;
    if (!client_chunk_coord(data->at, &at)) {
        client_fail(client, "a chunk outside the world");
        return;
    }
    const uint32_t i = want_find(client, at);
    if (terrain == NULL || i == client->want_count) {
        return; // requested twice, or not any more
    }
    ByteReader reader = byte_reader(data->data.data, data->data.bytes);
    Status status = terrain_read_chunk(terrain, at, &reader);
    while (status == STATUS_LIMIT && make_room(client, terrain, at)) {
        reader = byte_reader(data->data.data, data->data.bytes);
        status = terrain_read_chunk(terrain, at, &reader);
    }
    if (status == STATUS_LIMIT) {
        client->stats.chunks_refused += 1;
        want_remove(client, i);
        return;
    }
    const uint32_t version = terrain_chunk_version(terrain, at);
    if (status != STATUS_OK || byte_reader_finish(&reader) != STATUS_OK ||
        version != data->version) {
        client_fail(client, "a chunk cannot be read: %s",
                    status_text(status != STATUS_OK ? status : STATUS_MISMATCH));
        return;
    }
    client->stats.chunks_applied += 1;
    // The world may have restarted with an older version than the last one.
    if (version >= client->wants[i].version) {
        want_remove(client, i);
    } else {
        client->wants[i].asked = false;
    }
}

// Removes requests that are answered by other means, or too old.
static void wants_tidy(Client *client, const Terrain *terrain, uint32_t *out_count)
{
    *out_count = 0;
    for (uint32_t i = client->want_count; i > 0; i--) {
        ChunkWant *wanted = &client->wants[i - 1];
        if (terrain_chunk_version(terrain, wanted->at) == wanted->version) {
            want_remove(client, i - 1);
            continue;
        }
        if (wanted->asked && client->now_ms - wanted->asked_ms >= CHUNK_RETRY_MS) {
            wanted->asked = false;
        }
        *out_count += wanted->asked;
    }
}

void chunk_cache_ask(Client *client)
{
    const Terrain *terrain = terrain_of(client);
    if (terrain == NULL || client->want_count == 0) {
        return;
    }
    uint32_t out_count = 0;
    wants_tidy(client, terrain, &out_count);
    WireChunkVersion chunks[CHUNK_REQUEST_MAX];
    uint32_t count = 0;
    for (uint32_t i = 0;
         i < client->want_count && count < CHUNK_REQUEST_MAX && out_count + count < CHUNK_OUT_MAX;
         i++) {
        ChunkWant *wanted = &client->wants[i];
        if (!wanted->asked) {
            chunks[count++] =
                (WireChunkVersion){.at = {wanted->at.x, wanted->at.y, wanted->at.z},
                                   .version = terrain_chunk_version(terrain, wanted->at)};
            wanted->asked = true;
            wanted->asked_ms = client->now_ms;
        }
    }
    if (count > 0) {
        const MessageChunkRequest request = {.chunks = chunks, .chunks_count = count};
        if (client_send(client, MESSAGE_CHUNK_REQUEST, &request) != 0) {
            client->stats.chunks_asked += count;
        }
    }
}

void chunk_cache_restart(Client *client)
{
    for (uint32_t i = 0; i < client->want_count; i++) {
        client->wants[i].asked = false;
    }
}
