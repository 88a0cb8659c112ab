// How far a capsule is from a shape, in the shape's own coordinates.
//
// Outside, everything rests on one closed form per kind, `excess`: the vector from the nearest
// point of the solid to a given point. Along the core the squared distance is convex and its
// derivative is up . excess, which only grows; so the nearest core point is the root of that
// derivative. Upright shapes have it in closed form, for turned boxes and wedges the derivative is
// linear between known planes, for turned cylinders Newton finds it in a bracket.
//
// Inside, the shortest way out of a core is the nearest face of the shape swept along the core.
// The directions of those faces are few: the shape's own face normals, and the normals to both the
// core and an edge; a turned cylinder's rim adds a family with one parameter, which is searched.
// Any direction gives a valid way out, so a coarse search is safe, only a little long.
#include "core/sim/shape_local.h"

#define NEAR_SQUARED (SHAPE_CORE_NEAR_M * SHAPE_CORE_NEAR_M)
// Turned shapes: rotating coordinates costs digits, and below this a direction has too few left.
// The way out is then the better answer; taking it for a distance errs by no more than this.
#define NEAR_TURNED_M 1e-5f
// What rounding makes of coordinates, as a part of the extents that they come from.
#define ROUNDING 2e-7f
// A core this close to parallel with an edge (sine squared) makes no face of its own with it. Axes
// that are closer to upright than this do not occur, shape_place has straightened them.
#define PARALLEL_SQUARED 1e-13f
#define SEARCH_STEPS_MAX 32
#define RIM_SAMPLES      16
#define RIM_STEPS        20

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
    // Beyond the ends of the slope its edges are nearest. In these terms the direction never leaves
    // the slope's side of an edge, however small the numbers are.
    const float along = shape->slope_y * p.z - shape->slope_z * p.y;
    const float end = shape->slope_y * half.z - shape->slope_z * half.y;
    const float over = along - math_clamp(along, -end, end);
    return (Vec3){x, above * shape->slope_y - over * shape->slope_z,
                  above * shape->slope_z + over * shape->slope_y};
}

// Whether the slope itself, not one of its edges, is nearest to a point outside.
static bool wedge_is_on_slope(const PlacedShape *shape, Vec3 p)
{
    const float along = shape->slope_y * p.z - shape->slope_z * p.y;
    const float end = shape->slope_y * shape->half.z - shape->slope_z * shape->half.y;
    return p.y > -shape->half.y && p.z < shape->half.z && math_abs(along) <= end;
}

// From the nearest point of the solid to p; zero inside. Spheres have a way of their own.
static Vec3 excess(const PlacedShape *shape, Vec3 p)
{
    if (shape->kind == SHAPE_WEDGE) {
        return wedge_excess(shape, p);
    }
    return shape->kind == SHAPE_CYLINDER ? cylinder_excess(shape->half, p)
                                         : box_excess(shape->half, p);
}

// Upright shapes rest on a full floor and are nowhere larger above it: the core's point nearest to
// the floor's height is nearest to them.
static Vec3 upright_nearest(const PlacedShape *shape, const ShapeCore *core)
{
    const Vec3 base = core->base;
    return (Vec3){base.x, math_clamp(-shape->half.y, base.y, base.y + core->height), base.z};
}

// The root of the derivative lies between two places of the core.
typedef struct Bracket {
    float low, high;
    float slope_low, slope_high; // of half the squared distance; negative and not negative
} Bracket;

static float slope_at(const PlacedShape *shape, const ShapeCore *core, float along)
{
    return vec3_dot(core->up, excess(shape, vec3_mad(core->base, core->up, along)));
}

static void bracket_narrow(Bracket *bracket, float along, float slope)
{
    if (slope < 0) {
        bracket->low = along;
        bracket->slope_low = slope;
    } else {
        bracket->high = along;
        bracket->slope_high = slope;
    }
}

