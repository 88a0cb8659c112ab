// The content of an entity slot. Entities are plain values: other folders read them through
// sim_entity() and change them only through the functions of sim.h, which keep the grid, the masks
// and the history up to date.
#pragma once

#include "core/base/pool.h"
#include "core/sim/motion.h"
#include "core/sim/scene.h"
#include "core/sim/shape.h"

#include <stdbool.h>
#include <stdint.h>

typedef enum EntityType {
    ENTITY_NONE,
    ENTITY_PLAYER, // a character moved by inputs
    ENTITY_NPC,    // a character moved by npc.c
    ENTITY_PROJECTILE,
    ENTITY_PART,      // a shape that blocks, anchored or moved by motion segments
    ENTITY_PROP,      // a shape that never blocks: pickups, decoration
    ENTITY_STRUCTURE, // a catalogue piece that a player built
    ENTITY_TYPE_COUNT
} EntityType;

#define ENTITY_MASK(type)      (1u << (type))
#define ENTITY_MASK_CHARACTERS (ENTITY_MASK(ENTITY_PLAYER) | ENTITY_MASK(ENTITY_NPC))
#define ENTITY_MASK_SHAPES \
    (ENTITY_MASK(ENTITY_PART) | ENTITY_MASK(ENTITY_PROP) | ENTITY_MASK(ENTITY_STRUCTURE))
#define ENTITY_MASK_ALL ((1u << ENTITY_TYPE_COUNT) - 2)

typedef enum InputButton {
    INPUT_JUMP = 1 << 0,
    INPUT_RUN = 1 << 1,
    INPUT_FIRE = 1 << 2,
    INPUT_USE = 1 << 3,
    // Those between them belong to the place's own actions.
    INPUT_CROUCH = 1 << 15,
    INPUT_BUTTONS_ALL = 0xffff
} InputButton;

// One tick of a player's intent. Any values may arrive: sim clamps move to length 1, wraps yaw,
// clamps pitch, and reads numbers that are not finite as zero.
typedef struct SimInput {
    uint32_t seq;
    float move_x, move_z; // right, forward; relative to yaw
    float yaw, pitch;     // yaw 0 looks along +z, and turns towards +x
    uint32_t buttons;     // InputButton
} SimInput;

#define CHARACTER_TRIGGERS_MAX 8

typedef struct Character {
    SimInput input; // of this tick, sanitised
    float health;   // 0: dead, does not move, is not hit
    Vec3 push;      // soft push from others, consumed by the next step
    Vec3 ground_normal;
    uint64_t ground_net_id; // the part stood on; 0 for terrain and for none
    Handle platform;        // the moving part stood on
    bool grounded;
    bool climbing;
    bool jump_held;             // the button was down last tick
    uint8_t coyote_ticks;       // may still jump
    uint8_t jump_buffer_ticks;  // wants to jump
    uint8_t damage_pause_ticks; // until a part may hurt again
    uint8_t trigger_count;
    uint64_t triggers[CHARACTER_TRIGGERS_MAX]; // net ids of the zones it is in, ascending
    uint32_t history_slot;                     // 0 when the sim keeps no history
    uint32_t npc_slot;                         // 0 for players
} Character;

typedef struct Part {
    Shape shape;
    PartData data;
    PlacedShape placed; // at this tick
    Pose pose_previous; // at the last tick
    Pose rest;          // where it is without a segment
    Motion motion;
    bool moving; // this tick's pose differs from the last one's
    // Structures only.
    uint16_t piece;
    uint8_t turn;    // quarter turns about +y
    uint8_t support; // steps from the ground, 1 = stands on it; one above the maximum: nothing does
    bool support_stale; // something around it changed since support was worked out
    VoxelCoord cell;    // lowest corner
    float health;
} Part;

typedef struct Projectile {
    Handle shooter;
    float radius;
    float gravity; // m/s^2 downwards; 0 flies straight
    float damage;
    uint32_t ticks_left;
    uint32_t rewind_ticks; // targets are tested where the shooter saw them, this long ago
    uint32_t kind;         // the place's own number, for effects
} Projectile;

typedef struct Entity {
    uint64_t net_id;   // never reused; 0 in a free slot
    uint64_t owner_id; // 0: the server
    EntityType type;
    bool removing;  // gone when the next step begins
    bool puppet;    // moved from outside, see puppet.h; never in a sim with authority
    uint16_t maker; // whom its work is charged to, see work.h; 0: nobody
    Vec3 position;  // of a character: its feet
    Vec3 velocity;
    Quat rotation; // of a character: identity, see input.yaw
    union {
        Character character;
        Part part;
        Projectile projectile;
    };
} Entity;

static inline bool entity_is_character(const Entity *entity)
{
    return entity->type == ENTITY_PLAYER || entity->type == ENTITY_NPC;
}
static inline bool entity_has_shape(const Entity *entity)
{
    return entity->type == ENTITY_PART || entity->type == ENTITY_PROP ||
           entity->type == ENTITY_STRUCTURE;
}
