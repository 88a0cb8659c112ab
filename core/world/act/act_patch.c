// Changed parts of the scene: which sessions are informed (replicate/patch_table.h has what
// changed). A session that is near a cell and has all of it is sent what changes there, at once. A
// cell of which it may lack something is only named to it (PATCH_VERSIONS): that is so when the
// cell comes into its view, and when more changed than is sent at once. From then on the world
// waits for the version that the client has, answers with what is missing, and sends nothing of
// that cell in between. So of something that changes in every tick only the last state goes over a
// slow link.
#include "core/sim/chunk_coord.h"
#include "core/world/act/act_inside.h"

#include <string.h>

_Static_assert(PATCH_ROW_BYTES_MAX <= PATCH_DATA_BYTES && PATCH_ROW_BYTES_MAX <= PATCH_BURST_BYTES,
               "any row can be sent");

#define VERSIONS_MAX    64          // in one event
#define DATA_BACKLOG    (48u << 10) // bytes unconfirmed; above it nothing is sent
#define LOOK_TICKS      4
#define DATA_EVERY_TICK 8 // for a client that does not confirm anything yet
#define DATA_LEAST      1024
#define TELL_AGAIN_MS   10000 // a client that never said what it has

// What a client asked for.
typedef struct PatchAsk {
    uint32_t cell;
    uint32_t next;    // part of the cell that comes next
    uint64_t have;    // the client's version
    uint64_t version; // of the answer; 0: it has not begun
} PatchAsk;

// What one session has been sent.
typedef struct PatchViewer {
    bool placed;     // `at` is valid
    bool has_from;   // only cells that are not near `from` are new to it
    ChunkCoord at;   // of the eye
    ChunkCoord from; // before it moved
    bool scans;      // the cells from `cursor` on still have to be checked
    uint32_t cursor;
    PatchAsk asks[PATCH_REQUESTS_MAX];
    uint32_t ask_count;
    uint32_t told_count; // bits of `told`
    uint64_t told_tick;  // when a cell was last named, or the client last said something
    uint64_t data_tick;  // of the last answer
    uint32_t credit;     // bytes that it may be sent now
    uint64_t credit_tick;
} PatchViewer;

// The rows that a cell got in the last capture.
typedef struct PatchPush {
    uint32_t cell;
    uint32_t at, bytes; // 0 bytes: too many
} PatchPush;

typedef struct Patches {
    PatchTable *table;
    PatchViewer *viewers;
    uint64_t *told; // for each session a bit for each cell: named, and the client has not answered
    uint32_t told_words;
    uint32_t ask_count;   // of all sessions
    uint32_t answer_next; // the session at which the next tick continues
    int32_t radius;       // in cells
    PatchPush *pushes;
    uint32_t push_count;
    uint8_t *push_bytes;
    uint8_t bytes[PATCH_DATA_BYTES];
    void *block;
} Patches;

// --- creation -----------------------------------------------------------------------------------

Status patch_create(Acts *acts)
{
    const Sessions *sessions = acts->config.sessions;
    Patches *patches = heap_alloc(acts->config.heap, sizeof *patches);
    if (patches == NULL) {
        return STATUS_LIMIT;
    }
    acts->patches = patches;
    patches->table = replicator_patches(acts->config.replicator);
    const uint32_t cells = patches->table->cell_count;
    patches->told_words = (cells + 63) / 64;
    const size_t words = (size_t)sessions->count * patches->told_words;
    const size_t bytes = arena_need(heap_array_bytes(sessions->count, sizeof(PatchViewer))) +
                         arena_need(heap_array_bytes(words + 1, sizeof(uint64_t))) +
                         arena_need(heap_array_bytes((size_t)cells + 1, sizeof(PatchPush))) +
                         arena_need(PATCH_PUSHES_BYTES);
    patches->block = heap_alloc(acts->config.heap, bytes);
    if (patches->block == NULL) {
        return STATUS_LIMIT;
    }
    Arena arena;
    arena_init_zeroed(&arena, patches->block, bytes);
    patches->viewers = arena_array(&arena, sessions->count, sizeof(PatchViewer));
    patches->told = arena_array(&arena, words + 1, sizeof(uint64_t));
    patches->pushes = arena_array(&arena, (size_t)cells + 1, sizeof(PatchPush));
    patches->push_bytes = arena_alloc(&arena, PATCH_PUSHES_BYTES);
    ASSERT(patches->viewers != NULL && patches->told != NULL && patches->pushes != NULL &&
           patches->push_bytes != NULL);
    patches->radius = act_view_chunks(acts);
    return STATUS_OK;
}

