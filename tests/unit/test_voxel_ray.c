// Rays through voxels: known results, a walk of single steps that must agree bit for bit (so
// skipping chunks changes nothing), and a brute-force test of every voxel in double precision (so
// the walk itself is right).
#include "core/sim/voxel.h"

#include "tests/support/test.h"
#include "tests/unit/test_voxel_reference.h"

#include <math.h>
#include <string.h>

static Reference reference;

static bool vec3_is(Vec3 a, float x, float y, float z)
{
    return a.x == x && a.y == y && a.z == z;
}

static bool voxel_is(VoxelCoord a, int32_t x, int32_t y, int32_t z)
{
    return a.x == x && a.y == y && a.z == z;
}

TEST(a_ray_along_each_axis)
{
    Heap heap = heap_make(1 << 20);
    Terrain *terrain = terrain_make(&heap, NULL, 16, 40);
    CHECK_OK(terrain_set(terrain, (VoxelCoord){10, 0, 0}, 1, NULL));
    CHECK_OK(terrain_set(terrain, (VoxelCoord){-40, 0, 0}, 2, NULL));
    CHECK_OK(terrain_set(terrain, (VoxelCoord){0, 33, 0}, 3, NULL));
    CHECK_OK(terrain_set(terrain, (VoxelCoord){0, -1, 0}, 4, NULL));
    CHECK_OK(terrain_set(terrain, (VoxelCoord){0, 0, 96}, 5, NULL));
    CHECK_OK(terrain_set(terrain, (VoxelCoord){0, 0, -65}, 6, NULL));
    const Vec3 from = vec3(0.5f, 0.25f, 0.75f);
    TerrainHit hit;
    CHECK(terrain_ray(terrain, from, vec3(1, 0, 0), 100, &hit));
    CHECK(voxel_is(hit.voxel, 10, 0, 0) && hit.kind == 1 && hit.distance == 9.5f);
    CHECK(vec3_is(hit.point, 10, 0.25f, 0.75f) && vec3_is(hit.normal, -1, 0, 0));
    CHECK(terrain_ray(terrain, from, vec3(-1, 0, 0), 100, &hit));
    CHECK(voxel_is(hit.voxel, -40, 0, 0) && hit.kind == 2 && hit.distance == 39.5f);
    CHECK(vec3_is(hit.point, -39, 0.25f, 0.75f) && vec3_is(hit.normal, 1, 0, 0));
    CHECK(terrain_ray(terrain, from, vec3(0, 1, 0), 100, &hit));
    CHECK(voxel_is(hit.voxel, 0, 33, 0) && hit.kind == 3 && hit.distance == 32.75f);
    CHECK(vec3_is(hit.point, 0.5f, 33, 0.75f) && vec3_is(hit.normal, 0, -1, 0));
    CHECK(terrain_ray(terrain, from, vec3(0, -1, 0), 100, &hit));
    CHECK(voxel_is(hit.voxel, 0, -1, 0) && hit.kind == 4 && hit.distance == 0.25f);
    CHECK(vec3_is(hit.point, 0.5f, 0, 0.75f) && vec3_is(hit.normal, 0, 1, 0));
    CHECK(terrain_ray(terrain, from, vec3(0, 0, 1), 100, &hit));
    CHECK(voxel_is(hit.voxel, 0, 0, 96) && hit.kind == 5 && hit.distance == 95.25f);
    CHECK(terrain_ray(terrain, from, vec3(0, 0, -1), 100, &hit));
    CHECK(voxel_is(hit.voxel, 0, 0, -65) && hit.kind == 6 && hit.distance == 64.75f);
    CHECK(vec3_is(hit.point, 0.5f, 0.25f, -64) && vec3_is(hit.normal, 0, 0, 1));
    terrain_destroy(&heap, terrain);
}

