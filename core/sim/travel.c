// How a mind gets to its goal. Straight, if walk_line finds nothing in between; otherwise it
// requests a path, waits in the queue, and follows the result. The path may be wrong (the world
// changes), so a follower always checks whether it comes nearer: after half a second it jumps,
// after a second it requests another path. A goal that cannot be reached is requested less and less
// often.
#include "core/sim/npc_inside.h"

#include "core/base/limits.h"
#include "core/sim/walk.h"

#define REACH_M        0.3f // a point is reached
#define REACH_ABOVE_M  1.0f // with the feet at most this much above it
#define REACH_BELOW_M  0.6f // or below
#define GOAL_STALE_M   1.5f // a path to a goal that moved more is asked for again
#define GOAL_STALE_PER 0.2f // or by more than this part of the distance
#define PROGRESS_M     0.05f
#define JUMP_REACH_M   1.6f // jumps at a ledge this near
#define TURN_WALKING   0.8f // rad; a larger turn is made standing
#define ASK_PAUSE_MS   500  // between two questions of one mind
#define TRUST_PAUSE_MS 3000 // after it got stuck, no straight lines
#define BEGIN_NODES    4    // what beginning a search costs of the budget
#define SERVED_SHIFT   20   // in saves, the maker served last stands above the searching mind
_Static_assert(WORLD_ENTITIES_MAX < 1 << SERVED_SHIFT, "a mind's slot fits below it");

// --- the queue ----------------------------------------------------------------------------------
static uint32_t queue_at(const Npcs *npcs, uint32_t i)
{
    return (npcs->queue_first + i) % npcs->queue_max;
}

static void queue_push(Npcs *npcs, uint32_t slot)
{
    ASSERT(npcs->queue_count < npcs->queue_max);
    npcs->queue[queue_at(npcs, npcs->queue_count)] = slot;
    npcs->queue_count += 1;
    npc_mind(npcs, slot)->queued = true;
}

// The first in the queue, but not the same maker twice in a row while others wait: a script whose
// NPCs all request impossible paths delays only its own.
static uint32_t queue_pop(const Sim *sim)
{
    Npcs *npcs = sim->npcs;
    ASSERT(npcs->queue_count > 0);
    uint32_t taken = 0;
    for (uint32_t i = 0; i < npcs->queue_count; i++) {
        if (npc_maker(sim, npc_mind(npcs, npcs->queue[queue_at(npcs, i)])) != npcs->served) {
            taken = i;
            break;
        }
    }
    const uint32_t slot = npcs->queue[queue_at(npcs, taken)];
    for (uint32_t i = taken; i > 0; i--) {
        npcs->queue[queue_at(npcs, i)] = npcs->queue[queue_at(npcs, i - 1)];
    }
    npcs->queue_first = (npcs->queue_first + 1) % npcs->queue_max;
    npcs->queue_count -= 1;
    npcs->served = npc_maker(sim, npc_mind(npcs, slot));
    return slot;
}

// Out of the queue, or out of the search that is under way.
static void queue_remove(Npcs *npcs, uint32_t slot)
{
    Npc *npc = npc_mind(npcs, slot);
    if (!npc->queued) {
        return;
    }
    npc->queued = false;
    if (npcs->searcher == slot) {
        npcs->searcher = 0;
        path_cancel(npcs->finder);
        return;
    }
    uint32_t kept = 0;
    for (uint32_t i = 0; i < npcs->queue_count; i++) {
        const uint32_t other = npcs->queue[queue_at(npcs, i)];
        if (other != slot) {
            npcs->queue[queue_at(npcs, kept)] = other;
            kept += 1;
        }
    }
    ASSERT(kept + 1 == npcs->queue_count);
    npcs->queue_count = kept;
}

// --- goals --------------------------------------------------------------------------------------
static void way_drop(Npc *npc)
{
    npc->path.count = 0;
    npc->path_at = 0;
    npc->stuck_ticks = 0;
}

static bool way_goes_on(const Npc *npc)
{
    return npc->path_at < npc->path.count;
}

