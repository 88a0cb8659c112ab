// The inputs of one player that came before their tick. A frame waits in the slot of its tick and
// is taken exactly once, by the step that leads to that tick; what comes after that is late and is
// dropped, because the step has already been made without it.
#include "core/world/world_inside.h"

#include <string.h>

void input_reset(InputBuffer *buffer)
{
    memset(buffer, 0, sizeof *buffer);
}

// The first free tick after the newest that waits; 0 when there is none.
static uint64_t next_free(const InputBuffer *buffer, uint64_t now)
{
    uint64_t tick = now + INPUT_BUFFER;
    while (tick > now && !buffer->present[tick % INPUT_BUFFER]) {
        tick -= 1;
    }
    return tick < now + INPUT_BUFFER ? tick + 1 : 0;
}

void input_put(World *world, InputBuffer *buffer, const WireInputFrame *frame, uint64_t now)
{
    WireInputFrame kept = *frame;
    world->stats.inputs += 1;
    if (kept.tick == 0) {
        kept.tick = next_free(buffer, now);
        if (kept.tick == 0) {
            world->stats.inputs_early += 1;
            return;
        }
    }
    if (kept.tick <= now) {
        world->stats.inputs_late += 1;
        return;
    }
    if (kept.tick - now > INPUT_BUFFER) {
        world->stats.inputs_early += 1;
        return;
    }
    const uint32_t slot = (uint32_t)(kept.tick % INPUT_BUFFER);
    if (buffer->present[slot]) {
        world->stats.inputs_duplicate += 1;
        return;
    }
    buffer->frames[slot] = kept;
    buffer->present[slot] = true;
    buffer->waiting += 1;
}

InputTaken input_take(InputBuffer *buffer, uint64_t tick, uint32_t patience, WireInputFrame *out)
{
    const uint32_t slot = (uint32_t)(tick % INPUT_BUFFER);
    if (buffer->present[slot]) {
        ASSERT(buffer->frames[slot].tick == tick && buffer->waiting > 0);
        buffer->present[slot] = false;
        buffer->waiting -= 1;
        buffer->last = buffer->frames[slot];
        buffer->ack_seq = (uint32_t)buffer->last.seq;
        buffer->repeated = 0;
        buffer->started = true;
        *out = buffer->last;
        return INPUT_TAKEN;
    }
    buffer->repeated += buffer->repeated < UINT32_MAX;
    *out = buffer->last;
    out->buttons &= ~(uint64_t)INPUT_FIRE;
    if (buffer->started && buffer->repeated <= patience) {
        return INPUT_REPEATED;
    }
    // It stands still, and goes on looking where it looked.
    out->move_x = 0;
    out->move_z = 0;
    out->buttons = 0;
    return INPUT_NONE;
}
