// How far a capsule is from a shape, in the shape's own coordinates.
//
// Outside, everything rests on one closed form per kind, `excess`: the vector from the nearest
// point of the solid to a given point. Along the core the squared distance is convex and its
// derivative is up . excess, which only grows; so the nearest core point is the root of that
// derivative. Upright shapes have it in closed form, for turned boxes the derivative is linear
// between six known places, for turned wedges and cylinders a bracketed secant finds it.
//
// Inside, the shortest way out of a core is the nearest face of the shape swept along the core. The
// directions of those faces are few: the shape's own face normals, and the normals to both the core
// and an edge; a turned cylinder's rim adds a family with one parameter, which is searched. Any
// direction gives a valid way out, so a coarse search is safe, only a little long.
#include "core/sim/shape_local.h"

#define NEAR_SQUARED (SHAPE_CORE_NEAR_M * SHAPE_CORE_NEAR_M)
// A core this close to parallel with an edge (sine squared) makes no face of its own with it.
#define PARALLEL_SQUARED 1e-10f
// The secant ends when the distance can be no more than this too long.
#define SEARCH_ERROR_M   1e-6f
#define SEARCH_STEPS_MAX 24
#define RIM_SAMPLES      16
#define RIM_STEPS        16

static Vec3 box_excess(Vec3 half, Vec3 p)
{
    return (Vec3){p.x - math_clamp(p.x, -half.x, half.x), p.y - math_clamp(p.y, -half.y, half.y),
                  p.z - math_clamp(p.z, -half.z, half.z)};
}

static Vec3 cylinder_excess(Vec3 half, Vec3 p)
{
    const float y = p.y - math_clamp(p.y, -half.y, half.y);
    const float squared = p.x * p.x + p.z * p.z;
    if (squared <= half.x * half.x) {
        return (Vec3){0, y, 0};
    }
    const float radial = math_sqrt(squared);
    const float scale = (radial - half.x) / radial;
    return (Vec3){p.x * scale, y, p.z * scale};
}

static Vec3 sphere_excess(float radius, Vec3 p)
{
    const float squared = vec3_length_squared(p);
    if (squared <= radius * radius) {
        return VEC3_ZERO;
    }
    const float length = math_sqrt(squared);
    return vec3_scale(p, (length - radius) / length);
}

// Seen along x the wedge is a triangle: floor y = -half.y, back z = half.z, and the slope, a line
// through the centre.
static Vec3 wedge_excess(const PlacedShape *shape, Vec3 p)
{
    const Vec3 half = shape->half;
    const float x = p.x - math_clamp(p.x, -half.x, half.x);
    const float above = shape->slope_y * p.y + shape->slope_z * p.z;
    if (p.y <= -half.y || p.z >= half.z) {
        return (Vec3){x, p.y - math_clamp(p.y, -half.y, half.y),
                      p.z - math_clamp(p.z, -half.z, half.z)};
    }
    if (above <= 0) {
        return (Vec3){x, 0, 0};
    }
    // Beyond the ends of the slope its edges are nearest.
    const float along = shape->slope_y * p.z - shape->slope_z * p.y;
    const float end = shape->slope_y * half.z - shape->slope_z * half.y;
    if (along >= end) {
        return (Vec3){x, p.y - half.y, p.z - half.z};
    }
    if (along <= -end) {
        return (Vec3){x, p.y + half.y, p.z + half.z};
    }
    return (Vec3){x, above * shape->slope_y, above * shape->slope_z};
}

// From the nearest point of the solid to p; zero inside.
static Vec3 excess(const PlacedShape *shape, Vec3 p)
{
    switch ((ShapeKind)shape->kind) {
    case SHAPE_WEDGE:
        return wedge_excess(shape, p);
    case SHAPE_SPHERE:
        return sphere_excess(shape->half.x, p);
    case SHAPE_CYLINDER:
        return cylinder_excess(shape->half, p);
    case SHAPE_BOX:
    case SHAPE_KIND_COUNT:
        break;
    }
    return box_excess(shape->half, p);
}

// Upright shapes fill, above any place, the heights from the floor to a ceiling; the core's nearest
// point is the one whose height is nearest to those.
static float upright_along(const PlacedShape *shape, Capsule core)
{
    const Vec3 half = shape->half;
    float ceiling = half.y;
    if (shape->kind == SHAPE_WEDGE) {
        ceiling = math_clamp(core.base.z, -half.z, half.z) * (half.y / half.z);
    }
    if (core.base.y > ceiling) {
        return 0;
    }
    return math_clamp(-half.y - core.base.y, 0, core.height);
}

