// Motion of movers as integers, and what differs between two states. Everything that decides a bit
// on the wire is integer arithmetic with one rounding rule (to nearest, halves upwards), because
// writer and reader work out the same curve on different machines.
#include "core/wire/net.h"

#include "core/base/check.h"

#define POSITION_MIN (-(1 << (NET_POSITION_BITS - 1)))
#define POSITION_MAX ((1 << (NET_POSITION_BITS - 1)) - 1)
#define VELOCITY_MIN (-(1 << (NET_VELOCITY_BITS - 1)))
#define VELOCITY_MAX ((1 << (NET_VELOCITY_BITS - 1)) - 1)

_Static_assert(POSITION_MAX / NET_POSITION_PER_M >= WORLD_EXTENT_M - 1, "the world fits");
_Static_assert(NET_POSITION_PER_M == 4 * NET_VELOCITY_PER_MPS, "motion_offset counts on it");
_Static_assert(NET_POSITION_PER_M == 8 * NET_GRAVITY_PER_MPS2, "motion_offset counts on it");

// Not a number is 0; the rest is rounded to nearest and clamped.
static int32_t quantise(float value, double scale, int32_t low, int32_t high)
{
    const double scaled = (double)value * scale + 0.5;
    if (!(scaled == scaled)) {
        return 0;
    }
    if (scaled <= low) {
        return low;
    }
    if (scaled >= high) {
        return high;
    }
    const int32_t truncated = (int32_t)scaled;
    return truncated - (scaled < (double)truncated);
}

NetMotion net_motion_quantise(Vec3 position, Vec3 velocity, float gravity, uint64_t tick)
{
    const float p[3] = {position.x, position.y, position.z};
    const float v[3] = {velocity.x, velocity.y, velocity.z};
    NetMotion motion = {.tick = tick};
    for (uint32_t i = 0; i < 3; i++) {
        motion.position[i] = quantise(p[i], NET_POSITION_PER_M, POSITION_MIN, POSITION_MAX);
        motion.velocity[i] = quantise(v[i], NET_VELOCITY_PER_MPS, VELOCITY_MIN, VELOCITY_MAX);
    }
    motion.gravity = (uint16_t)quantise(gravity, NET_GRAVITY_PER_MPS2, 0, UINT16_MAX);
    return motion;
}

static int64_t divide_rounded(int64_t value, int64_t by)
{
    const int64_t doubled = 2 * value + by;
    const int64_t quotient = doubled / (2 * by);
    return quotient - (doubled % (2 * by) < 0);
}

static int32_t clamp(int64_t value, int32_t low, int32_t high)
{
    return value < low ? low : value > high ? high : (int32_t)value;
}

static int64_t ticks_after(const NetMotion *motion, uint64_t tick)
{
    const uint64_t ticks = tick > motion->tick ? tick - motion->tick : 0;
    return (int64_t)(ticks < NET_MOTION_TICKS_MAX ? ticks : NET_MOTION_TICKS_MAX);
}

// With rates up to 1,000 and 3,600 ticks no product here passes 2^43.
void net_motion_at(const NetMotion *motion, uint64_t tick, uint32_t tick_rate, int32_t out[3])
{
    ASSERT(tick_rate >= 1 && tick_rate <= 1000);
    const int64_t n = ticks_after(motion, tick);
    const int64_t rate = tick_rate;
    for (uint32_t i = 0; i < 3; i++) {
        const int64_t way = (int64_t)motion->velocity[i] * 4 * n;
        const bool falls = i == 1 && motion->gravity != 0;
        const int64_t fall = (int64_t)motion->gravity * 4 * n * (n + 1);
        const int64_t offset =
            falls ? divide_rounded(way * rate - fall, rate * rate) : divide_rounded(way, rate);
        out[i] = clamp(motion->position[i] + offset, POSITION_MIN, POSITION_MAX);
    }
}

NetMotion net_motion_move(const NetMotion *motion, uint64_t tick, uint32_t tick_rate)
{
    NetMotion moved = *motion;
    const int64_t n = ticks_after(motion, tick);
    net_motion_at(motion, tick, tick_rate, moved.position);
    const int64_t slower = divide_rounded((int64_t)motion->gravity * 2 * n, tick_rate);
    moved.velocity[1] = clamp(motion->velocity[1] - slower, VELOCITY_MIN, VELOCITY_MAX);
    moved.tick = tick;
    return moved;
}

