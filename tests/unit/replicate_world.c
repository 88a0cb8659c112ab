// See replicate_world.h. A setup that fails ends the program; an invalid frame is a failed check.
#include "tests/unit/replicate_world.h"

#include "core/base/check.h"
#include "tests/support/test.h"

#include <string.h>

#define HEAP_BYTES (256u << 20)

ReplicatorConfig replicate_config(void)
{
    ReplicatorConfig config = replicator_config_default();
    config.session_max = REPLICATE_CLIENTS;
    config.radius = 16;
    config.event_bytes_max = 4096;
    return config;
}

void replicate_open(ReplicateWorld *world, const WalkWorldDesc *desc,
                    const ReplicatorConfig *config)
{
    memset(world, 0, sizeof *world);
    world->walk = walk_world_open(desc);
    world->sim = world->walk.sim;
    world->config = *config;
    world->slack = 0.01f;
    AttributeTableConfig attributes = attribute_table_config_view();
    attributes.text_large_max = 256;
    const size_t bytes = attribute_table_bytes(&attributes);
    world->attributes_block = heap_alloc(&world->walk.heap, bytes);
    ASSERT(world->attributes_block != NULL);
    Arena arena;
    arena_init(&arena, world->attributes_block, bytes);
    ASSERT(attribute_table_init(&world->attributes, &arena, &attributes) == STATUS_OK);
    world->config.sim = world->sim;
    world->config.attributes = &world->attributes;
    ASSERT(replicator_create(&world->walk.heap, &world->config, &world->replicator) == STATUS_OK);
    world->buffer_bytes = world->config.budget_bytes + SNAPSHOT_SLACK;
    world->buffer = heap_alloc(&world->walk.heap, world->buffer_bytes);
    ASSERT(world->buffer != NULL);
}

void replicate_close(ReplicateWorld *world)
{
    heap_thaw(&world->walk.heap);
    heap_free(&world->walk.heap, world->buffer);
    replicator_destroy(&world->walk.heap, world->replicator);
    heap_free(&world->walk.heap, world->attributes_block);
    walk_world_close(&world->walk);
}

void replicate_join(ReplicateWorld *world, uint32_t session, uint64_t own)
{
    ReplicateClient *client = &world->clients[session];
    const Entity *body = sim_entity(world->sim, sim_find(world->sim, own));
    *client = (ReplicateClient){.world = world,
                                .session = session,
                                .open = true,
                                .own = own,
                                .player = body != NULL ? body->owner_id : 0};
    merge_reset(&client->merge, world->config.tick_rate);
    replicator_open(world->replicator, session, client->player);
    replicator_set_eye(world->replicator, session, own, VEC3_ZERO);
}

void replicate_leave(ReplicateWorld *world, uint32_t session)
{
    world->clients[session].open = false;
    replicator_close(world->replicator, session);
}

void replicate_step(ReplicateWorld *world)
{
    for (uint32_t i = 0; i < world->config.snapshot_ticks; i++) {
        sim_step(world->sim);
    }
    replicator_capture(world->replicator);
}

uint64_t replicate_id(const ReplicateWorld *world, Handle entity)
{
    return sim_entity(world->sim, entity)->net_id;
}

// --- what a client is told ----------------------------------------------------------------------

// How far an entity is beyond the radius of a client's eye, in metres; 0 inside.
static float beyond(const ReplicateClient *client, uint64_t net_id)
{
    const Sim *sim = client->world->sim;
    const Entity *own = sim_entity(sim, sim_find(sim, client->own));
    const Entity *entity = sim_entity(sim, sim_find(sim, net_id));
    if (own == NULL) {
        return 0;
    }
    Vec3 at;
    float reach = 0;
    if (entity != NULL) {
        at = entity->position;
        reach = entity_has_shape(entity) ? vec3_length(entity->part.placed.half) : 0;
    } else {
        const ScenePart *part = scene_part(sim_scene(sim), (uint32_t)net_id - 1);
        at = part->placed.position;
        reach = vec3_length(part->placed.half);
    }
    const float distance = vec3_length(vec3_sub(at, own->position)) - reach;
    return math_max(distance - client->world->config.radius, 0);
}

static void keep_detail(ReplicateClient *client, const NetShape *shape, const uint8_t *attributes,
                        size_t attributes_bytes)
{
    if (shape != NULL) {
        client->shape = *shape;
    }
    if (attributes != NULL) {
        memcpy(client->attributes, attributes, attributes_bytes);
        client->attributes_bytes = attributes_bytes;
    }
}

static void on_leave(void *user, uint32_t slot, const MergeSlot *entity)
{
    ReplicateClient *client = user;
    (void)slot;
    (void)entity;
    client->leaves += 1;
}

