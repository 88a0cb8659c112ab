// Decisions of NPCs: what they notice, when they change their state, where they go, what they cost,
// and that a restored NPC continues as if nothing had happened.
#include "core/sim/npc.h"
#include "core/sim/structure.h"
#include "tests/support/test.h"
#include "tests/unit/walk_world.h"

#include <string.h>

#define SECOND 60

static Handle spawn(Sim *sim, const NpcDesc *desc)
{
    Handle npc = HANDLE_NONE;
    CHECK_OK(npc_spawn(sim, desc, &npc));
    return npc;
}

static Vec3 feet_of(const Sim *sim, Handle handle)
{
    return sim_entity(sim, handle)->position;
}

static float flat_distance(Vec3 a, Vec3 b)
{
    const Vec3 apart = {a.x - b.x, 0, a.z - b.z};
    return vec3_length(apart);
}

static void put(Sim *sim, Handle handle, Vec3 position)
{
    CHECK_OK(sim_set_position(sim, handle, position));
}

// What happened to one NPC in the last step: its event, or NULL. More than one in a tick would be
// a mistake.
static const SimEvent *state_event(const Sim *sim, Handle npc)
{
    const SimEvent *found = NULL;
    uint32_t count;
    const SimEvent *events = sim_events(sim, &count);
    for (uint32_t i = 0; i < count; i++) {
        if (events[i].type == SIM_EVENT_NPC_STATE &&
            events[i].subject == sim_entity(sim, npc)->net_id) {
            CHECK(found == NULL);
            found = &events[i];
        }
    }
    return found;
}

// Steps until the NPC changes its state; the number of steps, or `most` when it did not.
static uint32_t steps_to_change(Sim *sim, Handle npc, uint32_t most, NpcState from, NpcState to)
{
    for (uint32_t i = 1; i <= most; i++) {
        sim_step(sim);
        const SimEvent *event = state_event(sim, npc);
        if (event != NULL) {
            CHECK_INT(event->detail, (uint32_t)from << 8 | (uint32_t)to);
            CHECK_INT(npc_at(sim, npc)->state, to);
            return i;
        }
    }
    test_fail(__FILE__, __LINE__, "no change from %d to %d in %u steps", (int)from, (int)to, most);
    return most;
}

// Sees, but never cares: for looking at perception alone. Perceives in every tick.
static NpcDesc watcher(void)
{
    NpcDesc desc = npc_desc_default();
    desc.position = vec3(0.5f, 0, 0.5f);
    desc.tuning.interval_ticks = 1;
    desc.tuning.rise = 0;
    return desc;
}

static bool sees_at(Sim *sim, Handle npc, Handle player, Vec3 position)
{
    put(sim, player, position);
    sim_step(sim);
    return npc_at(sim, npc)->sees;
}

// --- perception ---------------------------------------------------------------------------------
TEST(sees_in_range_and_field_of_view)
{
    const WalkWorldDesc desc = walk_world_default();
    WalkWorld world = walk_world_open(&desc);
    Sim *sim = world.sim;
    const NpcDesc npc_desc = watcher(); // looks along +z, 20 m far, 60 degrees to each side
    const Handle npc = spawn(sim, &npc_desc);
    const Handle player = walk_player(sim, vec3(0.5f, 0, 40.5f));
    CHECK(!sees_at(sim, npc, player, vec3(0.5f, 0, 20.7f)));
    CHECK(sees_at(sim, npc, player, vec3(0.5f, 0, 20.3f)));
    CHECK_INT(npc_at(sim, npc)->target_net_id, sim_entity(sim, player)->net_id);
    CHECK_NEAR(npc_at(sim, npc)->known.z, 20.3f, 0.01f);
    for (int side = -1; side <= 1; side += 2) {
        const float inside = 59 * MATH_PI / 180 * (float)side;
        const float outside = 61 * MATH_PI / 180 * (float)side;
        const float r = 10;
        CHECK(sees_at(sim, npc, player,
                      vec3(0.5f + r * math_sin(inside), 0, 0.5f + r * math_cos(inside))));
        CHECK(!sees_at(sim, npc, player,
                       vec3(0.5f + r * math_sin(outside), 0, 0.5f + r * math_cos(outside))));
    }
    CHECK(!sees_at(sim, npc, player, vec3(0.5f, 0, -2)));   // behind
    CHECK(sees_at(sim, npc, player, vec3(0.5f, 0, -1.2f))); // behind, but felt
    CHECK(sees_at(sim, npc, player, vec3(0.5f, 0, 10)));
    (void)sim_damage(sim, player, 1000, 0);
    sim_step(sim);
    CHECK(!npc_at(sim, npc)->sees); // the dead are not noticed
    walk_world_close(&world);
}

TEST(turned_npc_sees_where_it_looks)
{
    const WalkWorldDesc desc = walk_world_default();
    WalkWorld world = walk_world_open(&desc);
    NpcDesc npc_desc = watcher();
    npc_desc.yaw = MATH_PI / 2; // along +x
    const Handle npc = spawn(world.sim, &npc_desc);
    const Handle player = walk_player(world.sim, vec3(0.5f, 0, 10));
    CHECK(!sees_at(world.sim, npc, player, vec3(0.5f, 0, 10)));
    CHECK(sees_at(world.sim, npc, player, vec3(10, 0, 0.5f)));
    CHECK(!sees_at(world.sim, npc, player, vec3(-10, 0, 0.5f)));
    walk_world_close(&world);
}

TEST(voxels_between_hide)
{
    const WalkWorldDesc desc = walk_world_default();
    WalkWorld world = walk_world_open(&desc);
    Sim *sim = world.sim;
    const NpcDesc npc_desc = watcher();
    const Handle npc = spawn(sim, &npc_desc);
    const Handle player = walk_player(sim, vec3(0.5f, 0, 10.5f));
    sim_step(sim);
    CHECK(npc_at(sim, npc)->sees);
    walk_fill(sim, (VoxelCoord){-3, 0, 5}, (VoxelCoord){3, 2, 5}, 1);
    sim_step(sim);
    CHECK(!npc_at(sim, npc)->sees);
    walk_fill(sim, (VoxelCoord){0, 1, 5}, (VoxelCoord){0, 1, 5}, 0); // a window at eye height
    sim_step(sim);
    CHECK(npc_at(sim, npc)->sees);
    // Felt through a wall? No.
    walk_fill(sim, (VoxelCoord){0, 0, -1}, (VoxelCoord){0, 2, -1}, 1);
    CHECK(!sees_at(sim, npc, player, vec3(0.5f, 0, -1.45f)));
    walk_world_close(&world);
}

