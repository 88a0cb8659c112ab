// Making a world, its one door, and the order of a tick; see world.h.
#include "core/world/world_inside.h"

#include "core/base/sha256.h"
#include "core/wire/merge.h"

#include <string.h>

#define SCRATCH_BYTES      (2u << 20) // a message of 96 KiB as a tree of JSON, and lists
#define MESSAGE_ROOM_BYTES (512u << 10)
#define NPC_MAX            512
#define CHUNKS_LEAST       64
#define STOP_SAVES         8           // commands with what is still to be stored when a world ends
#define REPLICATOR_EVENTS  (96u << 10) // waiting for one session

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

static Status create_sim(World *world)
{
    const Place *place = world->config.place;
    SimConfig config = sim_config_default();
    const uint32_t entity_max = world->config.entity_max;
    config.tick_rate = place->tick_rate;
    config.entity_max = entity_max;
    config.npc_max = lesser(NPC_MAX, entity_max / 2);
    config.character_max = lesser(world->session_count + config.npc_max, entity_max);
    config.structures_max = lesser(config.structures_max, entity_max / 2);
    config.structures_per_player_max =
        lesser(config.structures_per_player_max, config.structures_max);
    // Differences over the base: a chunk for every 16 entities is plenty.
    const uint32_t chunks = entity_max / 16 > CHUNKS_LEAST ? entity_max / 16 : CHUNKS_LEAST;
    config.terrain.chunk_max = lesser(config.terrain.chunk_max, chunks);
    config.terrain.page_max = lesser(config.terrain.page_max, chunks * 8);
    config.character = place->character;
    config.seed = world->config.seed;
    const Status status = sim_create(world->heap, &config, place->scene, &world->sim);
    if (status == STATUS_OK) {
        world->tick = sim_tick(world->sim);
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
    config.player_max = world->session_count;
    return authority_create(world->heap, &config, &world->authority);
}

// Entities and prefabs that the place keeps from clients. Bodies of players are never secret,
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

static Status create_replicator(World *world)
{
    const Place *place = world->config.place;
    ReplicatorConfig config = replicator_config_default();
    config.sim = world->sim;
    config.book = authority_attributes(world->authority);
    config.session_max = world->session_count;
    config.tick_rate = world->tick_rate;
    config.snapshot_ticks = world->snapshot_ticks;
    config.visible_max = world->config.visible_max;
    config.radius = place->view_radius;
    config.budget_bytes = world->config.snapshot_budget_bytes;
    config.event_bytes_max = REPLICATOR_EVENTS;
    config.is_secret = is_secret;
    config.secret_user = world;
    return replicator_create(world->heap, &config, &world->replicator);
}

static Status create_maps(World *world)
{
    const uint32_t count = world->session_count;
    const size_t bytes = 2 * id_map_bytes(count);
    world->map_block = heap_alloc(world->heap, bytes);
    if (world->map_block == NULL) {
        return STATUS_LIMIT;
    }
    Arena arena;
    arena_init(&arena, world->map_block, bytes);
    const Status status = id_map_init(&world->connections, &arena, count);
    return status != STATUS_OK ? status : id_map_init(&world->players, &arena, count);
}

static Status create_buffers(World *world)
{
    Heap *heap = world->heap;
    const uint32_t count = world->session_count;
    const uint32_t json = world->config.json_session_max;
    world->frame_capacity = world->config.snapshot_budget_bytes + SNAPSHOT_SLACK;
    world->message_capacity = MESSAGE_ROOM_BYTES;
    world->merge_count = json;
    world->sessions = heap_alloc(heap, heap_array_bytes(count, sizeof(Session)));
    world->frame = heap_alloc(heap, world->frame_capacity);
    world->message = heap_alloc(heap, world->message_capacity);
    world->outs =
        heap_alloc(heap, (size_t)count * OUTPUT_BYTES_MAX + (size_t)json * OUTPUT_JSON_BYTES_MAX);
    world->merges = heap_alloc(heap, heap_array_bytes((size_t)json + 1, sizeof(Merge)));
    world->merge_used = heap_alloc(heap, heap_array_bytes((size_t)json + 1, sizeof(bool)));
    world->closed = heap_alloc(heap, heap_array_bytes(count, sizeof(uint64_t)));
    uint8_t *scratch = heap_alloc(heap, SCRATCH_BYTES);
    if (scratch != NULL) {
        arena_init(&world->scratch, scratch, SCRATCH_BYTES);
    }
    const bool all = world->sessions != NULL && world->frame != NULL && world->message != NULL &&
                     world->outs != NULL && world->merges != NULL && world->merge_used != NULL &&
                     world->closed != NULL && scratch != NULL;
    return all ? STATUS_OK : STATUS_LIMIT;
}

static Status create_all(World *world)
{
    static Status (*const steps[])(World *) = {
        create_maps,       create_buffers, create_sim,         create_authority,
        create_replicator, inbox_create,   save_create,        geometry_create,
        stage_create,      act_create,     script_host_create,
    };
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
    world->tick_rate = place->tick_rate;
    world->snapshot_ticks = place->tick_rate / place->snapshot_rate;
    world->player_max =
        place->player_max > 0 ? lesser(config->player_max, place->player_max) : config->player_max;
    // Besides the players: those who are about to come in, and those whose last words go out.
    world->session_count = world->player_max + 8 + world->player_max / 8;
    world->next_player = 1;
    sha256_of(config->stripped, config->stripped_bytes, world->scene_hash);
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
    script_host_destroy(world);
    act_destroy(world);
    stage_destroy(world);
    geometry_destroy(world);
    save_destroy(world);
    inbox_destroy(world);
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
    heap_free(heap, world->closed);
    heap_free(heap, world->merge_used);
    heap_free(heap, world->merges);
    heap_free(heap, world->outs);
    heap_free(heap, world->message);
    heap_free(heap, world->frame);
    heap_free(heap, world->sessions);
    heap_free(heap, world->map_block);
    heap_free(heap, world);
}

// --- the tick -----------------------------------------------------------------------------------

static void start(World *world)
{
    world->started = true;
    save_start(world);
    script_host_start(world);
}

static void tick(World *world, uint64_t unix_ms)
{
    world->unix_ms = unix_ms;
    if (!world->started) {
        start(world);
    }
    inbox_tick(world);
    session_tick(world);
    stage_tick(world);
    step_inputs(world);
    script_host_run(world);
    step_sim(world);
    script_host_events(world);
    script_host_effects(world);
    remote_tick(world);
    voxel_tick(world);
    preview_tick(world);
    if (world->tick % world->snapshot_ticks == 0) {
        flow_frames(world);
    }
    truth_tick(world);
    transfer_tick(world);
    save_tick(world);
}

// --- the operator -------------------------------------------------------------------------------

static void say_goodbye(World *world, const Entry *entry)
{
    char reason[128];
    const size_t bytes = entry->byte_count < sizeof reason ? entry->byte_count : sizeof reason - 1;
    memcpy(reason, entry->bytes, bytes);
    reason[bytes] = '\0';
    for (uint32_t i = 0; i < world->session_high; i++) {
        Session *session = &world->sessions[i];
        if (session->connection != 0) {
            session_error(world, session, 0, ERROR_STOPPED, "the world ends: %s", reason);
        }
    }
}

static Status admin_stop(World *world, const Entry *entry)
{
    const Command command = {
        .type = COMMAND_STOP, .bytes = entry->bytes, .byte_count = entry->byte_count};
    say_goodbye(world, entry); // which stores every player
    for (uint32_t i = 0; i < STOP_SAVES; i++) {
        save_tick(world);
    }
    world->stopping = true;
    return save_command(world, &command);
}

static Status admin_kick(World *world, const Entry *entry)
{
    for (uint32_t i = 0; i < world->session_high; i++) {
        Session *session = &world->sessions[i];
        const size_t bytes = strlen(session->player_id);
        if (session->player == 0 || bytes != entry->byte_count ||
            memcmp(session->player_id, entry->bytes, bytes) != 0) {
            continue;
        }
        if (session->connection != 0) {
            session_error(world, session, 0, ERROR_KICKED, "an operator ended this session");
        }
        if (session->player != 0) {
            session_leave(world, session);
        }
        return STATUS_OK;
    }
    return STATUS_NOT_FOUND;
}

static Status admin_say(World *world, const Entry *entry)
{
    char text[CHAT_BYTES_MAX];
    const size_t bytes = text_clean(entry->bytes, entry->byte_count, text, sizeof text);
    if (bytes == 0) {
        return STATUS_MALFORMED;
    }
    const MessageChatSaid said = {.text = {text, (uint32_t)bytes}};
    event_broadcast(world, MESSAGE_CHAT_SAID, &said, NULL);
    return STATUS_OK;
}

static Status admin_save(World *world, const Entry *entry)
{
    (void)entry;
    for (uint32_t i = 0; i < world->session_high; i++) {
        if (session_plays(&world->sessions[i])) {
            save_player(world, &world->sessions[i], true);
        }
    }
    save_tick(world);
    return STATUS_OK;
}

static Status admin(World *world, const Entry *entry)
{
    static const struct {
        const char *name;
        Status (*run)(World *world, const Entry *entry);
    } orders[] = {
        {"kick", admin_kick}, {"say", admin_say}, {"stop", admin_stop}, {"save", admin_save}};
    for (size_t i = 0; i < sizeof orders / sizeof orders[0]; i++) {
        if (strlen(orders[i].name) == entry->name_bytes &&
            memcmp(orders[i].name, entry->name, entry->name_bytes) == 0) {
            return orders[i].run(world, entry);
        }
    }
    return STATUS_UNSUPPORTED;
}

// --- the door -----------------------------------------------------------------------------------

static Status enter_message(World *world, const Entry *entry)
{
    Session *session = session_of_connection(world, entry->connection);
    return session != NULL ? inbox_put(world, session, entry) : STATUS_NOT_FOUND;
}

Status world_enter(World *world, const Entry *entry)
{
    switch (entry->type) {
    case ENTRY_TICK:
        tick(world, entry->number);
        return STATUS_OK;
    case ENTRY_CONNECT:
        return session_connect(world, entry);
    case ENTRY_MESSAGE:
        return enter_message(world, entry);
    case ENTRY_DISCONNECT:
        return session_disconnect(world, entry->connection);
    case ENTRY_AUTH:
        return join_auth(world, entry);
    case ENTRY_STORED:
        return save_stored(world, entry);
    case ENTRY_ROW:
        return world->started ? STATUS_DENIED : save_row(world, entry);
    case ENTRY_SCRIPT:
        return script_host_add(world, entry);
    case ENTRY_RELOAD:
        return script_host_reload(world, entry);
    case ENTRY_ADMIN:
        return admin(world, entry);
    case ENTRY_NONE:
    case ENTRY_TYPE_COUNT:
        break;
    }
    return STATUS_MALFORMED;
}

const Command *world_commands(const World *world, uint32_t *count)
{
    return save_commands(world, count);
}

void world_commands_clear(World *world)
{
    save_commands_clear(world);
}

// --- looking ------------------------------------------------------------------------------------

WorldStats world_stats(const World *world)
{
    WorldStats stats = world->stats;
    stats.tick = world->tick;
    stats.sessions = 0;
    stats.json_sessions = 0;
    for (uint32_t i = 0; i < world->session_high; i++) {
        const Session *session = &world->sessions[i];
        stats.sessions += session->connection != 0;
        stats.json_sessions += session->connection != 0 && session->json;
    }
    stats.players = session_player_count(world);
    stats.replication = replicator_stats(world->replicator);
    return stats;
}

Sim *world_sim(World *world)
{
    return world->sim;
}

const Replicator *world_replicator(const World *world)
{
    return world->replicator;
}

ScriptSystem *world_scripts(World *world)
{
    return world->scripts;
}

bool world_session(const World *world, uint64_t connection, uint32_t *session)
{
    const uint32_t slot = id_map_find(&world->connections, connection);
    if (slot != 0) {
        *session = slot - 1;
    }
    return slot != 0;
}

bool world_player(const World *world, uint64_t connection, uint64_t *player, uint64_t *entity)
{
    uint32_t number = 0;
    if (!world_session(world, connection, &number) || world->sessions[number].player == 0) {
        return false;
    }
    *player = world->sessions[number].player;
    *entity = world->sessions[number].entity;
    return true;
}

uint64_t world_hash(const World *world)
{
    Hash64 hash = HASH64_INIT;
    hash_u64(&hash, sim_hash(world->sim));
    hash_u64(&hash, world->unix_ms);
    hash_u64(&hash, world->next_player);
    hash_u64(&hash, world->token_count);
    hash_u64(&hash, (uint64_t)world->manifest_version << 2 | (uint64_t)world->started << 1 |
                        world->stopping);
    stage_hash(world, &hash);
    session_hash(world, &hash);
    inbox_hash(world, &hash);
    replicator_hash(world->replicator, &hash);
    act_hash(world, &hash);
    save_hash(world, &hash);
    script_host_hash(world, &hash);
    return hash.state;
}