// Narrows the bracket to one side of a place on the core, which is q. A core that never gets to the
// place that is asked for divides by zero, and infinity is outside the bracket.
static void bracket_cut(Bracket *bracket, const PlacedShape *shape, const ShapeCore *core,
                        float along, Vec3 q)
{
    if (along > bracket->low && along < bracket->high) {
        bracket_narrow(bracket, along, vec3_dot(core->up, excess(shape, q)));
    }
}

// At the planes of faces the coordinate is what it should be and not what rounding made of it: on a
// core that stands nearly along the face, that little would outweigh the rest.
static void bracket_cut_x(Bracket *bracket, const PlacedShape *shape, const ShapeCore *core,
                          float x)
{
    const float along = (x - core->base.x) / core->up.x;
    const Vec3 q = {x, core->base.y + core->up.y * along, core->base.z + core->up.z * along};
    bracket_cut(bracket, shape, core, along, q);
}

static void bracket_cut_y(Bracket *bracket, const PlacedShape *shape, const ShapeCore *core,
                          float y)
{
    const float along = (y - core->base.y) / core->up.y;
    const Vec3 q = {core->base.x + core->up.x * along, y, core->base.z + core->up.z * along};
    bracket_cut(bracket, shape, core, along, q);
}

static void bracket_cut_z(Bracket *bracket, const PlacedShape *shape, const ShapeCore *core,
                          float z)
{
    const float along = (z - core->base.z) / core->up.z;
    const Vec3 q = {core->base.x + core->up.x * along, core->base.y + core->up.y * along, z};
    bracket_cut(bracket, shape, core, along, q);
}

static void bracket_cut_along(Bracket *bracket, const PlacedShape *shape, const ShapeCore *core,
                              float along)
{
    bracket_cut(bracket, shape, core, along, vec3_mad(core->base, core->up, along));
}

static float bracket_secant(const Bracket *bracket)
{
    const float share = bracket->slope_low / (bracket->slope_low - bracket->slope_high);
    return math_clamp(bracket->low + (bracket->high - bracket->low) * share, bracket->low,
                      bracket->high);
}

// The same care for the slope: just below it the wedge is inside, and nothing is left of rounding.
static void bracket_cut_slope(Bracket *bracket, const PlacedShape *shape, const ShapeCore *core,
                              float along)
{
    const float below = 4e-7f * (shape->half.y + shape->half.z);
    Vec3 q = vec3_mad(core->base, core->up, along);
    q.y -= below * shape->slope_y;
    q.z -= below * shape->slope_z;
    bracket_cut(bracket, shape, core, along, q);
}

// For boxes and wedges the derivative is linear between the planes that part what is nearest to a
// face from what is nearest to its edges: cut by all of them, what is left is one straight piece.
static float flat_along(Bracket bracket, const PlacedShape *shape, const ShapeCore *core)
{
    const Vec3 half = shape->half;
    bracket_cut_x(&bracket, shape, core, half.x);
    bracket_cut_x(&bracket, shape, core, -half.x);
    bracket_cut_y(&bracket, shape, core, half.y);
    bracket_cut_y(&bracket, shape, core, -half.y);
    bracket_cut_z(&bracket, shape, core, half.z);
    bracket_cut_z(&bracket, shape, core, -half.z);
    if (shape->kind == SHAPE_WEDGE) {
        const float y = shape->slope_y;
        const float z = shape->slope_z;
        const float above = y * core->base.y + z * core->base.z;
        const float along = y * core->base.z - z * core->base.y;
        const float along_rate = y * core->up.z - z * core->up.y;
        const float end = y * half.z - z * half.y;
        bracket_cut_slope(&bracket, shape, core, -above / (y * core->up.y + z * core->up.z));
        bracket_cut_along(&bracket, shape, core, (end - along) / along_rate);
        bracket_cut_along(&bracket, shape, core, (-end - along) / along_rate);
    }
    return bracket_secant(&bracket);
}

// Where the line of the core comes nearest to a cylinder's axis; false where it never does.
static bool axis_along(const ShapeCore *core, float *along)
{
    const float run_squared = core->up.x * core->up.x + core->up.z * core->up.z;
    if (run_squared <= PARALLEL_SQUARED) {
        return false;
    }
    *along = -(core->base.x * core->up.x + core->base.z * core->up.z) / run_squared;
    return true;
}