TEST(a_ray_ends_at_its_distance)
{
    Heap heap = heap_make(1 << 20);
    Terrain *terrain = terrain_make(&heap, NULL, 4, 8);
    CHECK_OK(terrain_set(terrain, (VoxelCoord){50, 2, 2}, 1, NULL));
    const Vec3 from = vec3(2, 2, 2);
    TerrainHit hit = {.kind = 77};
    CHECK(!terrain_ray(terrain, from, vec3(1, 0, 0), 47.999f, &hit));
    CHECK(!terrain_ray(terrain, from, vec3(1, 0, 0), 0, &hit));
    CHECK(!terrain_ray(terrain, from, vec3(1, 0, 0), -1, &hit));
    CHECK(!terrain_ray(terrain, from, vec3(1, 0, 0), NAN, &hit));
    CHECK_INT(hit.kind, 77);
    CHECK(terrain_ray(terrain, from, vec3(1, 0, 0), 48, &hit));
    CHECK(terrain_ray(terrain, from, vec3(1, 0, 0), INFINITY, &hit));
    CHECK_NEAR(hit.distance, 48, 0);
    terrain_destroy(&heap, terrain);
}

TEST(a_ray_that_is_none_hits_nothing)
{
    Heap heap = heap_make(1 << 20);
    Terrain *terrain = terrain_make(&heap, NULL, 8, 8);
    CHECK_OK(terrain_fill_box(terrain, (VoxelCoord){0, 0, 0}, (VoxelCoord){31, 31, 31}, 1, NULL));
    TerrainHit hit;
    const float bad[] = {NAN, INFINITY, -INFINITY};
    for (uint32_t i = 0; i < 3; i++) {
        CHECK(!terrain_ray(terrain, vec3(bad[i], 5, 5), vec3(1, 0, 0), 10, &hit));
        CHECK(!terrain_ray(terrain, vec3(5, 5, bad[i]), vec3(1, 0, 0), 10, &hit));
        CHECK(!terrain_ray(terrain, vec3(5, 5, 5), vec3(0, bad[i], 0), 10, &hit));
    }
    CHECK(!terrain_ray(terrain, vec3(5, 5, 5), VEC3_ZERO, 10, &hit));
    CHECK(!terrain_ray(terrain, vec3(-5, 5, 5), vec3(1e-40f, 0, 0), INFINITY, &hit));
    // Odd directions end, whatever they answer.
    (void)terrain_ray(terrain, vec3(-5, 5, 5), vec3(1e-20f, 1e-25f, -0.0f), INFINITY, &hit);
    (void)terrain_ray(terrain, vec3(-5, 5, 5), vec3(3e38f, -3e38f, 3e38f), INFINITY, &hit);
    (void)terrain_ray(terrain, vec3(-3e38f, 3e38f, 1), vec3(0.7f, -0.7f, 1e-9f), INFINITY, &hit);
    terrain_destroy(&heap, terrain);
}

TEST(a_ray_that_starts_inside_hits_at_once)
{
    Heap heap = heap_make(1 << 20);
    Terrain *terrain = terrain_make(&heap, NULL, 4, 8);
    CHECK_OK(terrain_set(terrain, (VoxelCoord){-1, -1, -1}, 9, NULL));
    const Vec3 direction = vec3(0.6f, 0, -0.8f);
    const Vec3 from = vec3(-0.25f, -1, -0.5f); // on the lower face: the voxel is half open
    TerrainHit hit;
    CHECK(terrain_ray(terrain, from, direction, 0, &hit));
    CHECK(voxel_is(hit.voxel, -1, -1, -1) && hit.kind == 9 && hit.distance == 0);
    CHECK(vec3_equal(hit.point, from) && vec3_equal(hit.normal, vec3_neg(direction)));
    // On the upper face it is outside, and enters when it moves down.
    CHECK(!terrain_ray(terrain, vec3(-0.25f, 0, -0.5f), vec3(0, 1, 0), 5, &hit));
    CHECK(terrain_ray(terrain, vec3(-0.25f, 0, -0.5f), vec3(0, -1, 0), 5, &hit));
    CHECK(hit.distance == 0 && vec3_is(hit.normal, 0, 1, 0) && !signbit(hit.distance));
    terrain_destroy(&heap, terrain);
}