TEST(parts_and_structures_between_hide)
{
    PartDesc parts[2] = {walk_box(vec3(-3, 0, 5), vec3(4, 3, 5.2f)),
                         walk_box(vec3(-3, 0, 7), vec3(4, 3, 7.2f))};
    parts[1].data.flags = PART_GHOST;
    const PieceDesc piece = {.cells_x = 3, .cells_y = 3, .cells_z = 1, .health = 10};
    WalkWorldDesc desc = walk_world_default();
    desc.parts = parts;
    desc.part_count = 2;
    desc.pieces = &piece;
    desc.piece_count = 1;
    WalkWorld world = walk_world_open(&desc);
    Sim *sim = world.sim;
    const NpcDesc npc_desc = watcher();
    const Handle npc = spawn(sim, &npc_desc);
    (void)walk_player(sim, vec3(0.5f, 0, 10.5f));
    sim_step(sim);
    CHECK(!npc_at(sim, npc)->sees);
    CHECK_OK(sim_hide_part(sim, 1));
    sim_step(sim);
    CHECK(npc_at(sim, npc)->sees); // through the ghost
    Handle built;
    CHECK_OK(structure_place(sim, &(StructureDesc){.cell = {-1, 0, 4}}, &built));
    sim_step(sim);
    CHECK(!npc_at(sim, npc)->sees);
    CHECK_OK(structure_remove(sim, built, 0));
    sim_step(sim);
    CHECK(npc_at(sim, npc)->sees);
    Handle door;
    CHECK_OK(sim_spawn_part(sim, &(ShapeDesc){.part = parts[0]}, &door));
    sim_step(sim);
    CHECK(!npc_at(sim, npc)->sees);
    walk_world_close(&world);
}

TEST(nearest_in_sight_is_the_target_and_ties_go_to_the_lower_slot)
{
    const WalkWorldDesc desc = walk_world_default();
    WalkWorld world = walk_world_open(&desc);
    Sim *sim = world.sim;
    const NpcDesc npc_desc = watcher();
    const Handle npc = spawn(sim, &npc_desc);
    Handle players[40];
    for (uint32_t i = 0; i < 40; i++) {
        players[i] = walk_player(sim, vec3(-40 + 2 * (float)i, 0, -40));
    }
    put(sim, players[30], vec3(0.5f, 0, 12.5f));
    put(sim, players[12], vec3(3.5f, 0, 8.5f));
    put(sim, players[20], vec3(-2.5f, 0, 8.5f)); // exactly as far
    sim_step(sim);
    CHECK(handle_equal(npc_at(sim, npc)->target, players[12]));
    walk_fill(sim, (VoxelCoord){1, 0, 6}, (VoxelCoord){4, 2, 6}, 1);
    sim_step(sim);
    CHECK(handle_equal(npc_at(sim, npc)->target, players[20]));
    put(sim, players[20], vec3(-2.5f, 0, -20.5f));
    sim_step(sim);
    CHECK(handle_equal(npc_at(sim, npc)->target, players[30]));
    walk_world_close(&world);
}

// The grid and the walk over all players must choose the same. With a sight of 4 m, and a grid of
// 4 m cells, more than 64 players make the grid the cheaper one.
TEST(many_players_and_few_give_the_same_answer)
{
    const WalkWorldDesc desc = walk_world_default();
    WalkWorld world = walk_world_open(&desc);
    Sim *sim = world.sim;
    Rng rng = rng_make(test_seed(), 3);
    NpcDesc npc_desc = watcher();
    npc_desc.tuning.sight_m = 4;
    const Handle npc = spawn(sim, &npc_desc);
    Handle players[60];
    for (uint32_t i = 0; i < 60; i++) {
        players[i] = walk_player(sim, vec3(0, 0, 0));
    }
    uint32_t seen = 0;
    Sim *twin = walk_world_twin(&world);
    for (uint32_t round = 0; round < 30; round++) {
        for (uint32_t i = 0; i < 60; i++) {
            const float x = rng_range(&rng, -9, 9);
            const float z = rng_range(&rng, -9, 9);
            put(sim, players[i], vec3(x, 0, z));
        }
        REQUIRE(walk_world_copy(&world, sim, twin));
        for (uint32_t i = 0; i < 10; i++) {
            (void)walk_player(twin, vec3(40, 0, -40));
        }
        sim_step(sim);
        sim_step(twin);
        seen += npc_at(sim, npc)->sees;
        CHECK_INT(npc_at(twin, npc)->sees, npc_at(sim, npc)->sees);
        CHECK_INT(npc_at(twin, npc)->target_net_id, npc_at(sim, npc)->target_net_id);
    }
    CHECK(seen > 10);
    sim_destroy(&world.heap, twin);
    walk_world_close(&world);
}

// --- suspicion and states -----------------------------------------------------------------------
static float suspicion_after(Vec3 player_position, uint32_t steps)
{
    const WalkWorldDesc desc = walk_world_default();
    WalkWorld world = walk_world_open(&desc);
    NpcDesc npc_desc = watcher();
    npc_desc.tuning.rise = 1;
    npc_desc.tuning.suspicious_at = npc_desc.tuning.alert_at = 1;
    const Handle npc = spawn(world.sim, &npc_desc);
    (void)walk_player(world.sim, player_position);
    walk_steps_run(world.sim, steps);
    const float suspicion = npc_at(world.sim, npc)->suspicion;
    walk_world_close(&world);
    return suspicion;
}

TEST(suspicion_rises_faster_when_near_and_central)
{
    // 10 of 20 m away, straight ahead: 0.2 + 0.8 * 0.5 = 0.6 of the full rise.
    CHECK_NEAR(suspicion_after(vec3(0.5f, 0, 10.5f), 30), 0.3f, 0.005f);
    CHECK_NEAR(suspicion_after(vec3(0.5f, 0, 18.5f), 30), 0.5f * (0.2f + 0.8f * 0.1f), 0.005f);
    // 60 degrees to the side it is 0.4 of that.
    const float side = 59.9f * MATH_PI / 180;
    const Vec3 aside = {0.5f + 10 * math_sin(side), 0, 0.5f + 10 * math_cos(side)};
    CHECK_NEAR(suspicion_after(aside, 30), 0.3f * 0.4f, 0.005f);
    CHECK_NEAR(suspicion_after(vec3(0.5f, 0, -0.9f), 30), 0.5f, 0.005f); // felt: all of it
    CHECK_NEAR(suspicion_after(vec3(0.5f, 0, -30), 30), 0, 0);
}

TEST(suspicion_decays_with_hysteresis)
{
    const WalkWorldDesc desc = walk_world_default();
    WalkWorld world = walk_world_open(&desc);
    Sim *sim = world.sim;
    NpcDesc npc_desc = watcher();
    npc_desc.tuning.rise = 1;
    npc_desc.tuning.decay = 0.5f;
    const Handle npc = spawn(sim, &npc_desc);
    const Handle player = walk_player(sim, vec3(0.5f, 0, 10.5f));
    // 0.6 per second: 0.3 after half a second.
    CHECK_NEAR(steps_to_change(sim, npc, 60, NPC_IDLE, NPC_SUSPICIOUS), 30, 2);
    walk_steps_run(sim, 10);
    const float before = npc_at(sim, npc)->suspicion;
    CHECK_NEAR(before, 0.4f, 0.02f);
    put(sim, player, vec3(0.5f, 0, -40));
    walk_steps_run(sim, 24); // 0.2 less: below suspicious_at, above calm_at
    CHECK_NEAR(npc_at(sim, npc)->suspicion, before - 0.2f, 0.005f);
    CHECK_INT(npc_at(sim, npc)->state, NPC_SUSPICIOUS);
    CHECK_NEAR(steps_to_change(sim, npc, 60, NPC_SUSPICIOUS, NPC_IDLE), 12, 2);
    CHECK_INT(npc_at(sim, npc)->target_net_id, 0);
    walk_world_close(&world);
}