// How fast the derivative grows at q, beyond a cap.
static float rim_bend(const PlacedShape *shape, Vec3 q, Vec3 up)
{
    const float axial = up.y * up.y;
    const float squared = q.x * q.x + q.z * q.z;
    if (squared <= shape->half.x * shape->half.x) {
        return axial;
    }
    const float radial = math_sqrt(squared);
    const float share = shape->half.x / radial;
    const float along = (q.x * up.x + q.z * up.z) / radial;
    return axial + (1 - share) * (up.x * up.x + up.z * up.z) + share * along * along;
}

// Beyond a cap the derivative bends: Newton's steps, but half the bracket where one would leave it
// or is not half as long as the one before.
static float rim_along(Bracket bracket, const PlacedShape *shape, const ShapeCore *core)
{
    const float enough = ROUNDING * (core->height + shape->half.x + shape->half.y);
    float along = bracket_secant(&bracket);
    float step = bracket.high - bracket.low;
    for (int i = 0; i < SEARCH_STEPS_MAX && step > enough; i++) {
        const Vec3 q = vec3_mad(core->base, core->up, along);
        const float slope = vec3_dot(core->up, excess(shape, q));
        bracket_narrow(&bracket, along, slope);
        float next = along - slope / rim_bend(shape, q, core->up);
        const bool is_slow = math_abs(next - along) > 0.5f * step;
        if (is_slow || !(next >= bracket.low && next <= bracket.high)) {
            next = (bracket.low + bracket.high) * 0.5f;
        }
        step = math_abs(next - along);
        along = next;
    }
    return along;
}

static float cylinder_along(Bracket bracket, const PlacedShape *shape, const ShapeCore *core)
{
    bracket_cut_y(&bracket, shape, core, shape->half.y);
    bracket_cut_y(&bracket, shape, core, -shape->half.y);
    // Between the caps the cylinder is its wall, and the nearest point that nearest to the axis.
    const float middle = (bracket.low + bracket.high) * 0.5f;
    if (math_abs(core->base.y + core->up.y * middle) > shape->half.y) {
        return rim_along(bracket, shape, core);
    }
    float along = bracket.low;
    (void)axis_along(core, &along);
    return math_clamp(along, bracket.low, bracket.high);
}

// Where on its core, in metres from the base, the capsule is nearest to a turned shape.
static float turned_along(const PlacedShape *shape, const ShapeCore *core)
{
    const float slope_low = slope_at(shape, core, 0);
    if (slope_low >= 0) {
        return 0;
    }
    const float slope_high = slope_at(shape, core, core->height);
    if (slope_high <= 0) {
        return core->height;
    }
    const Bracket bracket = {0, core->height, slope_low, slope_high};
    return shape->kind == SHAPE_CYLINDER ? cylinder_along(bracket, shape, core)
                                         : flat_along(bracket, shape, core);
}

// The core's point nearest to the shape; *is_between says that it is none of the ends, found by
// search.
static Vec3 nearest_on_core(const PlacedShape *shape, const ShapeCore *core, bool *is_between)
{
    if (shape->turn != SHAPE_FREE) {
        *is_between = false;
        return upright_nearest(shape, core);
    }
    const float along = turned_along(shape, core);
    *is_between = along > 0 && along < core->height;
    return vec3_mad(core->base, core->up, along);
}

// --- the way out --------------------------------------------------------------------------------

typedef struct WayOut {
    float depth;
    Vec3 normal;
} WayOut;

static void way_out_try(WayOut *best, const PlacedShape *shape, const ShapeCore *core, Vec3 n)
{
    const float rise = core->height * vec3_dot(n, core->up);
    const float depth = shape_local_support(shape, n) - vec3_dot(n, core->base) - math_min(rise, 0);
    if (depth < best->depth) {
        *best = (WayOut){depth, n};
    }
}