// Ticks after the anchor, with a fraction.
static double ticks_after_real(const NetMotion *motion, double tick)
{
    const double ticks = tick - (double)motion->tick;
    if (!(ticks > 0)) {
        return 0;
    }
    return ticks < NET_MOTION_TICKS_MAX ? ticks : NET_MOTION_TICKS_MAX;
}

Vec3 net_motion_position(const NetMotion *motion, double tick, uint32_t tick_rate)
{
    ASSERT(tick_rate >= 1);
    const double n = ticks_after_real(motion, tick);
    const double step = 1.0 / tick_rate;
    double p[3];
    for (uint32_t i = 0; i < 3; i++) {
        p[i] = (double)motion->position[i] / NET_POSITION_PER_M +
               (double)motion->velocity[i] / NET_VELOCITY_PER_MPS * (n * step);
    }
    p[1] -= (double)motion->gravity / NET_GRAVITY_PER_MPS2 * (step * step) * n * (n + 1) / 2;
    return (Vec3){(float)p[0], (float)p[1], (float)p[2]};
}

Vec3 net_motion_velocity(const NetMotion *motion, double tick, uint32_t tick_rate)
{
    ASSERT(tick_rate >= 1);
    const double n = ticks_after_real(motion, tick);
    const double v[3] = {(double)motion->velocity[0] / NET_VELOCITY_PER_MPS,
                         (double)motion->velocity[1] / NET_VELOCITY_PER_MPS,
                         (double)motion->velocity[2] / NET_VELOCITY_PER_MPS};
    const double slower = (double)motion->gravity / NET_GRAVITY_PER_MPS2 * n / tick_rate;
    return (Vec3){(float)v[0], (float)(v[1] - slower), (float)v[2]};
}

bool net_motion_holds(const NetMotion *motion, Vec3 position, uint64_t tick, uint32_t tick_rate,
                      int32_t tolerance)
{
    int32_t at[3];
    net_motion_at(motion, tick, tick_rate, at);
    const float truth[3] = {position.x, position.y, position.z};
    for (uint32_t i = 0; i < 3; i++) {
        const double off = (double)truth[i] * NET_POSITION_PER_M - at[i];
        if (!(off <= tolerance && off >= -tolerance)) {
            return false;
        }
    }
    return true;
}

bool net_motion_is_sane(const NetMotion *motion)
{
    for (uint32_t i = 0; i < 3; i++) {
        if (motion->position[i] < POSITION_MIN || motion->position[i] > POSITION_MAX ||
            motion->velocity[i] < VELOCITY_MIN || motion->velocity[i] > VELOCITY_MAX) {
            return false;
        }
    }
    return true;
}

static bool motion_equal(const NetMotion *a, const NetMotion *b)
{
    for (uint32_t i = 0; i < 3; i++) {
        if (a->position[i] != b->position[i] || a->velocity[i] != b->velocity[i]) {
            return false;
        }
    }
    return a->tick == b->tick && a->gravity == b->gravity;
}

const NetState net_state_none = {.paint = PAINT_NONE};

uint32_t net_state_difference(const NetState *base, const NetState *now)
{
    uint32_t components = 0;
    if (!motion_equal(&base->motion, &now->motion)) {
        components |= NET_MOTION;
    }
    if (base->yaw != now->yaw || base->pitch != now->pitch) {
        components |= NET_LOOK;
    }
    if (base->flags != now->flags || base->npc_state != now->npc_state ||
        base->health != now->health) {
        components |= NET_STATUS;
    }
    if (base->shape_version != now->shape_version) {
        components |= NET_SHAPE;
    }
    if (base->attributes_version != now->attributes_version) {
        components |= NET_ATTRIBUTES;
    }
    if (!paint_equal(&base->paint, &now->paint)) {
        components |= NET_PAINT;
    }
    return components;
}

bool net_state_equal(const NetState *a, const NetState *b)
{
    return net_state_difference(a, b) == 0 && a->projectile_kind == b->projectile_kind &&
           a->projectile_radius == b->projectile_radius;
}
