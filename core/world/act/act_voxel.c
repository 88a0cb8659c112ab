// Terrain edits: what players dig and fill, and which clients are informed.
// A session gets the versions of edited chunks in the cube of chunks around its eye: when they
// change, and when the cube moves so that they come into it. So a client has the version of every
// chunk it sees, and requests the content of those it lacks. Scripts edit terrain too; versions are
// compared once per tick, so no edit is missed.
#include "core/sim/chunk_coord.h"
#include "core/world/act/act_inside.h"

#include <string.h>

#define VERSIONS_MAX    64          // in one event
#define DATA_BACKLOG    (48u << 10) // bytes unconfirmed; above it chunks wait
#define DATA_PER_TICK   2
#define LOOK_TICKS      4
#define DATA_EVERY_TICK 8 // for a client that does not confirm anything yet

typedef struct KnownChunk {
    ChunkCoord at;
    uint32_t version;
} KnownChunk;

// What one session has been sent.
typedef struct VoxelViewer {
    bool placed;     // `at` is valid
    bool has_from;   // only chunks that are not around `from` are new to it
    ChunkCoord at;   // of the eye
    ChunkCoord from; // before it moved
    bool scans;      // the known chunks from `cursor` on still have to be checked
    uint32_t cursor;
    ChunkCoord requests[CHUNK_REQUESTS_MAX];
    uint32_t request_count;
    uint64_t data_tick; // of the last chunk sent
} VoxelViewer;

typedef struct Voxels {
    KnownChunk *chunks; // in the order they were first edited
    uint32_t chunk_count, chunk_max;
    IdMap map;
    uint32_t edit_count;
    uint32_t request_count; // of all sessions
    uint32_t answer_next; // the session at which the next tick continues, if this one had too many
                          // answers
    int32_t radius;       // in chunks
    VoxelViewer *viewers;
    uint8_t bytes[CHUNK_BYTES_MAX];
    void *block;
} Voxels;

// --- creation -----------------------------------------------------------------------------------

Status voxel_create(Acts *acts)
{
    Sessions *sessions = acts->config.sessions;
    Voxels *voxels = heap_alloc(acts->config.heap, sizeof *voxels);
    if (voxels == NULL) {
        return STATUS_LIMIT;
    }
    acts->voxels = voxels;
    voxels->chunk_max = sim_config(acts->config.sim)->terrain.chunk_max;
    const size_t bytes = arena_need(voxels->chunk_max * sizeof(KnownChunk)) +
                         id_map_bytes(voxels->chunk_max) +
                         arena_need(sessions->count * sizeof(VoxelViewer));
    voxels->block = heap_alloc(acts->config.heap, bytes);
    if (voxels->block == NULL) {
        return STATUS_LIMIT;
    }
    Arena arena;
    arena_init(&arena, voxels->block, bytes);
    voxels->chunks = arena_array(&arena, voxels->chunk_max, sizeof(KnownChunk));
    voxels->viewers = arena_array(&arena, sessions->count, sizeof(VoxelViewer));
    ASSERT(voxels->chunks != NULL && voxels->viewers != NULL);
    voxels->radius = act_view_chunks(acts);
    return id_map_init(&voxels->map, &arena, voxels->chunk_max);
}

void voxel_destroy(Acts *acts)
{
    if (acts->voxels != NULL) {
        heap_free(acts->config.heap, acts->voxels->block);
        heap_free(acts->config.heap, acts->voxels);
        acts->voxels = NULL;
    }
}

void voxel_forget(Acts *acts, const Session *session)
{
    VoxelViewer *viewer = &acts->voxels->viewers[session_number(acts->config.sessions, session)];
    acts->voxels->request_count -= viewer->request_count;
    *viewer = (VoxelViewer){0};
}

static bool is_around(const Voxels *voxels, ChunkCoord centre, ChunkCoord at)
{
    const int32_t r = voxels->radius;
    return at.x - centre.x <= r && centre.x - at.x <= r && at.y - centre.y <= r &&
           centre.y - at.y <= r && at.z - centre.z <= r && centre.z - at.z <= r;
}