static void way_out_try_both(WayOut *best, const PlacedShape *shape, const ShapeCore *core, Vec3 n)
{
    way_out_try(best, shape, core, n);
    way_out_try(best, shape, core, vec3_neg(n));
}

// The face that an edge sweeps when it is moved along the core->
static void way_out_try_edge(WayOut *best, const PlacedShape *shape, const ShapeCore *core,
                             Vec3 edge)
{
    const Vec3 across = vec3_cross(core->up, edge);
    const float squared = vec3_length_squared(across);
    if (squared > PARALLEL_SQUARED) {
        way_out_try_both(best, shape, core, vec3_scale(across, 1 / math_sqrt(squared)));
    }
}

static void way_out_flat(WayOut *best, const PlacedShape *shape, const ShapeCore *core)
{
    const Vec3 x = {1, 0, 0};
    const Vec3 y = {0, 1, 0};
    const Vec3 z = {0, 0, 1};
    way_out_try_both(best, shape, core, y);
    way_out_try_both(best, shape, core, x);
    way_out_try_both(best, shape, core, z);
    if (shape->kind == SHAPE_WEDGE) {
        way_out_try(best, shape, core, (Vec3){0, shape->slope_y, shape->slope_z});
    }
    if (core->height == 0) {
        return;
    }
    way_out_try_edge(best, shape, core, x);
    way_out_try_edge(best, shape, core, y);
    way_out_try_edge(best, shape, core, z);
    if (shape->kind == SHAPE_WEDGE) {
        way_out_try_edge(best, shape, core, (Vec3){0, -shape->slope_z, shape->slope_y});
    }
}

// Straight away from the axis: seen along the axis the core is a segment, and its point nearest to
// the centre leaves first.
static void way_out_radial(WayOut *best, const PlacedShape *shape, const ShapeCore *core)
{
    float along = 0;
    const bool is_crossing = axis_along(core, &along) && core->height > 0;
    const Vec3 q = vec3_mad(core->base, core->up, math_clamp(along, 0, core->height));
    const float squared = q.x * q.x + q.z * q.z;
    Vec3 n = {1, 0, 0};
    if (squared > NEAR_SQUARED) {
        const float scale = 1 / math_sqrt(squared);
        n = (Vec3){q.x * scale, 0, q.z * scale};
    } else if (is_crossing) {
        const float scale = 1 / math_sqrt(core->up.x * core->up.x + core->up.z * core->up.z);
        n = (Vec3){-core->up.z * scale, 0, core->up.x * scale};
    }
    way_out_try(best, shape, core, n);
}

// Across the core, over a rim. Seen along the core the cylinder is symmetric in two directions,
// `side` across its axis and `end` along it, so one quarter of the circle is searched: k in 0..1
// stands for the direction (1 - k^2, 2 k) / (1 + k^2).
static Vec3 rim_normal(Vec3 side, Vec3 end, float k)
{
    const float scale = 1 / (1 + k * k);
    return vec3_mad(vec3_scale(side, (1 - k * k) * scale), end, 2 * k * scale);
}

// Whether the way out gets longer with k: the point of the rim that the direction touches is ahead
// of the core, seen the way the direction turns.
static bool rim_rises(const PlacedShape *shape, Vec3 base, Vec3 side, Vec3 end, float k)
{
    const Vec3 n = rim_normal(side, end, k);
    const Vec3 turning = vec3_mad(vec3_scale(end, 1 - k * k), side, -2 * k);
    const float run = math_sqrt(n.x * n.x + n.z * n.z);
    const float scale = run > 0 ? shape->half.x / run : 0;
    const float half_y = end.y < 0 ? -shape->half.y : shape->half.y;
    const Vec3 touched = {n.x * scale, half_y, n.z * scale};
    return vec3_dot(turning, vec3_sub(touched, base)) > 0;
}

