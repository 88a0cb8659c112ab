// Minds: perception, suspicion and states, and what each state does. How a mind gets somewhere is
// in travel.c.
//
// A step has three passes over the minds, each in slot order: those whose turn it is perceive and
// decide, the path budget is spent, and all steer. So an answer that comes in this tick is followed
// in this tick, and nothing depends on who was created when.
#include "core/sim/npc_inside.h"

#include "core/base/limits.h"

// How visibility falls off: at the edge of sight, and at the edge of the field of view.
#define FAR_VISIBILITY  0.2f
#define SIDE_VISIBILITY 0.4f
#define STOP_HEIGHT_M   2.0f // a target further above or below is not reached yet

NpcTuning npc_tuning_default(void)
{
    return (NpcTuning){
        .sight_m = 20,
        .sight_cos = 0.5f,
        .feel_m = 2,
        .rise = 1.5f,
        .decay = 0.25f,
        .suspicious_at = 0.3f,
        .alert_at = 0.9f,
        .calm_at = 0.1f,
        .stop_m = 1.5f,
        .turn_speed = 2 * MATH_PI,
        .interval_ticks = 0,
        .lose_ms = 2000,
        .search_ms = 5000,
        .travel_ms = 15000,
        .pause_ms = 1000,
    };
}

NpcDesc npc_desc_default(void)
{
    return (NpcDesc){.tuning = npc_tuning_default()};
}

// --- memory -------------------------------------------------------------------------------------
size_t npc_bytes(const SimConfig *config)
{
    if (config->npc_max == 0) {
        return 0;
    }
    return arena_need(sizeof(Npcs)) + pool_bytes(config->npc_max, sizeof(Npc)) +
           arena_need(heap_array_bytes(config->npc_max, sizeof(uint32_t))) +
           path_bytes(config->path_cells_max);
}

Status npc_init(Arena *arena, const SimConfig *config, Npcs **out)
{
    if (config->npc_max == 0) {
        *out = NULL;
        return STATUS_OK;
    }
    const size_t mark = arena_mark(arena);
    Npcs *npcs = arena_alloc(arena, sizeof *npcs);
    uint32_t *queue = arena_array(arena, config->npc_max, sizeof(uint32_t));
    if (npcs == NULL || queue == NULL ||
        pool_init(&npcs->minds, arena, config->npc_max, sizeof(Npc)) != STATUS_OK ||
        path_init(arena, config->path_cells_max, &npcs->finder) != STATUS_OK) {
        arena_rewind(arena, mark);
        return STATUS_LIMIT;
    }
    npcs->queue = queue;
    npcs->queue_max = config->npc_max;
    *out = npcs;
    return STATUS_OK;
}

void npc_clear(Npcs *npcs)
{
    if (npcs == NULL) {
        return;
    }
    pool_clear(&npcs->minds);
    for (uint32_t slot = 1; slot < npcs->minds.slot_count; slot++) {
        npcs->minds.generations[slot] = 1;
    }
    path_cancel(npcs->finder);
    npcs->queue_first = 0;
    npcs->queue_count = 0;
    npcs->searcher = 0;
    npcs->served = 0;
    npcs->stats = (NpcStats){0};
}

NpcStats npc_stats(const Sim *sim)
{
    if (sim->npcs == NULL) {
        return (NpcStats){0};
    }
    NpcStats stats = sim->npcs->stats;
    stats.queue_count = sim->npcs->queue_count + (sim->npcs->searcher != 0 ? 1 : 0);
    return stats;
}

// --- spawning and orders ------------------------------------------------------------------------
static bool is_in(float value, float low, float high)
{
    return value >= low && value <= high; // false for NaN
}

static bool point_is_good(Vec3 p)
{
    const float most = WORLD_EXTENT_M;
    return is_in(p.x, -most, most) && is_in(p.y, -most, most) && is_in(p.z, -most, most);
}