TEST(interval_changes_work_but_not_speed)
{
    const WalkWorldDesc desc = walk_world_default();
    for (uint32_t interval = 0; interval <= 20; interval += 5) {
        WalkWorld world = walk_world_open(&desc);
        NpcDesc npc_desc = watcher();
        npc_desc.tuning.rise = 1;
        npc_desc.tuning.interval_ticks = interval; // 0 means 10 at 60 Hz
        const Handle npc = spawn(world.sim, &npc_desc);
        (void)walk_player(world.sim, vec3(0.5f, 0, 10.5f));
        CHECK_NEAR(steps_to_change(world.sim, npc, 120, NPC_IDLE, NPC_SUSPICIOUS), 30,
                   interval == 0 ? 11 : interval + 1);
        CHECK_NEAR(npc_stats(world.sim).sight_rays, 30 / (interval == 0 ? 10 : interval), 2);
        walk_world_close(&world);
    }
}

TEST(perception_is_spread_over_the_ticks)
{
    const WalkWorldDesc desc = walk_world_default();
    WalkWorld world = walk_world_open(&desc);
    NpcDesc npc_desc = watcher();
    npc_desc.tuning.interval_ticks = 0;
    for (uint32_t i = 0; i < 60; i++) {
        npc_desc.position = vec3((float)(i % 10) * 2 - 9.5f, 0, (float)(i / 10) * 2 - 12.5f);
        (void)spawn(world.sim, &npc_desc);
    }
    (void)walk_player(world.sim, vec3(0.5f, 0, 4.5f));
    uint64_t before = 0;
    for (uint32_t i = 0; i < 40; i++) {
        sim_step(world.sim);
        const uint64_t now = npc_stats(world.sim).sight_rays;
        CHECK(now - before >= 4 && now - before <= 6); // six look; some have turned their backs
        before = now;
    }
    walk_world_close(&world);
}

// The whole round: notices, is sure, loses sight, searches, finds nothing, goes back.
TEST(every_transition_has_its_event)
{
    const WalkWorldDesc desc = walk_world_default();
    WalkWorld world = walk_world_open(&desc);
    Sim *sim = world.sim;
    NpcDesc npc_desc = npc_desc_default();
    npc_desc.position = vec3(0.5f, 0, 0.5f);
    npc_desc.yaw = 0.3f;
    const Handle npc = spawn(sim, &npc_desc);
    const Handle player = walk_player(sim, vec3(0.5f, 0, 12.5f));
    const uint64_t player_id = sim_entity(sim, player)->net_id;
    (void)steps_to_change(sim, npc, SECOND, NPC_IDLE, NPC_SUSPICIOUS);
    CHECK_INT(state_event(sim, npc)->other, player_id);
    CHECK_NEAR(state_event(sim, npc)->position.x, 0.5f, 0.1f);
    // It stands, and turns towards what it noticed.
    walk_steps_run(sim, 10);
    CHECK(flat_distance(feet_of(sim, npc), npc_desc.position) < 0.1f);
    CHECK_NEAR(sim_entity(sim, npc)->character.input.yaw, 0, 0.02f);
    (void)steps_to_change(sim, npc, 2 * SECOND, NPC_SUSPICIOUS, NPC_ALERT);
    CHECK_INT(state_event(sim, npc)->other, player_id);
    walk_steps_run(sim, SECOND / 2);
    CHECK(feet_of(sim, npc).z > 2); // chases
    CHECK((sim_entity(sim, npc)->character.input.buttons & INPUT_RUN) != 0);
    const Vec3 last = feet_of(sim, player);
    put(sim, player, vec3(40, 0, -40));
    const uint32_t lost = steps_to_change(sim, npc, 4 * SECOND, NPC_ALERT, NPC_SEARCHING);
    CHECK_NEAR(lost, 2 * SECOND, 20);
    CHECK_INT(state_event(sim, npc)->other, player_id);
    float nearest = 1000;
    float yaw_most = 0;
    uint32_t steps = 0;
    const SimEvent *event = NULL;
    while (event == NULL && steps < 20 * SECOND) {
        sim_step(sim);
        steps += 1;
        nearest = math_min(nearest, flat_distance(feet_of(sim, npc), last));
        const float yaw = sim_entity(sim, npc)->character.input.yaw;
        yaw_most = math_max(yaw_most, math_abs(yaw));
        event = state_event(sim, npc);
    }
    REQUIRE(event != NULL);
    CHECK_INT(event->detail, NPC_SEARCHING << 8 | NPC_IDLE);
    CHECK(nearest < 0.8f);  // was there
    CHECK(yaw_most > 1.1f); // looked around
    CHECK(steps >= 5 * SECOND);
    // Back at its post, and looking where it looked.
    for (uint32_t i = 0; i < 8 * SECOND; i++) {
        sim_step(sim);
        CHECK(state_event(sim, npc) == NULL);
    }
    CHECK(flat_distance(feet_of(sim, npc), npc_desc.position) < 0.6f);
    CHECK_NEAR(sim_entity(sim, npc)->character.input.yaw, 0.3f, 0.02f);
    walk_world_close(&world);
}

TEST(searching_becomes_alert_when_it_sees_again)
{
    const WalkWorldDesc desc = walk_world_default();
    WalkWorld world = walk_world_open(&desc);
    Sim *sim = world.sim;
    NpcDesc npc_desc = npc_desc_default();
    npc_desc.tuning.lose_ms = 500;
    const Handle npc = spawn(sim, &npc_desc);
    const Handle player = walk_player(sim, vec3(0, 0, 8));
    (void)steps_to_change(sim, npc, 3 * SECOND, NPC_IDLE, NPC_SUSPICIOUS);
    (void)steps_to_change(sim, npc, 3 * SECOND, NPC_SUSPICIOUS, NPC_ALERT);
    put(sim, player, vec3(40, 0, -40));
    (void)steps_to_change(sim, npc, 3 * SECOND, NPC_ALERT, NPC_SEARCHING);
    put(sim, player, vec3_add(feet_of(sim, npc), vec3(0, 0, 6)));
    CHECK(steps_to_change(sim, npc, SECOND, NPC_SEARCHING, NPC_ALERT) <= 20);
    // A target that dies leaves it searching at once.
    (void)sim_damage(sim, player, 1000, 0);
    CHECK(steps_to_change(sim, npc, SECOND, NPC_ALERT, NPC_SEARCHING) <= 10);
    walk_world_close(&world);
}

