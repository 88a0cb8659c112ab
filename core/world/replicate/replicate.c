// The replicator's memory, its sessions, and how events reach them; see replicate.h.
#include "core/world/replicate/replicate.h"

#include "core/world/replicate/replicate_inside.h"

#include <string.h>

#define BUDGET_MIN    256
#define BUDGET_MAX    (SNAPSHOT_BYTES_MAX - SNAPSHOT_SLACK)
#define CELL_FRACTION 0.5f // of the radius
// Interests are computed when frames are built; an entity this far away cannot come near by then.
#define NEAR_FACTOR 1.3f

ReplicatorConfig replicator_config_default(void)
{
    return (ReplicatorConfig){.session_max = 128,
                              .tick_rate = 60,
                              .snapshot_ticks = 3,
                              .visible_max = NET_SLOTS_MAX,
                              .radius = 64,
                              .budget_bytes = 4096,
                              .tolerance_m = 0.012f,
                              .event_bytes_max = 128 << 10};
}

static Status check_config(const ReplicatorConfig *config)
{
    const bool sane = config->session_max >= 1 && config->session_max <= 65536 &&
                      config->tick_rate == sim_config(config->sim)->tick_rate &&
                      config->snapshot_ticks >= 1 && config->visible_max >= 1 &&
                      config->visible_max <= NET_SLOTS_MAX && config->radius >= 1 &&
                      config->radius <= WORLD_EXTENT_M && config->budget_bytes >= BUDGET_MIN &&
                      config->budget_bytes <= BUDGET_MAX && config->event_bytes_max <= 16u << 20;
    return sane ? STATUS_OK : STATUS_RANGE;
}

static NetTableConfig table_config(const ReplicatorConfig *config)
{
    return (NetTableConfig){.sim = config->sim,
                            .attributes = config->attributes,
                            .tolerance_m = config->tolerance_m,
                            .is_secret = config->is_secret,
                            .secret_user = config->secret_user,
                            .paint_of = config->paint_of,
                            .paint_user = config->paint_user};
}

static size_t entries_of(const ReplicatorConfig *config)
{
    return (size_t)sim_config(config->sim)->entity_max + 1;
}

static size_t block_bytes(const ReplicatorConfig *config)
{
    const NetTableConfig table = table_config(config);
    const size_t entries = entries_of(config);
    const size_t visible = (size_t)config->session_max * config->visible_max;
    size_t bytes = patch_table_bytes(config->sim) + net_table_bytes(&table);
    bytes += interest_bytes((uint32_t)entries);
    bytes += arena_array_need(config->session_max, sizeof(Viewer));
    bytes += arena_array_need(config->session_max, sizeof(ViewerEye));
    bytes += arena_array_need(visible, sizeof(Sent)) + arena_array_need(visible, sizeof(Wanted));
    bytes += arena_array_need(config->session_max, config->event_bytes_max);
    bytes += arena_array_need(entries + 2, sizeof(InterestHit)) + arena_array_need(entries, 1);
    bytes += arena_array_need(entries, sizeof(MemoRecord[MEMO_AGES])) + arena_need(RECORDS_BYTES);
    bytes += arena_need(replicator_frame_records_bytes(config));
    bytes += arena_need(replicator_event_bytes(config));
    return bytes;
}

static Status take_viewers(Replicator *replicator)
{
    const ReplicatorConfig *config = &replicator->config;
    Arena *arena = &replicator->arena;
    const size_t visible = (size_t)config->session_max * config->visible_max;
    replicator->viewers = arena_array(arena, config->session_max, sizeof(Viewer));
    replicator->eyes = arena_array(arena, config->session_max, sizeof(ViewerEye));
    Sent *sent = arena_array(arena, visible, sizeof(Sent));
    Wanted *wanted = arena_array(arena, visible, sizeof(Wanted));
    uint8_t *events = arena_array(arena, config->session_max, config->event_bytes_max);
    if (replicator->viewers == NULL || replicator->eyes == NULL || sent == NULL || wanted == NULL ||
        events == NULL) {
        return STATUS_LIMIT;
    }
    for (uint32_t i = 0; i < config->session_max; i++) {
        Viewer *viewer = &replicator->viewers[i];
        viewer->sent = sent + (size_t)i * config->visible_max;
        viewer->wanted = wanted + (size_t)i * config->visible_max;
        event_queue_init(&viewer->events, events + i * config->event_bytes_max,
                         config->event_bytes_max);
    }
    return STATUS_OK;
}

