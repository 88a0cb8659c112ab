// Boxes, wedges and prisms are convex hulls: two hulls are apart exactly if some face normal of
// either, or some cross product of their edges, separates them. Everything is measured from the
// box's centre, so that only the distance between the two loses bits.
#include "core/sim/overlap.h"

#include "core/base/check.h"

#define HULL_VERTICES_MAX   16
#define HULL_DIRECTIONS_MAX 5
#define OCTAGON_SIDE        0.41421356f // half a side of the octagon around a circle of radius 1
#define DIAGONAL            0.70710678f

typedef struct Hull {
    Vec3 vertices[HULL_VERTICES_MAX]; // from the box's centre
    Vec3 normals[HULL_DIRECTIONS_MAX];
    Vec3 edges[HULL_DIRECTIONS_MAX];
    uint32_t vertex_count;
    uint32_t normal_count;
    uint32_t edge_count;
} Hull;

static void hull_add(Hull *hull, const PlacedShape *shape, Vec3 from, float x, float y, float z)
{
    Vec3 at = from;
    at = vec3_mad(at, shape->axis_x, x);
    at = vec3_mad(at, shape->axis_y, y);
    at = vec3_mad(at, shape->axis_z, z);
    ASSERT(hull->vertex_count < HULL_VERTICES_MAX);
    hull->vertices[hull->vertex_count++] = at;
}

static void hull_add_axes(Hull *hull, const PlacedShape *shape)
{
    const Vec3 axes[3] = {shape->axis_x, shape->axis_y, shape->axis_z};
    for (uint32_t i = 0; i < 3; i++) {
        hull->normals[hull->normal_count++] = axes[i];
        hull->edges[hull->edge_count++] = axes[i];
    }
}

static Hull hull_of_box(const PlacedShape *shape, Vec3 from)
{
    Hull hull = {.vertex_count = 0};
    for (uint32_t i = 0; i < 8; i++) {
        hull_add(&hull, shape, from, (i & 1) != 0 ? shape->half.x : -shape->half.x,
                 (i & 2) != 0 ? shape->half.y : -shape->half.y,
                 (i & 4) != 0 ? shape->half.z : -shape->half.z);
    }
    hull_add_axes(&hull, shape);
    return hull;
}

static Hull hull_of_wedge(const PlacedShape *shape, Vec3 from)
{
    const Vec3 half = shape->half;
    Hull hull = {.vertex_count = 0};
    for (uint32_t i = 0; i < 2; i++) {
        const float x = i == 0 ? -half.x : half.x;
        hull_add(&hull, shape, from, x, -half.y, -half.z);
        hull_add(&hull, shape, from, x, -half.y, half.z);
        hull_add(&hull, shape, from, x, half.y, half.z);
    }
    hull_add_axes(&hull, shape);
    const Vec3 y = shape->axis_y;
    const Vec3 z = shape->axis_z;
    hull.normals[hull.normal_count++] = vec3_sub(vec3_scale(y, half.z), vec3_scale(z, half.y));
    hull.edges[hull.edge_count++] = vec3_add(vec3_scale(y, half.y), vec3_scale(z, half.z));
    return hull;
}

static Hull hull_of_cylinder(const PlacedShape *shape, Vec3 from)
{
    const float r = shape->half.x;
    const float side = r * OCTAGON_SIDE;
    Hull hull = {.vertex_count = 0};
    for (uint32_t i = 0; i < 8; i++) {
        const float y = (i & 1) != 0 ? shape->half.y : -shape->half.y;
        const float sign_x = (i & 2) != 0 ? 1.0f : -1.0f;
        const float sign_z = (i & 4) != 0 ? 1.0f : -1.0f;
        hull_add(&hull, shape, from, sign_x * r, y, sign_z * side);
        hull_add(&hull, shape, from, sign_x * side, y, sign_z * r);
    }
    hull_add_axes(&hull, shape);
    const Vec3 x = vec3_scale(shape->axis_x, DIAGONAL);
    const Vec3 z = vec3_scale(shape->axis_z, DIAGONAL);
    const Vec3 diagonals[2] = {vec3_add(x, z), vec3_sub(x, z)};
    for (uint32_t i = 0; i < 2; i++) {
        hull.normals[hull.normal_count++] = diagonals[i];
        hull.edges[hull.edge_count++] = diagonals[i];
    }
    return hull;
}

// True if the axis, of any length, separates the hull from the box of this half size around zero.
static bool axis_separates(const Hull *hull, Vec3 half, Vec3 axis)
{
    const float reach =
        half.x * math_abs(axis.x) + half.y * math_abs(axis.y) + half.z * math_abs(axis.z);
    float low = vec3_dot(hull->vertices[0], axis);
    float high = low;
    for (uint32_t i = 1; i < hull->vertex_count; i++) {
        const float along = vec3_dot(hull->vertices[i], axis);
        low = math_min(low, along);
        high = math_max(high, along);
    }
    return low >= reach || high <= -reach;
}

static bool hull_overlaps(const Hull *hull, Vec3 half)
{
    const Vec3 axes[3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
    for (uint32_t i = 0; i < 3; i++) {
        if (axis_separates(hull, half, axes[i])) {
            return false;
        }
    }
    for (uint32_t i = 0; i < hull->normal_count; i++) {
        if (axis_separates(hull, half, hull->normals[i])) {
            return false;
        }
    }
    for (uint32_t i = 0; i < hull->edge_count; i++) {
        for (uint32_t k = 0; k < 3; k++) {
            const Vec3 axis = vec3_cross(hull->edges[i], axes[k]);
            // Parallel edges have no cross product; the face normals cover them.
            if (vec3_length_squared(axis) > 1e-6f * vec3_length_squared(hull->edges[i]) &&
                axis_separates(hull, half, axis)) {
                return false;
            }
        }
    }
    return true;
}

// The part of a point's offset, along one axis, that is outside the box.
static float outside(float offset, float half)
{
    return math_max(math_abs(offset) - half, 0);
}

bool overlap_box_shape(Aabb box, const PlacedShape *shape)
{
    const Vec3 half = vec3_scale(vec3_sub(box.max, box.min), 0.5f);
    const Vec3 centre = vec3_add(box.min, half);
    const Vec3 from = vec3_sub(shape->position, centre);
    ASSERT(half.x >= 0 && half.y >= 0 && half.z >= 0);
    const float x = outside(from.x, half.x);
    const float y = outside(from.y, half.y);
    const float z = outside(from.z, half.z);
    Hull hull;
    switch ((ShapeKind)shape->kind) {
    case SHAPE_SPHERE:
        return x * x + y * y + z * z < shape->half.x * shape->half.x;
    case SHAPE_CYLINDER:
        if (shape->turn != SHAPE_FREE) {
            return y < shape->half.y && x * x + z * z < shape->half.x * shape->half.x;
        }
        hull = hull_of_cylinder(shape, from);
        break;
    case SHAPE_WEDGE:
        hull = hull_of_wedge(shape, from);
        break;
    case SHAPE_BOX:
    case SHAPE_KIND_COUNT:
    default:
        hull = hull_of_box(shape, from);
        break;
    }
    return hull_overlaps(&hull, half);
}