TEST(dead_npc_does_nothing)
{
    const WalkWorldDesc desc = walk_world_default();
    WalkWorld world = walk_world_open(&desc);
    Sim *sim = world.sim;
    const NpcDesc npc_desc = npc_desc_default();
    const Handle npc = spawn(sim, &npc_desc);
    (void)walk_player(sim, vec3(0, 0, 8));
    (void)steps_to_change(sim, npc, 3 * SECOND, NPC_IDLE, NPC_SUSPICIOUS);
    (void)sim_damage(sim, npc, 1000, 0);
    CHECK_INT(steps_to_change(sim, npc, 1, NPC_SUSPICIOUS, NPC_IDLE), 1);
    const Vec3 before = feet_of(sim, npc);
    for (uint32_t i = 0; i < 2 * SECOND; i++) {
        sim_step(sim);
        CHECK(state_event(sim, npc) == NULL);
    }
    CHECK(flat_distance(before, feet_of(sim, npc)) < 0.5f);
    CHECK_OK(sim_revive(sim, npc, vec3(0, 0, 0)));
    (void)steps_to_change(sim, npc, 3 * SECOND, NPC_IDLE, NPC_SUSPICIOUS);
    walk_world_close(&world);
}

// --- getting there ------------------------------------------------------------------------------
TEST(patrol_loops_with_pauses)
{
    const WalkWorldDesc desc = walk_world_default();
    WalkWorld world = walk_world_open(&desc);
    Sim *sim = world.sim;
    NpcDesc npc_desc = npc_desc_default();
    npc_desc.patrol_count = 3;
    npc_desc.patrol[0] = vec3(5.5f, 0, 0.5f);
    npc_desc.patrol[1] = vec3(5.5f, 0, 8.5f);
    npc_desc.patrol[2] = vec3(-3.5f, 0, 4.5f);
    const Handle npc = spawn(sim, &npc_desc);
    uint32_t visits = 0;
    uint32_t rested = 0;
    for (uint32_t i = 0; i < 30 * SECOND; i++) {
        sim_step(sim);
        const Npc *mind = npc_at(sim, npc);
        const Vec3 velocity = sim_entity(sim, npc)->velocity;
        rested += vec3_length(velocity) < 0.1f;
        if (mind->patrol_at == (visits + 1) % 3) {
            CHECK(flat_distance(feet_of(sim, npc), npc_desc.patrol[visits % 3]) < 0.8f);
            CHECK(rested > SECOND * 9 / 10 && rested < 2 * SECOND);
            rested = 0;
            visits += 1;
        }
        CHECK_INT(mind->patrol_at, visits % 3);
    }
    CHECK(visits >= 8);
    CHECK_INT(npc_stats(sim).nodes_total, 0); // open ground needs no search
    walk_world_close(&world);
}

// A wall 21 m long with the target behind its middle.
static void build_wall(ChunkStore *store)
{
    CHECK_OK(chunk_store_fill(store, (VoxelCoord){-10, 0, 6}, (VoxelCoord){10, 3, 6}, 1));
}

TEST(chases_around_a_wall_and_keeps_its_distance)
{
    WalkWorldDesc desc = walk_world_default();
    desc.build = build_wall;
    WalkWorld world = walk_world_open(&desc);
    Sim *sim = world.sim;
    NpcDesc npc_desc = npc_desc_default();
    npc_desc.position = vec3(0.5f, 0, 0.5f);
    const Handle npc = spawn(sim, &npc_desc);
    const Handle player = walk_player(sim, vec3(0.5f, 0, 9.5f));
    walk_steps_run(sim, 2 * SECOND);
    CHECK_INT(npc_at(sim, npc)->state, NPC_IDLE); // cannot see it
    CHECK_OK(npc_set_target(sim, npc, player));
    CHECK_INT(npc_at(sim, npc)->state, NPC_ALERT);
    float side = 0;
    float nearest = 1000;
    for (uint32_t i = 0; i < 8 * SECOND; i++) {
        sim_step(sim);
        side = math_max(side, math_abs(feet_of(sim, npc).x));
        nearest = math_min(nearest, flat_distance(feet_of(sim, npc), feet_of(sim, player)));
    }
    CHECK(side > 10);
    CHECK(side < 14);
    CHECK(npc_stats(sim).nodes_total > 0);
    CHECK_NEAR(flat_distance(feet_of(sim, npc), feet_of(sim, player)), 1.45f, 0.15f);
    CHECK(nearest > 1.25f);
    // It looks at the target while it stands.
    const Vec3 to = vec3_sub(feet_of(sim, player), feet_of(sim, npc));
    CHECK_NEAR(sim_entity(sim, npc)->character.input.yaw, math_atan2(to.x, to.z), 0.05f);
    // The target walks on; so does the NPC.
    put(sim, player, vec3(-20.5f, 0, -20.5f));
    walk_steps_run(sim, 10 * SECOND);
    CHECK(flat_distance(feet_of(sim, npc), feet_of(sim, player)) < 1.6f);
    // Target dropped: back to the post.
    CHECK_OK(npc_set_target(sim, npc, HANDLE_NONE));
    CHECK_INT(npc_at(sim, npc)->state, NPC_IDLE);
    walk_world_close(&world);
}

// Steps of one voxel up to a platform four high, and a drop of three on its other side.
static void build_terraces(ChunkStore *store)
{
    for (int32_t i = 0; i < 4; i++) {
        CHECK_OK(chunk_store_fill(store, (VoxelCoord){-2, 0, 4 + 2 * i},
                                  (VoxelCoord){2, i, 5 + 2 * i}, 1));
    }
    CHECK_OK(chunk_store_fill(store, (VoxelCoord){-2, 0, 12}, (VoxelCoord){2, 3, 14}, 1));
    CHECK_OK(chunk_store_fill(store, (VoxelCoord){-2, 0, 15}, (VoxelCoord){2, 0, 18}, 1));
}

TEST(jumps_up_steps_and_drops_down)
{
    WalkWorldDesc desc = walk_world_default();
    desc.build = build_terraces;
    WalkWorld world = walk_world_open(&desc);
    Sim *sim = world.sim;
    NpcDesc npc_desc = npc_desc_default();
    npc_desc.position = vec3(0.5f, 0, 0.5f);
    const Handle npc = spawn(sim, &npc_desc);
    CHECK_OK(npc_move_to(sim, npc, vec3(0.5f, 4, 13.5f)));
    for (uint32_t i = 0; i < 6 * SECOND; i++) {
        sim_step(sim);
        CHECK(npc_at(sim, npc)->stuck_ticks < SECOND / 2); // jumps before it is stuck
    }
    CHECK_NEAR(feet_of(sim, npc).y, 4, 0.05f);
    CHECK(flat_distance(feet_of(sim, npc), vec3(0.5f, 4, 13.5f)) < 0.6f);
    CHECK_INT(npc_at(sim, npc)->travel, NPC_ARRIVED);
    CHECK_OK(npc_move_to(sim, npc, vec3(0.5f, 1, 17.5f)));
    walk_steps_run(sim, 6 * SECOND);
    CHECK_NEAR(feet_of(sim, npc).y, 1, 0.05f);
    CHECK(flat_distance(feet_of(sim, npc), vec3(0.5f, 1, 17.5f)) < 0.6f);
    walk_world_close(&world);
}