static Status take_memory(Replicator *replicator)
{
    const ReplicatorConfig *config = &replicator->config;
    NetTableConfig table = table_config(config);
    const size_t entries = entries_of(config);
    Arena *arena = &replicator->arena;
    table.patches = &replicator->patches;
    Status status = patch_table_init(&replicator->patches, arena, config->sim, config->attributes);
    if (status == STATUS_OK) {
        status = net_table_init(&replicator->table, arena, &table);
    }
    if (status == STATUS_OK) {
        status = interest_init(&replicator->interest, arena, (uint32_t)entries,
                               config->radius * CELL_FRACTION);
    }
    if (status == STATUS_OK) {
        status = take_viewers(replicator);
    }
    replicator->hits = arena_array(arena, entries + 2, sizeof(InterestHit));
    replicator->marks = arena_array(arena, entries, 1);
    replicator->memos = arena_array(arena, entries, sizeof *replicator->memos);
    replicator->records = arena_alloc(arena, RECORDS_BYTES);
    replicator->frame_records = arena_alloc(arena, replicator_frame_records_bytes(config));
    replicator->event_bytes = arena_alloc(arena, replicator_event_bytes(config));
    const bool full = replicator->hits == NULL || replicator->marks == NULL ||
                      replicator->memos == NULL || replicator->records == NULL ||
                      replicator->frame_records == NULL || replicator->event_bytes == NULL;
    return status == STATUS_OK && full ? STATUS_LIMIT : status;
}

Status replicator_create(Heap *heap, const ReplicatorConfig *config, Replicator **out)
{
    Status status = check_config(config);
    if (status != STATUS_OK) {
        return status;
    }
    const size_t bytes = block_bytes(config);
    Replicator *replicator = heap_alloc(heap, sizeof *replicator);
    void *block = heap_alloc(heap, bytes);
    if (replicator == NULL || block == NULL) {
        heap_free(heap, block);
        heap_free(heap, replicator);
        return STATUS_LIMIT;
    }
    replicator->config = *config;
    replicator->block = block;
    arena_init_zeroed(&replicator->arena, block, bytes);
    status = take_memory(replicator);
    if (status != STATUS_OK) {
        replicator_destroy(heap, replicator);
        return status;
    }
    *out = replicator;
    return STATUS_OK;
}

void replicator_destroy(Heap *heap, Replicator *replicator)
{
    if (replicator != NULL) {
        heap_free(heap, replicator->block);
        heap_free(heap, replicator);
    }
}

void replicator_capture(Replicator *replicator)
{
    NetTable *table = &replicator->table;
    patch_table_capture(&replicator->patches);
    net_table_capture(table);
    interest_begin(&replicator->interest);
    for (uint32_t i = 0; i < table->active_count; i++) {
        const uint32_t entry = table->active[i];
        const NetEntry *hot = &table->entries[entry];
        interest_add(&replicator->interest, entry, hot->position, hot->reach);
    }
    interest_end(&replicator->interest);
    replicator->records_used = 0;
    replicator->stats.captures += 1;
}

PatchTable *replicator_patches(Replicator *replicator)
{
    return &replicator->patches;
}

// --- sessions -----------------------------------------------------------------------------------

static Viewer *viewer_at(const Replicator *replicator, uint32_t session)
{
    ASSERT(session < replicator->config.session_max);
    return &replicator->viewers[session];
}

void replicator_open(Replicator *replicator, uint32_t session, uint64_t player)
{
    Viewer *viewer = viewer_at(replicator, session);
    Viewer fresh = {.player = player,
                    .full = true,
                    .looked = UINT32_MAX,
                    .sent = viewer->sent,
                    .wanted = viewer->wanted,
                    .events = viewer->events};
    event_queue_clear(&fresh.events);
    memset(viewer->sent, 0, replicator->config.visible_max * sizeof *viewer->sent);
    *viewer = fresh;
    replicator->eyes[session] = (ViewerEye){.open = true};
}

void replicator_close(Replicator *replicator, uint32_t session)
{
    replicator_open(replicator, session, 0);
    replicator->eyes[session].open = false;
}

void replicator_set_eye(Replicator *replicator, uint32_t session, uint64_t own, Vec3 position)
{
    ASSERT(vec3_is_finite(position));
    ASSERT(session < replicator->config.session_max);
    replicator->eyes[session].own = own;
    replicator->eyes[session].position = position;
}

