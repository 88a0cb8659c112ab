// The three-way walk of state.h.
#include "core/sim/state.h"

#include "core/base/check.h"

bool state_ok(const StateIo *io)
{
    return io->mode != STATE_READ || io->reader->status == STATUS_OK;
}

void state_fail(StateIo *io, Status status)
{
    ASSERT(io->mode == STATE_READ);
    byte_reader_fail(io->reader, status);
}

void state_u8(StateIo *io, uint8_t *value, uint8_t max)
{
    uint32_t wide = *value;
    if (io->mode == STATE_READ) {
        wide = byte_read_u8(io->reader);
        if (wide > max) {
            state_fail(io, STATUS_RANGE);
            wide = 0;
        }
        *value = (uint8_t)wide;
    } else if (io->mode == STATE_WRITE) {
        byte_write_u8(io->writer, *value);
    } else {
        hash_u32(&io->hash, wide);
    }
}

void state_u16(StateIo *io, uint16_t *value, uint16_t max)
{
    uint32_t wide = *value;
    state_u32(io, &wide, max);
    *value = (uint16_t)wide;
}

void state_u32(StateIo *io, uint32_t *value, uint32_t max)
{
    if (io->mode == STATE_READ) {
        const uint64_t read = byte_read_varint(io->reader);
        if (read > max) {
            state_fail(io, STATUS_RANGE);
        }
        *value = state_ok(io) ? (uint32_t)read : 0;
    } else if (io->mode == STATE_WRITE) {
        byte_write_varint(io->writer, *value);
    } else {
        hash_u32(&io->hash, *value);
    }
}

void state_i32(StateIo *io, int32_t *value)
{
    if (io->mode == STATE_READ) {
        *value = (int32_t)byte_read_u32(io->reader);
    } else if (io->mode == STATE_WRITE) {
        byte_write_u32(io->writer, (uint32_t)*value);
    } else {
        hash_u32(&io->hash, (uint32_t)*value);
    }
}

void state_u64(StateIo *io, uint64_t *value)
{
    if (io->mode == STATE_READ) {
        *value = byte_read_varint(io->reader);
    } else if (io->mode == STATE_WRITE) {
        byte_write_varint(io->writer, *value);
    } else {
        hash_u64(&io->hash, *value);
    }
}

void state_bool(StateIo *io, bool *value)
{
    if (io->mode == STATE_READ) {
        *value = byte_read_bool(io->reader);
    } else if (io->mode == STATE_WRITE) {
        byte_write_bool(io->writer, *value);
    } else {
        hash_u32(&io->hash, *value);
    }
}

void state_f32(StateIo *io, float *value)
{
    if (io->mode == STATE_READ) {
        *value = byte_read_f32(io->reader);
    } else if (io->mode == STATE_WRITE) {
        byte_write_f32(io->writer, *value);
    } else {
        hash_f32(&io->hash, *value);
    }
}

void state_vec3(StateIo *io, Vec3 *value)
{
    state_f32(io, &value->x);
    state_f32(io, &value->y);
    state_f32(io, &value->z);
}

void state_quat(StateIo *io, Quat *value)
{
    state_f32(io, &value->x);
    state_f32(io, &value->y);
    state_f32(io, &value->z);
    state_f32(io, &value->w);
    if (io->mode == STATE_READ) {
        const float length_squared =
            value->x * value->x + value->y * value->y + value->z * value->z + value->w * value->w;
        if (!(length_squared > 0.998f && length_squared < 1.002f)) {
            state_fail(io, STATUS_RANGE);
            *value = QUAT_IDENTITY;
        }
    }
}

void state_handle(StateIo *io, Handle *value)
{
    state_u32(io, &value->index, UINT32_MAX);
    state_u32(io, &value->generation, UINT32_MAX);
}

// Dead slots keep their generation too: a handle that was stale before a save is stale after it.
void state_pool(StateIo *io, Pool *pool)
{
    if (io->mode == STATE_READ) {
        pool_clear(pool);
    }
    for (uint32_t slot = 1; slot < pool->slot_count && state_ok(io); slot++) {
        // Runs of untouched slots (dead, first generation) are written as their length.
        uint32_t untouched = 0;
        if (io->mode != STATE_READ) {
            while (slot + untouched < pool->slot_count && !pool_is_live(pool, slot + untouched) &&
                   pool->generations[slot + untouched] == 1) {
                untouched += 1;
            }
        }
        state_u32(io, &untouched, pool->slot_count - slot);
        if (io->mode == STATE_READ) {
            for (uint32_t i = 0; i < untouched; i++) {
                pool->generations[slot + i] = 1;
            }
        }
        slot += untouched;
        if (slot >= pool->slot_count || !state_ok(io)) {
            return;
        }
        bool live = pool_is_live(pool, slot);
        uint32_t generation = pool->generations[slot];
        state_bool(io, &live);
        state_u32(io, &generation, UINT32_MAX);
        if (io->mode != STATE_READ || !state_ok(io)) {
            continue;
        }
        if (generation == 0) {
            state_fail(io, STATUS_RANGE);
        } else if (live) {
            if (!pool_acquire_at(pool, (Handle){slot, generation})) {
                state_fail(io, STATUS_MALFORMED);
            }
        } else {
            pool->generations[slot] = generation;
        }
    }
}