static void on_enter(void *user, uint32_t slot, const MergeSlot *entity, const NetShape *shape,
                     const uint8_t *attributes, size_t attributes_bytes)
{
    ReplicateClient *client = user;
    CHECK(slot < client->world->config.visible_max);
    CHECK(beyond(client, entity->net_id) <= 0.1f * client->world->config.radius);
    client->enters += 1;
    keep_detail(client, shape, attributes, attributes_bytes);
}

static void on_update(void *user, uint32_t slot, const MergeSlot *entity, const NetState *before,
                      uint32_t components, const NetShape *shape, const uint8_t *attributes,
                      size_t attributes_bytes)
{
    ReplicateClient *client = user;
    (void)slot;
    CHECK(components != 0);
    CHECK(entity->state.version > before->version); // never twice
    // A paint may have become what it was before, in versions that the client did not get.
    CHECK(!net_state_equal(&entity->state, before) || components == NET_PAINT);
    CHECK(beyond(client, entity->net_id) <=
          0.1f * client->world->config.radius + client->world->slack);
    client->updates += 1;
    keep_detail(client, shape, attributes, attributes_bytes);
}

static void on_event(void *user, uint64_t tick, const uint8_t *message, size_t bytes)
{
    ReplicateClient *client = user;
    CHECK(tick <= sim_tick(client->world->sim));
    uint64_t subject = 0;
    if (bytes >= 1 + sizeof subject) {
        memcpy(&subject, message + 1, sizeof subject);
    }
    const Sim *sim = client->world->sim;
    const Entity *entity = sim_entity(sim, sim_find(sim, subject));
    if (entity != NULL && !entity->removing) {
        CHECK(replicate_known(client->world, client->session, subject) != NULL);
    }
    client->events += 1;
    client->event_total += 1;
    client->event_last = subject;
}

// What the client has is what the replicator assumes it has.
static void check_merged(const ReplicateClient *client)
{
    const ReplicateWorld *world = client->world;
    uint32_t count = 0;
    for (uint32_t slot = 0; slot < NET_SLOTS_MAX; slot++) {
        const MergeSlot *known = &client->merge.slots[slot];
        if (known->net_id == 0) {
            continue;
        }
        count += 1;
        const NetState *now = replicator_state(world->replicator, known->net_id);
        CHECK(now != NULL);
        const uint32_t base = replicator_base(world->replicator, client->session, known->net_id);
        CHECK_INT(known->state.version, base);
        CHECK(now == NULL || base <= now->version);
        NetState want = now != NULL ? *now : net_state_none;
        if (known->owner_id != 0 && known->owner_id == client->player) {
            want.attributes_version += want.owner_version;
        }
        CHECK(now == NULL || base != now->version || net_state_equal(&known->state, &want));
        CHECK(replicator_sees(world->replicator, client->session, known->net_id));
    }
    CHECK(count <= world->config.visible_max);
}

void replicate_frame(ReplicateWorld *world, uint32_t session)
{
    ReplicateClient *client = &world->clients[session];
    const FrameRequest request = {.ack_seq = (uint32_t)sim_tick(world->sim)};
    uint32_t seq = 0;
    client->enters = client->leaves = client->updates = client->events = 0;
    CHECK_OK(replicator_build(world->replicator, session, &request, world->buffer,
                              world->buffer_bytes, &client->frame_bytes, &seq));
    CHECK_INT(seq, client->merge.last.seq + 1);
    const MergeSink sink = {.user = client,
                            .leave = on_leave,
                            .enter = on_enter,
                            .update = on_update,
                            .event = on_event};
    CHECK_OK(merge_apply(&client->merge, world->buffer, client->frame_bytes, &sink));
    CHECK_INT(client->merge.last.tick, sim_tick(world->sim));
    check_merged(client);
}

void replicate_run(ReplicateWorld *world, uint32_t captures)
{
    for (uint32_t i = 0; i < captures && test_is_passing(); i++) {
        replicate_step(world);
        for (uint32_t s = 0; s < REPLICATE_CLIENTS; s++) {
            if (world->clients[s].open) {
                replicate_frame(world, s);
            }
        }
    }
}

const MergeSlot *replicate_known(const ReplicateWorld *world, uint32_t session, uint64_t net_id)
{
    for (uint32_t slot = 0; slot < NET_SLOTS_MAX; slot++) {
        if (world->clients[session].merge.slots[slot].net_id == net_id) {
            return &world->clients[session].merge.slots[slot];
        }
    }
    return NULL;
}

ReplicatorEvent replicate_event(const ReplicateWorld *world, uint64_t subject)
{
    static uint8_t message[1 + sizeof(uint64_t)];
    message[0] = 96;
    memcpy(message + 1, &subject, sizeof subject);
    return (ReplicatorEvent){.tick = sim_tick(world->sim),
                             .message = message,
                             .bytes = sizeof message,
                             .subject = subject};
}