static uint32_t sent_slot(const Replicator *replicator, const Viewer *viewer, uint64_t net_id)
{
    const uint32_t entry = net_table_find(&replicator->table, net_id);
    const uint32_t place = entry == 0 ? UINT32_MAX : replicator_place(replicator, viewer, entry);
    return place < NET_SLOTS_MAX ? place : UINT32_MAX;
}

bool replicator_eye(const Replicator *replicator, uint32_t session, Vec3 *out)
{
    ASSERT(session < replicator->config.session_max);
    *out = replicator->eyes[session].position;
    return replicator->eyes[session].open;
}

bool replicator_sees(const Replicator *replicator, uint32_t session, uint64_t net_id)
{
    const Viewer *viewer = viewer_at(replicator, session);
    return sent_slot(replicator, viewer, net_id) != UINT32_MAX;
}

uint32_t replicator_seen(const Replicator *replicator, uint32_t session,
                         uint64_t out[NET_SLOTS_MAX])
{
    const Viewer *viewer = viewer_at(replicator, session);
    uint32_t count = 0;
    for (uint32_t slot = 0; slot < viewer->slot_end; slot++) {
        const Sent *sent = &viewer->sent[slot];
        const NetEntry *entry = sent->entry != 0 ? &replicator->table.entries[sent->entry] : NULL;
        if (entry != NULL && entry->serial == sent->serial && !sent->leaving) {
            out[count++] = replicator->table.details[sent->entry].net_id;
        }
    }
    return count;
}

// --- events -------------------------------------------------------------------------------------

// What an event is about, computed once for all sessions.
typedef struct EventAim {
    bool is_alive;  // the subject is in the sim, or an anchored part
    uint32_t entry; // of the last capture; 0: it was in none
    Vec3 position;  // of the subject, as far as it is known
    float reach;
} EventAim;

static EventAim aim_of(const Replicator *replicator, const ReplicatorEvent *event)
{
    EventAim aim = {0};
    if (event->subject == 0) {
        return aim;
    }
    const Sim *sim = replicator->config.sim;
    const Entity *entity = sim_entity(sim, sim_find(sim, event->subject));
    aim.entry = net_table_find(&replicator->table, event->subject);
    if (entity != NULL && !entity->removing) {
        aim.is_alive = true;
        aim.position = entity->position;
        aim.reach = entity_has_shape(entity) ? vec3_length(entity->part.placed.half) : 0;
    } else if (aim.entry != 0) {
        aim.is_alive = entity == NULL && aim.entry > replicator->table.entity_max;
        aim.position = replicator->table.entries[aim.entry].position;
        aim.reach = replicator->table.entries[aim.entry].reach;
    }
    return aim;
}

static bool is_within(const Replicator *replicator, Vec3 eye, Vec3 position, float reach,
                      float factor)
{
    const float radius = replicator->config.radius * factor;
    return interest_key(eye, position, reach) <= radius * radius;
}

// Whether the event may concern a session; the frame decides when interests are known. Sessions far
// away are excluded by their eyes alone.
static bool concerns(const Replicator *replicator, uint32_t session, const ReplicatorEvent *event,
                     const EventAim *aim, QueuedEvent *queued)
{
    const ViewerEye *eye = &replicator->eyes[session];
    queued->known = false;
    queued->has_position =
        event->has_position && is_within(replicator, eye->position, event->position, 0, 1);
    if (event->subject == 0) {
        return queued->has_position || !event->has_position;
    }
    const bool is_near =
        is_within(replicator, eye->position, aim->position, aim->reach, NEAR_FACTOR);
    if (aim->is_alive) {
        return is_near || event->subject == eye->own;
    }
    queued->known =
        aim->entry != 0 && is_near &&
        replicator_place(replicator, &replicator->viewers[session], aim->entry) != UINT32_MAX;
    return queued->known || queued->has_position;
}

static Status enqueue(Replicator *replicator, uint32_t session, const ReplicatorEvent *event,
                      const EventAim *aim)
{
    QueuedEvent queued = {.tick = event->tick,
                          .subject = event->subject,
                          .other = event->other,
                          .bytes = (uint32_t)event->bytes,
                          .maker = event->maker};
    if (!concerns(replicator, session, event, aim, &queued)) {
        return STATUS_OK;
    }
    Viewer *viewer = &replicator->viewers[session];
    const Status status = event_queue_push(&viewer->events, &queued, event->message);
    replicator->stats.events_dropped += status == STATUS_OK ? 0 : 1;
    return status;
}