// Samples find the valley, halving its bottom.
static float rim_search(const PlacedShape *shape, Vec3 base, Vec3 side, Vec3 end)
{
    float valley = 0;
    float depth = 1e30f;
    for (int i = 0; i <= RIM_SAMPLES; i++) {
        const float k = (float)i / RIM_SAMPLES;
        const Vec3 n = rim_normal(side, end, k);
        const float sample = shape_local_support(shape, n) - vec3_dot(n, base);
        if (sample < depth) {
            depth = sample;
            valley = k;
        }
    }
    float low = math_max(valley - 1.0f / RIM_SAMPLES, 0);
    float high = math_min(valley + 1.0f / RIM_SAMPLES, 1);
    for (int i = 0; i < RIM_STEPS; i++) {
        const float k = (low + high) * 0.5f;
        if (rim_rises(shape, base, side, end, k)) {
            high = k;
        } else {
            low = k;
        }
    }
    return (low + high) * 0.5f;
}

static void way_out_rim(WayOut *best, const PlacedShape *shape, const ShapeCore *core)
{
    const float run_squared = core->up.x * core->up.x + core->up.z * core->up.z;
    if (core->height == 0 || run_squared <= PARALLEL_SQUARED) {
        return;
    }
    const float scale = 1 / math_sqrt(run_squared);
    Vec3 side = {-core->up.z * scale, 0, core->up.x * scale};
    Vec3 end = vec3_cross(side, core->up);
    side = vec3_dot(side, core->base) < 0 ? vec3_neg(side) : side;
    end = vec3_dot(end, core->base) < 0 ? vec3_neg(end) : end;
    const float k = rim_search(shape, core->base, side, end);
    way_out_try(best, shape, core, rim_normal(side, end, k));
}

// The distance is that of the direction found; the point is what the core touches once it is out.
static void way_out(const PlacedShape *shape, const ShapeCore *core, ShapeContact *contact)
{
    WayOut best = {1e30f, {0, 1, 0}};
    if (shape->kind == SHAPE_CYLINDER) {
        way_out_try_both(&best, shape, core, (Vec3){0, 1, 0});
        way_out_radial(&best, shape, core);
        way_out_rim(&best, shape, core);
    } else {
        way_out_flat(&best, shape, core);
    }
    ShapeCore out = *core;
    out.base = vec3_mad(core->base, best.normal, best.depth);
    bool is_between;
    const Vec3 q = nearest_on_core(shape, &out, &is_between);
    contact->distance = -best.depth;
    contact->normal = best.normal;
    contact->point = vec3_sub(q, excess(shape, q));
}

// How the excess at q changes per metre of core, where it changes evenly; a cylinder's is left out.
static Vec3 excess_rate(const PlacedShape *shape, Vec3 q, Vec3 e, Vec3 up)
{
    Vec3 rate = {e.x != 0 ? up.x : 0, e.y != 0 ? up.y : 0, e.z != 0 ? up.z : 0};
    if (shape->kind == SHAPE_CYLINDER) {
        return VEC3_ZERO;
    }
    if (shape->kind == SHAPE_WEDGE && wedge_is_on_slope(shape, q)) {
        const float rise = shape->slope_y * up.y + shape->slope_z * up.z;
        rate.y = rise * shape->slope_y;
        rate.z = rise * shape->slope_z;
    }
    return rate;
}

// At the nearest point between its ends a core is perpendicular to the excess. Coordinates along a
// long core have not the digits to find that place well, but the step that is missing can be added
// to the excess itself, which is small: so its direction is right also where it is very small. If
// more is missing than rounding explains, another face begins at that very place and rounding kept
// it out; then what is too much along the core is simply taken away.
static Vec3 excess_straighten(const PlacedShape *shape, const ShapeCore *core, Vec3 q, Vec3 e)
{
    const Vec3 half = shape->half;
    const Vec3 rate = excess_rate(shape, q, e, core->up);
    const float bend = vec3_dot(core->up, rate);
    const float slope = vec3_dot(core->up, e);
    const float rounding = ROUNDING * (core->height + half.x + half.y + half.z);
    if (slope * slope < rounding * rounding * bend) {
        return vec3_mad(e, rate, -slope / bend);
    }
    return math_abs(slope) < rounding ? vec3_mad(e, core->up, -slope) : e;
}