TEST(rays_in_the_plane_of_a_face_follow_the_half_open_voxels)
{
    Heap heap = heap_make(1 << 20);
    Terrain *terrain = terrain_make(&heap, NULL, 8, 16);
    CHECK_OK(terrain_set(terrain, (VoxelCoord){5, 5, 5}, 1, NULL));
    TerrainHit hit;
    CHECK(terrain_ray(terrain, vec3(0, 5, 5), vec3(1, 0, 0), 10, &hit)); // its lower edge
    CHECK(hit.distance == 5);
    CHECK(!terrain_ray(terrain, vec3(0, 6, 5), vec3(1, 0, 0), 10, &hit)); // its upper edge
    CHECK(!terrain_ray(terrain, vec3(0, 5, 6), vec3(1, 0, 0), 10, &hit));
    CHECK(terrain_ray(terrain, vec3(5, 40, 5), vec3(0, -1, 0), 50, &hit));
    CHECK(hit.distance == 34 && vec3_is(hit.point, 5, 6, 5));
    CHECK(!terrain_ray(terrain, vec3(6, 40, 5), vec3(0, -1, 0), 50, &hit));
    terrain_destroy(&heap, terrain);
}

// Exactly through an edge where two solid voxels touch diagonally: no gap, from any side.
TEST(no_ray_slips_between_voxels_that_share_an_edge)
{
    Heap heap = heap_make(1 << 20);
    Terrain *terrain = terrain_make(&heap, NULL, 8, 40);
    const int32_t places[] = {0, 31, 32, -1, -32};
    for (uint32_t i = 0; i < 5; i++) {
        const int32_t p = places[i];
        CHECK_OK(terrain_fill_box(terrain, (VoxelCoord){-40, -3, -40}, (VoxelCoord){23, 0, 23},
                                  VOXEL_AIR, NULL));
        CHECK_OK(terrain_fill_box(terrain, (VoxelCoord){20, -3, 20}, (VoxelCoord){63, 0, 63},
                                  VOXEL_AIR, NULL));
        CHECK_OK(terrain_set(terrain, (VoxelCoord){p, 0, p}, 1, NULL));
        CHECK_OK(terrain_set(terrain, (VoxelCoord){p - 1, 0, p - 1}, 1, NULL));
        const float d = math_sqrt(0.5f);
        const float c = (float)p;
        TerrainHit hit;
        CHECK(terrain_ray(terrain, vec3(c + 2, 0.5f, c - 2), vec3(-d, 0, d), 9, &hit));
        CHECK_NEAR(hit.distance, 2.828427, 1e-5);
        CHECK(terrain_ray(terrain, vec3(c - 2, 0.5f, c + 2), vec3(d, 0, -d), 9, &hit));
        CHECK_NEAR(hit.distance, 2.828427, 1e-5);
    }
    terrain_destroy(&heap, terrain);
}

// On a chunk's border, moving away from it: the voxels behind the start are not visited.
TEST(a_ray_never_goes_back_behind_its_start)
{
    Heap heap = heap_make(1 << 20);
    Terrain *terrain = terrain_make(&heap, NULL, 8, 40);
    const float d = math_sqrt(0.5f);
    TerrainHit hit;
    CHECK_OK(terrain_set(terrain, (VoxelCoord){31, 4, 5}, 1, NULL));
    CHECK(!terrain_ray(terrain, vec3(32, 5, 5.5f), vec3(-d, d, 0), 20, &hit));
    CHECK_OK(terrain_set(terrain, (VoxelCoord){31, 5, 5}, 1, NULL));
    CHECK(terrain_ray(terrain, vec3(32, 5, 5.5f), vec3(-d, d, 0), 20, &hit));
    CHECK(hit.distance == 0 && vec3_is(hit.normal, 1, 0, 0));
    terrain_destroy(&heap, terrain);
}