static bool may_know(const Voxels *voxels, const VoxelViewer *viewer, ChunkCoord at)
{
    return viewer->placed && is_around(voxels, viewer->at, at);
}

// --- what changed -------------------------------------------------------------------------------

// Records the version of a chunk; true if it changed.
static bool note(Acts *acts, ChunkCoord at)
{
    Voxels *voxels = acts->voxels;
    const uint32_t version = terrain_chunk_version(sim_terrain_view(acts->config.sim), at);
    uint32_t slot = id_map_find(&voxels->map, chunk_coord_key(at));
    if (slot == 0) {
        if (version == 0) {
            return false;
        }
        ASSERT(voxels->chunk_count < voxels->chunk_max); // the terrain has the same limit
        slot = ++voxels->chunk_count;
        voxels->chunks[slot - 1] = (KnownChunk){.at = at};
        id_map_put(&voxels->map, chunk_coord_key(at), slot);
    }
    KnownChunk *known = &voxels->chunks[slot - 1];
    const bool news = known->version != version;
    known->version = version;
    return news;
}

static WireChunkVersion wire_version(const Acts *acts, ChunkCoord at)
{
    return (WireChunkVersion){
        .at = {at.x, at.y, at.z},
        .version = terrain_chunk_version(sim_terrain_view(acts->config.sim), at),
    };
}

// Sends an event to everybody around one of the chunks. If it does not fit, that session starts
// over.
static void send_chunks(Acts *acts, uint8_t number, const void *body,
                        const WireChunkVersion *chunks, uint32_t count)
{
    Sessions *sessions = acts->config.sessions;
    Voxels *voxels = acts->voxels;
    for (uint32_t i = 0; i < sessions->high; i++) {
        const Session *session = session_at(sessions, i);
        VoxelViewer *viewer = &voxels->viewers[i];
        bool concerned = false;
        for (uint32_t c = 0; c < count && !concerned; c++) {
            const WireCoord at = chunks[c].at;
            concerned = may_know(voxels, viewer, (ChunkCoord){at.x, at.y, at.z});
        }
        if (concerned && session_plays(session) &&
            event_send(sessions, session, number, body, NULL) != STATUS_OK) {
            viewer->has_from = false;
            viewer->scans = true;
            viewer->cursor = 0;
        }
    }
}

static void tell_versions(Acts *acts, const WireChunkVersion *chunks, uint32_t count)
{
    if (count > 0) {
        const MessageChunkVersions event = {.chunks = chunks, .chunks_count = count};
        send_chunks(acts, MESSAGE_CHUNK_VERSIONS, &event, chunks, count);
    }
}

void voxel_start(Acts *acts)
{
    const Terrain *terrain = sim_terrain_view(acts->config.sim);
    for (uint32_t i = 0; i < terrain_changed_chunk_count(terrain); i++) {
        (void)note(acts, terrain_changed_chunk(terrain, i));
    }
    acts->voxels->edit_count = terrain_edit_count(terrain);
}

// Finds edits that were not announced by a command.
static void look_at_edits(Acts *acts)
{
    Voxels *voxels = acts->voxels;
    const Terrain *terrain = sim_terrain_view(acts->config.sim);
    const uint32_t edits = terrain_edit_count(terrain);
    if (edits == voxels->edit_count) {
        return;
    }
    voxels->edit_count = edits;
    WireChunkVersion changed[VERSIONS_MAX];
    uint32_t count = 0;
    const uint32_t chunks = terrain_changed_chunk_count(terrain);
    for (uint32_t i = 0; i < chunks; i++) {
        const ChunkCoord at = terrain_changed_chunk(terrain, i);
        if (!note(acts, at)) {
            continue;
        }
        save_chunk(acts->config.saves, at, NULL, 0);
        changed[count++] = wire_version(acts, at);
        if (count == VERSIONS_MAX) {
            tell_versions(acts, changed, count);
            count = 0;
        }
    }
    tell_versions(acts, changed, count);
}

// --- who comes near -----------------------------------------------------------------------------

