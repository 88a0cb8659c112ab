// See character_state.h. The handle of the platform is not part of the value: it follows from
// ground_net_id, and handles mean nothing in another sim.
//
//   offset  size  bytes
//        0    48  position, velocity, push, ground normal: three f32 each
//       48     4  health: f32
//       52     1  flags: 1 grounded, 2 climbing, 4 the jump button was down
//       53     3  ticks: coyote, jump buffer, damage pause
//       56  1..8  net id of the ground: varint
#include "core/sim/character_state.h"

#include "core/base/byte_values.h"
#include "core/base/bytes.h"
#include "core/base/hash.h"
#include "core/sim/sim_internal.h"

enum { FLAG_GROUNDED = 1, FLAG_CLIMBING = 2, FLAG_JUMP_HELD = 4, FLAGS_ALL = 7 };

// The maximum that sim_config_check allows a place to configure.
#define PUSH_MAX_MPS 20.0f
#define HEALTH_MAX   1.0e6f
#define SLACK        1.001f // rounding in lengths

static bool is_sane(const CharacterState *state, float push_max, float health_max)
{
    // Written so that a NaN fails every comparison.
    return vec3_length(state->position) <= 2 * (float)WORLD_EXTENT_M &&
           vec3_length(state->velocity) <= 2 * PROJECTILE_SPEED_MAX &&
           vec3_length(state->push) <= SLACK * push_max &&
           vec3_length(state->ground_normal) <= SLACK && state->health >= 0 &&
           state->health <= health_max && state->ground_net_id <= SIM_NET_ID_MAX;
}

CharacterState character_state(const Sim *sim, Handle handle)
{
    const Entity *entity = sim_entity(sim, handle);
    ASSERT(entity != NULL);
    ASSERT(entity_is_character(entity));
    const Character *character = &entity->character;
    return (CharacterState){.position = entity->position,
                            .velocity = entity->velocity,
                            .push = character->push,
                            .ground_normal = character->ground_normal,
                            .ground_net_id = character->ground_net_id,
                            .health = character->health,
                            .grounded = character->grounded,
                            .climbing = character->climbing,
                            .jump_held = character->jump_held,
                            .coyote_ticks = character->coyote_ticks,
                            .jump_buffer_ticks = character->jump_buffer_ticks,
                            .damage_pause_ticks = character->damage_pause_ticks};
}

Status character_state_apply(Sim *sim, Handle handle, const CharacterState *state)
{
    Entity *entity = pool_find(&sim->entities, handle);
    if (entity == NULL || !entity_is_character(entity)) {
        return STATUS_NOT_FOUND;
    }
    const CharacterTuning *tuning = &sim->config.character;
    if (!is_sane(state, tuning->push_speed, tuning->health_max)) {
        return STATUS_RANGE;
    }
    Character *character = &entity->character;
    entity->position = state->position;
    entity->velocity = state->velocity;
    character->push = state->push;
    character->ground_normal = state->ground_normal;
    character->ground_net_id = state->ground_net_id;
    character->platform = sim_find(sim, state->ground_net_id);
    character->health = state->health;
    character->grounded = state->grounded;
    character->climbing = state->climbing;
    character->jump_held = state->jump_held;
    character->coyote_ticks = state->coyote_ticks;
    character->jump_buffer_ticks = state->jump_buffer_ticks;
    character->damage_pause_ticks = state->damage_pause_ticks;
    if (sim->history != NULL && character->history_slot != 0) {
        history_break(sim->history, character->history_slot);
    }
    sim_place(sim, handle.index);
    return STATUS_OK;
}

static uint8_t flags_of(const CharacterState *state)
{
    return (uint8_t)((state->grounded ? FLAG_GROUNDED : 0) | (state->climbing ? FLAG_CLIMBING : 0) |
                     (state->jump_held ? FLAG_JUMP_HELD : 0));
}

uint32_t character_state_hash(const CharacterState *state)
{
    Hash64 hash = HASH64_INIT;
    const Vec3 vectors[2] = {state->position, state->velocity};
    for (uint32_t i = 0; i < 2; i++) {
        hash_f32(&hash, vectors[i].x);
        hash_f32(&hash, vectors[i].y);
        hash_f32(&hash, vectors[i].z);
    }
    hash_u32(&hash, flags_of(state) | (uint32_t)state->coyote_ticks << 8 |
                        (uint32_t)state->jump_buffer_ticks << 16 |
                        (state->health > 0 ? 1u << 24 : 0));
    const uint32_t folded = (uint32_t)(hash.state ^ hash.state >> 32);
    return folded != 0 ? folded : 1;
}

void character_state_write(const CharacterState *state, ByteWriter *writer)
{
    ASSERT(is_sane(state, PUSH_MAX_MPS, HEALTH_MAX));
    byte_write_vec3(writer, state->position);
    byte_write_vec3(writer, state->velocity);
    byte_write_vec3(writer, state->push);
    byte_write_vec3(writer, state->ground_normal);
    byte_write_f32(writer, state->health);
    byte_write_u8(writer, flags_of(state));
    byte_write_u8(writer, state->coyote_ticks);
    byte_write_u8(writer, state->jump_buffer_ticks);
    byte_write_u8(writer, state->damage_pause_ticks);
    byte_write_varint(writer, state->ground_net_id);
}

Status character_state_read(ByteReader *reader, CharacterState *out)
{
    CharacterState state = {.health = 0};
    state.position = byte_read_vec3(reader);
    state.velocity = byte_read_vec3(reader);
    state.push = byte_read_vec3(reader);
    state.ground_normal = byte_read_vec3(reader);
    state.health = byte_read_f32(reader);
    const uint8_t flags = byte_read_u8(reader);
    state.grounded = (flags & FLAG_GROUNDED) != 0;
    state.climbing = (flags & FLAG_CLIMBING) != 0;
    state.jump_held = (flags & FLAG_JUMP_HELD) != 0;
    state.coyote_ticks = byte_read_u8(reader);
    state.jump_buffer_ticks = byte_read_u8(reader);
    state.damage_pause_ticks = byte_read_u8(reader);
    state.ground_net_id = byte_read_varint(reader);
    if (reader->status == STATUS_OK && (flags & ~FLAGS_ALL) != 0) {
        byte_reader_fail(reader, STATUS_MALFORMED);
    }
    if (reader->status == STATUS_OK && !is_sane(&state, PUSH_MAX_MPS, HEALTH_MAX)) {
        byte_reader_fail(reader, STATUS_RANGE);
    }
    if (reader->status != STATUS_OK) {
        return reader->status;
    }
    *out = state;
    return STATUS_OK;
}
