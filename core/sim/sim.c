// Creating, stepping and changing a sim; the contract is in sim.h. All memory of a sim is one heap
// block under an arena, plus its terrain.
#include "core/sim/sim_internal.h"

// --- configuration ------------------------------------------------------------------------------

SimConfig sim_config_default(void)
{
    return (SimConfig){
        .tick_rate = TICK_RATE_DEFAULT,
        .entity_max = 16384,
        .character_max = 2048,
        .npc_max = 512,
        .event_max = SIM_EVENTS_MAX,
        .structures_per_player_max = 500,
        .structures_max = 8192,
        .path_nodes_per_tick = 1024,
        .path_cells_max = 16384,
        .terrain = {.chunk_max = 1024, .page_max = 8192},
        .authority = true,
        .character =
            {
                .radius = 0.4f,
                .height = 1.8f,
                .walk_speed = 5.0f,
                .run_speed = 8.0f,
                .climb_speed = 3.0f,
                .ground_acceleration = 60.0f,
                .air_acceleration = 15.0f,
                .gravity = 25.0f,
                .fall_speed_max = 60.0f,
                .jump_speed = 7.9f, // 1.3 m high: onto one voxel, not onto two
                .step_height = 0.6f,
                .slope_cos = 0.69f, // 46 degrees
                .push_speed = 2.0f,
                .health_max = 100.0f,
                .coyote_ms = 100,
                .jump_buffer_ms = 100,
                .damage_pause_ms = 500,
            },
        .seed = 1,
    };
}

SimConfig sim_config_client(void)
{
    SimConfig config = sim_config_default();
    config.entity_max = 64;
    config.character_max = 64;
    config.npc_max = 0;
    config.event_max = 256;
    config.structures_max = 64;
    config.path_nodes_per_tick = 0;
    config.path_cells_max = 0;
    config.terrain = (TerrainConfig){.chunk_max = 8, .page_max = 16};
    config.authority = false;
    return config;
}

static bool is_between(float x, float low, float high)
{
    return x >= low && x <= high;
}

static Status tuning_check(const CharacterTuning *tuning)
{
    const bool sane =
        is_between(tuning->radius, 0.1f, 1.0f) && is_between(tuning->height, 0.4f, 4.0f) &&
        tuning->height >= 2 * tuning->radius && is_between(tuning->walk_speed, 0, 30) &&
        is_between(tuning->run_speed, 0, 30) && is_between(tuning->climb_speed, 0, 30) &&
        is_between(tuning->ground_acceleration, 0, 1000) &&
        is_between(tuning->air_acceleration, 0, 1000) && is_between(tuning->gravity, 0, 200) &&
        is_between(tuning->fall_speed_max, 1, 100) && is_between(tuning->jump_speed, 0, 50) &&
        is_between(tuning->step_height, 0.06f, tuning->height - 2 * tuning->radius + 0.06f) &&
        is_between(tuning->slope_cos, 0.1f, 1) && is_between(tuning->push_speed, 0, 20) &&
        is_between(tuning->health_max, 0.001f, 1.0e6f) && tuning->coyote_ms <= 1000 &&
        tuning->jump_buffer_ms <= 1000 && tuning->damage_pause_ms <= 2000;
    return sane ? STATUS_OK : STATUS_RANGE;
}

Status sim_config_check(const SimConfig *config)
{
    if ((config->tick_rate != TICK_RATE_DEFAULT && config->tick_rate != TICK_RATE_LOW) ||
        config->entity_max < 1 || config->entity_max > WORLD_ENTITIES_MAX ||
        config->character_max > config->entity_max || config->npc_max > config->character_max ||
        config->event_max < 1 || config->event_max > SIM_EVENTS_MAX ||
        config->structures_max > config->entity_max ||
        config->structures_per_player_max > STRUCTURES_PER_PLAYER_MAX ||
        config->path_nodes_per_tick > PATH_NODES_PER_TICK_MAX ||
        config->path_cells_max > PATH_CELLS_MAX) {
        return STATUS_RANGE;
    }
    return tuning_check(&config->character);
}