static void way_take(Npc *npc)
{
    npc->path_at = 0;
    npc->stuck_ticks = 0;
    npc->progress_m = WORLD_EXTENT_M;
    npc->travel = NPC_GOES;
}

static void way_take_straight(Npc *npc, PathEnd end)
{
    npc->path.points[0] = npc->goal;
    npc->path.count = 1;
    npc->path.end = (uint8_t)end;
    npc->path_goal = npc->goal;
    way_take(npc);
}

void travel_stop(Sim *sim, uint32_t slot)
{
    Npc *npc = npc_mind(sim->npcs, slot);
    queue_remove(sim->npcs, slot);
    way_drop(npc);
    npc->travel = NPC_STANDS;
    npc->runs = false;
    npc->failures = 0;
    npc->ask_tick = 0;
    npc->trust_tick = 0;
    npc->goal = VEC3_ZERO;
    npc->path_goal = VEC3_ZERO;
    npc->progress_m = 0;
}

void travel_to(Sim *sim, uint32_t slot, Vec3 goal, bool runs)
{
    Npc *npc = npc_mind(sim->npcs, slot);
    npc->runs = runs;
    if (npc->travel == NPC_STANDS) {
        npc->goal = goal;
        npc->travel = NPC_GOES;
        return;
    }
    const float moved = vec3_length_squared(vec3_sub(goal, npc->goal));
    if (npc->travel == NPC_GOES) {
        npc->goal = goal;
    } else if (moved > NPC_GOAL_SAME_M * NPC_GOAL_SAME_M) {
        npc->goal = goal;
        npc->travel = npc->travel == NPC_ARRIVED ? NPC_GOES : npc->travel;
    }
}

// After the first failure it waits one second, then two, four, eight.
static uint64_t ask_again_tick(const Sim *sim, const Npc *npc)
{
    const uint32_t doublings = npc->failures < NPC_FAILURES_MAX ? npc->failures : NPC_FAILURES_MAX;
    return sim->tick + ((uint64_t)sim->config.tick_rate << doublings) / 2;
}

static bool goal_is_stale(const Npc *npc, Vec3 feet)
{
    const float moved = vec3_length(vec3_sub(npc->goal, npc->path_goal));
    const float distance = vec3_length(vec3_sub(npc->goal, feet));
    return moved > math_max(GOAL_STALE_M, GOAL_STALE_PER * distance);
}

static bool points_are_level(const Sim *sim, Vec3 a, Vec3 b)
{
    const float step = math_max(sim->config.character.step_height, WALK_LEVEL_MIN_M);
    return math_abs(a.y - b.y) <= step;
}

// Something stands in the way to the next point. Only level ways are looked at.
static bool way_is_broken(Sim *sim, const Npc *npc, Vec3 feet)
{
    const Vec3 next = npc->path.points[npc->path_at];
    return points_are_level(sim, feet, next) &&
           vec3_length(vec3_sub(next, feet)) <= WALK_LINE_MAX_M &&
           !walk_line(sim, feet, next, false);
}

static void ask(Sim *sim, uint32_t slot)
{
    Npc *npc = npc_mind(sim->npcs, slot);
    if (sim->config.path_nodes_per_tick == 0) {
        way_take_straight(npc, PATH_NEAREST);
        npc->failures += npc->failures < NPC_FAILURES_MAX ? 1 : 0;
        npc->ask_tick = ask_again_tick(sim, npc);
    } else {
        queue_push(sim->npcs, slot);
    }
}