// Its way up is blocked where only getting stuck tells: it tries to jump, then goes the other way.
static void build_two_stairs(ChunkStore *store)
{
    for (int32_t side = -8; side <= 8; side += 16) {
        CHECK_OK(chunk_store_set(store, (VoxelCoord){side, 0, 6}, 1));
    }
    CHECK_OK(chunk_store_fill(store, (VoxelCoord){-8, 0, 7}, (VoxelCoord){8, 1, 9}, 1));
}

TEST(stuck_npc_looks_for_another_way)
{
    WalkWorldDesc desc = walk_world_default();
    desc.build = build_two_stairs;
    WalkWorld world = walk_world_open(&desc);
    Sim *sim = world.sim;
    NpcDesc npc_desc = npc_desc_default();
    npc_desc.position = vec3(2.5f, 0, 0.5f);
    const Handle npc = spawn(sim, &npc_desc);
    const Vec3 goal = {0.5f, 2, 8.5f};
    CHECK_OK(npc_move_to(sim, npc, goal));
    walk_steps_run(sim, SECOND);
    CHECK(feet_of(sim, npc).x > 3); // on its way to the nearer stair
    Handle box;
    const PartDesc lid = walk_box(vec3(8, 2.3f, 5.9f), vec3(9, 4, 7.1f)); // no room for a head
    CHECK_OK(sim_spawn_part(sim, &(ShapeDesc){.part = lid}, &box));
    uint32_t stuck = 0;
    for (uint32_t i = 0; i < 14 * SECOND; i++) {
        sim_step(sim);
        const uint32_t ticks = npc_at(sim, npc)->stuck_ticks;
        stuck = ticks > stuck ? ticks : stuck;
    }
    CHECK(stuck >= SECOND / 2);
    CHECK(flat_distance(feet_of(sim, npc), goal) < 0.8f);
    CHECK_NEAR(feet_of(sim, npc).y, 2, 0.05f);
    walk_world_close(&world);
}

TEST(walks_on_floors_of_parts)
{
    PartDesc parts[3] = {walk_box(vec3(-6, -0.5f, -6), vec3(6, 0.25f, 6)),
                         walk_box(vec3(-6, 0.25f, 1.9f), vec3(4, 3, 2.1f)),
                         walk_box(vec3(6, -0.5f, -6), vec3(14, 0.25f, -4))};
    WalkWorldDesc desc = walk_world_default();
    desc.floor = false;
    desc.parts = parts;
    desc.part_count = 3;
    WalkWorld world = walk_world_open(&desc);
    NpcDesc npc_desc = npc_desc_default();
    npc_desc.position = vec3(-4.5f, 0.25f, 4.5f);
    const Handle npc = spawn(world.sim, &npc_desc);
    CHECK_OK(npc_move_to(world.sim, npc, vec3(12.5f, 0.25f, -4.5f)));
    walk_steps_run(world.sim, 12 * SECOND);
    CHECK(flat_distance(feet_of(world.sim, npc), vec3(12.5f, 0, -4.5f)) < 0.8f);
    CHECK_NEAR(feet_of(world.sim, npc).y, 0.25f, 0.05f);
    walk_world_close(&world);
}

TEST(unreachable_goal_ends_and_is_tried_again)
{
    const WalkWorldDesc desc = walk_world_default();
    WalkWorld world = walk_world_open(&desc);
    Sim *sim = world.sim;
    // The goal stands in a closed box.
    walk_fill(sim, (VoxelCoord){6, 0, 6}, (VoxelCoord){10, 3, 10}, 1);
    walk_fill(sim, (VoxelCoord){7, 0, 7}, (VoxelCoord){9, 2, 9}, 0);
    const NpcDesc npc_desc = npc_desc_default();
    const Handle npc = spawn(sim, &npc_desc);
    CHECK_OK(npc_move_to(sim, npc, vec3(8.5f, 0, 8.5f)));
    uint64_t given_up[4] = {0, 0, 0, 0};
    for (uint32_t i = 0; i < 4; i++) {
        walk_steps_run(sim, 10 * SECOND);
        given_up[i] = sim_counters(sim)->paths_given_up;
    }
    CHECK(given_up[0] >= 2);
    CHECK(given_up[3] > given_up[0]); // keeps trying, but rarely
    CHECK(given_up[3] - given_up[0] <= 5);
    CHECK_INT(npc_at(sim, npc)->travel, NPC_STRANDED);
    CHECK(flat_distance(feet_of(sim, npc), vec3(8.5f, 0, 8.5f)) < 5); // as near as it could
    walk_fill(sim, (VoxelCoord){8, 0, 6}, (VoxelCoord){8, 1, 6}, 0);
    walk_steps_run(sim, 14 * SECOND);
    CHECK(flat_distance(feet_of(sim, npc), vec3(8.5f, 0, 8.5f)) < 0.8f);
    walk_world_close(&world);
}

TEST(goal_without_ground_does_not_lead_over_the_edge)
{
    const WalkWorldDesc desc = walk_world_default();
    WalkWorld world = walk_world_open(&desc);
    NpcDesc npc_desc = npc_desc_default();
    npc_desc.position = vec3(30.5f, 0, 0.5f);
    const Handle npc = spawn(world.sim, &npc_desc);
    CHECK_OK(npc_move_to(world.sim, npc, vec3(90, 0, 0.5f)));
    walk_steps_run(world.sim, 40 * SECOND);
    CHECK_NEAR(feet_of(world.sim, npc).y, 0, 0.05f);
    CHECK(feet_of(world.sim, npc).x > 40);
    walk_world_close(&world);
}

TEST(wall_that_grows_in_the_way_is_walked_around)
{
    const WalkWorldDesc desc = walk_world_default();
    WalkWorld world = walk_world_open(&desc);
    Sim *sim = world.sim;
    NpcDesc npc_desc = npc_desc_default();
    npc_desc.position = vec3(0.5f, 0, 0.5f);
    const Handle npc = spawn(sim, &npc_desc);
    const Vec3 goal = {0.5f, 0, 20.5f};
    CHECK_OK(npc_move_to(sim, npc, goal));
    walk_steps_run(sim, SECOND);
    CHECK(feet_of(sim, npc).z > 2);
    walk_fill(sim, (VoxelCoord){-8, 0, 10}, (VoxelCoord){8, 2, 10}, 1);
    for (uint32_t i = 0; i < 9 * SECOND; i++) {
        sim_step(sim);
        CHECK(npc_at(sim, npc)->stuck_ticks < 10); // it noticed in time
    }
    CHECK(flat_distance(feet_of(sim, npc), goal) < 0.8f);
    // A part that comes while it walks does not stop it either.
    Handle door;
    CHECK_OK(npc_move_to(sim, npc, vec3(0.5f, 0, 0.5f)));
    walk_steps_run(sim, SECOND);
    const PartDesc box = walk_box(vec3(8.5f, 0, 9), vec3(30, 3, 12));
    CHECK_OK(sim_spawn_part(sim, &(ShapeDesc){.part = box}, &door));
    walk_steps_run(sim, 15 * SECOND);
    CHECK(flat_distance(feet_of(sim, npc), vec3(0.5f, 0, 0.5f)) < 0.8f);
    walk_world_close(&world);
}