static bool tuning_is_good(const NpcTuning *t)
{
    return is_in(t->sight_m, 0, NPC_SIGHT_MAX_M) && is_in(t->sight_cos, -1, 1) &&
           is_in(t->feel_m, 0, NPC_SIGHT_MAX_M) && is_in(t->rise, 0, 1000) &&
           is_in(t->decay, 0, 1000) && is_in(t->calm_at, 0, 1) &&
           is_in(t->suspicious_at, t->calm_at, 1) && is_in(t->alert_at, t->suspicious_at, 1) &&
           is_in(t->stop_m, 0, NPC_SIGHT_MAX_M) && is_in(t->turn_speed, 0.5f, 100) &&
           t->interval_ticks <= NPC_INTERVAL_MAX && t->lose_ms <= NPC_TIME_MAX_MS &&
           t->search_ms <= NPC_TIME_MAX_MS && t->travel_ms <= NPC_TIME_MAX_MS &&
           t->pause_ms <= NPC_TIME_MAX_MS;
}

static bool patrol_is_good(const Vec3 *points, uint32_t count)
{
    if (count > NPC_PATROL_MAX) {
        return false;
    }
    for (uint32_t i = 0; i < count; i++) {
        if (!point_is_good(points[i])) {
            return false;
        }
    }
    return true;
}

static void patrol_take(Npc *npc, const Vec3 *points, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        npc->patrol[i] = points[i];
    }
    npc->patrol_count = count;
    npc->patrol_at = 0;
    npc->pause_until_tick = 0;
}

Status npc_spawn(Sim *sim, const NpcDesc *desc, Handle *out)
{
    if (!point_is_good(desc->position) || !math_is_finite(desc->yaw) ||
        !tuning_is_good(&desc->tuning) || !patrol_is_good(desc->patrol, desc->patrol_count)) {
        return STATUS_RANGE;
    }
    if (sim->npcs == NULL || sim->type_counts[ENTITY_PLAYER] + sim->type_counts[ENTITY_NPC] >=
                                 sim->config.character_max) {
        return STATUS_LIMIT;
    }
    const Handle mind = pool_acquire(&sim->npcs->minds);
    if (handle_is_none(mind)) {
        return STATUS_LIMIT;
    }
    uint32_t slot;
    const Status status = sim_acquire(sim, ENTITY_NPC, desc->net_id, desc->owner_id, &slot);
    if (status != STATUS_OK) {
        (void)pool_release(&sim->npcs->minds, mind);
        return status;
    }
    const float yaw = math_wrap_angle(desc->yaw);
    sim_character_init(sim, slot, sim_free_position(sim, desc->position), yaw);
    Entity *entity = sim_at(sim, slot);
    entity->character.npc_slot = mind.index;
    Npc *npc = pool_at(&sim->npcs->minds, mind.index);
    npc->entity_slot = slot;
    npc->tuning = desc->tuning;
    npc->post = entity->position;
    npc->post_yaw = yaw;
    npc->face_yaw = yaw;
    npc->state_tick = sim->tick;
    patrol_take(npc, desc->patrol, desc->patrol_count);
    *out = pool_handle(&sim->entities, slot);
    return STATUS_OK;
}

// The slot of the mind, or 0.
static uint32_t mind_find(const Sim *sim, Handle handle)
{
    const Entity *entity = pool_find(&sim->entities, handle);
    if (entity == NULL || entity->type != ENTITY_NPC || sim->npcs == NULL) {
        return 0;
    }
    return entity->character.npc_slot;
}

const Npc *npc_at(const Sim *sim, Handle handle)
{
    const uint32_t slot = mind_find(sim, handle);
    return slot != 0 ? npc_mind(sim->npcs, slot) : NULL;
}

void npc_forget(Sim *sim, uint32_t npc_slot)
{
    if (sim->npcs == NULL || npc_slot == 0) {
        return;
    }
    travel_stop(sim, npc_slot);
    const bool released = pool_release(&sim->npcs->minds, pool_handle(&sim->npcs->minds, npc_slot));
    ASSERT(released);
}