static void move_viewer(Acts *acts, const Session *session, VoxelViewer *viewer)
{
    const Entity *body = session_body(acts->config.sim, session);
    if (body == NULL || viewer->scans) {
        return; // one move at a time
    }
    const ChunkCoord at = voxel_chunk(voxel_at(sim_eye(acts->config.sim, body)));
    if (viewer->placed && chunk_coord_equal(at, viewer->at)) {
        return;
    }
    viewer->has_from = viewer->placed;
    viewer->from = viewer->at;
    viewer->at = at;
    viewer->placed = true;
    viewer->scans = true;
    viewer->cursor = 0;
}

static void scan_for(Acts *acts, const Session *session, VoxelViewer *viewer)
{
    const Voxels *voxels = acts->voxels;
    WireChunkVersion news[VERSIONS_MAX];
    uint32_t count = 0;
    uint32_t cursor = viewer->cursor;
    while (cursor < voxels->chunk_count && count < VERSIONS_MAX) {
        const ChunkCoord at = voxels->chunks[cursor].at;
        if (is_around(voxels, viewer->at, at) &&
            !(viewer->has_from && is_around(voxels, viewer->from, at))) {
            news[count++] = wire_version(acts, at);
        }
        cursor += 1;
    }
    const MessageChunkVersions event = {.chunks = news, .chunks_count = count};
    if (count > 0 && event_send(acts->config.sessions, session, MESSAGE_CHUNK_VERSIONS, &event,
                                NULL) != STATUS_OK) {
        return; // continue in the next tick
    }
    viewer->cursor = cursor;
    viewer->scans = cursor < voxels->chunk_count;
}

static void send_chunk(Acts *acts, Session *session, ChunkCoord at)
{
    Voxels *voxels = acts->voxels;
    const Terrain *terrain = sim_terrain_view(acts->config.sim);
    ByteWriter writer = byte_writer(voxels->bytes, sizeof voxels->bytes);
    sim_add_work(acts->config.sim, CHUNK_WRITE_STEPS);
    terrain_write_difference(terrain, at, &writer);
    ASSERT(writer.status == STATUS_OK);
    const MessageChunkData data = {.at = {at.x, at.y, at.z},
                                   .version = terrain_chunk_version(terrain, at),
                                   .data = {voxels->bytes, (uint32_t)writer.at}};
    session_send(acts->config.sessions, session, MESSAGE_CHUNK_DATA, &data);
}

static void answer_requests(Acts *acts, Session *session, VoxelViewer *viewer, uint32_t *sent)
{
    const WorldClock *clock = acts->config.clock;
    for (uint32_t i = 0; i < DATA_PER_TICK && viewer->request_count > 0; i++) {
        const bool busy = session_waiting(session) > DATA_BACKLOG;
        if (busy && clock->tick < viewer->data_tick + DATA_EVERY_TICK) {
            return;
        }
        send_chunk(acts, session, viewer->requests[0]);
        *sent += 1;
        viewer->data_tick = clock->tick;
        viewer->request_count -= 1;
        acts->voxels->request_count -= 1;
        memmove(&viewer->requests[0], &viewer->requests[1],
                viewer->request_count * sizeof(ChunkCoord));
    }
}

// As many as fit into a tick; the next tick continues with the others.
static void answer_all(Acts *acts)
{
    Sessions *sessions = acts->config.sessions;
    Voxels *voxels = acts->voxels;
    const uint32_t first = voxels->answer_next < sessions->high ? voxels->answer_next : 0;
    uint32_t sent = 0;
    voxels->answer_next = 0;
    for (uint32_t k = 0; k < sessions->high && voxels->request_count > 0; k++) {
        const uint32_t i = (first + k) % sessions->high;
        Session *session = session_at(sessions, i);
        if (sent >= CHUNK_SENDS_PER_TICK) {
            voxels->answer_next = i;
            return;
        }
        if (session_plays(session)) {
            answer_requests(acts, session, &voxels->viewers[i], &sent);
        }
    }
}