void travel_plan(Sim *sim, uint32_t slot)
{
    Npc *npc = npc_mind(sim->npcs, slot);
    const Entity *entity = sim_at(sim, npc->entity_slot);
    if (npc->travel == NPC_STANDS || npc->travel == NPC_ARRIVED || !entity->character.grounded) {
        return;
    }
    const Vec3 feet = entity->position;
    if (sim->tick >= npc->trust_tick && walk_line(sim, feet, npc->goal, true)) {
        queue_remove(sim->npcs, slot);
        npc->failures = 0;
        way_take_straight(npc, PATH_AT_GOAL);
        return;
    }
    const bool has_path = way_goes_on(npc);
    if (!npc->queued && sim->tick >= npc->ask_tick &&
        (!has_path || goal_is_stale(npc, feet) || way_is_broken(sim, npc, feet))) {
        ask(sim, slot);
    }
    if (has_path && way_goes_on(npc) && npc->path_at + 1 < npc->path.count &&
        points_are_level(sim, feet, npc->path.points[npc->path_at]) &&
        walk_line(sim, feet, npc->path.points[npc->path_at + 1], true)) {
        npc->path_at += 1;
        npc->progress_m = WORLD_EXTENT_M;
    }
}

// --- searching ----------------------------------------------------------------------------------
static void search_failed(Sim *sim, Npc *npc)
{
    sim->counters.paths_given_up += 1;
    npc->failures += npc->failures < NPC_FAILURES_MAX ? 1 : 0;
    npc->ask_tick = ask_again_tick(sim, npc);
}

// There is nothing to stand on at the goal, or here. In the first case it goes straight as far as
// there is ground; in the second the ground is unknown, and it just tries.
static void search_refused(Sim *sim, uint32_t slot)
{
    static const float tries_m[] = {16, 8, 4, 2};
    Npc *npc = npc_mind(sim->npcs, slot);
    const Vec3 feet = sim_at(sim, npc->entity_slot)->position;
    const Vec3 apart = {npc->goal.x - feet.x, 0, npc->goal.z - feet.z};
    const float distance = vec3_length(apart);
    WalkSpot here;
    npc->queued = false;
    search_failed(sim, npc);
    way_take_straight(npc, PATH_NEAREST);
    if (!walk_find(sim, feet, &here)) {
        return;
    }
    for (uint32_t i = 0; i < sizeof tries_m / sizeof tries_m[0]; i++) {
        const Vec3 point = vec3_mad(feet, apart, math_min(tries_m[i] / math_max(distance, 1), 1));
        if (walk_line(sim, feet, point, true)) {
            npc->path.points[0] = point;
            return;
        }
    }
    way_drop(npc);
    npc->travel = NPC_STRANDED;
}

static void search_ended(Sim *sim, PathProgress progress)
{
    Npcs *npcs = sim->npcs;
    Npc *npc = npc_mind(npcs, npcs->searcher);
    npcs->searcher = 0;
    npcs->stats.searches_ended += 1;
    npc->queued = false;
    path_read(npcs->finder, sim, &npc->path);
    way_take(npc);
    if (progress == PATH_FOUND) {
        npc->failures = 0;
        npc->ask_tick = sim->tick + npc_ticks(sim, ASK_PAUSE_MS);
        if (npc->path.count == 0) { // it is in the goal's cell already
            way_take_straight(npc, PATH_AT_GOAL);
        }
    } else {
        search_failed(sim, npc);
        npc->travel = npc->path.count > 0 ? NPC_GOES : NPC_STRANDED;
    }
}

void travel_search(Sim *sim)
{
    Npcs *npcs = sim->npcs;
    const uint32_t budget = sim->config.path_nodes_per_tick;
    uint32_t left = budget;
    while (left > 0) {
        if (npcs->searcher == 0) {
            if (npcs->queue_count == 0 || (left < BEGIN_NODES && left < budget)) {
                break;
            }
            left -= left < BEGIN_NODES ? left : BEGIN_NODES;
            const uint32_t slot = queue_pop(sim);
            const uint64_t since = sim_work(sim);
            Npc *npc = npc_mind(npcs, slot);
            npc->path_goal = npc->goal;
            const Vec3 feet = sim_at(sim, npc->entity_slot)->position;
            const bool begun = path_begin(npcs->finder, sim, feet, npc->goal);
            if (!begun) {
                search_refused(sim, slot);
            }
            work_charge(sim, npc_maker(sim, npc), since);
            if (!begun) {
                continue;
            }
            npcs->searcher = slot;
        }
        uint32_t used = 0;
        const uint64_t since = sim_work(sim);
        const PathProgress progress = path_advance(npcs->finder, sim, left, &used);
        sim_add_work(sim, (uint64_t)used * WORK_NODE_STEPS);
        work_charge(sim, npc_maker(sim, npc_mind(npcs, npcs->searcher)), since);
        left -= used;
        if (progress != PATH_SEARCHING) {
            search_ended(sim, progress);
        }
    }
    npcs->stats.nodes_last = budget - left;
    npcs->stats.nodes_total += budget - left;
}

