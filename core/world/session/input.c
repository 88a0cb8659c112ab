// The inputs of one player that arrived before their tick. An input waits in the slot of its tick
// and is used exactly once, by the step that leads to that tick; one that arrives later is dropped,
// because the step has been made without it.
#include "core/world/session/input.h"

#include "core/base/check.h"

#include <string.h>

void input_reset(InputBuffer *buffer)
{
    memset(buffer, 0, sizeof *buffer);
}

// The first free tick after the newest input; 0 if there is none.
static uint64_t next_free(const InputBuffer *buffer, uint64_t now)
{
    uint64_t tick = now + INPUT_BUFFER;
    while (tick > now && !buffer->present[tick % INPUT_BUFFER]) {
        tick -= 1;
    }
    return tick < now + INPUT_BUFFER ? tick + 1 : 0;
}

// Drops the oldest input; the others move up. Its buttons are not lost: they are added to the next
// one.
static void drop_oldest(InputBuffer *buffer, uint64_t now)
{
    uint64_t tick = now + 1;
    while (tick < now + INPUT_BUFFER && !buffer->present[tick % INPUT_BUFFER]) {
        tick += 1;
    }
    uint64_t buttons = buffer->frames[tick % INPUT_BUFFER].buttons;
    for (; tick < now + INPUT_BUFFER && buffer->present[(tick + 1) % INPUT_BUFFER]; tick++) {
        WireInputFrame *frame = &buffer->frames[tick % INPUT_BUFFER];
        *frame = buffer->frames[(tick + 1) % INPUT_BUFFER];
        frame->tick = tick;
        frame->buttons |= buttons;
        buttons = 0;
    }
    buffer->present[tick % INPUT_BUFFER] = false;
    buffer->waiting -= 1;
}

// The tick for an input that names none. A client that sends one for every tick is never further
// behind than the queue is long, even after a pause: meanwhile the world did not wait but repeated
// inputs.
static uint64_t queue_tick(WorldStats *stats, InputBuffer *buffer, uint64_t now)
{
    uint64_t tick = next_free(buffer, now);
    if (tick == 0 || tick > now + INPUT_QUEUE_MAX) {
        stats->inputs_early += 1;
        drop_oldest(buffer, now);
        tick = next_free(buffer, now);
    }
    return tick;
}

void input_put(WorldStats *stats, InputBuffer *buffer, const WireInputFrame *frame, uint64_t now)
{
    WireInputFrame kept = *frame;
    stats->inputs += 1;
    if (kept.tick == 0) {
        kept.tick = queue_tick(stats, buffer, now);
    }
    if (kept.tick <= now) {
        stats->inputs_late += 1;
        return;
    }
    if (kept.tick - now > INPUT_BUFFER) {
        stats->inputs_early += 1;
        buffer->early_tick = now + 1;
        return;
    }
    const uint32_t slot = (uint32_t)(kept.tick % INPUT_BUFFER);
    if (buffer->present[slot]) {
        stats->inputs_duplicate += 1;
        return;
    }
    buffer->frames[slot] = kept;
    buffer->present[slot] = true;
    buffer->waiting += 1;
}

uint32_t input_waiting(const InputBuffer *buffer, uint64_t now, uint32_t snapshot_ticks)
{
    const bool is_early =
        buffer->early_tick != 0 && buffer->early_tick + (uint64_t)2 * snapshot_ticks > now;
    return is_early ? INPUT_BUFFER : buffer->waiting;
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
    // It stands still and keeps looking in the same direction.
    out->move_x = 0;
    out->move_z = 0;
    out->buttons = 0;
    return INPUT_NONE;
}