TEST(rays_cross_the_whole_world_and_its_border)
{
    Heap heap = heap_make(1 << 20);
    Terrain *terrain = terrain_make(&heap, NULL, 8, 16);
    const int32_t last = WORLD_EXTENT_M - 1;
    CHECK_OK(terrain_set(terrain, (VoxelCoord){last, 7, -WORLD_EXTENT_M}, 1, NULL));
    CHECK_OK(terrain_set(terrain, (VoxelCoord){0, 0, 0}, 2, NULL));
    const float edge = WORLD_EXTENT_M;
    TerrainHit hit;
    CHECK(terrain_ray(terrain, vec3(-edge, 7.5f, -edge), vec3(1, 0, 0), 1e6f, &hit));
    CHECK(hit.distance == 2 * edge - 1);
    CHECK(terrain_ray(terrain, vec3(edge + 50, 7.5f, -edge), vec3(-1, 0, 0), 1e6f, &hit));
    CHECK(hit.distance == 50 && vec3_is(hit.normal, 1, 0, 0));
    CHECK(!terrain_ray(terrain, vec3(edge + 50, 7.5f, -edge), vec3(-1, 0, 0), 49.9f, &hit));
    CHECK(!terrain_ray(terrain, vec3(edge + 50, 7.5f, -edge), vec3(1, 0, 0), 1e6f, &hit));
    CHECK(!terrain_ray(terrain, vec3(edge, 7.5f, -edge), vec3(0, 0, 1), 1e6f, &hit));
    CHECK(terrain_ray(terrain, vec3(edge, 7.5f, -edge), vec3(-1, 0, 0), 1e6f, &hit));
    CHECK(hit.distance == 0);
    CHECK(terrain_ray(terrain, vec3(last, 7.5f, -edge - 8), vec3(0, 0, 1), 1e6f, &hit));
    CHECK(hit.distance == 8 && vec3_is(hit.normal, 0, 0, -1));
    CHECK(!terrain_ray(terrain, vec3(0.5f, 0.5f, 0.5f + 1), vec3(0, 0, 1), 1e9f, &hit));
    // Past one border plane and in through another: y is the later of the two.
    const float half = math_sqrt(0.5f);
    CHECK_OK(terrain_set(terrain, (VoxelCoord){last - 200, last, 0}, 3, NULL));
    CHECK(terrain_ray(terrain, vec3(edge + 100.25f, edge + 300.5f, 0.5f), vec3(-half, -half, 0),
                      1e6f, &hit));
    CHECK(voxel_is(hit.voxel, last - 200, last, 0) && vec3_is(hit.normal, 0, 1, 0));
    CHECK_NEAR(hit.distance, 300.5 * 1.41421356, 0.01);
    CHECK(!terrain_ray(terrain, vec3(edge + 100.25f, edge + 300.5f, 0.5f), vec3(-1, 0, 0), 1e6f,
                       &hit));
    // From far outside, towards the middle.
    CHECK(terrain_ray(terrain, vec3(0.5f, 1e6f, 0.5f), vec3(0, -1, 0), 1e9f, &hit));
    CHECK(voxel_is(hit.voxel, 0, 0, 0) && vec3_is(hit.normal, 0, 1, 0));
    const float far = 100000.0f;
    const float d = 1 / math_sqrt(3);
    CHECK(terrain_ray(terrain, vec3(far, far, far), vec3(-d, -d, -d), 1e9f, &hit));
    CHECK(voxel_is(hit.voxel, 0, 0, 0));
    CHECK_NEAR(hit.distance, (100000 - 1) * 1.7320508, 0.1);
    terrain_destroy(&heap, terrain);
}

// --- single steps -------------------------------------------------------------------------------

// One boundary at a time, asking the reference and never skipping; the rule is in voxel_ray.c.
static bool walk(Vec3 origin, Vec3 direction, float distance_max, VoxelCoord *at, float *distance)
{
    const float o[3] = {origin.x, origin.y, origin.z};
    const float d[3] = {direction.x, direction.y, direction.z};
    const VoxelCoord start = voxel_at(origin);
    int32_t v[3] = {start.x, start.y, start.z};
    float time = 0;
    for (uint32_t i = 0; i < 4000; i++) {
        *at = (VoxelCoord){v[0], v[1], v[2]};
        *distance = time > 0 ? time : 0;
        if (reference_is_solid(&reference, *at)) {
            return true;
        }
        int least = -1;
        for (int axis = 0; axis < 3; axis++) {
            if (d[axis] != 0) {
                const float out = ((float)(v[axis] + (d[axis] > 0)) - o[axis]) * (1.0f / d[axis]);
                if (least < 0 || out < time) {
                    least = axis;
                    time = out;
                }
            }
        }
        if (time > distance_max) {
            return false;
        }
        v[least] += d[least] > 0 ? 1 : -1;
    }
    return false;
}