static void state_enter(Sim *sim, uint32_t slot, NpcState state)
{
    Npc *npc = npc_mind(sim->npcs, slot);
    ASSERT(npc->state != state);
    const Entity *entity = sim_at(sim, npc->entity_slot);
    sim_emit(sim, (SimEvent){
                      .type = SIM_EVENT_NPC_STATE,
                      .detail = (uint32_t)npc->state << 8 | (uint32_t)state,
                      .subject = entity->net_id,
                      .other = npc->target_net_id,
                      .position = entity->position,
                      .value = npc->suspicion,
                  });
    npc->state = state;
    npc->state_tick = sim->tick;
    npc->looks = false;
    npc->pause_until_tick = 0;
    travel_stop(sim, slot);
    if (state == NPC_IDLE) {
        npc->target = HANDLE_NONE;
        npc->target_net_id = 0;
        npc->sees = false;
        npc->ordered = false;
        npc->suspicion = math_min(npc->suspicion, npc->tuning.calm_at);
    }
}

static void state_enter_if_other(Sim *sim, uint32_t slot, NpcState state)
{
    if (npc_mind(sim->npcs, slot)->state != state) {
        state_enter(sim, slot, state);
    }
}

Status npc_set_patrol(Sim *sim, Handle handle, const Vec3 *points, uint32_t count)
{
    const uint32_t slot = mind_find(sim, handle);
    if (slot == 0) {
        return STATUS_NOT_FOUND;
    }
    if (!patrol_is_good(points, count)) {
        return STATUS_RANGE;
    }
    Npc *npc = npc_mind(sim->npcs, slot);
    patrol_take(npc, points, count);
    if (npc->state == NPC_IDLE) {
        travel_stop(sim, slot);
    }
    return STATUS_OK;
}

Status npc_move_to(Sim *sim, Handle handle, Vec3 position)
{
    const uint32_t slot = mind_find(sim, handle);
    if (slot == 0) {
        return STATUS_NOT_FOUND;
    }
    if (!point_is_good(position)) {
        return STATUS_RANGE;
    }
    // A script may call this in every tick; the NPC must not lose its place in the queue by that.
    Npc *npc = npc_mind(sim->npcs, slot);
    const bool is_new = vec3_length(vec3_sub(position, npc->post)) > NPC_GOAL_SAME_M;
    if (is_new && npc->state == NPC_IDLE) {
        npc->failures = 0;
        npc->ask_tick = 0;
    }
    patrol_take(npc, NULL, 0);
    npc->post = position;
    npc->post_yaw = sim_at(sim, npc->entity_slot)->character.input.yaw;
    return STATUS_OK;
}

Status npc_set_target(Sim *sim, Handle handle, Handle target)
{
    const uint32_t slot = mind_find(sim, handle);
    if (slot == 0) {
        return STATUS_NOT_FOUND;
    }
    Npc *npc = npc_mind(sim->npcs, slot);
    if (handle_is_none(target)) {
        state_enter_if_other(sim, slot, NPC_IDLE);
        return STATUS_OK;
    }
    const Entity *entity = pool_find(&sim->entities, target);
    if (entity == NULL || !entity_is_character(entity) || handle_equal(target, handle)) {
        return STATUS_RANGE;
    }
    npc->target = target;
    npc->target_net_id = entity->net_id;
    npc->known = entity->position;
    npc->seen_tick = sim->tick;
    npc->ordered = true;
    npc->suspicion = 1;
    state_enter_if_other(sim, slot, NPC_ALERT);
    return STATUS_OK;
}

