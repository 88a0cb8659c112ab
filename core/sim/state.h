// One walk over a sim's state serves three purposes: write it, read it back, hash it. Each module
// has one visit function that names its fields in order; so a field cannot be saved and then
// forgotten by the hash, or the other way round. Reading checks ranges: the bytes may come from
// anywhere.
#pragma once

#include "core/base/bytes.h"
#include "core/base/hash.h"
#include "core/base/math.h"
#include "core/base/pool.h"

typedef enum StateMode { STATE_WRITE, STATE_READ, STATE_HASH } StateMode;

typedef struct StateIo {
    StateMode mode;
    ByteWriter *writer;
    ByteReader *reader;
    Hash64 hash;
} StateIo;

// False once reading has failed; loops over counts that were read stop then.
bool state_ok(const StateIo *io);
void state_fail(StateIo *io, Status status); // reading only

void state_u8(StateIo *io, uint8_t *value, uint8_t max);
void state_u16(StateIo *io, uint16_t *value, uint16_t max);
void state_u32(StateIo *io, uint32_t *value, uint32_t max);
void state_i32(StateIo *io, int32_t *value);
void state_u64(StateIo *io, uint64_t *value);
void state_bool(StateIo *io, bool *value);
void state_f32(StateIo *io, float *value); // finite
void state_vec3(StateIo *io, Vec3 *value);
void state_quat(StateIo *io, Quat *value); // unit to 1e-3
void state_handle(StateIo *io, Handle *value);
// Live slots and generations. Reading leaves the live slots zeroed, to be visited next.
void state_pool(StateIo *io, Pool *pool);
