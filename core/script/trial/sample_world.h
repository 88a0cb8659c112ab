// A small world for scripts that are tried out: `sandlot script run`, tests, and the snippets of
// the guide. Flat ground, a few parts to play with, prefabs, one player, and both sides joined by a
// loopback.
//
//   name      what                                            where
//   Door      a solid part                                    (0, 1.5, 6)
//   Platform  a low slab to stand on and to move              (8, 0.25, 0)
//   Zone      a trigger that does not block                   (-8, 1.5, 0)
//   Button    a solid part that reports who touches it        (4, 0.5, 6)
//   Wall      a long solid part                               (0, 2, -16)
//
// Prefabs: Crate and Lift (parts), Coin (a prop that is a trigger, tag "coin", attribute value =
// 1), Spark (a prop), Bullet and Arrow (projectiles; an arrow falls), Guard (an NPC). Pieces to
// build: 0 is a block, 1 a wall of 3 x 3 blocks. The player is "player1" with id 1, at the origin.
#pragma once

#include "core/script/trial/loopback.h"

#define SAMPLE_WORLD_PLAYER 1 // its player id

typedef struct SampleWorld SampleWorld;

typedef struct SampleWorldConfig {
    bool server; // the side has a script system
    bool client;
    ScriptConfig script; // of each side; the world in it is not used
    double unix_seconds; // when the world begins
    float drop_chance;   // of unreliable messages
    uint32_t store_ticks;
} SampleWorldConfig;

SampleWorldConfig sample_world_config_default(void); // both sides
MUST_USE Status sample_world_create(Heap *heap, const SampleWorldConfig *config, SampleWorld **out);
void sample_world_destroy(Heap *heap, SampleWorld *world); // NULL is allowed

ScriptSystem *sample_world_scripts(SampleWorld *world, ScriptSide side); // NULL: has none
Sim *sample_world_sim(SampleWorld *world);
Authority *sample_world_authority(SampleWorld *world);
View *sample_world_view(SampleWorld *world);
Loopback *sample_world_loopback(SampleWorld *world);
uint64_t sample_world_character(SampleWorld *world); // net id; 0 while it has none

// The player's input from now on.
void sample_world_input(SampleWorld *world, const SimInput *input);
// A key or action goes down or up; the client's scripts get an event.
MUST_USE Status sample_world_key(SampleWorld *world, Text key, bool down);
// Ticks: inputs, scripts of the server, scripts of the client, sim, events.
void sample_world_step(SampleWorld *world, uint32_t ticks);
