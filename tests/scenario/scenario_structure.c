// Structures that players build: pieces that support each other, and collapse when the support is
// removed.
#include "tests/scenario/scenario.h"

#include <string.h>

enum { PIECE_CUBE, PIECE_WALL, PIECE_FLOOR, PIECE_PILLAR, PIECE_FOUNDATION };

static void add_catalogue(ScenarioWorld *world)
{
    world->pieces[PIECE_CUBE] = (PieceDesc){1, 1, 1, 0, 50};
    world->pieces[PIECE_WALL] = (PieceDesc){4, 3, 1, 0, 100};
    world->pieces[PIECE_FLOOR] = (PieceDesc){4, 1, 4, 0, 100};
    world->pieces[PIECE_PILLAR] = (PieceDesc){1, 4, 1, 0, 80};
    world->pieces[PIECE_FOUNDATION] = (PieceDesc){3, 1, 2, PIECE_GROUND_ONLY, 200};
    world->piece_count = 5;
}

static Status place(ScenarioWorld *world, uint64_t owner, uint32_t piece, VoxelCoord cell,
                    uint32_t turn, Handle *out)
{
    const StructureDesc desc = {.owner_id = owner, .piece = piece, .cell = cell, .turn = turn};
    const Status check = structure_check(world->sim, &desc);
    Handle made = HANDLE_NONE;
    const Status status = structure_place(world->sim, &desc, &made);
    scenario_expect(world, check == status, "the check says %s, placing says %s",
                    status_name(check), status_name(status));
    if (status == STATUS_OK && out != NULL) {
        *out = made;
    }
    return status;
}

static void must_place(ScenarioWorld *world, uint32_t piece, int32_t x, int32_t y, int32_t z,
                       uint32_t turn, Handle *out)
{
    const Status status = place(world, 1, piece, (VoxelCoord){x, y, z}, turn, out);
    scenario_expect(world, status == STATUS_OK, "piece %u at %d %d %d: %s", piece, x, y, z,
                    status_text(status));
}

static void must_refuse(ScenarioWorld *world, uint32_t piece, int32_t x, int32_t y, int32_t z,
                        uint32_t turn, Status want)
{
    const Status status = place(world, 1, piece, (VoxelCoord){x, y, z}, turn, NULL);
    scenario_expect(world, status == want, "piece %u at %d %d %d: %s, not %s", piece, x, y, z,
                    status_name(status), status_name(want));
}

// --- building -----------------------------------------------------------------------------------
static struct {
    Handle visitor, builder;
    float visitor_top;
} house;

static void house_build(ScenarioWorld *world)
{
    memset(&house, 0, sizeof house);
    add_catalogue(world);
    scenario_ground(world, 24);
    (void)scenario_part(world, part_box(vec3(12, 0.5f, 12), vec3(2, 0.5f, 2))); // a plinth
    (void)scenario_part(
        world, part_turned(part_box(vec3(-12, 1, 0), vec3(2, 0.2f, 1)), vec3(0, 0, 1), 0.5f));
    world->config.structures_per_player_max = 24;
    scenario_open(world);
    house.builder = scenario_player(world, vec3(-4, 0, -4));
    house.visitor = scenario_player(world, vec3(2, 0, -6));
}

static void house_refusals(ScenarioWorld *world)
{
    must_refuse(world, PIECE_CUBE, 0, 6, 0, 0, STATUS_DENIED);       // in the air
    must_refuse(world, PIECE_CUBE, 0, -1, 0, 0, STATUS_BLOCKED);     // in the ground
    must_refuse(world, PIECE_WALL, 0, 0, 0, 0, STATUS_BLOCKED);      // where one stands
    must_refuse(world, PIECE_CUBE, -4, 0, -4, 0, STATUS_BLOCKED);    // where a player stands
    must_refuse(world, PIECE_CUBE, 0, 0, 0, 4, STATUS_RANGE);        // no such turn
    must_refuse(world, 77, 0, 0, 0, 0, STATUS_NOT_FOUND);            // no such piece
    must_refuse(world, PIECE_FOUNDATION, 0, 4, 1, 0, STATUS_DENIED); // not on the ground
    must_refuse(world, PIECE_CUBE, -13, 1, 0, 0, STATUS_BLOCKED);    // in the tilted part
}