Status npc_stop(Sim *sim, Handle handle)
{
    const uint32_t slot = mind_find(sim, handle);
    if (slot == 0) {
        return STATUS_NOT_FOUND;
    }
    Npc *npc = npc_mind(sim->npcs, slot);
    const Entity *entity = sim_at(sim, npc->entity_slot);
    state_enter_if_other(sim, slot, NPC_IDLE);
    travel_stop(sim, slot);
    patrol_take(npc, NULL, 0);
    npc->suspicion = 0;
    npc->post = entity->position;
    npc->post_yaw = entity->character.input.yaw;
    npc->face_yaw = npc->post_yaw;
    return STATUS_OK;
}

// --- perception ---------------------------------------------------------------------------------
typedef struct Sighting {
    uint32_t slot; // 0: nobody
    float distance_squared;
    float visibility; // 0..1
} Sighting;

// Players in range and in the field of view, nearest first, equal distances by slot.
typedef struct Candidates {
    Sighting list[NPC_LOOKS_MAX];
    uint32_t count;
} Candidates;

typedef struct Eye {
    Vec3 feet;
    Vec3 forward;
    const NpcTuning *tuning;
} Eye;

static void candidate_add(Candidates *candidates, Sighting sighting)
{
    uint32_t at = candidates->count < NPC_LOOKS_MAX ? candidates->count : NPC_LOOKS_MAX;
    // Slots come in ascending order, so an equal distance stays behind.
    while (at > 0 && candidates->list[at - 1].distance_squared > sighting.distance_squared) {
        if (at < NPC_LOOKS_MAX) {
            candidates->list[at] = candidates->list[at - 1];
        }
        at -= 1;
    }
    if (at < NPC_LOOKS_MAX) {
        candidates->list[at] = sighting;
        candidates->count += candidates->count < NPC_LOOKS_MAX ? 1 : 0;
    }
}

static void candidate_consider(const Sim *sim, const Eye *eye, uint32_t slot,
                               Candidates *candidates)
{
    const Entity *entity = sim_at(sim, slot);
    const NpcTuning *tuning = eye->tuning;
    const Vec3 apart = vec3_sub(entity->position, eye->feet);
    const float squared = vec3_length_squared(apart);
    const bool felt = squared <= tuning->feel_m * tuning->feel_m;
    if (!felt && squared > tuning->sight_m * tuning->sight_m) {
        return;
    }
    if (entity->type != ENTITY_PLAYER || entity->removing || entity->character.health <= 0) {
        return;
    }
    if (felt) {
        candidate_add(candidates, (Sighting){slot, squared, 1});
        return;
    }
    const float distance = math_sqrt(squared); // above zero, because it is not felt
    const float ahead = vec3_dot(apart, eye->forward) / distance;
    if (ahead < tuning->sight_cos) {
        return;
    }
    const float width = 1 - tuning->sight_cos;
    const float central = width > 0 ? math_min((ahead - tuning->sight_cos) / width, 1) : 1;
    const float near = 1 - distance / tuning->sight_m;
    const float visibility = (FAR_VISIBILITY + (1 - FAR_VISIBILITY) * near) *
                             (SIDE_VISIBILITY + (1 - SIDE_VISIBILITY) * central);
    candidate_add(candidates, (Sighting){slot, squared, visibility});
}

// A grid query costs about as much per cell as checking one player, so if there are few players all
// are checked. Both ways find the same.
static bool grid_is_cheaper(const Sim *sim, float range)
{
    const float edge = 2 * range / GRID_CELL_MIN_M + 2;
    return (float)sim->type_counts[ENTITY_PLAYER] > edge * edge * edge;
}