TEST(crowd_at_one_goal_comes_to_rest)
{
    const WalkWorldDesc desc = walk_world_default();
    WalkWorld world = walk_world_open(&desc);
    Handle npcs[30];
    for (uint32_t i = 0; i < 30; i++) {
        NpcDesc npc_desc = npc_desc_default();
        npc_desc.position = vec3((float)(i % 6) * 3 - 10, 0, (float)(i / 6) * 3 - 20);
        npcs[i] = spawn(world.sim, &npc_desc);
        CHECK_OK(npc_move_to(world.sim, npcs[i], vec3(0.5f, 0, 0.5f)));
    }
    walk_steps_run(world.sim, 8 * SECOND);
    for (uint32_t i = 0; i < 30; i++) {
        CHECK_INT(npc_at(world.sim, npcs[i])->travel, NPC_ARRIVED);
        CHECK(flat_distance(feet_of(world.sim, npcs[i]), vec3(0.5f, 0, 0.5f)) < 3);
    }
    walk_world_close(&world);
}

// --- orders -------------------------------------------------------------------------------------
TEST(orders)
{
    WalkWorldDesc desc = walk_world_default();
    desc.config.npc_max = 2;
    WalkWorld world = walk_world_open(&desc);
    Sim *sim = world.sim;
    NpcDesc npc_desc = npc_desc_default();
    npc_desc.net_id = 77;
    const Handle npc = spawn(sim, &npc_desc);
    const Handle player = walk_player(sim, vec3(0, 0, -30));
    Handle unused;
    CHECK_INT(npc_spawn(sim, &npc_desc, &unused), STATUS_EXISTS);
    npc_desc.net_id = 0;
    npc_desc.tuning.sight_cos = 2;
    CHECK_INT(npc_spawn(sim, &npc_desc, &unused), STATUS_RANGE);
    npc_desc.tuning = npc_tuning_default();
    npc_desc.tuning.rise = 0.0f / 1 - 1;
    CHECK_INT(npc_spawn(sim, &npc_desc, &unused), STATUS_RANGE);
    npc_desc.tuning = npc_tuning_default();
    npc_desc.patrol_count = NPC_PATROL_MAX + 1;
    CHECK_INT(npc_spawn(sim, &npc_desc, &unused), STATUS_RANGE);
    npc_desc.patrol_count = 0;
    const Handle second = spawn(sim, &npc_desc); // the failures above have kept no mind
    CHECK_INT(npc_spawn(sim, &npc_desc, &unused), STATUS_LIMIT);
    CHECK_INT(sim_count(sim, ENTITY_NPC), 2);
    CHECK(npc_at(sim, player) == NULL);
    CHECK(npc_at(sim, HANDLE_NONE) == NULL);
    CHECK_INT(npc_stop(sim, player), STATUS_NOT_FOUND);
    CHECK_INT(npc_set_target(sim, npc, npc), STATUS_RANGE);
    CHECK_INT(npc_move_to(sim, npc, vec3(1e9f, 0, 0)), STATUS_RANGE);
    const Vec3 rounds[2] = {{8.5f, 0, 0.5f}, {8.5f, 0, 8.5f}};
    CHECK_OK(npc_set_patrol(sim, npc, rounds, 2));
    walk_steps_run(sim, 2 * SECOND);
    CHECK(feet_of(sim, npc).x > 3);
    CHECK_OK(npc_stop(sim, npc));
    walk_steps_run(sim, 10);
    const Vec3 stopped = feet_of(sim, npc);
    walk_steps_run(sim, 3 * SECOND);
    CHECK(flat_distance(stopped, feet_of(sim, npc)) < 0.7f);
    // After a target that is far out of sight, and no longer when it is gone.
    CHECK_OK(npc_set_target(sim, npc, player));
    walk_steps_run(sim, 8 * SECOND);
    CHECK(flat_distance(feet_of(sim, npc), feet_of(sim, player)) < 1.6f);
    sim_remove(sim, player);
    (void)steps_to_change(sim, npc, SECOND, NPC_ALERT, NPC_SEARCHING);
    sim_remove(sim, second);
    sim_remove(sim, npc);
    sim_step(sim);
    CHECK(npc_at(sim, npc) == NULL);
    CHECK_INT(sim_count(sim, ENTITY_NPC), 0);
    (void)spawn(sim, &npc_desc);
    walk_world_close(&world);
}

TEST(sim_without_minds)
{
    WalkWorldDesc desc = walk_world_default();
    desc.config.npc_max = 0;
    CHECK_INT(npc_bytes(&desc.config), 0);
    WalkWorld world = walk_world_open(&desc);
    const NpcDesc npc_desc = npc_desc_default();
    Handle npc;
    CHECK_INT(npc_spawn(world.sim, &npc_desc, &npc), STATUS_LIMIT);
    walk_steps_run(world.sim, 3);
    CHECK_INT(npc_stats(world.sim).nodes_total, 0);
    Sim *twin = walk_world_twin(&world);
    CHECK(walk_world_copy(&world, world.sim, twin));
    sim_destroy(&world.heap, twin);
    walk_world_close(&world);
    // No budget: minds go straight.
    desc.config.npc_max = 4;
    desc.config.path_nodes_per_tick = 0;
    desc.config.path_cells_max = 0;
    desc.build = build_wall;
    world = walk_world_open(&desc);
    const Handle walker = spawn(world.sim, &npc_desc);
    CHECK_OK(npc_move_to(world.sim, walker, vec3(0.5f, 0, 12.5f)));
    walk_steps_run(world.sim, 3 * SECOND);
    CHECK(feet_of(world.sim, walker).z > 4);
    walk_world_close(&world);
}

// --- cost ---------------------------------------------------------------------------------------
// Rows of walls with gaps at alternating ends.
static void build_rows(ChunkStore *store)
{
    for (int32_t i = -7; i <= 7; i++) {
        const int32_t low = i % 2 == 0 ? -40 : -36;
        CHECK_OK(chunk_store_fill(store, (VoxelCoord){low, 0, 4 * i},
                                  (VoxelCoord){low + 76, 2, 4 * i}, 1));
    }
}

typedef struct Rows {
    WalkWorld world;
    Handle npcs[24];
} Rows;

static Rows rows_open(uint32_t budget)
{
    WalkWorldDesc desc = walk_world_default();
    desc.build = build_rows;
    desc.config.path_nodes_per_tick = budget;
    Rows rows = {.world = walk_world_open(&desc)};
    for (uint32_t i = 0; i < 24; i++) {
        NpcDesc npc_desc = npc_desc_default();
        npc_desc.position = vec3((float)i * 3 - 35.5f, 0, -14.5f);
        npc_desc.tuning.sight_m = 4;
        rows.npcs[i] = spawn(rows.world.sim, &npc_desc);
        CHECK_OK(npc_move_to(rows.world.sim, rows.npcs[i],
                             vec3((float)i * 3 - 35.5f, 0, i % 2 == 0 ? 14.5f : -2.5f)));
    }
    return rows;
}