void patch_destroy(Acts *acts)
{
    if (acts->patches != NULL) {
        heap_free(acts->config.heap, acts->patches->block);
        heap_free(acts->config.heap, acts->patches);
        acts->patches = NULL;
    }
}

void patch_forget(Acts *acts, const Session *session)
{
    Patches *patches = acts->patches;
    const uint32_t number = session_number(acts->config.sessions, session);
    PatchViewer *viewer = &patches->viewers[number];
    patches->ask_count -= viewer->ask_count;
    *viewer = (PatchViewer){0};
    memset(&patches->told[(size_t)number * patches->told_words], 0,
           patches->told_words * sizeof(uint64_t));
}

// --- who is near --------------------------------------------------------------------------------

static Aabb view_box(const Patches *patches, ChunkCoord at)
{
    const int32_t r = patches->radius;
    const float edge = CHUNK_EDGE;
    return (Aabb){
        vec3((float)(at.x - r) * edge, (float)(at.y - r) * edge, (float)(at.z - r) * edge),
        vec3((float)(at.x + r + 1) * edge, (float)(at.y + r + 1) * edge,
             (float)(at.z + r + 1) * edge)};
}

static bool is_near(const Patches *patches, ChunkCoord at, uint32_t cell)
{
    return aabb_overlaps(view_box(patches, at), patches->table->cells[cell].box);
}

static bool is_told(const Patches *patches, uint32_t session, uint32_t cell)
{
    const uint64_t *told = &patches->told[(size_t)session * patches->told_words];
    return (told[cell / 64] >> (cell % 64) & 1) != 0;
}

static void set_told(Patches *patches, uint32_t session, uint32_t cell, bool on)
{
    if (is_told(patches, session, cell) != on) {
        patches->told[(size_t)session * patches->told_words + cell / 64] ^= 1ull << (cell % 64);
        patches->viewers[session].told_count += on ? 1u : (uint32_t)-1;
    }
}

// Names cells to a session; false if there is no room for the event.
static bool send_versions(Acts *acts, uint32_t session, const uint32_t *cells, uint32_t count)
{
    Patches *patches = acts->patches;
    WirePatchVersion versions[VERSIONS_MAX];
    for (uint32_t i = 0; i < count; i++) {
        const PatchCell *cell = &patches->table->cells[cells[i]];
        versions[i] = (WirePatchVersion){.at = {cell->at.x, cell->at.y, cell->at.z},
                                         .version = cell->version};
    }
    const MessagePatchVersions event = {.cells = versions, .cells_count = count};
    if (count > 0 && event_send(acts->config.sessions, session_at(acts->config.sessions, session),
                                MESSAGE_PATCH_VERSIONS, &event, NULL) != STATUS_OK) {
        return false;
    }
    for (uint32_t i = 0; i < count; i++) {
        set_told(patches, session, cells[i], true);
    }
    patches->viewers[session].told_tick = acts->config.clock->tick;
    return true;
}

static void scan_again(PatchViewer *viewer)
{
    viewer->has_from = false;
    viewer->scans = true;
    viewer->cursor = 0;
}