void voxel_tick(Acts *acts)
{
    Sessions *sessions = acts->config.sessions;
    Voxels *voxels = acts->voxels;
    look_at_edits(acts);
    // Eyes are checked every few ticks, in turn: nobody crosses a chunk faster.
    for (uint32_t i = (uint32_t)(acts->config.clock->tick % LOOK_TICKS); i < sessions->high;
         i += LOOK_TICKS) {
        const Session *session = session_at(sessions, i);
        if (session_plays(session)) {
            move_viewer(acts, session, &voxels->viewers[i]);
            if (voxels->viewers[i].scans) {
                scan_for(acts, session, &voxels->viewers[i]);
            }
        }
    }
    answer_all(acts);
}

// --- asking for chunks --------------------------------------------------------------------------

static bool is_requested(const VoxelViewer *viewer, ChunkCoord at)
{
    for (uint32_t i = 0; i < viewer->request_count; i++) {
        if (chunk_coord_equal(viewer->requests[i], at)) {
            return true;
        }
    }
    return false;
}

// A viewer follows its player with some delay, and starts a few ticks after the welcome: so chunks
// around the current eye are allowed as well.
static bool may_ask(const Acts *acts, const VoxelViewer *viewer, const Entity *body, ChunkCoord at)
{
    return may_know(acts->voxels, viewer, at) ||
           (body != NULL &&
            is_around(acts->voxels, voxel_chunk(voxel_at(sim_eye(acts->config.sim, body))), at));
}

void act_chunk_request(Acts *acts, Session *session, uint32_t seq,
                       const MessageChunkRequest *command)
{
    Sessions *sessions = acts->config.sessions;
    VoxelViewer *viewer = &acts->voxels->viewers[session_number(sessions, session)];
    const uint32_t count = command->chunks_count;
    const Entity *body = session_body(acts->config.sim, session);
    if (count > 0 && !rate_take(acts->config.stats, session, RATE_CHUNK, count)) {
        session_deny(sessions, session, seq, STATUS_LIMIT,
                     "Too many chunks; ask for the rest later.");
        return;
    }
    for (uint32_t i = 0; i < count; i++) {
        const WireCoord wire = command->chunks[i].at;
        const ChunkCoord at = {wire.x, wire.y, wire.z};
        const bool inside = at.x < CHUNK_COORD_MAX && at.y < CHUNK_COORD_MAX &&
                            at.z < CHUNK_COORD_MAX && at.x >= -CHUNK_COORD_MAX &&
                            at.y >= -CHUNK_COORD_MAX && at.z >= -CHUNK_COORD_MAX;
        if (!inside || !may_ask(acts, viewer, body, at)) {
            session_deny(sessions, session, seq, STATUS_DENIED,
                         "That chunk is out of view; go nearer.");
            return;
        }
        if (is_requested(viewer, at)) {
            continue;
        }
        if (viewer->request_count == CHUNK_REQUESTS_MAX) {
            session_deny(sessions, session, seq, STATUS_LIMIT,
                         "Too many chunks; ask for the rest later.");
            return;
        }
        viewer->requests[viewer->request_count++] = at;
        acts->voxels->request_count += 1;
    }
    session_ack(sessions, session, seq, 0);
}

// --- terraforming -------------------------------------------------------------------------------

typedef enum EditShape { EDIT_VOXEL, EDIT_BOX, EDIT_SPHERE } EditShape;

// The range of voxels, both ends included, that an edit can touch. False for invalid numbers.
static bool edit_range(const MessageTerraform *edit, VoxelCoord *min, VoxelCoord *max)
{
    if (edit->shape == EDIT_SPHERE) {
        if (!vec3_is_finite(edit->centre) || !math_is_finite(edit->radius) ||
            !(edit->radius > 0 && edit->radius <= VOXEL_EDIT_SPHERE_RADIUS_MAX)) {
            return false;
        }
        const Vec3 r = vec3(edit->radius, edit->radius, edit->radius);
        *min = voxel_at(vec3_sub(edit->centre, r));
        *max = voxel_at(vec3_add(edit->centre, r));
        return true;
    }
    const WireCoord last = edit->shape == EDIT_VOXEL ? edit->min : edit->max;
    if (!act_coord_ok(edit->min) || !act_coord_ok(last)) {
        return false;
    }
    *min = (VoxelCoord){edit->min.x, edit->min.y, edit->min.z};
    *max = (VoxelCoord){last.x, last.y, last.z};
    return max->x >= min->x && max->y >= min->y && max->z >= min->z &&
           max->x - min->x < VOXEL_EDIT_BOX_EDGE_MAX && max->y - min->y < VOXEL_EDIT_BOX_EDGE_MAX &&
           max->z - min->z < VOXEL_EDIT_BOX_EDGE_MAX;
}

