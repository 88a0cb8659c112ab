// Reads every frame that leaves the world, with a merge of its own, and asks of each record and
// event whether it may be there: inside the client's interest, new to the client, and never before
// the entity it speaks of.
#include "core/wire/message.h"
#include "tests/scenario/net/net_inside.h"

#include <string.h>

#define BEHIND_FRAMES_MAX 60
#define FRAME_EXTRA_BYTES 256 // a scene part with its book, where the budget is narrow

typedef struct Look {
    Net *net;
    NetClient *client;
    bool timely; // the world has not stepped since the frame was written
    bool event_seen;
    uint64_t tick;
} Look;

static float distance_to(const Look *look, uint64_t net_id, bool *known)
{
    Sim *sim = world_sim(look->net->world);
    const Entity *own = sim_entity(sim, sim_find(sim, look->client->spy.own));
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
    look->client->spy.frame_ticks[look->client->spy.message_sent % FRAME_MEMORY] = header->tick;
    watch_frame(look->net, look->client, header);
}

static void look_enter(void *user, uint32_t slot, const MergeSlot *entity, const NetShape *shape,
                       const uint8_t *book, size_t book_bytes)
{
    (void)shape, (void)book, (void)book_bytes;
    Look *look = user;
    look->client->spy.entered[slot] = look->tick;
    bool known;
    const float distance = distance_to(look, entity->net_id, &known);
    if (net_is_server_only(look->net, entity->net_id)) {
        net_fail(look->net, "client %u is told of %llu, which is for the server alone",
                 look->client->index, (unsigned long long)entity->net_id);
    }
    if (look->timely && known && entity->net_id != look->client->spy.own &&
        distance > look->net->whole->view_radius + 0.01f) {
        net_fail(look->net,
                 "client %u is told of %llu (kind %d), %.1f m away, outside its interest",
                 look->client->index, (unsigned long long)entity->net_id, (int)entity->kind,
                 (double)distance);
    }
}

static void look_update(void *user, uint32_t slot, const MergeSlot *entity, const NetState *before,
                        uint32_t components, const NetShape *shape, const uint8_t *book,
                        size_t book_bytes)
{
    (void)slot, (void)shape, (void)book, (void)book_bytes;
    Look *look = user;
    // A record without a component is a state that came back to what the client has.
    const uint32_t versions = entity->state.version - before->version;
    const bool news = (components & ~(uint32_t)(NET_SHAPE | NET_BOOK)) == 0 ||
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
    if (look->timely && known && entity->net_id != look->client->spy.own &&
        distance > look->net->whole->view_radius * 1.1f + slack) {
        net_fail(look->net, "client %u is still told of %llu (kind %d), %.1f m away",
                 look->client->index, (unsigned long long)entity->net_id, (int)entity->kind,
                 (double)distance);
    }
}

static bool spy_knows(const Spy *spy, uint64_t net_id)
{
    for (uint32_t slot = 0; slot < NET_SLOTS_MAX; slot++) {
        if (spy->merge.slots[slot].net_id == net_id) {
            return true;
        }
    }
    return false;
}