static void move_viewer(Acts *acts, const Session *session, PatchViewer *viewer)
{
    const Entity *body = session_body(acts->config.sim, session);
    const uint64_t tick = acts->config.clock->tick;
    if (body == NULL || viewer->scans) {
        return; // one move at a time
    }
    if (viewer->told_count > 0 &&
        tick - viewer->told_tick > world_ticks(acts->config.clock, TELL_AGAIN_MS)) {
        scan_again(viewer);
    }
    const ChunkCoord at = voxel_chunk(voxel_at(sim_eye(acts->config.sim, body)));
    if (viewer->placed && chunk_coord_equal(at, viewer->at)) {
        return;
    }
    viewer->has_from = viewer->placed && !viewer->scans;
    viewer->from = viewer->at;
    viewer->at = at;
    viewer->placed = true;
    viewer->scans = true;
    viewer->cursor = 0;
}

static void scan_for(Acts *acts, uint32_t session, PatchViewer *viewer)
{
    const Patches *patches = acts->patches;
    const PatchTable *table = patches->table;
    uint32_t news[VERSIONS_MAX];
    uint32_t count = 0;
    uint32_t cursor = viewer->cursor;
    for (; cursor < table->cell_count && count < VERSIONS_MAX; cursor++) {
        if (table->cells[cursor].version != 0 && is_near(patches, viewer->at, cursor) &&
            !(viewer->has_from && is_near(patches, viewer->from, cursor))) {
            news[count++] = cursor;
        }
    }
    if (send_versions(acts, session, news, count)) { // otherwise it goes on in the next tick
        viewer->cursor = cursor;
        viewer->scans = cursor < table->cell_count;
    }
}

// --- what changed -------------------------------------------------------------------------------

static void refill(const Acts *acts, PatchViewer *viewer)
{
    const WorldClock *clock = acts->config.clock;
    const uint64_t ticks = clock->tick - viewer->credit_tick;
    const uint64_t more = ticks * (PATCH_BYTES_PER_S / clock->tick_rate);
    const uint64_t sum = viewer->credit_tick == 0 ? PATCH_BURST_BYTES : viewer->credit + more;
    viewer->credit = sum < PATCH_BURST_BYTES ? (uint32_t)sum : PATCH_BURST_BYTES;
    viewer->credit_tick = clock->tick;
}

// The rows of this capture, once for all sessions.
static void write_pushes(Acts *acts)
{
    Patches *patches = acts->patches;
    const PatchTable *table = patches->table;
    uint32_t used = 0;
    patches->push_count = table->changed_count;
    for (uint32_t i = 0; i < table->changed_count; i++) {
        PatchPush *push = &patches->pushes[i];
        *push = (PatchPush){.cell = table->changed[i], .at = used};
        const uint32_t left = PATCH_PUSHES_BYTES - used;
        ByteWriter writer = byte_writer(patches->push_bytes + used,
                                        left < PATCH_PUSH_BYTES ? left : PATCH_PUSH_BYTES);
        uint32_t next = 0;
        // Those who have all of it have seen the capture before this one.
        if (patch_table_write(table, push->cell, acts->config.clock->tick - 1, &next, &writer)) {
            push->bytes = (uint32_t)writer.at;
            used += push->bytes;
        }
    }
}

static void send_data(Acts *acts, Session *session, PatchViewer *viewer,
                      const MessagePatchData *data)
{
    const uint32_t bytes = data->data.bytes;
    viewer->credit -= viewer->credit < bytes ? viewer->credit : bytes;
    session_send(acts->config.sessions, session, MESSAGE_PATCH_DATA, data);
}

static void push_to(Acts *acts, uint32_t number, Session *session, PatchViewer *viewer)
{
    Patches *patches = acts->patches;
    uint32_t named[VERSIONS_MAX];
    uint32_t named_count = 0;
    uint32_t sum = 0;
    bool fits = true;
    refill(acts, viewer);
    for (uint32_t i = 0; i < patches->push_count; i++) {
        const PatchPush *push = &patches->pushes[i];
        const PatchCell *cell = &patches->table->cells[push->cell];
        if (is_told(patches, number, push->cell) || !is_near(patches, viewer->at, push->cell)) {
            continue;
        }
        sum += push->bytes;
        if (push->bytes > 0 && sum <= PATCH_PUSH_BYTES && push->bytes <= viewer->credit &&
            session_waiting(session) <= DATA_BACKLOG) {
            const MessagePatchData data = {.at = {cell->at.x, cell->at.y, cell->at.z},
                                           .from = cell->version_before,
                                           .version = cell->version,
                                           .last = true,
                                           .data = {patches->push_bytes + push->at, push->bytes}};
            send_data(acts, session, viewer, &data);
            continue;
        }
        named[named_count++] = push->cell;
        if (named_count == VERSIONS_MAX) {
            fits = send_versions(acts, number, named, named_count) && fits;
            named_count = 0;
        }
    }
    if (!send_versions(acts, number, named, named_count) || !fits) {
        scan_again(viewer);
    }
}