// --- steering -----------------------------------------------------------------------------------
static bool point_is_reached(Vec3 feet, Vec3 point)
{
    const float dx = point.x - feet.x;
    const float dz = point.z - feet.z;
    const float above = feet.y - point.y;
    return dx * dx + dz * dz <= REACH_M * REACH_M && above <= REACH_ABOVE_M &&
           above >= -REACH_BELOW_M;
}

static void way_finish(Npc *npc)
{
    if (npc->path.end == PATH_AT_GOAL) {
        npc->travel = NPC_ARRIVED;
    } else if (npc->path.end == PATH_NEAREST) {
        npc->travel = NPC_STRANDED;
    }
    way_drop(npc); // after a cut path the next plan asks for the rest
}

static void way_follow(Npc *npc, Vec3 feet)
{
    while (way_goes_on(npc) && point_is_reached(feet, npc->path.points[npc->path_at])) {
        npc->path_at += 1;
        npc->progress_m = WORLD_EXTENT_M;
        npc->stuck_ticks = 0;
    }
    if (npc->travel == NPC_GOES && npc->path.count > 0 && !way_goes_on(npc)) {
        way_finish(npc);
    }
}

// Returns true when it should try a jump.
static bool stuck_watch(Sim *sim, Npc *npc, float distance)
{
    const uint32_t second = sim->config.tick_rate;
    if (distance < npc->progress_m - PROGRESS_M) {
        npc->progress_m = distance;
        npc->stuck_ticks = 0;
        return false;
    }
    npc->stuck_ticks += 1;
    if (npc->stuck_ticks >= second) {
        way_drop(npc);
        npc->trust_tick = sim->tick + npc_ticks(sim, TRUST_PAUSE_MS);
    }
    return npc->stuck_ticks == second / 2;
}

float travel_yaw(Vec3 from, Vec3 to, float otherwise)
{
    const float dx = to.x - from.x;
    const float dz = to.z - from.z;
    // atan2 may answer pi, and a yaw is below it.
    return dx * dx + dz * dz > 1e-6f ? math_wrap_angle(math_atan2(dx, dz)) : otherwise;
}

static void steer_turn(const Sim *sim, const Npc *npc, SimInput *input, float yaw)
{
    const float most = npc->tuning.turn_speed * sim->tick_seconds;
    const float turn = math_wrap_angle(yaw - input->yaw);
    input->yaw =
        math_abs(turn) <= most ? yaw : math_wrap_angle(input->yaw + math_clamp(turn, -most, most));
}

static void steer_walk(Sim *sim, Npc *npc, const Entity *entity, SimInput *input)
{
    const Vec3 feet = entity->position;
    const Vec3 point = npc->path.points[npc->path_at];
    const Vec3 flat = {point.x - feet.x, 0, point.z - feet.z};
    const float distance = vec3_length(flat);
    const float yaw = travel_yaw(feet, point, input->yaw);
    if (math_abs(math_wrap_angle(yaw - input->yaw)) > TURN_WALKING) {
        steer_turn(sim, npc, input, yaw);
        return;
    }
    input->yaw = yaw;
    npc->face_yaw = yaw;
    input->move_z = 1;
    input->buttons |= npc->runs ? (uint32_t)INPUT_RUN : 0;
    const bool is_ledge =
        point.y - feet.y > sim->config.character.step_height && distance < JUMP_REACH_M;
    const bool tries = stuck_watch(sim, npc, distance);
    if ((is_ledge || tries) && entity->character.grounded && !entity->character.jump_held) {
        input->buttons |= INPUT_JUMP;
    }
}