static Aabb range_box(VoxelCoord min, VoxelCoord max)
{
    return (Aabb){vec3((float)min.x, (float)min.y, (float)min.z),
                  vec3((float)max.x + 1, (float)max.y + 1, (float)max.z + 1)};
}

// The centre of the edit must be within reach, and it must not be larger than the reach: so nothing
// further away than twice the reach is touched.
static bool is_in_reach(const Acts *acts, Vec3 eye, const MessageTerraform *edit, Aabb box)
{
    const float reach = acts->config.place->reach_m;
    const Vec3 half = vec3_scale(vec3_sub(box.max, box.min), 0.5f);
    const Vec3 centre = edit->shape == EDIT_SPHERE ? edit->centre : vec3_add(box.min, half);
    const float largest =
        edit->shape == EDIT_SPHERE ? edit->radius : math_max(half.x, math_max(half.y, half.z));
    return vec3_length(vec3_sub(centre, eye)) <= reach && largest <= math_max(reach, 0.5f);
}

static bool edit_has(const MessageTerraform *edit, VoxelCoord min, VoxelCoord max, VoxelCoord at)
{
    if (at.x < min.x || at.y < min.y || at.z < min.z || at.x > max.x || at.y > max.y ||
        at.z > max.z) {
        return false;
    }
    if (edit->shape != EDIT_SPHERE) {
        return true;
    }
    const Vec3 middle = vec3((float)at.x + 0.5f, (float)at.y + 0.5f, (float)at.z + 0.5f);
    return vec3_length(vec3_sub(middle, edit->centre)) <= edit->radius + 0.001f;
}

// The distance of a voxel from the vertical axis inside a capsule.
static float gap(Vec3 feet, float radius, float height, VoxelCoord at)
{
    const Aabb voxel = range_box(at, at);
    const float low = feet.y + radius;
    const float high = feet.y + math_max(height - radius, radius);
    const float dx = math_max(0, math_max(voxel.min.x - feet.x, feet.x - voxel.max.x));
    const float dz = math_max(0, math_max(voxel.min.z - feet.z, feet.z - voxel.max.z));
    const float dy = math_max(0, math_max(voxel.min.y - high, low - voxel.max.y));
    return vec3_length(vec3(dx, dy, dz));
}

static bool buries(const Acts *acts, const MessageTerraform *edit, VoxelCoord min, VoxelCoord max,
                   const Entity *character)
{
    const CharacterTuning *tuning = &sim_config(acts->config.sim)->character;
    const Terrain *terrain = sim_terrain_view(acts->config.sim);
    const Vec3 feet = character->position;
    const Vec3 r = vec3(tuning->radius, 0, tuning->radius);
    const VoxelCoord low = voxel_at(vec3_sub(feet, r));
    const VoxelCoord high = voxel_at(vec3_add(feet, vec3_add(r, vec3(0, tuning->height, 0))));
    for (int32_t z = low.z; z <= high.z; z++) {
        for (int32_t y = low.y; y <= high.y; y++) {
            for (int32_t x = low.x; x <= high.x; x++) {
                const VoxelCoord at = {x, y, z};
                if (edit_has(edit, min, max, at) && !terrain_is_solid(terrain, at) &&
                    gap(feet, tuning->radius, tuning->height, at) < tuning->radius - 0.01f) {
                    return true;
                }
            }
        }
    }
    return false;
}