void patch_snapshot(Acts *acts)
{
    Sessions *sessions = acts->config.sessions;
    Patches *patches = acts->patches;
    if (patches->table->changed_count == 0) {
        return;
    }
    write_pushes(acts);
    for (uint32_t i = 0; i < sessions->high; i++) {
        Session *session = session_at(sessions, i);
        if (session_plays(session) && patches->viewers[i].placed) {
            push_to(acts, i, session, &patches->viewers[i]);
        }
    }
}

// --- answers ------------------------------------------------------------------------------------

// Sends the next piece of the first request; false if it must wait.
static bool answer_one(Acts *acts, uint32_t number, Session *session, PatchViewer *viewer)
{
    Patches *patches = acts->patches;
    const uint64_t tick = acts->config.clock->tick;
    const bool busy = session_waiting(session) > DATA_BACKLOG;
    refill(acts, viewer);
    if ((busy && tick < viewer->data_tick + DATA_EVERY_TICK) || viewer->credit < DATA_LEAST) {
        return false;
    }
    PatchAsk *ask = &viewer->asks[0];
    const PatchCell *cell = &patches->table->cells[ask->cell];
    ask->version = ask->version == 0 ? cell->version : ask->version;
    ByteWriter writer = byte_writer(
        patches->bytes, viewer->credit < PATCH_DATA_BYTES ? viewer->credit : PATCH_DATA_BYTES);
    const bool last = patch_table_write(patches->table, ask->cell, ask->have, &ask->next, &writer);
    if (!last && writer.at == 0) {
        return false; // not even one row: it goes on when more may be sent
    }
    const MessagePatchData data = {.at = {cell->at.x, cell->at.y, cell->at.z},
                                   .from = ask->have,
                                   .version = ask->version,
                                   .last = last,
                                   .data = {patches->bytes, (uint32_t)writer.at}};
    viewer->data_tick = tick;
    if (!last) {
        send_data(acts, session, viewer, &data);
        return true;
    }
    if (ask->version != cell->version) { // it changed meanwhile: what did comes next
        ask->have = ask->version;
        ask->version = 0;
        ask->next = 0;
    } else {
        set_told(patches, number, ask->cell, false);
        viewer->ask_count -= 1;
        patches->ask_count -= 1;
        memmove(&viewer->asks[0], &viewer->asks[1], viewer->ask_count * sizeof(PatchAsk));
    }
    send_data(acts, session, viewer, &data);
    return true;
}

// As many as fit into a tick; the next tick continues with the others.
static void answer_all(Acts *acts)
{
    Sessions *sessions = acts->config.sessions;
    Patches *patches = acts->patches;
    const uint32_t first = patches->answer_next < sessions->high ? patches->answer_next : 0;
    uint32_t sent = 0;
    patches->answer_next = 0;
    for (uint32_t k = 0; k < sessions->high && patches->ask_count > 0; k++) {
        const uint32_t i = (first + k) % sessions->high;
        Session *session = session_at(sessions, i);
        PatchViewer *viewer = &patches->viewers[i];
        while (session_plays(session) && viewer->ask_count > 0) {
            if (sent >= PATCH_SENDS_PER_TICK) {
                patches->answer_next = i;
                return;
            }
            if (!answer_one(acts, i, session, viewer)) {
                break;
            }
            sent += 1;
        }
    }
}