// Who waits since when; 0: does not.
typedef struct Waiting {
    uint32_t since[24];
    uint32_t next;
    uint64_t ended; // searches, before this step
} Waiting;

// If one search ended in this step, it was that of the NPC that had waited longest.
static uint32_t waiting_watch(Waiting *waiting, const Rows *rows)
{
    const Sim *sim = rows->world.sim;
    const uint64_t ended = npc_stats(sim).searches_ended;
    uint32_t first = 0;
    uint32_t left = 0;
    uint32_t left_since = 0;
    for (uint32_t i = 0; i < 24; i++) {
        const uint32_t since = waiting->since[i];
        const bool waits = npc_at(sim, rows->npcs[i])->queued;
        if (since != 0 && (first == 0 || since < first)) {
            first = since;
        }
        if (since != 0 && !waits) {
            left += 1;
            left_since = since;
        }
        waiting->since[i] = !waits ? 0 : since != 0 ? since : ++waiting->next;
    }
    const bool one = left == 1 && ended == waiting->ended + 1;
    if (one) {
        CHECK_INT(left_since, first);
    }
    waiting->ended = ended;
    return one;
}

TEST(budget_is_kept_and_everyone_is_served_in_turn)
{
    for (uint32_t budget = 1; budget <= 333; budget = budget * 7 - 3) {
        Rows rows = rows_open(budget);
        Sim *sim = rows.world.sim;
        Waiting waiting = {.next = 0};
        uint32_t served = 0;
        uint32_t most = 0;
        for (uint32_t step = 0; step < 1000; step++) {
            // Goals that keep moving: everyone wants a new way all the time.
            const float shift = (float)(step / 20 % 9);
            for (uint32_t i = 0; i < 24; i++) {
                const Vec3 goal = {(float)i * 3 - 35.5f + shift, 0, i % 2 == 0 ? 14.5f : -2.5f};
                CHECK_OK(npc_move_to(sim, rows.npcs[i], goal));
            }
            sim_step(sim);
            const uint32_t nodes = npc_stats(sim).nodes_last;
            CHECK(nodes <= budget);
            most = nodes > most ? nodes : most;
            served += waiting_watch(&waiting, &rows);
            REQUIRE(test_is_passing());
        }
        CHECK_INT(most, budget);
        CHECK(served >= (budget == 1 ? 1 : 6));
        walk_world_close(&rows.world);
    }
}

// Six have goals that cannot be reached and cost the most; the others must not starve.
TEST(costly_searches_do_not_starve_the_others)
{
    WalkWorldDesc desc = walk_world_default();
    desc.build = build_rows;
    desc.config.path_nodes_per_tick = 256;
    WalkWorld world = walk_world_open(&desc);
    Sim *sim = world.sim;
    walk_fill(sim, (VoxelCoord){30, 0, 29}, (VoxelCoord){34, 2, 33}, 1);
    walk_fill(sim, (VoxelCoord){31, 0, 30}, (VoxelCoord){33, 2, 32}, 0);
    Handle npcs[18];
    uint32_t ticks[18] = {0};
    for (uint32_t i = 0; i < 18; i++) {
        NpcDesc npc_desc = npc_desc_default();
        npc_desc.position = vec3((float)i * 3 - 25.5f, 0, -2.5f);
        npcs[i] = spawn(sim, &npc_desc);
        CHECK_OK(npc_move_to(sim, npcs[i],
                             i < 6 ? vec3(32.5f, 0, 31.5f) : vec3((float)i * 3 - 25.5f, 0, 2.5f)));
    }
    for (uint32_t step = 1; step <= 40 * SECOND; step++) {
        sim_step(sim);
        for (uint32_t i = 6; i < 18; i++) {
            if (ticks[i] == 0 && npc_at(sim, npcs[i])->path.count > 0) {
                ticks[i] = step;
            }
        }
    }
    // Ahead of them are at most six searches of 8,192 cells, 256 in a tick, and their own.
    for (uint32_t i = 6; i < 18; i++) {
        CHECK(ticks[i] > 0);
        CHECK(ticks[i] <= 10 + 6 * 8192 / 256 + 12 * 20);
        CHECK_INT(npc_at(sim, npcs[i])->travel, NPC_ARRIVED);
    }
    CHECK(sim_counters(sim)->paths_given_up >= 6);
    walk_world_close(&world);
}

TEST(npc_removed_while_it_waits_or_is_searched_for)
{
    Rows rows = rows_open(40);
    Sim *sim = rows.world.sim;
    for (uint32_t i = 0; i < 23; i++) {
        walk_steps_run(sim, 7);
        CHECK(npc_stats(sim).queue_count > 0);
        sim_remove(sim, rows.npcs[(i * 7 + 3) % 23]); // in an order that is not the queue's
    }
    walk_steps_run(sim, 20 * SECOND);
    CHECK_INT(npc_stats(sim).queue_count, 0);
    CHECK_INT(npc_at(sim, rows.npcs[23])->travel, NPC_ARRIVED);
    walk_world_close(&rows.world);
}

TEST(step_takes_no_memory)
{
    Rows rows = rows_open(200);
    for (uint32_t i = 0; i < 8; i++) {
        (void)walk_player(rows.world.sim, vec3((float)i * 8 - 28.5f, 0, -13.5f));
    }
    heap_freeze(&rows.world.heap);
    walk_steps_run(rows.world.sim, 10 * SECOND);
    heap_thaw(&rows.world.heap);
    CHECK(npc_stats(rows.world.sim).nodes_total > 1000);
    walk_world_close(&rows.world);
}

// --- save and restore ---------------------------------------------------------------------------
TEST(restored_minds_go_on_exactly)
{
    Rows rows = rows_open(25);
    Sim *sim = rows.world.sim;
    (void)walk_player(sim, vec3(-20.5f, 0, -12.5f));
    (void)walk_player(sim, vec3(9.5f, 0, -9.5f));
    // Some goals cannot be reached, and one NPC has lost its target.
    walk_fill(sim, (VoxelCoord){39, 0, -3}, (VoxelCoord){45, 3, 3}, 1);
    walk_fill(sim, (VoxelCoord){40, 0, -2}, (VoxelCoord){44, 3, 2}, 0);
    CHECK_OK(npc_move_to(sim, rows.npcs[20], vec3(42.5f, 0, 0.5f)));
    const Handle prey = walk_player(sim, vec3(20.5f, 0, -14.5f));
    Sim *twin = walk_world_twin(&rows.world);
    uint32_t searching = 0;
    for (uint32_t round = 0; round < 12; round++) {
        if (round == 1) {
            CHECK_OK(npc_set_target(sim, rows.npcs[2], prey));
        } else if (round == 2) {
            sim_remove(sim, prey);
        }
        walk_steps_run(sim, 1 + round * 9);
        searching += npc_stats(sim).queue_count > 0;
        REQUIRE(walk_world_copy(&rows.world, sim, twin));
        CHECK(sim_hash(sim) == sim_hash(twin));
        for (uint32_t i = 0; i < 60; i++) {
            sim_step(sim);
            sim_step(twin);
            CHECK(sim_hash(sim) == sim_hash(twin));
        }
        REQUIRE(test_is_passing());
    }
    CHECK(searching >= 3); // or the searches in progress were not tested
    CHECK(npc_stats(sim).sight_rays > 0);
    sim_destroy(&rows.world.heap, twin);
    walk_world_close(&rows.world);
}