static void house_drive(ScenarioWorld *world)
{
    scenario_stand(world, house.builder);
    // The visitor walks up to the wall and jumps at it.
    scenario_walk(world, house.visitor, vec3(0, 0, 1), world->tick % 50 < 2 ? INPUT_JUMP : 0u);
    house.visitor_top = math_max(house.visitor_top, scenario_feet(world, house.visitor).y);
    switch (world->tick) {
    case 10:
        must_place(world, PIECE_WALL, 0, 0, 0, 0, NULL);
        must_place(world, PIECE_WALL, 4, 0, 1, 1, NULL); // along z
        must_place(world, PIECE_WALL, -1, 0, 1, 3, NULL);
        break;
    case 20:
        must_place(world, PIECE_FLOOR, 0, 3, 0, 0, NULL); // the roof
        must_place(world, PIECE_CUBE, 4, 3, 0, 0, NULL);  // hangs on the roof's side
        must_place(world, PIECE_FOUNDATION, 8, 0, 0, 0, NULL);
        must_place(world, PIECE_CUBE, 12, 1, 12, 0, NULL); // on the plinth
        break;
    case 30:
        house_refusals(world);
        break;
    case 40:
        // A beam of cubes out into the air, until nothing holds it.
        for (int32_t i = 5; i < 20; i++) {
            if (place(world, 1, PIECE_CUBE, (VoxelCoord){i, 3, 0}, 0, NULL) != STATUS_OK) {
                scenario_expect(world, i > 7 && i < 14, "the beam ends at %d", i);
                break;
            }
        }
        break;
    case 50: {
        // A tower until the player has as many as allowed.
        Status status = STATUS_OK;
        for (int32_t i = 0; status == STATUS_OK && i < 60; i++) {
            status = place(world, 1, PIECE_CUBE, (VoxelCoord){-8 - i % 2 * 3, i / 2, 8}, 0, NULL);
        }
        scenario_expect(world, status == STATUS_LIMIT || status == STATUS_DENIED,
                        "the tower ended with %s", status_name(status));
        break;
    }
    default:
        break;
    }
}

static void house_finish(ScenarioWorld *world)
{
    scenario_expect(world, sim_count(world->sim, ENTITY_STRUCTURE) == 24, "%u structures stand",
                    sim_count(world->sim, ENTITY_STRUCTURE));
    scenario_expect(world, scenario_total(world, SIM_EVENT_STRUCTURE_REMOVED) == 0,
                    "one was removed");
    const Vec3 visitor = scenario_feet(world, house.visitor);
    scenario_expect(world, visitor.z < -0.2f && visitor.z > -1,
                    "the wall did not stop the visitor: %f", (double)visitor.z);
}

// --- collapse -----------------------------------------------------------------------------------
static struct {
    Handle pillar, tower[6], bridge[5], shot_at, mine;
    Handle on_bridge, on_tower;
    uint32_t collapsed, destroyed, removed;
    uint32_t standing_before;
    float on_bridge_y;
} fall;

static void fall_build(ScenarioWorld *world)
{
    memset(&fall, 0, sizeof fall);
    add_catalogue(world);
    scenario_ground(world, 24);
    scenario_open(world);
}

static void fall_raise(ScenarioWorld *world)
{
    // Two pillars with a bridge of floors between; a tower; a wall to shoot at; one to remove.
    must_place(world, PIECE_PILLAR, 0, 0, 0, 0, &fall.pillar);
    for (int32_t i = 0; i < 5; i++) {
        must_place(world, PIECE_FLOOR, i * 4, 4, 0, 0, &fall.bridge[i]);
    }
    for (int32_t i = 0; i < 6; i++) {
        must_place(world, PIECE_CUBE, -8, i, 8, 0, &fall.tower[i]);
    }
    must_place(world, PIECE_WALL, -12, 0, -8, 0, &fall.shot_at);
    must_place(world, PIECE_CUBE, -12, 3, -8, 0, NULL);
    must_place(world, PIECE_CUBE, 14, 0, -12, 0, &fall.mine);
    // On the ground below the tower's edge: dug away later.
    must_place(world, PIECE_WALL, 10, 0, 12, 0, NULL);
    must_place(world, PIECE_FLOOR, 10, 3, 12, 0, NULL);
    fall.on_bridge = scenario_player(world, vec3(9, 5, 2));
    fall.on_tower = scenario_player(world, vec3(-7.5f, 6, 8.5f));
    fall.standing_before = sim_count(world->sim, ENTITY_STRUCTURE);
}