void patch_tick(Acts *acts)
{
    Sessions *sessions = acts->config.sessions;
    for (uint32_t i = (uint32_t)(acts->config.clock->tick % LOOK_TICKS); i < sessions->high;
         i += LOOK_TICKS) {
        const Session *session = session_at(sessions, i);
        PatchViewer *viewer = &acts->patches->viewers[i];
        if (session_plays(session)) {
            move_viewer(acts, session, viewer);
            if (viewer->scans) {
                scan_for(acts, i, viewer);
            }
        }
    }
    answer_all(acts);
}

// --- requests -----------------------------------------------------------------------------------

// A viewer follows its player with some delay, so cells around the current eye are allowed as well.
static bool may_ask(const Acts *acts, const PatchViewer *viewer, const Entity *body, uint32_t cell)
{
    const Patches *patches = acts->patches;
    return (viewer->placed && is_near(patches, viewer->at, cell)) ||
           (body != NULL &&
            is_near(patches, voxel_chunk(voxel_at(sim_eye(acts->config.sim, body))), cell));
}

static PatchAsk *ask_find(PatchViewer *viewer, uint32_t cell)
{
    for (uint32_t i = 0; i < viewer->ask_count; i++) {
        if (viewer->asks[i].cell == cell) {
            return &viewer->asks[i];
        }
    }
    return NULL;
}

// False if no more requests can wait.
static bool take_ask(Acts *acts, uint32_t number, uint32_t cell, uint64_t have)
{
    Patches *patches = acts->patches;
    PatchViewer *viewer = &patches->viewers[number];
    const uint64_t version = patches->table->cells[cell].version;
    if (ask_find(viewer, cell) != NULL) {
        return true; // it is on its way
    }
    if (have >= version) { // a scene that was made from patches has later ones than its cells
        set_told(patches, number, cell, false);
        return true;
    }
    if (viewer->ask_count == PATCH_REQUESTS_MAX) {
        return false;
    }
    set_told(patches, number, cell, true);
    viewer->asks[viewer->ask_count++] = (PatchAsk){.cell = cell, .have = have};
    patches->ask_count += 1;
    return true;
}

void act_patch_request(Acts *acts, Session *session, uint32_t seq,
                       const MessagePatchRequest *command)
{
    Sessions *sessions = acts->config.sessions;
    const uint32_t number = session_number(sessions, session);
    PatchViewer *viewer = &acts->patches->viewers[number];
    const Entity *body = session_body(acts->config.sim, session);
    if (command->cells_count > 0 &&
        !rate_take(acts->config.stats, session, RATE_CHUNK, command->cells_count)) {
        session_deny(sessions, session, seq, STATUS_LIMIT,
                     "Too many cells; ask for the rest later.");
        return;
    }
    viewer->told_tick = acts->config.clock->tick;
    for (uint32_t i = 0; i < command->cells_count; i++) {
        const WireCoord at = command->cells[i].at;
        const uint32_t cell =
            patch_table_find(acts->patches->table, (ChunkCoord){at.x, at.y, at.z});
        if (cell == UINT32_MAX || !may_ask(acts, viewer, body, cell)) {
            session_deny(sessions, session, seq, STATUS_DENIED,
                         "That cell is out of view; go nearer.");
            return;
        }
        if (!take_ask(acts, number, cell, command->cells[i].version)) {
            session_deny(sessions, session, seq, STATUS_LIMIT,
                         "Too many cells; ask for the rest later.");
            return;
        }
    }
    session_ack(sessions, session, seq, 0);
}

void patch_hash(const Acts *acts, Hash64 *hash)
{
    const Patches *patches = acts->patches;
    if (patches->table->patched_count == 0) {
        return; // nobody was sent anything
    }
    patch_table_hash(patches->table, hash);
    for (uint32_t i = 0; i < acts->config.sessions->high; i++) {
        const PatchViewer *viewer = &patches->viewers[i];
        hash_u64(hash, viewer->scans ? viewer->cursor + 1 : 0);
        hash_u64(hash, viewer->ask_count);
        hash_u64(hash, viewer->told_count);
        hash_u64(hash, viewer->data_tick);
        hash_u64(hash, viewer->credit);
    }
}
