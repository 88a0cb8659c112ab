#include "bench/bench_plain.h"

#include <stdio.h>
#include <stdlib.h>

#define VIEW_TICKS 6 // interpolation delay: 100 ms

void plain_require(Status status, const char *what)
{
    if (status != STATUS_OK) {
        fprintf(stderr, "bench: %s: %s\n", what, status_text(status));
        exit(1);
    }
}

// --- walking ------------------------------------------------------------------------------------

Vec3 plain_place(Rng *rng, float edge)
{
    const float x = rng_range(rng, -0.5f, 0.5f);
    const float z = rng_range(rng, -0.5f, 0.5f);
    return vec3(x * edge, 0, z * edge);
}

// How many others are within the radius on average, at most `most`, on a plain of that edge.
static float mean_visible(uint32_t count, float edge, uint32_t most)
{
    static Vec3 places[PLAIN_WALKERS_MAX];
    Rng rng = rng_make(3, 3);
    for (uint32_t i = 0; i < count; i++) {
        places[i] = plain_place(&rng, edge);
    }
    uint64_t sum = 0;
    const uint32_t asked = count < 200 ? count : 200;
    for (uint32_t i = 0; i < asked; i++) {
        uint32_t near = 0;
        for (uint32_t k = 0; k < count; k++) {
            const Vec3 between = vec3_sub(places[i], places[k]);
            near += k != i && vec3_length_squared(between) <= PLAIN_RADIUS_M * PLAIN_RADIUS_M;
        }
        sum += near < most ? near : most;
    }
    return (float)sum / (float)asked;
}

float plain_edge(uint32_t count)
{
    float edge = 2 * PLAIN_HALF_M - 24;
    const float wanted = 0.96f * (PLAIN_VISIBLE - 1);
    while (edge > 10 && mean_visible(count, edge, PLAIN_VISIBLE - 1) < wanted) {
        edge *= 0.98f;
    }
    return edge;
}

PartDesc plain_floor(void)
{
    return (PartDesc){.shape = {SHAPE_BOX, {PLAIN_HALF_M, 1, PLAIN_HALF_M}},
                      .pose = {{0, -1, 0}, QUAT_IDENTITY}};
}

void plain_walker_start(PlainWalker *walker, Rng *rng)
{
    *walker = (PlainWalker){.input = {.move_z = 1}};
    walker->ticks_left = rng_below(rng, 2 * PLAIN_TICK_RATE);
    walker->input.yaw = rng_range(rng, -MATH_PI, MATH_PI);
}

void plain_walker_drive(PlainWalker *walker, Vec3 at, float edge, Rng *rng)
{
    const bool outside = math_abs(at.x) > edge / 2 || math_abs(at.z) > edge / 2;
    if (walker->ticks_left == 0 || (outside && walker->ticks_left % 30 == 0)) {
        const float drawn = rng_range(rng, -MATH_PI, MATH_PI);
        walker->input.yaw = outside ? math_atan2(-at.x, -at.z) : drawn;
        walker->ticks_left = PLAIN_TICK_RATE + rng_below(rng, 2 * PLAIN_TICK_RATE + 1);
    }
    walker->ticks_left -= 1;
    walker->input.seq += 1;
}

// --- eyes ---------------------------------------------------------------------------------------

static void on_begin(void *user, const SnapshotHeader *header)
{
    PlainViewer *viewer = user;
    viewer->frame_before = viewer->frame_tick;
    viewer->frame_tick = header->tick;
}

static void on_enter(void *user, uint32_t slot, const MergeSlot *entity, const NetShape *shape,
                     const uint8_t *attributes, size_t attributes_bytes)
{
    PlainViewer *viewer = user;
    (void)shape, (void)attributes, (void)attributes_bytes;
    viewer->lines[slot].count = 0;
    viewer->entered[slot] = viewer->frame_tick;
    interpolate_push(&viewer->lines[slot], &entity->state, viewer->frame_tick,
                     viewer->frame_before);
}

static void on_update(void *user, uint32_t slot, const MergeSlot *entity, const NetState *before,
                      uint32_t components, const NetShape *shape, const uint8_t *attributes,
                      size_t attributes_bytes)
{
    PlainViewer *viewer = user;
    (void)before, (void)components, (void)shape, (void)attributes, (void)attributes_bytes;
    interpolate_push(&viewer->lines[slot], &entity->state, viewer->frame_tick,
                     viewer->frame_before);
}

void plain_viewer_reset(PlainViewer *viewer)
{
    viewer->frame_tick = viewer->frame_before = 0;
    merge_reset(&viewer->merge, PLAIN_TICK_RATE);
}

void plain_viewer_merge(PlainViewer *viewer, const uint8_t *frame, size_t bytes)
{
    const MergeSink sink = {
        .user = viewer, .begin = on_begin, .enter = on_enter, .update = on_update};
    plain_require(merge_apply(&viewer->merge, frame, bytes, &sink), "merge");
}

void plain_viewer_measure(const PlainViewer *viewer, const PlainWalker *walkers,
                          PlainErrors *errors)
{
    for (uint32_t slot = 0; slot < NET_SLOTS_MAX; slot++) {
        const MergeSlot *known = &viewer->merge.slots[slot];
        for (uint32_t i = 0; known->net_id != 0 && i < PLAIN_SNAPSHOT_TICKS; i++) {
            const uint64_t tick = viewer->frame_tick - VIEW_TICKS + i;
            if (tick < viewer->entered[slot] || known->kind != NET_PLAYER ||
                errors->count == PLAIN_ERRORS_MAX) {
                continue;
            }
            const InterpolatePose pose = interpolate_at(&viewer->lines[slot], (double)tick,
                                                        viewer->frame_tick, PLAIN_TICK_RATE);
            const PlainWalker *walker = &walkers[known->owner_id - 1];
            errors->metres[errors->count++] =
                vec3_length(vec3_sub(pose.position, walker->history[tick % PLAIN_HISTORY]));
        }
    }
}

uint32_t plain_viewer_visible(const PlainViewer *viewer)
{
    uint32_t count = 0;
    for (uint32_t slot = 0; slot < NET_SLOTS_MAX; slot++) {
        count += viewer->merge.slots[slot].net_id != 0;
    }
    return count;
}

static int compare_floats(const void *a, const void *b)
{
    const float x = *(const float *)a;
    const float y = *(const float *)b;
    return x < y ? -1 : x > y ? 1 : 0;
}

double plain_errors_p99(PlainErrors *errors)
{
    if (errors->count == 0) {
        return 0;
    }
    qsort(errors->metres, errors->count, sizeof errors->metres[0], compare_floats);
    return errors->metres[(uint64_t)errors->count * 99 / 100];
}