static void check_walk(const Terrain *terrain, Vec3 origin, Vec3 direction)
{
    VoxelCoord at;
    float distance;
    TerrainHit hit;
    const bool want = walk(origin, direction, 150, &at, &distance);
    const bool got = terrain_ray(terrain, origin, direction, 150, &hit);
    if (got != want ||
        (got && (!voxel_is(hit.voxel, at.x, at.y, at.z) || hit.distance != distance ||
                 hit.kind != reference_voxel(&reference, at)))) {
        test_fail(__FILE__, __LINE__, "ray from (%a, %a, %a) along (%a, %a, %a)", (double)origin.x,
                  (double)origin.y, (double)origin.z, (double)direction.x, (double)direction.y,
                  (double)direction.z);
        return;
    }
    if (got && distance > 0) {
        // The point is on the face it says.
        const Vec3 centre = {(float)at.x + 0.5f, (float)at.y + 0.5f, (float)at.z + 0.5f};
        const Vec3 offset = vec3_sub(hit.point, centre);
        CHECK(vec3_dot(offset, hit.normal) == 0.5f);
        CHECK(math_abs(offset.x) <= 0.5f && math_abs(offset.y) <= 0.5f &&
              math_abs(offset.z) <= 0.5f);
        CHECK(vec3_dot(hit.normal, direction) < 0);
    }
}

// Sparse, so that rays go through many chunks without anything in them.
static Terrain *sparse_terrain(Heap *heap, Rng *rng, uint32_t voxel_count)
{
    Terrain *terrain = terrain_make(heap, NULL, REFERENCE_CHUNKS, REFERENCE_CHUNKS * 3);
    reference_clear(&reference);
    for (uint32_t i = 0; i < voxel_count; i++) {
        Edit edit = {.kind = (VoxelKind)(1 + i % 3)};
        edit.min = voxel_random(rng, (VoxelCoord){-64, -32, -64}, (VoxelCoord){63, 63, 63});
        edit.max = edit.min;
        CHECK_OK(edit_terrain(terrain, &edit, NULL));
        reference_edit(&reference, &edit);
    }
    return terrain;
}

TEST(skipping_chunks_is_invisible)
{
    Heap heap = heap_make(4 << 20);
    Rng rng = rng_make(test_seed(), 5);
    for (uint32_t round = 0; round < 4 && test_is_passing(); round++) {
        const uint32_t densities[] = {12, 100, 4000, 40000};
        Terrain *terrain = sparse_terrain(&heap, &rng, densities[round]);
        for (uint32_t i = 0; i < 8000 && test_is_passing(); i++) {
            // Multiples of a fraction: integers put rays onto faces, edges and corners.
            const int32_t parts = i % 4 == 0 ? 1 : i % 4 == 1 ? 2 : 1000;
            const int32_t reach = i % 4 == 3 ? 3 : 100 * parts;
            const VoxelCoord o =
                voxel_random(&rng, (VoxelCoord){-60 * parts, -30 * parts, -60 * parts},
                             (VoxelCoord){60 * parts, 60 * parts, 60 * parts});
            const VoxelCoord d = voxel_random(&rng, (VoxelCoord){-reach, -reach, -reach},
                                              (VoxelCoord){reach, reach, reach});
            const Vec3 origin =
                vec3_scale(vec3((float)o.x, (float)o.y, (float)o.z), 1.0f / (float)parts);
            const Vec3 direction = vec3_normalise(vec3((float)d.x, (float)d.y, (float)d.z));
            if (!vec3_equal(direction, VEC3_ZERO)) {
                check_walk(terrain, origin, direction);
            }
        }
        terrain_destroy(&heap, terrain);
    }
}

// --- brute force --------------------------------------------------------------------------------