// The derivative of half the squared distance along the core.
static float box_slope(Vec3 half, Capsule core, Vec3 up, float along)
{
    return vec3_dot(up, box_excess(half, vec3_mad(core.base, up, along)));
}

// The derivative is linear between the places where the core crosses the planes of the faces, so
// the bracket is narrowed to two neighbours of them and the root read off.
static float box_along(Vec3 half, Capsule core, Vec3 up)
{
    float low = 0;
    float high = core.height;
    float slope_low = box_slope(half, core, up, low);
    if (slope_low >= 0) {
        return low;
    }
    float slope_high = box_slope(half, core, up, high);
    if (slope_high <= 0) {
        return high;
    }
    const float ups[3] = {up.x, up.y, up.z};
    const float bases[3] = {core.base.x, core.base.y, core.base.z};
    const float halves[3] = {half.x, half.y, half.z};
    for (int i = 0; i < 6; i++) {
        const int axis = i % 3;
        const float plane = i < 3 ? halves[axis] : -halves[axis];
        if (ups[axis] == 0) {
            continue;
        }
        const float along = (plane - bases[axis]) / ups[axis];
        if (!(along > low && along < high)) {
            continue;
        }
        const float slope = box_slope(half, core, up, along);
        if (slope < 0) {
            low = along;
            slope_low = slope;
        } else {
            high = along;
            slope_high = slope;
        }
    }
    return math_clamp(low + (high - low) * (slope_low / (slope_low - slope_high)), low, high);
}

// Secant steps in a bracket; an end that stays twice counts half, so that both ends move.
static float search_along(const PlacedShape *shape, Capsule core, Vec3 up)
{
    float low = 0;
    float high = core.height;
    float slope_low = vec3_dot(up, excess(shape, core.base));
    if (slope_low >= 0) {
        return low;
    }
    float slope_high = vec3_dot(up, excess(shape, vec3_mad(core.base, up, high)));
    if (slope_high <= 0) {
        return high;
    }
    float along = low;
    int side = 0;
    for (int i = 0; i < SEARCH_STEPS_MAX; i++) {
        along = math_clamp(low + (high - low) * (slope_low / (slope_low - slope_high)), low, high);
        const Vec3 e = excess(shape, vec3_mad(core.base, up, along));
        const float slope = vec3_dot(up, e);
        // By convexity the distance here is too long by at most 2 |slope| (high - low) / distance.
        const float error = 2 * slope * (high - low);
        const float squared = vec3_length_squared(e);
        if (squared <= NEAR_SQUARED || error * error <= SEARCH_ERROR_M * SEARCH_ERROR_M * squared) {
            break;
        }
        if (slope < 0) {
            low = along;
            slope_low = slope;
            slope_high = side < 0 ? slope_high * 0.5f : slope_high;
            side = -1;
        } else {
            high = along;
            slope_high = slope;
            slope_low = side > 0 ? slope_low * 0.5f : slope_low;
            side = 1;
        }
    }
    return along;
}

// Where on its core, in metres from the base, the capsule is nearest to the shape.
static float nearest_along(const PlacedShape *shape, Capsule core, Vec3 up)
{
    if (shape->kind == SHAPE_SPHERE) {
        return math_clamp(-core.base.y, 0, core.height);
    }
    if (shape->turn != SHAPE_FREE) {
        return upright_along(shape, core);
    }
    return shape->kind == SHAPE_BOX ? box_along(shape->half, core, up)
                                    : search_along(shape, core, up);
}

// The way out -----------------------------------------------------------------------------------

typedef struct WayOut {
    float depth;
    Vec3 normal;
} WayOut;

// How far the shape reaches from its centre along a unit vector.
static float support(const PlacedShape *shape, Vec3 n)
{
    const Vec3 half = shape->half;
    if (shape->kind == SHAPE_CYLINDER) {
        return half.x * math_sqrt(n.x * n.x + n.z * n.z) + half.y * math_abs(n.y);
    }
    const float y = half.y * n.y;
    const float z = half.z * n.z;
    if (shape->kind == SHAPE_WEDGE) {
        return half.x * math_abs(n.x) + math_max(math_max(y + z, z - y), -y - z);
    }
    return half.x * math_abs(n.x) + math_abs(y) + math_abs(z);
}

static void way_out_try(WayOut *best, const PlacedShape *shape, Capsule core, Vec3 up, Vec3 n)
{
    const float rise = core.height * vec3_dot(n, up);
    const float depth = support(shape, n) - vec3_dot(n, core.base) - math_min(rise, 0);
    if (depth < best->depth) {
        *best = (WayOut){depth, n};
    }
}