// All kinds and turns but those that have a shorter way.
static void general_contact(const PlacedShape *shape, const ShapeCore *core, ShapeContact *contact)
{
    bool is_between;
    const Vec3 q = nearest_on_core(shape, core, &is_between);
    const Vec3 rough = excess(shape, q);
    const Vec3 e = is_between ? excess_straighten(shape, core, q, rough) : rough;
    contact->point = vec3_sub(q, rough);
    const float squared = vec3_length_squared(e);
    const float near = shape->turn == SHAPE_FREE ? NEAR_TURNED_M : SHAPE_CORE_NEAR_M;
    if (!(squared > near * near)) {
        way_out(shape, core, contact);
        return;
    }
    const float distance = math_sqrt(squared);
    contact->distance = distance;
    contact->normal = vec3_scale(e, 1 / distance);
}

// q is the core's point nearest to the centre; a core through the centre leaves sideways.
static inline ShapeContact sphere_contact(const PlacedShape *shape, Vec3 base, float height)
{
    const Vec3 q = {base.x, base.y + math_clamp(-base.y, 0, height), base.z};
    const float radius = shape->half.x;
    const float squared = vec3_length_squared(q);
    if (!(squared > NEAR_SQUARED)) {
        const Vec3 normal = q.y > base.y ? (Vec3){1, 0, 0} : (Vec3){0, 1, 0};
        return (ShapeContact){-radius, normal, vec3_scale(normal, radius)};
    }
    const float length = math_sqrt(squared);
    const Vec3 normal = vec3_scale(q, 1 / length);
    return (ShapeContact){length - radius, normal, vec3_scale(normal, radius)};
}

// Local, for a bare core.
static inline ShapeContact upright_box_contact(const PlacedShape *shape, Vec3 base, float height)
{
    return shape_box_contact(vec3_neg(shape->half), shape->half, (Capsule){base, height, 0});
}

void shape_local_contact(const PlacedShape *shape, const ShapeCore *core, ShapeContact *contact)
{
    if (shape->kind == SHAPE_BOX && shape->turn != SHAPE_FREE) {
        *contact = upright_box_contact(shape, core->base, core->height);
    } else if (shape->kind == SHAPE_SPHERE) {
        *contact = sphere_contact(shape, core->base, core->height);
    } else {
        general_contact(shape, core, contact);
    }
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

static void contact_write(ShapeContact *contact, float distance, Vec3 normal, Vec3 point)
{
    contact->distance = distance;
    contact->normal = normal;
    contact->point = point;
}

// The short ways stay in registers from end to end.
void shape_turned_contact(const PlacedShape *shape, const Capsule *capsule, ShapeContact *contact)
{
    if (shape->kind == SHAPE_BOX && shape->turn == SHAPE_YAW) {
        const Vec3 base = shape_yaw_local(shape, vec3_sub(capsule->base, shape->position));
        const ShapeContact local = upright_box_contact(shape, base, capsule->height);
        contact_write(contact, local.distance - capsule->radius,
                      shape_yaw_world(shape, local.normal),
                      vec3_add(shape->position, shape_yaw_world(shape, local.point)));
    } else if (shape->kind == SHAPE_SPHERE) {
        const Vec3 base = vec3_sub(capsule->base, shape->position);
        const ShapeContact local = sphere_contact(shape, base, capsule->height);
        contact_write(contact, local.distance - capsule->radius, local.normal,
                      vec3_add(shape->position, local.point));
    } else {
        const ShapeCore core = shape_local_core(shape, capsule);
        ShapeContact local;
        general_contact(shape, &core, &local);
        contact_write(contact, local.distance - capsule->radius,
                      shape_world_direction(shape, local.normal),
                      shape_world_point(shape, local.point));
    }
}

ShapeContact shape_closest(const PlacedShape *shape, Vec3 point)
{
    return shape_capsule_contact(shape, (Capsule){point, 0, 0});
}