#define BURY_LOOKS 256
static bool buries_somebody(const Acts *acts, const MessageTerraform *edit, VoxelCoord min,
                            VoxelCoord max)
{
    const ChunkStore *store = acts->config.place->chunks;
    const VoxelKinds kinds = store != NULL ? *chunk_store_kinds(store) : voxel_kinds_default();
    if (!voxel_kind_is_solid(&kinds, (VoxelKind)edit->voxel_kind)) {
        return false;
    }
    SimRef found[BURY_LOOKS];
    const uint32_t count = sim_query_box(acts->config.sim, aabb_grow(range_box(min, max), 0.1f),
                                         ENTITY_MASK_CHARACTERS, found, BURY_LOOKS);
    if (count > BURY_LOOKS) {
        return true; // too many to check: assume that somebody is there
    }
    for (uint32_t i = 0; i < count; i++) {
        const Entity *entity = sim_entity(acts->config.sim, found[i].entity);
        if (entity != NULL && !entity->removing && entity->character.health > 0 &&
            buries(acts, edit, min, max, entity)) {
            return true;
        }
    }
    return false;
}

static Status apply(Acts *acts, const MessageTerraform *edit, VoxelCoord min, VoxelCoord max)
{
    Terrain *terrain = sim_terrain(acts->config.sim);
    const VoxelKind kind = (VoxelKind)edit->voxel_kind;
    switch ((EditShape)edit->shape) {
    case EDIT_VOXEL:
        return terrain_set(terrain, min, kind, NULL);
    case EDIT_BOX:
        return terrain_fill_box(terrain, min, max, kind, NULL);
    case EDIT_SPHERE:
        return terrain_fill_sphere(terrain, edit->centre, edit->radius, kind, NULL);
    }
    return STATUS_RANGE;
}

// The chunks of the range whose version rose: at most three along each axis.
static uint32_t note_range(Acts *acts, VoxelCoord min, VoxelCoord max, WireChunkVersion *out,
                           uint32_t out_max)
{
    const ChunkCoord low = voxel_chunk(min);
    const ChunkCoord high = voxel_chunk(max);
    uint32_t count = 0;
    for (int32_t z = low.z; z <= high.z; z++) {
        for (int32_t y = low.y; y <= high.y; y++) {
            for (int32_t x = low.x; x <= high.x; x++) {
                const ChunkCoord at = {x, y, z};
                const bool inside = x >= -CHUNK_COORD_MAX && x < CHUNK_COORD_MAX &&
                                    y >= -CHUNK_COORD_MAX && y < CHUNK_COORD_MAX &&
                                    z >= -CHUNK_COORD_MAX && z < CHUNK_COORD_MAX;
                if (inside && count < out_max && note(acts, at)) {
                    out[count++] = wire_version(acts, at);
                }
            }
        }
    }
    return count;
}

static void show_preview(Acts *acts, Session *session, const MessageTerraform *edit, Aabb box)
{
    const MessageTerraformPreviewed event = {.player = session->player,
                                             .active = true,
                                             .shape = edit->shape,
                                             .min = edit->min,
                                             .max = edit->max,
                                             .centre = edit->centre,
                                             .radius = edit->radius};
    const Vec3 middle = vec3_scale(vec3_add(box.min, box.max), 0.5f);
    const ReplicatorEvent where = {.has_position = true, .position = middle};
    event_broadcast(acts->config.sessions, MESSAGE_TERRAFORM_PREVIEWED, &event, &where);
    preview_begin(acts, session, true);
}

static VoxelKind read_voxel(void *user, VoxelCoord at)
{
    return terrain_voxel(sim_terrain_view(((const Acts *)user)->config.sim), at);
}

static void tell_scripts(Acts *acts, VoxelWatch *watch, VoxelKind kind, uint64_t player_id)
{
    if (watch->count == 0) {
        authority_voxels_changed(acts->config.authority, watch->min, watch->max, kind, player_id);
    }
    VoxelChange change;
    while (voxel_watch_next(watch, read_voxel, acts, &change)) {
        authority_voxel_changed(acts->config.authority, &change, player_id);
    }
}

