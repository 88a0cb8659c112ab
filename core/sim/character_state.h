// Everything that determines a character's next step, as one plain value: the server sends it, a
// client continues from it. It contains net ids instead of handles, so it means the same in both
// sims.
#pragma once

#include "core/sim/sim.h"

typedef struct CharacterState {
    Vec3 position;
    Vec3 velocity;
    Vec3 push; // consumed by the next step
    Vec3 ground_normal;
    uint64_t ground_net_id; // the part stood on; 0 for terrain and for none
    float health;           // 0: dead
    bool grounded;
    bool climbing;
    bool jump_held;
    uint8_t coyote_ticks;
    uint8_t jump_buffer_ticks;
    uint8_t damage_pause_ticks;
} CharacterState;

// The character must exist.
CharacterState character_state(const Sim *sim, Handle character);
// STATUS_RANGE for invalid numbers, STATUS_NOT_FOUND if it is not a character.
MUST_USE Status character_state_apply(Sim *sim, Handle character, const CharacterState *state);
// What client and server must agree on after the same inputs: position, velocity, grounded,
// climbing, the three jump fields, and whether it is alive. Not the push and not the health, which
// only the server has. Never 0.
uint32_t character_state_hash(const CharacterState *state);
void character_state_write(const CharacterState *state, ByteWriter *writer);
MUST_USE Status character_state_read(ByteReader *reader, CharacterState *out);