typedef struct Span {
    double in, out;
} Span;

// Where a line is inside a voxel, by slabs; empty when in > out. In the plane of a face it is
// inside at the lower one only.
static Span voxel_span(VoxelCoord at, Vec3 origin, Vec3 direction)
{
    const double o[3] = {(double)origin.x, (double)origin.y, (double)origin.z};
    const double d[3] = {(double)direction.x, (double)direction.y, (double)direction.z};
    const double low[3] = {at.x, at.y, at.z};
    Span span = {0, 1e9};
    for (int axis = 0; axis < 3; axis++) {
        if (d[axis] == 0) {
            if (o[axis] < low[axis] || o[axis] >= low[axis] + 1) {
                return (Span){1, 0};
            }
            continue;
        }
        const double a = (low[axis] - o[axis]) / d[axis];
        const double b = (low[axis] + 1 - o[axis]) / d[axis];
        span.in = fmax(span.in, fmin(a, b));
        span.out = fmin(span.out, fmax(a, b));
    }
    return span;
}

#define BRUTE_EDGE 12 // voxels from -12 to 11 on each axis: eight chunks meet in the middle

static void check_brute(const Terrain *terrain, Vec3 origin, Vec3 direction)
{
    const double slack = 1e-4;
    double nearest = 1e9; // entry into a voxel that the ray surely crosses
    for (int32_t z = -BRUTE_EDGE; z < BRUTE_EDGE; z++) {
        for (int32_t y = -BRUTE_EDGE; y < BRUTE_EDGE; y++) {
            for (int32_t x = -BRUTE_EDGE; x < BRUTE_EDGE; x++) {
                const VoxelCoord at = {x, y, z};
                if (reference_is_solid(&reference, at)) {
                    const Span span = voxel_span(at, origin, direction);
                    if (span.out - span.in > slack && span.in < nearest) {
                        nearest = span.in;
                    }
                }
            }
        }
    }
    TerrainHit hit;
    if (!terrain_ray(terrain, origin, direction, 60, &hit)) {
        CHECK(nearest > 60 - slack);
        return;
    }
    const Span span = voxel_span(hit.voxel, origin, direction);
    CHECK(reference_is_solid(&reference, hit.voxel));
    CHECK(span.out - span.in > -slack); // it touches the voxel at least
    CHECK_NEAR(hit.distance, span.in, slack);
    CHECK((double)hit.distance < nearest + slack);
}

TEST(rays_agree_with_a_test_of_every_voxel)
{
    Heap heap = heap_make(4 << 20);
    Rng rng = rng_make(test_seed(), 6);
    Terrain *terrain = terrain_make(&heap, NULL, 8, 24);
    reference_clear(&reference);
    for (uint32_t i = 0; i < 400; i++) {
        Edit edit = {.kind = 1};
        edit.min = voxel_random(&rng, (VoxelCoord){-BRUTE_EDGE, -BRUTE_EDGE, -BRUTE_EDGE},
                                (VoxelCoord){BRUTE_EDGE - 1, BRUTE_EDGE - 1, BRUTE_EDGE - 1});
        edit.max = edit.min;
        CHECK_OK(edit_terrain(terrain, &edit, NULL));
        reference_edit(&reference, &edit);
    }
    for (uint32_t i = 0; i < 1500 && test_is_passing(); i++) {
        const VoxelCoord o =
            voxel_random(&rng, (VoxelCoord){-160, -160, -160}, (VoxelCoord){160, 160, 160});
        const int32_t reach = i % 3 == 0 ? 1 : 1000;
        const VoxelCoord d = voxel_random(&rng, (VoxelCoord){-reach, -reach, -reach},
                                          (VoxelCoord){reach, reach, reach});
        const Vec3 direction = vec3_normalise(vec3((float)d.x, (float)d.y, (float)d.z));
        if (!vec3_equal(direction, VEC3_ZERO)) {
            check_brute(terrain, vec3((float)o.x / 10, (float)o.y / 10, (float)o.z / 10),
                        direction);
        }
    }
    terrain_destroy(&heap, terrain);
}
