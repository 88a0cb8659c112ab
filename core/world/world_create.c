// Creates a world: its rooms, in the order in which they need each other.
#include "core/world/world_inside.h"

#include "core/base/sha256.h"

#include <string.h>

#define SCRATCH_BYTES     (2u << 20) // a message of 96 KiB as a tree of JSON, and lists
#define NPC_MAX           512
#define CHUNKS_LEAST      64
#define REPLICATOR_EVENTS (96u << 10) // waiting for one session

WorldConfig world_config_default(void)
{
    return (WorldConfig){.epoch = 1,
                         .seed = 1,
                         .player_max = WORLD_PLAYERS_DEFAULT,
                         .entity_max = 16384,
                         .visible_max = NET_SLOTS_MAX,
                         .json_session_max = 8,
                         .snapshot_budget_bytes = 4096,
                         .body_kept_ms = BODY_KEPT_MS,
                         .resume_ms = RESUME_MS,
                         .checkpoint_ms = 500,
                         .scripts = true,
                         .script = script_config_default()};
}

// --- creation -----------------------------------------------------------------------------------

static Status config_check(const WorldConfig *config)
{
    const Place *place = config->place;
    ASSERT(place != NULL && (config->stripped != NULL || config->stripped_bytes == 0));
    const bool sane =
        config->player_max >= 1 && config->player_max <= WORLD_PLAYERS_MAX &&
        config->visible_max >= 1 && config->visible_max <= NET_SLOTS_MAX &&
        config->json_session_max <= WORLD_PLAYERS_MAX && config->snapshot_budget_bytes >= 256 &&
        config->snapshot_budget_bytes + SNAPSHOT_SLACK <= SNAPSHOT_BYTES_MAX &&
        config->entity_max <= WORLD_ENTITIES_MAX && !place->stripped && place->spawn_count > 0 &&
        place->snapshot_rate > 0 && place->tick_rate % place->snapshot_rate == 0;
    return sane ? STATUS_OK : STATUS_RANGE;
}

static uint32_t lesser(uint32_t a, uint32_t b)
{
    return a < b ? a : b;
}

// Besides the players: those who are coming in, and those whose last messages are being sent.
static uint32_t session_count(uint32_t player_max)
{
    return player_max + 8 + player_max / 8;
}

static Status create_sim(World *world)
{
    const Place *place = world->config.place;
    SimConfig config = sim_config_default();
    const uint32_t entity_max = world->config.entity_max;
    config.tick_rate = place->tick_rate;
    config.entity_max = entity_max;
    config.npc_max = lesser(NPC_MAX, entity_max / 2);
    config.character_max = lesser(session_count(world->player_max) + config.npc_max, entity_max);
    config.structures_max = lesser(config.structures_max, entity_max / 2);
    config.structures_per_player_max =
        lesser(config.structures_per_player_max, config.structures_max);
    // Edited chunks: one for every 16 entities is plenty.
    const uint32_t chunks = entity_max / 16 > CHUNKS_LEAST ? entity_max / 16 : CHUNKS_LEAST;
    config.terrain.chunk_max = lesser(config.terrain.chunk_max, chunks);
    config.terrain.page_max = lesser(config.terrain.page_max, chunks * 8);
    config.character = place->character;
    config.seed = world->config.seed;
    const Status status = sim_create(world->heap, &config, place->scene, &world->sim);
    if (status == STATUS_OK) {
        world->clock.tick = sim_tick(world->sim);
    }
    return status;
}

static Status create_authority(World *world)
{
    const Place *place = world->config.place;
    AuthorityConfig config = authority_config_default();
    config.sim = world->sim;
    config.prefabs = place->prefabs;
    config.scene_names = place->scene_names;
    config.spawns = place->spawns;
    config.spawn_count = place->spawn_count;
    config.voxel_kind_names = place->voxel_kind_names;
    config.paints = place->paints;
    config.assets = place->assets;
    config.player_max = session_count(world->player_max);
    return authority_create(world->heap, &config, &world->authority);
}

// Entities and prefabs that the place hides from clients. Bodies of players are never secret,
// whatever their names.
static bool is_secret(void *user, const Entity *entity)
{
    const World *world = user;
    const Place *place = world->config.place;
    if (entity->type == ENTITY_PLAYER || !place->has_secrets) {
        return false;
    }
    for (uint32_t i = 0; i < place->entity_count; i++) {
        if (place->entities[i].net_id == entity->net_id) {
            return place->entities[i].server_only;
        }
    }
    const Text name = attribute_table_name(authority_attributes(world->authority), entity->net_id);
    const Prefab *prefab = prefab_find(&place->prefabs, name);
    return prefab != NULL && prefab->server_only;
}

static Paint paint_of(void *user, uint64_t net_id)
{
    return authority_paint(((const World *)user)->authority, net_id);
}

static void part_painted(void *user, uint64_t net_id, const Paint *paint)
{
    patch_table_paint(replicator_patches(((World *)user)->replicator), net_id, paint);
}