// --- creation -----------------------------------------------------------------------------------

static uint32_t mask_words(const SimConfig *config)
{
    return (config->entity_max + 1 + 63) / 64;
}

static uint32_t hidden_words(const Scene *scene)
{
    return scene == NULL ? 0 : (scene_part_count(scene) + 63) / 64;
}

static uint32_t net_map_size(const SimConfig *config)
{
    uint32_t size = 16;
    while (size < config->entity_max * 2) {
        size *= 2;
    }
    return size;
}

static size_t block_bytes(const SimConfig *config, const Scene *scene)
{
    size_t bytes = arena_need(sizeof(Sim));
    bytes += pool_bytes(config->entity_max, sizeof(Entity));
    bytes += ENTITY_TYPE_COUNT * arena_need(mask_words(config) * sizeof(uint64_t));
    bytes += grid_bytes(config->entity_max + 1);
    bytes += arena_need(net_map_size(config) * sizeof(uint64_t));
    bytes += arena_need(net_map_size(config) * sizeof(uint32_t));
    bytes += arena_need(hidden_words(scene) * sizeof(uint64_t));
    bytes += arena_need(config->event_max * sizeof(SimEvent));
    if (config->authority) {
        bytes += history_bytes(config->character_max) + push_bytes(config->character_max);
        bytes += work_bytes();
    }
    bytes += npc_bytes(config);
    bytes += structure_bytes(config);
    return bytes;
}

size_t sim_bytes(const SimConfig *config, const Scene *scene)
{
    return block_bytes(config, scene) + terrain_bytes(&config->terrain);
}

static Status fill_block(Sim *sim, Arena *arena)
{
    const SimConfig *config = &sim->config;
    Status status = pool_init(&sim->entities, arena, config->entity_max, sizeof(Entity));
    for (uint32_t type = 0; type < ENTITY_TYPE_COUNT && status == STATUS_OK; type++) {
        sim->type_masks[type] = arena_array(arena, mask_words(config), sizeof(uint64_t));
        status = sim->type_masks[type] == NULL ? STATUS_LIMIT : STATUS_OK;
    }
    if (status == STATUS_OK) {
        status = grid_init(&sim->grid, arena, config->entity_max + 1);
    }
    sim->net_map.mask = net_map_size(config) - 1;
    sim->net_map.net_ids = arena_array(arena, net_map_size(config), sizeof(uint64_t));
    sim->net_map.slots = arena_array(arena, net_map_size(config), sizeof(uint32_t));
    sim->hidden = arena_array(arena, hidden_words(sim->scene), sizeof(uint64_t));
    sim->events = arena_array(arena, config->event_max, sizeof(SimEvent));
    if (sim->net_map.net_ids == NULL || sim->net_map.slots == NULL || sim->hidden == NULL ||
        sim->events == NULL) {
        status = STATUS_LIMIT;
    }
    if (status == STATUS_OK && config->authority) {
        status = history_init(arena, config->character_max, &sim->history);
    }
    if (status == STATUS_OK && config->authority) {
        status = push_init(arena, config->character_max, &sim->push_cells);
    }
    if (status == STATUS_OK && config->authority) {
        status = work_init(arena, &sim->work);
    }
    if (status == STATUS_OK) {
        status = npc_init(arena, config, &sim->npcs);
    }
    if (status == STATUS_OK) {
        status = structure_init(arena, config, &sim->structures);
    }
    return status;
}