static void check_named(Look *look, const MessageRow *row, uint64_t net_id)
{
    Sim *sim = world_sim(look->net->world);
    if (net_id == 0 || net_id == look->client->spy.own || spy_knows(&look->client->spy, net_id) ||
        handle_is_none(sim_find(sim, net_id)) || !look->timely) {
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
    // Versions of chunks are for the client itself.
    look->event_seen = true;
    look->client->spy.frame_events[look->client->spy.message_sent % FRAME_MEMORY] +=
        message.number != MESSAGE_CHUNK_VERSIONS;
    const MessageRow *row = message_row(message.number);
    switch (message.number) {
    case MESSAGE_PROJECTILE_HIT:
        check_named(look, row, ((const MessageProjectileHit *)message.body)->entity_id);
        break;
    case MESSAGE_NPC_EVENT:
        check_named(look, row, ((const MessageNpcEvent *)message.body)->entity_id);
        break;
    case MESSAGE_STRUCTURE_PLACED:
        check_named(look, row, ((const MessageStructurePlaced *)message.body)->entity_id);
        break;
    case MESSAGE_DIED:
        check_named(look, row, ((const MessageDied *)message.body)->entity_id);
        break;
    case MESSAGE_DAMAGED:
        check_named(look, row, ((const MessageDamaged *)message.body)->entity_id);
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
    Spy *spy = &look->client->spy;
    spy->behind[slot] += 1;
    if (spy->behind[slot] > BEHIND_FRAMES_MAX) {
        net_fail(look->net, "client %u was not told of a change of %llu in %u frames",
                 look->client->index, (unsigned long long)spy->merge.slots[slot].net_id,
                 spy->behind[slot]);
    }
}

// After a frame the client knows the current version of everything it sees, but for what the
// budget had no room for.
static void look_end(void *user, const SnapshotHeader *header)
{
    (void)header;
    Look *look = user;
    Spy *spy = &look->client->spy;
    const Replicator *replicator = world_replicator(look->net->world);
    if (!look->timely) {
        return;
    }
    uint32_t behind = 0;
    for (uint32_t slot = 0; slot < NET_SLOTS_MAX; slot++) {
        const MergeSlot *entity = &spy->merge.slots[slot];
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
        spy->behind[slot] = 0;
    }
    const uint64_t postponed = replicator_stats(replicator).records_postponed;
    if (behind > 0 && postponed == spy->postponed_seen) {
        net_fail(look->net, "client %u was not told of %u changes, and not for the budget",
                 look->client->index, behind);
    }
    spy->postponed_seen = postponed;
}

void spy_open(Spy *spy, uint32_t tick_rate)
{
    merge_reset(&spy->merge, tick_rate);
    spy->live = true;
    spy->own = 0;
    spy->message_sent = spy->message_delivered = 0;
    memset(spy->behind, 0, sizeof spy->behind);
    spy->delivered_count = 0;
    spy->events_delivered = 0;
}

// Only an event may be larger than the budget, and one record where there is no other.
static void check_size(Net *net, const NetClient *client, bool event_seen, size_t bytes)
{
    if (!event_seen && bytes > net->config.snapshot_budget_bytes + FRAME_EXTRA_BYTES) {
        net_fail(net, "client %u is sent a frame of %zu bytes; the budget is %u", client->index,
                 bytes, net->config.snapshot_budget_bytes);
    }
}

void spy_sent(Net *net, NetClient *client, const uint8_t *message, size_t bytes)
{
    Spy *spy = &client->spy;
    spy->frame_ticks[spy->message_sent % FRAME_MEMORY] = 0;
    spy->frame_events[spy->message_sent % FRAME_MEMORY] = 0;
    uint64_t player;
    (void)world_player(net->world, client->connection, &player, &spy->own);
    if (!client->json && bytes > 0 && message[0] == MESSAGE_SNAPSHOT) {
        Look look = {.net = net, .client = client};
        const MergeSink sink = {.user = &look,
                                .begin = look_begin,
                                .enter = look_enter,
                                .update = look_update,
                                .event = look_event,
                                .end = look_end};
        const Status status = merge_apply(&spy->merge, message, bytes, &sink);
        if (status != STATUS_OK) {
            net_fail(net, "a frame for client %u cannot be merged: %s", client->index,
                     status_name(status));
        }
        check_size(net, client, look.event_seen, bytes);
        net->result.frames += 1;
        hash_bytes(&net->hash, message, bytes);
    } else if (!client->json) {
        watch_sent(net, client, message, bytes);
    }
    net->result.bytes_down += bytes;
    spy->message_sent += 1;
}

void spy_delivered(Spy *spy)
{
    const uint64_t tick = spy->frame_ticks[spy->message_delivered % FRAME_MEMORY];
    spy->events_delivered += spy->frame_events[spy->message_delivered % FRAME_MEMORY];
    if (tick != 0) {
        spy->delivered[spy->delivered_count++ % DELIVERED_MAX] = tick;
    }
    spy->message_delivered += 1;
}

void spy_around(const Spy *spy, uint64_t tick, uint64_t *before, uint64_t *after)
{
    *before = *after = 0;
    const uint32_t known =
        spy->delivered_count < DELIVERED_MAX ? spy->delivered_count : DELIVERED_MAX;
    for (uint32_t i = 0; i < known; i++) {
        const uint64_t at = spy->delivered[i];
        if (at <= tick && at > *before) {
            *before = at;
        }
        if (at > tick && (*after == 0 || at < *after)) {
            *after = at;
        }
    }
}