static void candidates_collect(Sim *sim, const Eye *eye, Candidates *candidates)
{
    const float range = math_max(eye->tuning->sight_m, eye->tuning->feel_m);
    if (grid_is_cheaper(sim, range)) {
        uint32_t *slots = sim->npcs->near;
        const Aabb box = aabb_grow((Aabb){eye->feet, eye->feet}, range);
        const uint32_t count =
            grid_query(&sim->grid, box, GRID_MASK(GRID_CHARACTERS), slots, NPC_NEAR_MAX);
        if (count <= NPC_NEAR_MAX) {
            for (uint32_t i = 0; i < count; i++) {
                candidate_consider(sim, eye, slots[i], candidates);
            }
            return;
        }
    }
    const uint32_t word_count = (sim->entities.slot_count + 63) / 64;
    sim_add_work(sim, word_count + (uint64_t)sim->type_counts[ENTITY_PLAYER] * GRID_ITEM_STEPS);
    for (uint32_t word = 0; word < word_count; word++) {
        for (uint64_t bits = sim->type_masks[ENTITY_PLAYER][word]; bits != 0; bits &= bits - 1) {
            const uint32_t slot = word * 64 + (uint32_t)__builtin_ctzll(bits);
            candidate_consider(sim, eye, slot, candidates);
        }
    }
}

static bool sight_is_free(Sim *sim, Vec3 from, Vec3 to)
{
    const Vec3 eyes = {0, sim->config.character.height * NPC_EYE_FRACTION, 0};
    const Vec3 apart = vec3_sub(to, from);
    const SimRay ray = {
        .origin = vec3_add(from, eyes),
        .direction = vec3_normalise(apart),
        .distance_max = vec3_length(apart),
        .type_mask = ENTITY_MASK(ENTITY_PART) | ENTITY_MASK(ENTITY_STRUCTURE),
        .terrain = true,
    };
    if (ray.distance_max < 1e-3f) {
        return true;
    }
    SimRayHit hit;
    sim->npcs->stats.sight_rays += 1;
    return !sim_ray(sim, &ray, &hit);
}

// The nearest visible player; or, under orders, the target wherever it is.
static Sighting perceive(Sim *sim, const Npc *npc)
{
    const Entity *entity = sim_at(sim, npc->entity_slot);
    if (npc->ordered) {
        return (Sighting){npc->target.index, 0, 1};
    }
    const float yaw = entity->character.input.yaw;
    const Eye eye = {entity->position, {math_sin(yaw), 0, math_cos(yaw)}, &npc->tuning};
    Candidates candidates = {.count = 0};
    candidates_collect(sim, &eye, &candidates);
    for (uint32_t i = 0; i < candidates.count; i++) {
        const Entity *seen = sim_at(sim, candidates.list[i].slot);
        if (sight_is_free(sim, entity->position, seen->position)) {
            return candidates.list[i];
        }
    }
    return (Sighting){0, 0, 0};
}

static bool target_is_alive(const Sim *sim, const Npc *npc)
{
    const Entity *target = pool_find(&sim->entities, npc->target);
    return target != NULL && entity_is_character(target) && !target->removing &&
           target->character.health > 0;
}

static void suspicion_update(Sim *sim, Npc *npc, Sighting sighting, float seconds)
{
    npc->sees = sighting.slot != 0;
    if (npc->sees) {
        npc->target = pool_handle(&sim->entities, sighting.slot);
        npc->target_net_id = sim_at(sim, sighting.slot)->net_id;
        npc->known = sim_at(sim, sighting.slot)->position;
        npc->seen_tick = sim->tick;
        npc->suspicion += npc->tuning.rise * sighting.visibility * seconds;
    } else if (npc->state != NPC_ALERT) {
        npc->suspicion -= npc->tuning.decay * seconds;
    }
    npc->suspicion = math_clamp(npc->suspicion, 0, 1);
}

static bool has_passed(const Sim *sim, uint64_t since_tick, uint32_t ms)
{
    return sim->tick - since_tick >= npc_ticks(sim, ms);
}