Status sim_create(Heap *heap, const SimConfig *config, const Scene *scene, Sim **out)
{
    const Status checked = sim_config_check(config);
    if (checked != STATUS_OK) {
        return checked;
    }
    const size_t bytes = block_bytes(config, scene);
    void *block = heap_alloc(heap, bytes);
    if (block == NULL) {
        return STATUS_LIMIT;
    }
    Arena arena;
    arena_init_zeroed(&arena, block, bytes);
    Sim *sim = arena_alloc(&arena, sizeof *sim);
    ASSERT(sim != NULL);
    sim->config = *config;
    sim->scene = scene;
    sim->tick_seconds = 1.0f / (float)config->tick_rate;
    sim->rng = rng_make(config->seed, 1);
    sim->next_net_id = scene == NULL ? 1 : (uint64_t)scene_part_count(scene) + 1;
    Status status = fill_block(sim, &arena);
    if (status == STATUS_OK) {
        const ChunkStore *chunks = scene == NULL ? NULL : scene_chunks(scene);
        status = terrain_create(heap, &config->terrain, chunks, &sim->terrain);
    }
    if (status != STATUS_OK) {
        heap_free(heap, block);
        return status;
    }
    ASSERT(arena.used == bytes);
    *out = sim;
    return STATUS_OK;
}

void sim_destroy(Heap *heap, Sim *sim)
{
    if (sim != NULL) {
        terrain_destroy(heap, sim->terrain);
        heap_free(heap, sim); // the Sim is the first thing in its block
    }
}

// --- plain readers ------------------------------------------------------------------------------

uint64_t sim_tick(const Sim *sim)
{
    return sim->tick;
}

float sim_tick_seconds(const Sim *sim)
{
    return sim->tick_seconds;
}

const SimConfig *sim_config(const Sim *sim)
{
    return &sim->config;
}

const Scene *sim_scene(const Sim *sim)
{
    return sim->scene;
}

Terrain *sim_terrain(Sim *sim)
{
    return sim->terrain;
}

const Terrain *sim_terrain_view(const Sim *sim)
{
    return sim->terrain;
}

Rng *sim_rng(Sim *sim)
{
    return &sim->rng;
}

const SimEvent *sim_events(const Sim *sim, uint32_t *count)
{
    *count = sim->event_count;
    return sim->events;
}

const SimCounters *sim_counters(const Sim *sim)
{
    return &sim->counters;
}

uint32_t sim_count(const Sim *sim, EntityType type)
{
    ASSERT((unsigned)type < ENTITY_TYPE_COUNT);
    return sim->type_counts[type];
}

const Entity *sim_entity(const Sim *sim, Handle entity)
{
    return pool_find(&sim->entities, entity);
}

void sim_emit(Sim *sim, SimEvent event)
{
    sim_add_work(sim,
                 WORK_EVENT_STEPS + (uint64_t)WORK_PLAYER_STEPS * sim->type_counts[ENTITY_PLAYER]);
    if (sim->event_count == sim->config.event_max) {
        sim->counters.events_dropped += 1;
        return;
    }
    sim->events[sim->event_count++] = event;
}

// --- the step -----------------------------------------------------------------------------------

static void remove_marked(Sim *sim)
{
    for (uint32_t i = pool_next(&sim->entities, 1); i != 0; i = pool_next(&sim->entities, i + 1)) {
        Entity *entity = sim_at(sim, i);
        if (entity->removing) {
            if (entity_has_shape(entity)) {
                sim->geometry_changed = true;
            }
            sim_release(sim, i);
        }
    }
}

// A part that jumps farther than this in one tick was put there, not moved there.
#define MOTION_JUMP_M 2.5f

bool sim_part_jumps(const Part *part, Pose from, Pose to)
{
    const Quat q = quat_multiply(to.rotation, quat_conjugate(from.rotation));
    // Twice the sine of half the angle, at the farthest point of the shape.
    const float turned =
        2 * math_sqrt(q.x * q.x + q.y * q.y + q.z * q.z) * vec3_length(part->shape.half);
    return !(vec3_length(vec3_sub(to.position, from.position)) + turned <= MOTION_JUMP_M);
}

