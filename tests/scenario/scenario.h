// A scenario is a small world with fixed inputs. It is built, run tick by tick, and at the end it
// checks that what it is about has really happened. The expected result, bit for bit, is in
// expected/<name>.txt: a readable summary with state hashes from several ticks. Every compiler and
// WebAssembly must agree with that one file. A summary is written only if the checks in the
// scenario's own code (scenario_expect) hold.
//
// While a scenario runs, the world checks after every step that no living character is inside
// anything by more than a millimetre, and that every number is finite.
#pragma once

#include "core/base/heap.h"
#include "core/base/rng.h"
#include "core/sim/npc.h"
#include "core/sim/projectile.h"
#include "core/sim/sim.h"
#include "core/sim/structure.h"

#include <stdbool.h>
#include <stdint.h>

typedef struct ScenarioWorld ScenarioWorld;

typedef struct Scenario {
    const char *name;
    const char *purpose; // one line
    uint32_t ticks;
    void (*build)(ScenarioWorld *world);  // terrain, parts, scenario_open, then who is in it
    void (*drive)(ScenarioWorld *world);  // before each step; sees the events of the step before
    void (*finish)(ScenarioWorld *world); // after the last step: what must have happened
} Scenario;

#define SCENARIO_PARTS_MAX   1200
#define SCENARIO_PIECES_MAX  8
#define SCENARIO_PLAYERS_MAX 160
#define SCENARIO_HASHES_MAX  16 // along the way, evenly spaced

struct ScenarioWorld {
    const Scenario *scenario;
    // Set by build, before scenario_open.
    SimConfig config;
    ChunkStore *chunks;
    PartDesc parts[SCENARIO_PARTS_MAX];
    uint32_t part_count;
    PieceDesc pieces[SCENARIO_PIECES_MAX];
    uint32_t piece_count;
    Aabb bounds;
    bool no_terrain; // the scene then has no chunk store at all
    // From scenario_open on.
    Heap heap;
    Scene *scene;
    Sim *sim;
    Rng rng;       // for inputs; the sim has its own
    uint32_t tick; // steps done
    uint32_t input_seq;
    Handle players[SCENARIO_PLAYERS_MAX];
    uint32_t player_count;
    // What the world saw.
    uint64_t event_counts[SIM_EVENT_TYPE_COUNT];
    SimCounters counters; // of sims that a restore has replaced
    uint64_t hashes[SCENARIO_HASHES_MAX];
    uint32_t hash_ticks[SCENARIO_HASHES_MAX];
    uint32_t hash_count;
    uint64_t hash;
    bool quiet; // failures are counted, not printed
    bool may_overlap;
    uint32_t failure_count;
};

// --- building, before scenario_open
// ---------------------------------------------------------------- Corners are inclusive.
void scenario_terrain(ScenarioWorld *world, VoxelCoord min, VoxelCoord max, VoxelKind kind);
// A slab of terrain whose top is y = 0, from -edge to +edge.
void scenario_ground(ScenarioWorld *world, int32_t edge);
// Gently rolling hills of one-metre steps around y = 0, the same for equal seeds.
void scenario_hills(ScenarioWorld *world, int32_t edge, uint64_t seed);
// An anchored part; returns its net id.
uint64_t scenario_part(ScenarioWorld *world, PartDesc part);
void scenario_open(ScenarioWorld *world);

PartDesc part_box(Vec3 centre, Vec3 half);
// `centre` is the middle of the box that the wedge is cut from; it rises towards +z, turned by yaw.
PartDesc part_wedge(Vec3 centre, Vec3 half, float yaw);
PartDesc part_sphere(Vec3 centre, float radius);
PartDesc part_cylinder(Vec3 centre, float radius, float half_length);
PartDesc part_turned(PartDesc part, Vec3 axis, float radians);
PartDesc part_flagged(PartDesc part, uint32_t flags);
// A ghost that reports who is inside.
PartDesc part_zone(Vec3 centre, Vec3 half);

// --- who and what is in it ----------------------------------------------------------------------
Handle scenario_player(ScenarioWorld *world, Vec3 feet);
Handle scenario_spawn(ScenarioWorld *world, PartDesc part);
// From now on, over the ticks that come next, or after the last segment given.
void scenario_move(ScenarioWorld *world, Handle part, Vec3 velocity, Vec3 angular_velocity,
                   uint32_t ticks);

// --- driving ------------------------------------------------------------------------------------
void scenario_input(ScenarioWorld *world, Handle character, SimInput input);
// Walks in the world direction given (its y does not matter); zero stands still.
void scenario_walk(ScenarioWorld *world, Handle player, Vec3 direction, uint32_t buttons);
void scenario_stand(ScenarioWorld *world, Handle player);
// Changes its mind every `ticks` ticks on average: direction, running, jumping.
void scenario_wander(ScenarioWorld *world, Handle player, uint32_t ticks);
// A point in a box. Numbers are drawn one by one: compilers differ in the order in which they work
// out arguments and initialisers, so no expression here draws two.
Vec3 scenario_random(Rng *rng, Vec3 low, Vec3 high);
// Replaces the sim by a fresh one that has read what this one wrote.
void scenario_restore(ScenarioWorld *world);

// --- looking ------------------------------------------------------------------------------------
const Entity *scenario_at(const ScenarioWorld *world, Handle entity); // must be there
Vec3 scenario_feet(const ScenarioWorld *world, Handle entity);
uint64_t scenario_net_id(const ScenarioWorld *world, Handle entity);
float scenario_distance(Vec3 a, Vec3 b);
float scenario_distance_flat(Vec3 a, Vec3 b); // without y
// Events of the last step; subject and other 0 match any.
uint32_t scenario_seen(const ScenarioWorld *world, SimEventType type, uint64_t subject,
                       uint64_t other);
uint64_t scenario_total(const ScenarioWorld *world, SimEventType type);

// A scenario that does not do what it is for has failed; the message says what was found.
void scenario_expect(ScenarioWorld *world, bool holds, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
// got within tolerance of want.
void scenario_expect_near(ScenarioWorld *world, const char *what, float got, float want,
                          float tolerance);
void scenario_expect_ok(ScenarioWorld *world, const char *what, Status status);

// --- running ------------------------------------------------------------------------------------
// Runs the whole scenario; with `restore` the sim is saved and restored in the middle, which must
// change nothing. The caller reads the world and then closes it.
void scenario_run(ScenarioWorld *world, const Scenario *scenario, bool restore);
void scenario_close(ScenarioWorld *world);

// The topics; each list ends with an entry without a name.
extern const Scenario scenarios_crowd[];
extern const Scenario scenarios_edit[];
extern const Scenario scenarios_fall[];
extern const Scenario scenarios_npc[];
extern const Scenario scenarios_part_data[];
extern const Scenario scenarios_platform[];
extern const Scenario scenarios_projectile[];
extern const Scenario scenarios_shape[];
extern const Scenario scenarios_slope[];
extern const Scenario scenarios_structure[];
extern const Scenario scenarios_whole[];