void travel_steer(Sim *sim, uint32_t slot, bool hold)
{
    Npc *npc = npc_mind(sim->npcs, slot);
    Entity *entity = sim_at(sim, npc->entity_slot);
    SimInput input = {.yaw = entity->character.input.yaw};
    if (!hold) {
        way_follow(npc, entity->position);
    }
    if (!hold && way_goes_on(npc)) {
        steer_walk(sim, npc, entity, &input);
    } else {
        steer_turn(sim, npc, &input, npc->face_yaw);
    }
    entity->character.input = input;
}

// --- state --------------------------------------------------------------------------------------
void travel_visit_yaw(float *yaw, StateIo *io)
{
    state_f32(io, yaw);
    if (io->mode == STATE_READ && math_wrap_angle(*yaw) != *yaw) {
        state_fail(io, STATUS_RANGE);
    }
}

void travel_visit(Npc *npc, StateIo *io)
{
    uint32_t travel = (uint32_t)npc->travel;
    state_u32(io, &travel, NPC_TRAVEL_COUNT - 1);
    npc->travel = (NpcTravel)travel;
    state_bool(io, &npc->runs);
    state_vec3(io, &npc->goal);
    state_u32(io, &npc->path.count, PATH_POINTS_MAX);
    state_u8(io, &npc->path.end, PATH_END_COUNT - 1);
    for (uint32_t i = 0; i < npc->path.count && state_ok(io); i++) {
        state_vec3(io, &npc->path.points[i]);
    }
    state_u32(io, &npc->path_at, npc->path.count);
    state_vec3(io, &npc->path_goal);
    state_u32(io, &npc->failures, NPC_FAILURES_MAX);
    state_u64(io, &npc->ask_tick);
    state_u64(io, &npc->trust_tick);
    travel_visit_yaw(&npc->face_yaw, io);
    state_f32(io, &npc->progress_m);
    state_u32(io, &npc->stuck_ticks, UINT32_MAX);
}

static void queue_visit_entry(Npcs *npcs, uint32_t i, StateIo *io)
{
    uint32_t slot = io->mode == STATE_READ ? 0 : npcs->queue[queue_at(npcs, i)];
    state_u32(io, &slot, npcs->queue_max);
    if (io->mode != STATE_READ || !state_ok(io)) {
        return;
    }
    if (!pool_is_live(&npcs->minds, slot) || npc_mind(npcs, slot)->queued) {
        state_fail(io, STATUS_MALFORMED);
        return;
    }
    queue_push(npcs, slot);
}

// Who waits follows from the queue, so `queued` is not written.
void travel_visit_queue(Sim *sim, StateIo *io)
{
    Npcs *npcs = sim->npcs;
    uint32_t count = npcs->queue_count;
    if (io->mode == STATE_READ) {
        npcs->queue_first = 0;
        npcs->queue_count = 0;
    }
    state_u32(io, &count, npcs->queue_max);
    for (uint32_t i = 0; i < count && state_ok(io); i++) {
        queue_visit_entry(npcs, i, io);
    }
    uint32_t searching = npcs->searcher | npcs->served << SERVED_SHIFT;
    state_u32(io, &searching, npcs->queue_max | SIM_MAKERS_MAX << SERVED_SHIFT);
    npcs->searcher = searching % (1u << SERVED_SHIFT);
    npcs->served = searching >> SERVED_SHIFT;
    if (npcs->searcher > npcs->queue_max || npcs->served > SIM_MAKERS_MAX) {
        state_fail(io, STATUS_RANGE);
    }
    path_visit(npcs->finder, io);
    if (io->mode != STATE_READ || !state_ok(io)) {
        return;
    }
    const uint32_t slot = npcs->searcher;
    if ((slot != 0) != path_is_active(npcs->finder)) {
        state_fail(io, STATUS_MALFORMED);
    } else if (slot != 0) {
        if (!pool_is_live(&npcs->minds, slot) || npc_mind(npcs, slot)->queued) {
            state_fail(io, STATUS_MALFORMED);
            return;
        }
        npc_mind(npcs, slot)->queued = true;
    }
}