static void move_part(Sim *sim, uint32_t slot)
{
    Entity *entity = sim_at(sim, slot);
    Part *part = &entity->part;
    const Pose before = {entity->position, entity->rotation};
    const bool was_moving = part->moving;
    part->pose_previous = before;
    part->moving = false;
    if (part->motion.count == 0) {
        if (was_moving) {
            sim_place(sim, slot);
        }
        return;
    }
    const Pose now = motion_pose(&part->motion, part->rest, sim->tick, sim->tick_seconds);
    motion_forget(&part->motion, &part->rest, sim_motion_kept_from(sim), sim->tick_seconds);
    const Vec3 moved = vec3_sub(now.position, before.position);
    const bool turned = now.rotation.x != before.rotation.x ||
                        now.rotation.y != before.rotation.y ||
                        now.rotation.z != before.rotation.z || now.rotation.w != before.rotation.w;
    if (sim_part_jumps(part, before, now)) {
        part->pose_previous = now;
        entity->velocity = VEC3_ZERO;
        sim->geometry_changed = true;
    } else {
        part->moving = turned || !vec3_equal(moved, VEC3_ZERO);
        entity->velocity = vec3_scale(moved, (float)sim->config.tick_rate);
    }
    sim_shape_place(sim, slot, now);
}

void motion_step(Sim *sim)
{
    const EntityType types[] = {ENTITY_PART, ENTITY_PROP};
    for (uint32_t t = 0; t < 2; t++) {
        for (uint32_t i = sim_next_slot(sim, types[t], 1); i != 0;
             i = sim_next_slot(sim, types[t], i + 1)) {
            const Part *part = &sim_at(sim, i)->part;
            if (part->motion.count != 0 || part->moving) {
                const uint64_t since = sim_work(sim);
                sim_add_work(sim, WORK_PART_STEPS);
                move_part(sim, i);
                work_charge(sim, sim_at(sim, i)->maker, since);
            }
        }
    }
}

void sim_step(Sim *sim)
{
    sim->event_count = 0;
    sim->tick += 1;
    sim->tick_latest = sim->tick > sim->tick_latest ? sim->tick : sim->tick_latest;
    work_begin(sim);
    remove_marked(sim);
    const uint32_t edit_count = terrain_edit_count(sim->terrain);
    sim->geometry_changed = sim->geometry_changed || edit_count != sim->edit_count_seen;
    motion_step(sim);
    npc_step(sim);
    character_step(sim);
    push_step(sim);
    // Characters that could not be freed in this tick are checked again in the next.
    sim->geometry_changed = sim->unstuck_steps > SIM_UNSTUCK_STEPS_PER_TICK;
    sim->edit_count_seen = edit_count;
    projectile_step(sim);
    structure_step(sim);
    if (sim->history != NULL) {
        history_step(sim);
    }
}

void sim_clear(Sim *sim)
{
    pool_clear(&sim->entities);
    for (uint32_t slot = 1; slot < sim->entities.slot_count; slot++) {
        sim->entities.generations[slot] = 1;
    }
    for (uint32_t type = 0; type < ENTITY_TYPE_COUNT; type++) {
        for (uint32_t word = 0; word < mask_words(&sim->config); word++) {
            sim->type_masks[type][word] = 0;
        }
        sim->type_counts[type] = 0;
    }
    grid_clear(&sim->grid);
    for (uint32_t i = 0; i <= sim->net_map.mask; i++) {
        sim->net_map.net_ids[i] = 0;
    }
    for (uint32_t word = 0; word < hidden_words(sim->scene); word++) {
        sim->hidden[word] = 0;
    }
    sim->hidden_count = 0;
    sim->event_count = 0;
    sim->tick = 0;
    sim->tick_latest = 0;
    sim->next_net_id = sim->scene == NULL ? 1 : (uint64_t)scene_part_count(sim->scene) + 1;
    sim->rng = rng_make(sim->config.seed, 1);
    sim->geometry_changed = false;
    work_clear(sim->work);
    if (sim->history != NULL) {
        history_clear(sim->history);
    }
    npc_clear(sim->npcs);
    terrain_clear(sim->terrain);
    structure_clear(sim);
    sim->edit_count_seen = terrain_edit_count(sim->terrain);
}