// At most one change of state in one perception.
static void decide(Sim *sim, uint32_t slot)
{
    const Npc *npc = npc_mind(sim->npcs, slot);
    const NpcTuning *tuning = &npc->tuning;
    switch (npc->state) {
    case NPC_IDLE:
        if (npc->sees && npc->suspicion >= tuning->suspicious_at) {
            state_enter(sim, slot, NPC_SUSPICIOUS);
        }
        break;
    case NPC_SUSPICIOUS:
        if (npc->sees && npc->suspicion >= tuning->alert_at) {
            state_enter(sim, slot, NPC_ALERT);
        } else if (!npc->sees && npc->suspicion <= tuning->calm_at) {
            state_enter(sim, slot, NPC_IDLE);
        }
        break;
    case NPC_ALERT:
        if (!npc->sees &&
            (!target_is_alive(sim, npc) || has_passed(sim, npc->seen_tick, tuning->lose_ms))) {
            state_enter(sim, slot, NPC_SEARCHING);
        }
        break;
    case NPC_SEARCHING:
        if (npc->sees && npc->suspicion >= tuning->suspicious_at) {
            state_enter(sim, slot, NPC_ALERT);
        } else if (npc->looks && has_passed(sim, npc->looks_tick, tuning->search_ms)) {
            state_enter(sim, slot, NPC_IDLE);
        }
        break;
    case NPC_STATE_COUNT:
        break;
    }
}

// --- behaviour ----------------------------------------------------------------------------------
static void behave_patrol(Sim *sim, uint32_t slot)
{
    Npc *npc = npc_mind(sim->npcs, slot);
    if (npc->travel == NPC_ARRIVED || npc->travel == NPC_STRANDED) {
        if (npc->pause_until_tick == 0) {
            npc->pause_until_tick = sim->tick + npc_ticks(sim, npc->tuning.pause_ms) + 1;
        } else if (sim->tick >= npc->pause_until_tick) {
            npc->pause_until_tick = 0;
            npc->patrol_at = (npc->patrol_at + 1) % npc->patrol_count;
            travel_stop(sim, slot);
        }
    }
    if (npc->pause_until_tick == 0) {
        travel_to(sim, slot, npc->patrol[npc->patrol_at], false);
    }
}

static void behave_idle(Sim *sim, uint32_t slot)
{
    Npc *npc = npc_mind(sim->npcs, slot);
    if (npc->patrol_count > 0) {
        behave_patrol(sim, slot);
        return;
    }
    travel_to(sim, slot, npc->post, false);
    if (npc->travel == NPC_ARRIVED) {
        npc->face_yaw = npc->post_yaw;
    }
}

static void behave_searching(Sim *sim, uint32_t slot)
{
    static const float turns[] = {0, 1.2f, -1.2f, 2.4f, -2.4f, MATH_PI};
    Npc *npc = npc_mind(sim->npcs, slot);
    if (!npc->looks) {
        travel_to(sim, slot, npc->known, false);
        if (npc->travel == NPC_ARRIVED || npc->travel == NPC_STRANDED ||
            has_passed(sim, npc->state_tick, npc->tuning.travel_ms)) {
            travel_stop(sim, slot);
            npc->looks = true;
            npc->looks_tick = sim->tick;
            npc->looks_yaw = sim_at(sim, npc->entity_slot)->character.input.yaw;
        }
    }
    if (npc->looks) {
        const uint64_t turn = (sim->tick - npc->looks_tick) / sim->config.tick_rate;
        npc->face_yaw =
            math_wrap_angle(npc->looks_yaw + turns[turn % (sizeof turns / sizeof turns[0])]);
    }
}

static void behave(Sim *sim, uint32_t slot)
{
    Npc *npc = npc_mind(sim->npcs, slot);
    const Entity *entity = sim_at(sim, npc->entity_slot);
    switch (npc->state) {
    case NPC_IDLE:
        behave_idle(sim, slot);
        break;
    case NPC_SUSPICIOUS:
        npc->face_yaw = travel_yaw(entity->position, npc->known, npc->face_yaw);
        break;
    case NPC_ALERT:
        travel_to(sim, slot, npc->known, true);
        npc->face_yaw = travel_yaw(entity->position, npc->known, npc->face_yaw);
        break;
    case NPC_SEARCHING:
        behave_searching(sim, slot);
        break;
    case NPC_STATE_COUNT:
        break;
    }
}