static void fall_count(ScenarioWorld *world)
{
    uint32_t count = 0;
    const SimEvent *events = sim_events(world->sim, &count);
    for (uint32_t i = 0; i < count; i++) {
        if (events[i].type == SIM_EVENT_STRUCTURE_REMOVED) {
            fall.collapsed += events[i].detail == STRUCTURE_COLLAPSED;
            fall.destroyed += events[i].detail == STRUCTURE_DESTROYED;
            fall.removed += events[i].detail == STRUCTURE_REMOVED;
        }
    }
}

static void fall_drive(ScenarioWorld *world)
{
    fall_count(world);
    for (uint32_t i = 0; i < world->player_count; i++) {
        scenario_stand(world, world->players[i]);
    }
    switch (world->tick) {
    case 5:
        fall_raise(world);
        break;
    case 60:
        scenario_expect(world, structure_remove(world->sim, fall.mine, 2) == STATUS_DENIED,
                        "a stranger may remove it");
        scenario_expect_ok(world, "remove", structure_remove(world->sim, fall.mine, 1));
        fall.on_bridge_y = scenario_feet(world, fall.on_bridge).y;
        // What is being removed is still in the way, but holds nothing any more.
        must_refuse(world, PIECE_CUBE, 14, 0, -12, 0, STATUS_BLOCKED);
        must_refuse(world, PIECE_CUBE, 14, 1, -12, 0, STATUS_DENIED);
        break;
    case 100: // the bridge loses its only pillar
        scenario_expect_ok(world, "remove", structure_remove(world->sim, fall.pillar, 0));
        break;
    case 200: // the middle of the tower
        scenario_expect_ok(world, "remove", structure_remove(world->sim, fall.tower[2], 1));
        break;
    case 300: // the ground under a wall with a roof
        scenario_expect_ok(world, "dig",
                           terrain_fill_box(sim_terrain(world->sim), (VoxelCoord){9, -3, 11},
                                            (VoxelCoord){15, -1, 14}, VOXEL_AIR, NULL));
        break;
    default:
        break;
    }
    if (world->tick >= 400 && world->tick < 460 && world->tick % 10 == 0) {
        Handle shot = HANDLE_NONE;
        const ProjectileDesc desc = {.position = vec3(-10, 1.5f, -14),
                                     .velocity = vec3(0, 0, 60),
                                     .damage = 30,
                                     .lifetime_ticks = 60};
        scenario_expect_ok(world, "shoot", projectile_fire(world->sim, &desc, &shot));
    }
}

static void fall_finish(ScenarioWorld *world)
{
    fall_count(world);
    scenario_expect(world, fall.standing_before >= 15, "%u stood", fall.standing_before);
    scenario_expect(world, fall.removed == 3, "%u were removed", fall.removed);
    scenario_expect(world, fall.destroyed == 1, "%u were destroyed", fall.destroyed);
    // Five floors, three cubes of the tower, wall and roof over the pit, the cube on the wall.
    scenario_expect(world, fall.collapsed == 5 + 3 + 2 + 1, "%u collapsed", fall.collapsed);
    scenario_expect(world, sim_count(world->sim, ENTITY_STRUCTURE) == 2, "%u still stand",
                    sim_count(world->sim, ENTITY_STRUCTURE));
    scenario_expect_near(world, "the height on the bridge", fall.on_bridge_y, 5, 0.05f);
    scenario_expect_near(world, "the height after it fell", scenario_feet(world, fall.on_bridge).y,
                         0, 0.05f);
    scenario_expect_near(world, "the height after the tower fell",
                         scenario_feet(world, fall.on_tower).y, 2, 0.05f);
}

const Scenario scenarios_structure[] = {
    {"building", "a house is built piece by piece; what must be refused is refused", 300,
     house_build, house_drive, house_finish},
    {"collapse", "a bridge, a tower and a house fall when what holds them goes", 520, fall_build,
     fall_drive, fall_finish},
    {0},
};
