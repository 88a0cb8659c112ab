// What a client may know of an entity, as numbers on the wire. Two kinds of things, two ways:
//
//   movers   players, NPCs, projectiles. Their motion is a closed form: an anchor (position and
//            velocity at a tick, and a gravity). A new state is made only when the truth leaves the
//            curve by more than a tolerance; until then nothing at all has to be sent.
//   shapes   parts, props, structures, and anchored parts of the scene that move. Prediction needs
//            them exact, so their floats travel as they are, whole, whenever they change. An
//            anchored part that changed and rests is a row of a patch instead (patch.h).
//
// A NetState is one version of one entity: version n + 1 is the next that differs. What is sent to
// a client is a pure function of the version it has and the version that is current (delta.h).
#pragma once

#include "core/base/bits.h"
#include "core/base/bytes.h"
#include "core/base/text.h"
#include "core/sim/character_state.h"
#include "core/sim/entity.h"
#include "core/wire/net_attributes.h"
#include "core/wire/paint.h"

#define NET_POSITION_PER_M   256 // positions are multiples of 1/256 m: 23 bits with sign
#define NET_VELOCITY_PER_MPS 64  // velocities of 1/64 m/s: 18 bits with sign for 1,000 m/s and more
#define NET_GRAVITY_PER_MPS2 32  // 0..2047.97 m/s^2, as 16 bits; upwards is not curved
#define NET_POSITION_BITS    23
#define NET_VELOCITY_BITS    18
#define NET_SLOTS_MAX        256 // entities that one client sees at once
#define NET_SHAPE_BYTES_MAX  512
#define NET_RING             32 // versions of an entity that are kept to encode from

typedef enum NetKind {
    NET_NONE,
    NET_PLAYER,
    NET_NPC,
    NET_PROJECTILE,
    NET_PART,
    NET_PROP,
    NET_STRUCTURE,
    NET_KIND_COUNT
} NetKind;

static inline bool net_kind_moves(NetKind kind)
{
    return kind == NET_PLAYER || kind == NET_NPC || kind == NET_PROJECTILE;
}

// --- motion of movers ---------------------------------------------------------------------------
// n ticks of h seconds after the anchor: position + velocity * n * h - gravity * h * h * n * (n +
// 1) / 2 downwards, which is what the sim's own stepping gives. Worked out in integers, rounded to
// nearest, the same everywhere. n is clamped to NET_MOTION_TICKS_MAX.
#define NET_MOTION_TICKS_MAX 3600
typedef struct NetMotion {
    uint64_t tick; // of the anchor
    int32_t position[3];
    int32_t velocity[3];
    uint16_t gravity;
} NetMotion;

NetMotion net_motion_quantise(Vec3 position, Vec3 velocity, float gravity, uint64_t tick);
// At a whole tick; before the anchor it is the anchor.
void net_motion_at(const NetMotion *motion, uint64_t tick, uint32_t tick_rate, int32_t out[3]);
// The same curve with its anchor at that tick, rounded and kept inside the ranges.
NetMotion net_motion_move(const NetMotion *motion, uint64_t tick, uint32_t tick_rate);
// For drawing: at a fraction of a tick, in metres.
Vec3 net_motion_position(const NetMotion *motion, double tick, uint32_t tick_rate);
Vec3 net_motion_velocity(const NetMotion *motion, double tick, uint32_t tick_rate);
// Whether the real position at that tick is within `tolerance` (in units of a position) of the
// curve, on every axis.
bool net_motion_holds(const NetMotion *motion, Vec3 position, uint64_t tick, uint32_t tick_rate,
                      int32_t tolerance);
// Whether every number is inside its range. Quantised and decoded ones are.
bool net_motion_is_sane(const NetMotion *motion);

// --- the state ----------------------------------------------------------------------------------
typedef enum NetStatusFlag {
    NET_GROUNDED = 1 << 0,
    NET_CLIMBING = 1 << 1,
    NET_DEAD = 1 << 2,
    NET_RUNNING = 1 << 3,
    NET_CROUCHING = 1 << 4,
    NET_STATUS_ALL = (1 << 5) - 1
} NetStatusFlag;

typedef struct NetState {
    uint32_t version; // from 1
    NetMotion motion; // movers
    uint8_t yaw;      // 1/256 turn
    int8_t pitch;     // 1/256 turn, up is above zero
    uint8_t flags;    // NetStatusFlag
    uint8_t npc_state;
    uint16_t health; // rounded up: 0 is dead
    // Projectiles, fixed for their life.
    uint16_t projectile_kind;
    uint8_t projectile_radius; // 1/128 m
    Paint paint;
    uint32_t shape_version;      // rises when the shape's bytes change; 0: has none
    uint32_t attributes_version; // the same for name, attributes and tags; 0: has none
    // Rises when what only the owner may see changes. Never on the wire: for the owner it is added
    // to attributes_version.
    uint32_t owner_version;
} NetState;

// Which parts of a state a record holds. The mask on the wire has room for more: a reader that
// meets a bit it does not know refuses the record, so a new component is a new PROTOCOL_SCHEMA.
typedef enum NetComponent {
    NET_MOTION = 1 << 0,
    NET_LOOK = 1 << 1,   // yaw, pitch
    NET_STATUS = 1 << 2, // flags, NPC state, health
    NET_SHAPE = 1 << 3,
    NET_ATTRIBUTES = 1 << 4, // name, attributes, tags
    NET_PRIVATE = 1 << 5,    // kept for fields of its owner alone. Not used yet
    NET_PAINT = 1 << 6,      // how it looks (look.def)
    NET_COMPONENTS_ALL = (1 << 8) - 1
} NetComponent;
// The state that a full record is the difference to: all zero, and not painted.
extern const NetState net_state_none;
// What differs between two versions of an entity.
uint32_t net_state_difference(const NetState *base, const NetState *now);
bool net_state_equal(const NetState *a, const NetState *b); // but for the version

// --- shapes -------------------------------------------------------------------------------------
typedef struct NetShape {
    Shape shape;
    PartData data;
    Pose rest;
    Motion motion;
    // Structures only.
    uint16_t piece;
    uint8_t turn;
    VoxelCoord cell;
    uint16_t health;
} NetShape;
// Any bytes give a shape that sim will take, or a status. Leaves what follows in the reader.
void net_shape_write(const NetShape *shape, ByteWriter *writer);
MUST_USE Status net_shape_read(ByteReader *reader, NetShape *out);

// --- the own player -----------------------------------------------------------------------------
// Why a prediction was wrong: everything that a client cannot know in advance. A correction without
// a cause is a bug of ours, and counted.
typedef enum NetCause {
    NET_CAUSE_LATE_INPUT = 1 << 0, // an input was not there at its tick
    NET_CAUSE_PUSH = 1 << 1,       // somebody stood in the way: the soft push
    NET_CAUSE_SCRIPT = 1 << 2,     // moved or changed from outside the step
    NET_CAUSE_DAMAGE = 1 << 3,     // died, came alive
    NET_CAUSE_GEOMETRY = 1 << 4,   // terrain, structures or parts near it changed lately
    NET_CAUSE_SPAWN = 1 << 5,      // a new body, a resume: there was nothing to predict from
    NET_CAUSE_PERIODIC = 1 << 6,   // once a second; says nothing of a mistake
    NET_CAUSE_REFUSED = 1 << 7,    // an input with invalid numbers
    NET_CAUSES_ALL = (1 << 8) - 1
} NetCause;

typedef struct NetOwn {
    uint64_t net_id;
    uint64_t tick;   // the state is that after the step to this tick
    uint32_t causes; // NetCause
    CharacterState state;
} NetOwn;
