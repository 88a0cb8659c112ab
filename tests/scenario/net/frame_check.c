// Reads every frame that leaves the world, with its own merge, and checks for each record and event
// whether it may be there: inside the client's interest, new to the client, and never before the
// entity it refers to.
#include "core/wire/message.h"
#include "tests/scenario/net/net_inside.h"

#include <string.h>

#define LOOK_BUILT_MAX    16
#define NEW_US            400000
#define SURELY_IN         0.75f // of the radius
#define CURVE_M           0.02f // the tolerance of curves, and the grid
#define BEHIND_FRAMES_MAX 50
#define FRAME_EXTRA_BYTES 32
#define EVENT_EXTRA_BYTES 4 // ticks ago, length

typedef struct Look {
    Net *net;
    NetClient *client;
    bool timely; // the world has not stepped since the frame was written
    size_t event_bytes;
    uint64_t built[LOOK_BUILT_MAX]; // new structures in this frame without an event so far
    uint32_t built_count;
    uint64_t tick;
} Look;

static float distance_to(const Look *look, uint64_t net_id, bool *known)
{
    Sim *sim = world_sim(look->net->world);
    const Entity *own = sim_entity(sim, sim_find(sim, look->client->frames.own));
    const Entity *other = sim_entity(sim, sim_find(sim, net_id));
    *known = own != NULL && other != NULL;
    if (!*known) {
        return 0;
    }
    const float reach = entity_has_shape(other) ? vec3_length(other->part.placed.half) : 0;
    return math_max(0, vec3_length(vec3_sub(own->position, other->position)) - reach);
}

static void look_begin(void *user, const SnapshotHeader *header)
{
    Look *look = user;
    look->tick = header->tick;
    look->timely = header->tick == sim_tick(world_sim(look->net->world));
    look->client->frames.frame_ticks[look->client->frames.message_sent % FRAME_MEMORY] =
        header->tick;
    watch_frame(look->net, look->client, header);
}

// A client nearby gets the event of a new structure together with the structure.
static void note_built(Look *look, uint64_t net_id, float distance)
{
    const Stood *stood = &look->net->stood[net_id % STOOD_MAX];
    const uint64_t now = look->net->now_us;
    const uint64_t playing = look->client->playing_us;
    if (look->built_count < LOOK_BUILT_MAX && stood->net_id == net_id &&
        stood->first_us + NEW_US > now && playing != 0 && stood->first_us > playing + NEW_US &&
        distance < look->net->whole->view_radius * SURELY_IN) {
        look->built[look->built_count++] = net_id;
    }
}

static void note_placed(Look *look, uint64_t net_id)
{
    for (uint32_t i = 0; i < look->built_count; i++) {
        if (look->built[i] == net_id) {
            look->built[i] = look->built[--look->built_count];
            return;
        }
    }
}

static void look_enter(void *user, uint32_t slot, const MergeSlot *entity, const NetShape *shape,
                       const uint8_t *attributes, size_t attributes_bytes)
{
    (void)shape, (void)attributes, (void)attributes_bytes;
    Look *look = user;
    look->client->frames.entered[slot] = look->tick;
    bool known;
    const float distance = distance_to(look, entity->net_id, &known);
    if (net_is_server_only(look->net, entity->net_id)) {
        net_fail(look->net, "client %u is told of %llu, which is for the server alone",
                 look->client->index, (unsigned long long)entity->net_id);
    }
    // Who waits for room in a small frame is in the interest until it is a tenth further out.
    const float radius =
        look->net->whole->view_radius * (look->net->scenario->has_slow_links ? 1.1f : 1);
    if (look->timely && known && entity->net_id != look->client->frames.own &&
        distance > radius + 0.01f) {
        net_fail(look->net,
                 "client %u is told of %llu (kind %d), %.1f m away, outside its interest",
                 look->client->index, (unsigned long long)entity->net_id, (int)entity->kind,
                 (double)distance);
    }
    if (look->timely && entity->kind == NET_STRUCTURE) {
        note_built(look, entity->net_id, distance);
    }
}