// --- the step -----------------------------------------------------------------------------------
static void mind_think(Sim *sim, uint32_t slot, uint32_t interval)
{
    Npc *npc = npc_mind(sim->npcs, slot);
    if (npc->ordered && !target_is_alive(sim, npc)) {
        npc->ordered = false;
    }
    suspicion_update(sim, npc, perceive(sim, npc), (float)interval * sim->tick_seconds);
    decide(sim, slot);
    behave(sim, slot);
    travel_plan(sim, slot);
}

static void mind_die(Sim *sim, uint32_t slot)
{
    Npc *npc = npc_mind(sim->npcs, slot);
    state_enter_if_other(sim, slot, NPC_IDLE);
    travel_stop(sim, slot);
    npc->suspicion = 0;
    SimInput *input = &sim_at(sim, npc->entity_slot)->character.input;
    *input = (SimInput){.yaw = input->yaw};
}

// True while it is near enough to somebody it sees: then it stands and looks at them. A running NPC
// needs room to come to a halt.
static bool is_close(const Sim *sim, Npc *npc)
{
    if (npc->state != NPC_ALERT || !npc->sees) {
        return false;
    }
    const Entity *target = pool_find(&sim->entities, npc->target);
    if (target == NULL) {
        return false;
    }
    const Entity *entity = sim_at(sim, npc->entity_slot);
    const Vec3 feet = entity->position;
    const Vec3 apart = vec3_sub(target->position, feet);
    const float halt = vec3_length_squared(entity->velocity) /
                       (2 * math_max(sim->config.character.ground_acceleration, 1));
    const float stop = npc->tuning.stop_m + math_min(halt, npc->tuning.stop_m);
    if (apart.x * apart.x + apart.z * apart.z > stop * stop || math_abs(apart.y) > STOP_HEIGHT_M) {
        return false;
    }
    npc->face_yaw = travel_yaw(feet, target->position, npc->face_yaw);
    return true;
}

void npc_step(Sim *sim)
{
    Npcs *npcs = sim->npcs;
    if (npcs == NULL || !sim->config.authority || npcs->minds.count == 0) {
        return;
    }
    const Pool *minds = &npcs->minds;
    for (uint32_t slot = pool_next(minds, 1); slot != 0; slot = pool_next(minds, slot + 1)) {
        const Npc *npc = npc_mind(npcs, slot);
        const uint32_t interval = npc_interval(sim, npc);
        const uint32_t maker = npc_maker(sim, npc);
        const uint64_t since = sim_work(sim);
        if (sim_at(sim, npc->entity_slot)->character.health <= 0) {
            mind_die(sim, slot);
        } else if ((sim->tick + slot) % interval == 0 && work_allows(sim, maker)) {
            mind_think(sim, slot, interval);
        }
        sim_add_work(sim, WORK_MIND_STEPS);
        work_charge(sim, maker, since);
    }
    travel_search(sim);
    for (uint32_t slot = pool_next(minds, 1); slot != 0; slot = pool_next(minds, slot + 1)) {
        Npc *npc = npc_mind(npcs, slot);
        if (sim_at(sim, npc->entity_slot)->character.health > 0) {
            travel_steer(sim, slot, is_close(sim, npc));
        }
    }
}

