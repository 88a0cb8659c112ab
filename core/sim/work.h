// What the sim does for the things of scripts, counted in steps of about two nanoseconds, as the
// scripts' own steps are (core/script/vm/vm.h): items that a query looks at, shapes that are
// tested, nodes of a path, events for players. The counts follow from the state alone, so they are
// the same on every machine and may decide.
//
// A thing knows its maker: a number from 1 to SIM_MAKERS_MAX that the owner of the sim chose (the
// slot of a script), or 0 for what belongs to the place and to players. All makers together have
// SIM_MAKER_STEPS_PER_TICK in a tick. If they wanted more in the last tick, each gets an equal part
// in this one, and what some leave goes to the others: so the dearest are cut first, and who needs
// little never is. Who has used up its part has the rest of its projectiles and NPCs stand still in
// this tick. Parts are never held back: clients know their motion ahead.
#pragma once

#include "core/base/arena.h"
#include "core/sim/entity.h"
#include "core/sim/state.h"

typedef struct Sim Sim;
typedef struct Work Work;

// What things cost besides the queries that they make (see grid.h).
#define WORK_PROJECTILE_STEPS 100 // one tick of one
#define WORK_CHARACTER_STEPS  800
#define WORK_MIND_STEPS       200
#define WORK_PART_STEPS       150 // one tick of one that moves
#define WORK_IGNORED_PER_STEP 4   // things that a ray does not count, compared in a step
#define WORK_TEST_STEPS       40  // a shape or a capsule against a way
#define WORK_COLLIDER_STEPS   60  // one thing around a character, for all tests of a tick
#define WORK_COLUMN_STEPS     8   // up to 64 voxels above each other
#define WORK_METRE_STEPS      6   // of a ray through terrain
#define WORK_NODE_STEPS       300 // of a path
#define WORK_EVENT_STEPS      20  // and WORK_PLAYER_STEPS for each player
#define WORK_PLAYER_STEPS     10
#define WORK_STANDING_STEPS   10 // a thing that is there, in each tick, and one for 8 players

size_t work_bytes(void);
MUST_USE Status work_init(Arena *arena, Work **out);
void work_clear(Work *work);

// A step begins: computes how much each maker may use, from the last one.
void work_begin(Sim *sim);
// Whether things of that maker still move in this tick.
bool work_allows(const Sim *sim, uint32_t maker);
void work_skip(Sim *sim, uint32_t maker); // one of them was skipped
// Charges what was counted since `since`, a value of sim_work.
void work_charge(Sim *sim, uint32_t maker, uint64_t since);
// A thing of that maker came or went.
void work_count(Sim *sim, const Entity *entity, bool came);

// Whether the last step was over its budget; only then does the next step depend on these numbers.
bool work_is_tight(const Sim *sim);
void work_visit(Sim *sim, StateIo *io);