static void look_update(void *user, uint32_t slot, const MergeSlot *entity, const NetState *before,
                        uint32_t components, const NetShape *shape, const uint8_t *attributes,
                        size_t attributes_bytes)
{
    (void)slot, (void)shape, (void)attributes, (void)attributes_bytes;
    Look *look = user;
    // A record without a component is a state that came back to what the client has.
    const uint32_t versions = entity->state.version - before->version;
    const bool news = (components & ~(uint32_t)(NET_SHAPE | NET_ATTRIBUTES)) == 0 ||
                      !net_state_equal(&entity->state, before);
    if (versions == 0 || (components == 0 && versions == 1) || !news) {
        net_fail(look->net, "client %u is sent %llu again though nothing changed",
                 look->client->index, (unsigned long long)entity->net_id);
    }
    bool known;
    const float distance = distance_to(look, entity->net_id, &known);
    // Two that run away from each other are noticed up to four frames later.
    const float speed = entity->kind == NET_PROJECTILE ? 150.0f : 20.0f;
    const float slack = 1 + speed * 4 / (float)look->net->whole->snapshot_rate;
    if (look->timely && known && entity->net_id != look->client->frames.own &&
        distance > look->net->whole->view_radius * 1.1f + slack) {
        net_fail(look->net, "client %u is still told of %llu (kind %d), %.1f m away",
                 look->client->index, (unsigned long long)entity->net_id, (int)entity->kind,
                 (double)distance);
    }
}

static bool frame_check_knows(const FrameCheck *frames, uint64_t net_id)
{
    for (uint32_t slot = 0; slot < NET_SLOTS_MAX; slot++) {
        if (frames->merge.slots[slot].net_id == net_id) {
            return true;
        }
    }
    return false;
}

// Whether it happened at the tick that the client was sent.
static void check_happened(Look *look, const MessageRow *row, uint64_t tick, SimEventType type,
                           uint64_t subject)
{
    const Net *net = look->net;
    const uint32_t count = net->happened_count < HAPPENED_MAX ? net->happened_count : HAPPENED_MAX;
    for (uint32_t i = 0; i < count; i++) {
        const Happened *happened = &net->happened[i];
        if (happened->tick == tick && happened->type == type && happened->subject == subject) {
            return;
        }
    }
    // A frame that is seconds late is about ticks that are no longer in the ring.
    if (look->timely && tick + net->whole->tick_rate > look->tick) {
        net_fail(look->net, "client %u hears %s of %llu at tick %llu, when it did not happen",
                 look->client->index, row->name, (unsigned long long)subject,
                 (unsigned long long)tick);
    }
}

static void check_named(Look *look, const MessageRow *row, uint64_t net_id)
{
    Sim *sim = world_sim(look->net->world);
    if (net_id == 0 || net_id == look->client->frames.own ||
        frame_check_knows(&look->client->frames, net_id) || handle_is_none(sim_find(sim, net_id)) ||
        !look->timely) {
        return; // what is gone, and anchored parts, need no record
    }
    net_fail(look->net, "client %u hears %s of %llu before it knows it", look->client->index,
             row->name, (unsigned long long)net_id);
}