// --- state --------------------------------------------------------------------------------------
static void tuning_visit(NpcTuning *tuning, StateIo *io)
{
    state_f32(io, &tuning->sight_m);
    state_f32(io, &tuning->sight_cos);
    state_f32(io, &tuning->feel_m);
    state_f32(io, &tuning->rise);
    state_f32(io, &tuning->decay);
    state_f32(io, &tuning->suspicious_at);
    state_f32(io, &tuning->alert_at);
    state_f32(io, &tuning->calm_at);
    state_f32(io, &tuning->stop_m);
    state_f32(io, &tuning->turn_speed);
    state_u32(io, &tuning->interval_ticks, NPC_INTERVAL_MAX);
    state_u32(io, &tuning->lose_ms, NPC_TIME_MAX_MS);
    state_u32(io, &tuning->search_ms, NPC_TIME_MAX_MS);
    state_u32(io, &tuning->travel_ms, NPC_TIME_MAX_MS);
    state_u32(io, &tuning->pause_ms, NPC_TIME_MAX_MS);
    if (io->mode == STATE_READ && !tuning_is_good(tuning)) {
        state_fail(io, STATUS_RANGE);
    }
}

static void perception_visit(Npc *npc, StateIo *io)
{
    uint32_t state = (uint32_t)npc->state;
    state_u32(io, &state, NPC_STATE_COUNT - 1);
    npc->state = (NpcState)state;
    state_u64(io, &npc->state_tick);
    state_f32(io, &npc->suspicion);
    state_handle(io, &npc->target);
    state_u64(io, &npc->target_net_id);
    state_vec3(io, &npc->known);
    state_u64(io, &npc->seen_tick);
    state_bool(io, &npc->sees);
    state_bool(io, &npc->ordered);
    state_bool(io, &npc->looks);
    state_u64(io, &npc->looks_tick);
    travel_visit_yaw(&npc->looks_yaw, io);
    if (io->mode == STATE_READ && !is_in(npc->suspicion, 0, 1)) {
        state_fail(io, STATUS_RANGE);
    }
}

static void errand_visit(Npc *npc, StateIo *io)
{
    state_vec3(io, &npc->post);
    travel_visit_yaw(&npc->post_yaw, io);
    state_u32(io, &npc->patrol_count, NPC_PATROL_MAX);
    state_u32(io, &npc->patrol_at, npc->patrol_count > 0 ? npc->patrol_count - 1 : 0);
    for (uint32_t i = 0; i < npc->patrol_count && state_ok(io); i++) {
        state_vec3(io, &npc->patrol[i]);
    }
    state_u64(io, &npc->pause_until_tick);
}

static void mind_visit(Sim *sim, uint32_t slot, StateIo *io)
{
    Npc *npc = npc_mind(sim->npcs, slot);
    state_u32(io, &npc->entity_slot, sim->entities.slot_count - 1);
    tuning_visit(&npc->tuning, io);
    perception_visit(npc, io);
    errand_visit(npc, io);
    travel_visit(npc, io);
}

// Every mind belongs to its NPC, and every NPC with a mind to that mind.
static bool minds_belong(const Sim *sim)
{
    const Pool *minds = &sim->npcs->minds;
    uint32_t count = 0;
    for (uint32_t slot = sim_next_slot(sim, ENTITY_NPC, 1); slot != 0;
         slot = sim_next_slot(sim, ENTITY_NPC, slot + 1)) {
        const uint32_t mind = sim_at(sim, slot)->character.npc_slot;
        if (mind == 0) {
            continue;
        }
        if (!pool_is_live(minds, mind) || npc_mind(sim->npcs, mind)->entity_slot != slot) {
            return false;
        }
        count += 1;
    }
    return count == minds->count;
}

void npc_visit(Sim *sim, StateIo *io)
{
    Npcs *npcs = sim->npcs;
    if (npcs == NULL) {
        return;
    }
    state_pool(io, &npcs->minds);
    for (uint32_t slot = pool_next(&npcs->minds, 1); slot != 0 && state_ok(io);
         slot = pool_next(&npcs->minds, slot + 1)) {
        mind_visit(sim, slot, io);
    }
    travel_visit_queue(sim, io);
    if (io->mode == STATE_READ && state_ok(io) && !minds_belong(sim)) {
        state_fail(io, STATUS_MALFORMED);
    }
    if (!state_ok(io)) {
        npc_clear(npcs);
    }
}