static void way_out_try_both(WayOut *best, const PlacedShape *shape, Capsule core, Vec3 up, Vec3 n)
{
    way_out_try(best, shape, core, up, n);
    way_out_try(best, shape, core, up, vec3_neg(n));
}

// The face that an edge sweeps when it is moved along the core.
static void way_out_try_edge(WayOut *best, const PlacedShape *shape, Capsule core, Vec3 up,
                             Vec3 edge)
{
    const Vec3 across = vec3_cross(up, edge);
    const float squared = vec3_length_squared(across);
    if (squared > PARALLEL_SQUARED) {
        way_out_try_both(best, shape, core, up, vec3_scale(across, 1 / math_sqrt(squared)));
    }
}

static void way_out_flat(WayOut *best, const PlacedShape *shape, Capsule core, Vec3 up)
{
    const Vec3 x = {1, 0, 0};
    const Vec3 y = {0, 1, 0};
    const Vec3 z = {0, 0, 1};
    way_out_try_both(best, shape, core, up, y);
    way_out_try_both(best, shape, core, up, x);
    way_out_try_both(best, shape, core, up, z);
    if (shape->kind == SHAPE_WEDGE) {
        way_out_try(best, shape, core, up, (Vec3){0, shape->slope_y, shape->slope_z});
    }
    if (core.height == 0) {
        return;
    }
    way_out_try_edge(best, shape, core, up, x);
    way_out_try_edge(best, shape, core, up, y);
    way_out_try_edge(best, shape, core, up, z);
    if (shape->kind == SHAPE_WEDGE) {
        way_out_try_edge(best, shape, core, up, (Vec3){0, -shape->slope_z, shape->slope_y});
    }
}

// Straight away from the axis: seen along the axis the core is a segment, and its point nearest to
// the centre leaves first.
static void way_out_radial(WayOut *best, const PlacedShape *shape, Capsule core, Vec3 up)
{
    const float run_squared = up.x * up.x + up.z * up.z;
    float along = 0;
    if (run_squared > PARALLEL_SQUARED) {
        along = -(core.base.x * up.x + core.base.z * up.z) / run_squared;
    }
    const Vec3 q = vec3_mad(core.base, up, math_clamp(along, 0, core.height));
    const float squared = q.x * q.x + q.z * q.z;
    Vec3 n = {1, 0, 0};
    if (squared > NEAR_SQUARED) {
        const float scale = 1 / math_sqrt(squared);
        n = (Vec3){q.x * scale, 0, q.z * scale};
    } else if (run_squared > PARALLEL_SQUARED && core.height > 0) {
        const float scale = 1 / math_sqrt(run_squared);
        n = (Vec3){-up.z * scale, 0, up.x * scale};
    }
    way_out_try(best, shape, core, up, n);
}

// Across the core, over a rim. Seen along the core the cylinder is symmetric in two directions,
// `side` across its axis and `end` along it, so one quarter of the circle is searched: k in 0..1
// stands for the direction (1 - k^2, 2 k) / (1 + k^2).
static Vec3 rim_normal(Vec3 side, Vec3 end, float k)
{
    const float scale = 1 / (1 + k * k);
    return vec3_mad(vec3_scale(side, (1 - k * k) * scale), end, 2 * k * scale);
}

static float rim_depth(const PlacedShape *shape, Vec3 base, Vec3 n)
{
    return support(shape, n) - vec3_dot(n, base);
}

static void way_out_rim(WayOut *best, const PlacedShape *shape, Capsule core, Vec3 up)
{
    const float run_squared = up.x * up.x + up.z * up.z;
    if (core.height == 0 || run_squared <= PARALLEL_SQUARED) {
        return;
    }
    const float scale = 1 / math_sqrt(run_squared);
    Vec3 side = {-up.z * scale, 0, up.x * scale};
    Vec3 end = vec3_cross(side, up);
    side = vec3_dot(side, core.base) < 0 ? vec3_neg(side) : side;
    end = vec3_dot(end, core.base) < 0 ? vec3_neg(end) : end;
    float middle = 0;
    float depth = rim_depth(shape, core.base, side);
    for (int i = 1; i <= RIM_SAMPLES; i++) {
        const float k = (float)i / RIM_SAMPLES;
        const float sample = rim_depth(shape, core.base, rim_normal(side, end, k));
        if (sample < depth) {
            depth = sample;
            middle = k;
        }
    }
    float low = math_max(middle - 1.0f / RIM_SAMPLES, 0);
    float high = math_min(middle + 1.0f / RIM_SAMPLES, 1);
    for (int i = 0; i < RIM_STEPS; i++) {
        const float third = (high - low) * (1.0f / 3);
        const float left = rim_depth(shape, core.base, rim_normal(side, end, low + third));
        const float right = rim_depth(shape, core.base, rim_normal(side, end, high - third));
        if (left < right) {
            high -= third;
        } else {
            low += third;
        }
    }
    way_out_try(best, shape, core, up, rim_normal(side, end, (low + high) * 0.5f));
}