static void look_event(void *user, uint64_t tick, const uint8_t *bytes, size_t count)
{
    Look *look = user;
    static _Alignas(16) uint8_t block[1 << 17];
    Arena arena;
    arena_init(&arena, block, sizeof block);
    Message message;
    if (message_decode_event(bytes, count, &arena, &message) != STATUS_OK) {
        net_fail(look->net, "an event for client %u cannot be read", look->client->index);
        return;
    }
    if (tick > look->tick) {
        net_fail(look->net, "an event of tick %llu in a frame of tick %llu",
                 (unsigned long long)tick, (unsigned long long)look->tick);
    }
    // Versions of chunks and of cells are for the client itself.
    look->event_bytes += count + EVENT_EXTRA_BYTES;
    look->client->frames.frame_events[look->client->frames.message_sent % FRAME_MEMORY] +=
        message.number != MESSAGE_CHUNK_VERSIONS && message.number != MESSAGE_PATCH_VERSIONS &&
        message.number != MESSAGE_SCENE_FOLDED;
    const MessageRow *row = message_row(message.number);
    switch (message.number) {
    case MESSAGE_PROJECTILE_HIT:
        check_named(look, row, ((const MessageProjectileHit *)message.body)->entity_id);
        check_happened(look, row, tick, SIM_EVENT_PROJECTILE_HIT,
                       ((const MessageProjectileHit *)message.body)->entity_id);
        break;
    case MESSAGE_NPC_EVENT:
        check_named(look, row, ((const MessageNpcEvent *)message.body)->entity_id);
        break;
    case MESSAGE_STRUCTURE_PLACED:
        check_named(look, row, ((const MessageStructurePlaced *)message.body)->entity_id);
        note_placed(look, ((const MessageStructurePlaced *)message.body)->entity_id);
        break;
    case MESSAGE_DIED:
        check_named(look, row, ((const MessageDied *)message.body)->entity_id);
        check_happened(look, row, tick, SIM_EVENT_DIED,
                       ((const MessageDied *)message.body)->entity_id);
        break;
    case MESSAGE_DAMAGED:
        check_named(look, row, ((const MessageDamaged *)message.body)->entity_id);
        check_happened(look, row, tick, SIM_EVENT_DAMAGED,
                       ((const MessageDamaged *)message.body)->entity_id);
        break;
    case MESSAGE_RESPAWNED:
        check_named(look, row, ((const MessageRespawned *)message.body)->entity_id);
        break;
    default:
        break;
    }
}

// The longer something waits, the sooner its turn comes.
static void check_waiting(Look *look, uint32_t slot)
{
    FrameCheck *frames = &look->client->frames;
    frames->behind[slot] += 1;
    if (frames->behind[slot] > BEHIND_FRAMES_MAX) {
        net_fail(look->net, "client %u was not told of a change of %llu in %u frames",
                 look->client->index, (unsigned long long)frames->merge.slots[slot].net_id,
                 frames->behind[slot]);
    }
}

// What was captured is true: the curve within its tolerance, the rest exactly.
static void check_capture(Look *look, const MergeSlot *slot)
{
    Net *net = look->net;
    const Sim *sim = world_sim(net->world);
    const Entity *entity = sim_entity(sim, sim_find(sim, slot->net_id));
    if (entity == NULL || !net_kind_moves(slot->kind)) {
        return;
    }
    const Vec3 told =
        net_motion_position(&slot->state.motion, (double)look->tick, net->whole->tick_rate);
    const Vec3 off = vec3_sub(told, entity->position);
    if (math_abs(off.x) > CURVE_M || math_abs(off.y) > CURVE_M || math_abs(off.z) > CURVE_M) {
        net_fail(net, "client %u is told of %llu %.3f m from where it is", look->client->index,
                 (unsigned long long)slot->net_id, (double)vec3_length(off));
    }
    if (slot->kind == NET_PROJECTILE) {
        return;
    }
    const Character *character = &entity->character;
    const uint32_t floor = (uint32_t)math_clamp(character->health, 0, 65535);
    const uint32_t health = floor + ((float)floor < character->health ? 1 : 0);
    const bool is_grounded = (slot->state.flags & NET_GROUNDED) != 0;
    const bool is_dead = (slot->state.flags & NET_DEAD) != 0;
    if (slot->state.health != health || is_dead != (character->health <= 0) ||
        is_grounded != character->grounded) {
        net_fail(net, "client %u is told that %llu has health %u; it has %u", look->client->index,
                 (unsigned long long)slot->net_id, slot->state.health, health);
    }
}