// Through all states, and with a goal that is asked for again and again.
TEST(restored_in_every_state)
{
    const WalkWorldDesc desc = walk_world_default();
    WalkWorld world = walk_world_open(&desc);
    Sim *sim = world.sim;
    walk_fill(sim, (VoxelCoord){30, 0, 30}, (VoxelCoord){34, 3, 34}, 1);
    walk_fill(sim, (VoxelCoord){31, 0, 31}, (VoxelCoord){33, 3, 33}, 0);
    NpcDesc npc_desc = npc_desc_default();
    npc_desc.tuning.search_ms = 3000;
    npc_desc.patrol_count = 1;
    npc_desc.patrol[0] = vec3(0, 0, 2.5f);
    const Handle guard = spawn(sim, &npc_desc);
    npc_desc.position = vec3(20, 0, 20);
    npc_desc.patrol_count = 0;
    const Handle lost = spawn(sim, &npc_desc);
    CHECK_OK(npc_move_to(sim, lost, vec3(32.5f, 0, 32.5f)));
    const Handle player = walk_player(sim, vec3(0, 0, 12));
    Sim *twin = walk_world_twin(&world);
    uint32_t states = 0;
    for (uint32_t round = 0; round < 100; round++) {
        if (round == 16) { // a moment after it has become alert
            put(sim, player, vec3(40, 0, -40));
        }
        REQUIRE(walk_world_copy(&world, sim, twin));
        for (uint32_t i = 0; i < 7; i++) {
            sim_step(sim);
            sim_step(twin);
            CHECK(sim_hash(sim) == sim_hash(twin));
            states |= 1u << npc_at(sim, guard)->state;
        }
        REQUIRE(test_is_passing());
    }
    CHECK_INT(states, 0xf);
    CHECK_INT(npc_at(sim, guard)->state, NPC_IDLE);
    CHECK(sim_counters(sim)->paths_given_up >= 2);
    sim_destroy(&world.heap, twin);
    walk_world_close(&world);
}

static uint8_t saved[1 << 20];
static uint8_t broken[sizeof saved];

static Status minds_load(Sim *sim, const uint8_t *bytes, size_t count)
{
    ByteReader reader = byte_reader(bytes, count);
    StateIo io = {.mode = STATE_READ, .reader = &reader};
    npc_visit(sim, &io);
    if (!state_ok(&io)) {
        CHECK_INT(npc_stats(sim).queue_count, 0);
    }
    return byte_reader_finish(&reader);
}

// Every byte changed into every small number, in the state of three minds that wait for ways. What
// is accepted must hold together: all NPCs can be removed, and nothing of them is left.
TEST(no_byte_makes_the_queue_lie)
{
    WalkWorldDesc desc = walk_world_default();
    desc.build = build_rows;
    desc.config.npc_max = 4;
    desc.config.path_nodes_per_tick = 4;
    WalkWorld world = walk_world_open(&desc);
    Sim *sim = world.sim;
    for (uint32_t i = 0; i < 4; i++) {
        NpcDesc npc_desc = npc_desc_default();
        npc_desc.position = vec3((float)i * 3, 0, -2.5f);
        const Handle npc = spawn(sim, &npc_desc);
        CHECK_OK(npc_move_to(sim, npc, vec3((float)i * 3, 0, 2.5f)));
    }
    walk_steps_run(sim, 13);
    CHECK_INT(npc_stats(sim).queue_count, 4);
    ByteWriter writer = byte_writer(saved, sizeof saved);
    StateIo io = {.mode = STATE_WRITE, .writer = &writer};
    npc_visit(sim, &io);
    REQUIRE(writer.status == STATUS_OK);
    Sim *twin = walk_world_twin(&world);
    uint32_t accepted = 0;
    REQUIRE(walk_world_copy(&world, sim, twin));
    for (size_t at = 0; at < writer.at; at++) {
        for (uint32_t value = 0; value <= 5; value++) {
            memcpy(broken, saved, writer.at);
            broken[at] = value == 5 ? 255 : (uint8_t)value;
            if (minds_load(twin, broken, writer.at) != STATUS_OK) {
                continue;
            }
            accepted += 1;
            for (Handle npc = sim_next(twin, HANDLE_NONE, ENTITY_MASK(ENTITY_NPC));
                 !handle_is_none(npc); npc = sim_next(twin, npc, ENTITY_MASK(ENTITY_NPC))) {
                sim_remove(twin, npc);
            }
            sim_step(twin);
            CHECK_INT(npc_stats(twin).queue_count, 0);
            REQUIRE(walk_world_copy(&world, sim, twin));
        }
        REQUIRE(test_is_passing());
    }
    CHECK(accepted > 100);
    sim_destroy(&world.heap, twin);
    walk_world_close(&world);
}

TEST(broken_bytes_are_refused_or_harmless)
{
    Rows rows = rows_open(30);
    Sim *sim = rows.world.sim;
    (void)walk_player(sim, vec3(0.5f, 0, -12.5f));
    walk_steps_run(sim, 40);
    CHECK(npc_stats(sim).queue_count > 0);
    ByteWriter writer = byte_writer(saved, sizeof saved);
    StateIo io = {.mode = STATE_WRITE, .writer = &writer};
    npc_visit(sim, &io);
    REQUIRE(writer.status == STATUS_OK);
    Sim *twin = walk_world_twin(&rows.world);
    REQUIRE(walk_world_copy(&rows.world, sim, twin));
    Rng rng = rng_make(test_seed(), 4);
    uint32_t refused = 0;
    for (size_t cut = 0; cut < writer.at; cut += 37) {
        CHECK(minds_load(twin, saved, cut) != STATUS_OK);
    }
    CHECK_OK(minds_load(twin, saved, writer.at));
    for (uint32_t i = 0; i < 1500; i++) {
        memcpy(broken, saved, writer.at);
        for (uint32_t n = rng_below(&rng, 3) + 1; n > 0; n--) {
            broken[rng_below(&rng, (uint32_t)writer.at)] = (uint8_t)rng_u32(&rng);
        }
        if (minds_load(twin, broken, writer.at) != STATUS_OK) {
            refused += 1;
            continue;
        }
        walk_steps_run(twin, 12);
        if (i % 8 == 0) {
            REQUIRE(walk_world_copy(&rows.world, sim, twin));
        }
    }
    CHECK(refused > 100);
    REQUIRE(walk_world_copy(&rows.world, sim, twin));
    sim_destroy(&rows.world.heap, twin);
    walk_world_close(&rows.world);
}
