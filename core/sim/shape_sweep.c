// How far a capsule can go. Along a straight motion the signed distance to a convex shape is a
// convex function, and -motion . normal is how fast it falls: a tangent lies below the function, so
// stepping to where the tangent reaches the gap (Newton) never passes the first touch, and a
// tangent that stays positive to the end, or rises, proves that there is none. Flat contacts take
// two steps; grazing ones halve the rest each time. Only a rounded normal can carry a long step too
// far; then the way since the last good place is halved.
#include "core/sim/shape_local.h"

// 2^-32 of a kilometre is far below the gap.
#define STEPS_MAX 32

// Grown by what rounding does to coordinates far out: a touch must not slip through.
static Aabb swept_bounds(Capsule capsule, Vec3 motion)
{
    const Aabb from = capsule_bounds(capsule);
    const Aabb to = {vec3_add(from.min, motion), vec3_add(from.max, motion)};
    const float most =
        math_max(math_max(math_abs(to.min.x), math_abs(to.min.y)), math_abs(to.min.z));
    return aabb_grow(aabb_union(from, to), SHAPE_SWEEP_GAP_M + 4e-7f * most);
}

bool shape_sweep(const PlacedShape *shape, Capsule capsule, Vec3 motion, ShapeHit *hit)
{
    if (!aabb_overlaps(swept_bounds(capsule, motion), shape->bounds)) {
        return false;
    }
    ShapeCore core = shape_local_core(shape, &capsule);
    const Vec3 start = core.base;
    const Vec3 way = shape_local_direction(shape, motion);
    const float closing_min = SHAPE_SWEEP_ALONG * vec3_length(motion);
    float safe = 0;
    float fraction = 0;
    ShapeContact contact;
    for (int i = 0; i < STEPS_MAX; i++) {
        core.base = vec3_mad(start, way, fraction);
        shape_local_contact(shape, &core, &contact);
        const float distance = contact.distance - capsule.radius;
        if (distance < 0 && i > 0) {
            fraction = (safe + fraction) * 0.5f;
            continue;
        }
        const float closing = -vec3_dot(way, contact.normal);
        if (closing <= closing_min || distance >= closing * (1 - fraction)) {
            return false;
        }
        safe = fraction;
        if (distance <= 2 * SHAPE_SWEEP_GAP_M) {
            break;
        }
        fraction += (distance - SHAPE_SWEEP_GAP_M) / closing;
    }
    *hit = (ShapeHit){safe, shape_world_direction(shape, contact.normal),
                      shape_world_point(shape, contact.point)};
    return true;
}