// After a frame the client has the current version of everything it sees, except what did not fit
// into the budget.
static void look_end(void *user, const SnapshotHeader *header)
{
    (void)header;
    Look *look = user;
    FrameCheck *frames = &look->client->frames;
    const Replicator *replicator = world_replicator(look->net->world);
    if (!look->timely) {
        return;
    }
    uint32_t behind = 0;
    for (uint32_t slot = 0; slot < NET_SLOTS_MAX; slot++) {
        const MergeSlot *entity = &frames->merge.slots[slot];
        if (entity->net_id == 0) {
            continue;
        }
        const NetState *now = replicator_state(replicator, entity->net_id);
        if (now == NULL) {
            net_fail(look->net, "client %u still has %llu, which is gone", look->client->index,
                     (unsigned long long)entity->net_id);
        } else if (entity->state.version != now->version) {
            behind += 1;
            check_waiting(look, slot);
            continue;
        } else if (!net_state_equal(&entity->state, now)) {
            net_fail(look->net, "client %u has another state of %llu than was captured",
                     look->client->index, (unsigned long long)entity->net_id);
        }
        frames->behind[slot] = 0;
        check_capture(look, entity);
    }
    if (look->built_count > 0) {
        net_fail(look->net, "client %u is not told that %llu was built", look->client->index,
                 (unsigned long long)look->built[0]);
    }
    const uint64_t postponed = replicator_stats(replicator).records_postponed;
    if (behind > 0 && postponed == frames->postponed_seen) {
        net_fail(look->net, "client %u was not told of %u changes, and not for the budget",
                 look->client->index, behind);
    }
    frames->postponed_seen = postponed;
}

void frame_check_open(FrameCheck *frames, uint32_t tick_rate)
{
    merge_reset(&frames->merge, tick_rate);
    frames->live = true;
    frames->own = 0;
    frames->message_sent = frames->message_delivered = 0;
    memset(frames->behind, 0, sizeof frames->behind);
    frames->delivered_count = 0;
    frames->events_delivered = 0;
}

// Records keep to the budget, whatever events there are.
static void check_size(Net *net, const NetClient *client, size_t event_bytes, size_t bytes)
{
    const size_t most = net->config.snapshot_budget_bytes + FRAME_EXTRA_BYTES;
    if (bytes > most + event_bytes) {
        net_fail(net,
                 "client %u is sent a frame of %zu bytes, %zu of them events; the budget is %u",
                 client->index, bytes, event_bytes, net->config.snapshot_budget_bytes);
    }
}

void frame_check_sent(Net *net, NetClient *client, const uint8_t *message, size_t bytes)
{
    FrameCheck *frames = &client->frames;
    frames->frame_ticks[frames->message_sent % FRAME_MEMORY] = 0;
    frames->frame_events[frames->message_sent % FRAME_MEMORY] = 0;
    uint64_t player;
    (void)world_player(net->world, client->connection, &player, &frames->own);
    if (!client->json && bytes > 0 && message[0] == MESSAGE_SNAPSHOT) {
        Look look = {.net = net, .client = client};
        const MergeSink sink = {.user = &look,
                                .begin = look_begin,
                                .enter = look_enter,
                                .update = look_update,
                                .event = look_event,
                                .end = look_end};
        const Status status = merge_apply(&frames->merge, message, bytes, &sink);
        if (status != STATUS_OK) {
            net_fail(net, "a frame for client %u cannot be merged: %s", client->index,
                     status_name(status));
        }
        check_size(net, client, look.event_bytes, bytes);
        net->result.frames += 1;
        hash_bytes(&net->hash, message, bytes);
    } else if (!client->json) {
        watch_sent(net, client, message, bytes);
    }
    net->result.bytes_down += bytes;
    frames->message_sent += 1;
}

void frame_check_delivered(FrameCheck *frames)
{
    const uint64_t tick = frames->frame_ticks[frames->message_delivered % FRAME_MEMORY];
    frames->events_delivered += frames->frame_events[frames->message_delivered % FRAME_MEMORY];
    if (tick != 0) {
        frames->delivered[frames->delivered_count++ % DELIVERED_MAX] = tick;
    }
    frames->message_delivered += 1;
}

void frame_check_around(const FrameCheck *frames, uint64_t tick, uint64_t *before, uint64_t *after)
{
    *before = *after = 0;
    const uint32_t known =
        frames->delivered_count < DELIVERED_MAX ? frames->delivered_count : DELIVERED_MAX;
    for (uint32_t i = 0; i < known; i++) {
        const uint64_t at = frames->delivered[i];
        if (at <= tick && at > *before) {
            *before = at;
        }
        if (at > tick && (*after == 0 || at < *after)) {
            *after = at;
        }
    }
}