static Status create_replicator(World *world)
{
    const Place *place = world->config.place;
    ReplicatorConfig config = replicator_config_default();
    config.sim = world->sim;
    config.attributes = authority_attributes(world->authority);
    config.session_max = session_count(world->player_max);
    config.tick_rate = world->clock.tick_rate;
    config.snapshot_ticks = world->clock.snapshot_ticks;
    config.visible_max = world->config.visible_max;
    config.radius = place->view_radius;
    config.budget_bytes = world->config.snapshot_budget_bytes;
    config.event_bytes_max = REPLICATOR_EVENTS;
    config.is_secret = is_secret;
    config.secret_user = world;
    config.paint_of = paint_of;
    config.paint_user = world;
    const Status status = replicator_create(world->heap, &config, &world->replicator);
    if (status == STATUS_OK) {
        authority_set_painted(world->authority, part_painted, world);
    }
    return status;
}

static Status create_sessions(World *world)
{
    const SessionsConfig config = {
        .heap = world->heap,
        .sim = world->sim,
        .replicator = world->replicator,
        .clock = &world->clock,
        .run = &world->run,
        .stats = &world->stats,
        .log = world->config.log,
        .session_count = session_count(world->player_max),
        .json_session_max = world->config.json_session_max,
        .frame_bytes = world->config.snapshot_budget_bytes + SNAPSHOT_SLACK,
        .client_gone = life_client_gone,
        .user = world,
    };
    return session_create(&config, &world->sessions);
}

static Status create_saves(World *world)
{
    const SaveConfig config = {
        .heap = world->heap,
        .sessions = world->sessions,
        .sim = world->sim,
        .authority = world->authority,
        .clock = &world->clock,
        .run = &world->run,
        .stats = &world->stats,
        .log = world->config.log,
        .epoch = world->config.epoch,
        .checkpoint_ms = world->config.checkpoint_ms,
        .place = world->config.place,
    };
    return save_create(&config, &world->saves);
}

static Status create_entities(World *world)
{
    const Status status = geometry_create(world->heap, world->sim, &world->geometry);
    if (status != STATUS_OK) {
        return status;
    }
    const PlaceSpawnConfig config = {
        .heap = world->heap,
        .place = world->config.place,
        .sim = world->sim,
        .authority = world->authority,
        .geometry = world->geometry,
    };
    const Status spawned = place_spawn_create(&config, &world->spawned);
    patch_table_attributes_known(replicator_patches(world->replicator));
    return spawned;
}

static Status create_acts(World *world)
{
    const ActConfig config = {
        .heap = world->heap,
        .sessions = world->sessions,
        .saves = world->saves,
        .place = world->config.place,
        .sim = world->sim,
        .authority = world->authority,
        .replicator = world->replicator,
        .clock = &world->clock,
        .stats = &world->stats,
        .log = world->config.log,
    };
    return act_create(&config, &world->acts);
}

static Status create_scripts(World *world)
{
    ScriptHostConfig config = {
        .heap = world->heap,
        .sessions = world->sessions,
        .saves = world->saves,
        .place = world->config.place,
        .authority = world->authority,
        .clock = &world->clock,
        .run = &world->run,
        .stats = &world->stats,
        .log = world->config.log,
        .has_scripts = world->config.scripts,
        .script = world->config.script,
    };
    return script_host_create(&config, &world->script_host);
}

static Status create_all(World *world)
{
    static Status (*const steps[])(World *) = {
        create_sim,      create_authority, create_replicator, create_sessions, create_saves,
        create_entities, create_acts,      create_scripts,    fold_create,
    };
    uint8_t *scratch = heap_alloc(world->heap, SCRATCH_BYTES);
    if (scratch == NULL) {
        return STATUS_LIMIT;
    }
    arena_init(&world->scratch, scratch, SCRATCH_BYTES);
    Status status = STATUS_OK;
    for (size_t i = 0; i < sizeof steps / sizeof steps[0] && status == STATUS_OK; i++) {
        status = steps[i](world);
    }
    return status;
}

Status world_create(Heap *heap, const WorldConfig *config, World **out)
{
    const Status checked = config_check(config);
    if (checked != STATUS_OK) {
        return checked;
    }
    World *world = heap_alloc(heap, sizeof *world);
    if (world == NULL) {
        return STATUS_LIMIT;
    }
    const Place *place = config->place;
    world->config = *config;
    world->heap = heap;
    if (world->config.log == NULL) {
        world->config.log = &world->no_log;
    }
    world->clock.tick_rate = place->tick_rate;
    world->clock.snapshot_ticks = place->tick_rate / place->snapshot_rate;
    world->player_max =
        place->player_max > 0 ? lesser(config->player_max, place->player_max) : config->player_max;
    world->run.next_player = 1;
    const Status status = create_all(world);
    if (status != STATUS_OK) {
        world_destroy(heap, world);
        return status;
    }
    *out = world;
    return STATUS_OK;
}

void world_destroy(Heap *heap, World *world)
{
    if (world == NULL) {
        return;
    }
    ASSERT(heap == world->heap);
    fold_destroy(world);
    heap_free(heap, world->scene_index_block);
    heap_free(heap, world->spawns);
    script_host_destroy(world->script_host);
    act_destroy(world->acts);
    place_spawn_destroy(world->spawned);
    geometry_destroy(world->geometry);
    save_destroy(world->saves);
    session_destroy(world->sessions);
    if (world->replicator != NULL) {
        replicator_destroy(heap, world->replicator);
    }
    if (world->authority != NULL) {
        authority_destroy(heap, world->authority);
    }
    if (world->sim != NULL) {
        sim_destroy(heap, world->sim);
    }
    heap_free(heap, world->scratch.base);
    heap_free(heap, world);
}