// The distance is that of the direction found; the point is what the core touches once it is out.
static ShapeContact way_out(const PlacedShape *shape, Capsule core, Vec3 up)
{
    WayOut best = {1e30f, {0, 1, 0}};
    if (shape->kind == SHAPE_CYLINDER) {
        way_out_try_both(&best, shape, core, up, (Vec3){0, 1, 0});
        way_out_radial(&best, shape, core, up);
        way_out_rim(&best, shape, core, up);
    } else {
        way_out_flat(&best, shape, core, up);
    }
    Capsule out = core;
    out.base = vec3_mad(core.base, best.normal, best.depth);
    const Vec3 q = vec3_mad(out.base, up, nearest_along(shape, out, up));
    return (ShapeContact){-best.depth - core.radius, best.normal, vec3_sub(q, excess(shape, q))};
}

// q is the core's point nearest to the centre; a core through the centre leaves sideways.
static ShapeContact sphere_contact(const PlacedShape *shape, Capsule core)
{
    Vec3 q = core.base;
    q.y += nearest_along(shape, core, (Vec3){0, 1, 0});
    const float squared = vec3_length_squared(q);
    Vec3 normal = {0, 1, 0};
    float length = 0;
    if (squared > NEAR_SQUARED) {
        length = math_sqrt(squared);
        normal = vec3_scale(q, 1 / length);
    } else if (q.y > core.base.y) {
        normal = (Vec3){1, 0, 0};
    }
    return (ShapeContact){length - shape->half.x - core.radius, normal,
                          vec3_scale(normal, shape->half.x)};
}

ShapeContact shape_local_contact(const PlacedShape *shape, Capsule capsule, Vec3 up)
{
    if (shape->kind == SHAPE_SPHERE) {
        return sphere_contact(shape, capsule);
    }
    if (shape->kind == SHAPE_BOX && shape->turn != SHAPE_FREE) {
        return shape_box_contact(vec3_neg(shape->half), shape->half, capsule);
    }
    const Vec3 q = vec3_mad(capsule.base, up, nearest_along(shape, capsule, up));
    const Vec3 e = excess(shape, q);
    const float squared = vec3_length_squared(e);
    if (!(squared > NEAR_SQUARED)) {
        return way_out(shape, capsule, up);
    }
    const float distance = math_sqrt(squared);
    return (ShapeContact){distance - capsule.radius, vec3_scale(e, 1 / distance), vec3_sub(q, e)};
}

ShapeContact shape_box_way_out(Vec3 min, Vec3 max, Capsule capsule)
{
    const Vec3 base = capsule.base;
    const Vec3 inside = {math_clamp(base.x, min.x, max.x), math_clamp(base.y, min.y, max.y),
                         math_clamp(base.z, min.z, max.z)};
    const float depths[6] = {max.y - base.y, base.x - min.x, max.x - base.x,
                             base.z - min.z, max.z - base.z, base.y + capsule.height - min.y};
    const Vec3 normals[6] = {{0, 1, 0}, {-1, 0, 0}, {1, 0, 0}, {0, 0, -1}, {0, 0, 1}, {0, -1, 0}};
    const Vec3 points[6] = {{inside.x, max.y, inside.z}, {min.x, inside.y, inside.z},
                            {max.x, inside.y, inside.z}, {inside.x, inside.y, min.z},
                            {inside.x, inside.y, max.z}, {inside.x, min.y, inside.z}};
    int best = 0;
    for (int i = 1; i < 6; i++) {
        best = depths[i] < depths[best] ? i : best;
    }
    return (ShapeContact){-depths[best] - capsule.radius, normals[best], points[best]};
}

ShapeContact shape_capsule_contact(const PlacedShape *shape, Capsule capsule)
{
    capsule.base = shape_local_point(shape, capsule.base);
    ShapeContact contact = shape_local_contact(shape, capsule, shape_local_up(shape));
    contact.normal = shape_world_direction(shape, contact.normal);
    contact.point = shape_world_point(shape, contact.point);
    return contact;
}

ShapeContact shape_closest(const PlacedShape *shape, Vec3 point)
{
    return shape_capsule_contact(shape, (Capsule){point, 0, 0});
}