static void check_event(const ReplicatorEvent *event)
{
    ASSERT(event->bytes >= 1 && event->bytes <= REPLICATOR_EVENT_MAX);
    ASSERT(!event->has_position || vec3_is_finite(event->position));
}

// An event about something secret is sent to nobody.
static bool names_secret(const Replicator *replicator, const ReplicatorEvent *event)
{
    const ReplicatorConfig *config = &replicator->config;
    const uint64_t named = event->subject != 0 ? event->subject : event->other;
    if (config->is_secret == NULL || named == 0) {
        return false;
    }
    const Entity *entity = sim_entity(config->sim, sim_find(config->sim, named));
    return entity != NULL && config->is_secret(config->secret_user, entity);
}

Status replicator_send(Replicator *replicator, uint32_t session, const ReplicatorEvent *event)
{
    ASSERT(session < replicator->config.session_max);
    check_event(event);
    if (!replicator->eyes[session].open || names_secret(replicator, event)) {
        return STATUS_OK;
    }
    const EventAim aim = aim_of(replicator, event);
    return enqueue(replicator, session, event, &aim);
}

void replicator_broadcast(Replicator *replicator, const ReplicatorEvent *event)
{
    check_event(event);
    if (names_secret(replicator, event)) {
        return;
    }
    const EventAim aim = aim_of(replicator, event);
    for (uint32_t i = 0; i < replicator->config.session_max; i++) {
        if (replicator->eyes[i].open) {
            // One that does not fit is counted; the others go on.
            (void)!enqueue(replicator, i, event, &aim);
        }
    }
}

// --- looking ------------------------------------------------------------------------------------

ReplicatorStats replicator_stats(const Replicator *replicator)
{
    ReplicatorStats stats = replicator->stats;
    stats.versions_made = replicator->table.versions_made;
    stats.attributes_cut = replicator->table.attributes_cut + replicator->patches.attributes_cut;
    return stats;
}

uint32_t replicator_base(const Replicator *replicator, uint32_t session, uint64_t net_id)
{
    const Viewer *viewer = viewer_at(replicator, session);
    const uint32_t slot = sent_slot(replicator, viewer, net_id);
    return slot == UINT32_MAX ? 0 : viewer->sent[slot].base;
}

const NetState *replicator_state(const Replicator *replicator, uint64_t net_id)
{
    const uint32_t entry = net_table_find(&replicator->table, net_id);
    return entry == 0 ? NULL : &replicator->table.details[entry].now;
}

static void hash_viewer(const Replicator *replicator, const Viewer *viewer, Hash64 *hash)
{
    const NetTable *table = &replicator->table;
    hash_u32(hash, viewer->last.seq);
    hash_u32(hash, viewer->slot_end);
    for (uint32_t i = 0; i < viewer->slot_end; i++) {
        hash_u64(hash, table->details[viewer->sent[i].entry].net_id);
        hash_u32(hash, viewer->sent[i].base);
        hash_u32(hash, viewer->sent[i].waited);
    }
    for (uint32_t i = 0; i < viewer->wanted_count; i++) {
        hash_u64(hash, table->details[viewer->wanted[i].entry].net_id);
        hash_u32(hash, viewer->wanted[i].waited);
    }
    size_t at = 0;
    QueuedEvent event;
    const uint8_t *message;
    while (event_queue_next(&viewer->events, &at, &event, &message)) {
        hash_u64(hash, event.tick);
        hash_u64(hash, event.subject);
        hash_bytes(hash, message, event.bytes);
    }
}

void replicator_hash(const Replicator *replicator, Hash64 *hash)
{
    net_table_hash(&replicator->table, hash);
    for (uint32_t i = 0; i < replicator->config.session_max; i++) {
        if (replicator->eyes[i].open) {
            hash_u32(hash, i);
            hash_u64(hash, replicator->eyes[i].own);
            hash_f32(hash, replicator->eyes[i].position.x);
            hash_f32(hash, replicator->eyes[i].position.y);
            hash_f32(hash, replicator->eyes[i].position.z);
            hash_viewer(replicator, &replicator->viewers[i], hash);
        }
    }
}