static void terraform(Acts *acts, Session *session, uint32_t seq, const MessageTerraform *edit,
                      VoxelCoord min, VoxelCoord max)
{
    Sessions *sessions = acts->config.sessions;
    if (buries_somebody(acts, edit, min, max)) {
        session_deny(sessions, session, seq, STATUS_BLOCKED,
                     "Somebody stands there; wait until they go.");
        return;
    }
    look_at_edits(acts); // earlier edits by scripts are not part of this one
    VoxelWatch watch;
    voxel_watch_begin(&watch, min, max, read_voxel, acts);
    const Status status = apply(acts, edit, min, max);
    if (status != STATUS_OK) {
        session_deny(sessions, session, seq, status,
                     status == STATUS_LIMIT ? "This world has no room for more changes of terrain."
                                            : "Terrain cannot be changed there.");
        return;
    }
    WireChunkVersion chunks[32];
    const uint32_t count = note_range(acts, min, max, chunks, 32);
    acts->voxels->edit_count = terrain_edit_count(sim_terrain_view(acts->config.sim));
    session_ack(sessions, session, seq, 0);
    if (count > 0) {
        tell_scripts(acts, &watch, (VoxelKind)edit->voxel_kind, session->player);
    }
    for (uint32_t i = 0; i < count; i++) {
        const ChunkCoord at = {chunks[i].at.x, chunks[i].at.y, chunks[i].at.z};
        save_chunk(acts->config.saves, at, i + 1 == count ? session : NULL, seq);
    }
    if (count > 0) {
        const MessageTerraformApplied event = {.player = session->player,
                                               .shape = edit->shape,
                                               .min = edit->min,
                                               .max = edit->max,
                                               .centre = edit->centre,
                                               .radius = edit->radius,
                                               .voxel_kind = edit->voxel_kind,
                                               .chunks = chunks,
                                               .chunks_count = count};
        send_chunks(acts, MESSAGE_TERRAFORM_APPLIED, &event, chunks, count);
    }
}

void act_terraform(Acts *acts, Session *session, uint32_t seq, const MessageTerraform *command)
{
    Sessions *sessions = acts->config.sessions;
    if (!session_rate(sessions, session, seq, RATE_TERRAFORM)) {
        return;
    }
    if (!acts->config.place->players_terraform && !session->operator_role) {
        session_deny(sessions, session, seq, STATUS_DENIED,
                     "Terrain cannot be changed in this place.");
        return;
    }
    VoxelCoord min, max;
    if (command->voxel_kind >= terrain_kind_count(sim_terrain_view(acts->config.sim))) {
        session_deny(sessions, session, seq, STATUS_NOT_FOUND,
                     "This place has no such voxel kind; its place.json lists those there are.");
        return;
    }
    if (command->shape > EDIT_SPHERE || !edit_range(command, &min, &max)) {
        session_deny(
            sessions, session, seq, STATUS_RANGE,
            "The edit is too large or makes no sense; use at most 64 voxels along an edge.");
        return;
    }
    const Entity *body = act_living_body(acts, session, seq);
    if (body == NULL) {
        return;
    }
    const Aabb box = range_box(min, max);
    if (!is_in_reach(acts, sim_eye(acts->config.sim, body), command, box)) {
        session_deny(sessions, session, seq, STATUS_DENIED, "That is out of reach; go nearer.");
        return;
    }
    if (command->preview) {
        show_preview(acts, session, command, box);
        session_ack(sessions, session, seq, 0);
        return;
    }
    preview_end(acts, session, true);
    terraform(acts, session, seq, command, min, max);
}

void voxel_hash(const Acts *acts, Hash64 *hash)
{
    const Voxels *voxels = acts->voxels;
    hash_u64(hash, voxels->chunk_count);
    hash_u64(hash, voxels->edit_count);
    for (uint32_t i = 0; i < acts->config.sessions->high; i++) {
        const VoxelViewer *viewer = &voxels->viewers[i];
        hash_u64(hash, viewer->placed ? chunk_coord_key(viewer->at) : 0);
        hash_u64(hash, viewer->scans ? viewer->cursor + 1 : 0);
        hash_u64(hash, viewer->request_count);
        hash_u64(hash, viewer->data_tick);
    }
}
