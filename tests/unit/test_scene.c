// The shared scene: limits, queries compared with a plain list (dense and scattered), and its hash.
#include "core/base/rng.h"
#include "core/sim/scene.h"
#include "tests/support/test.h"

#include <string.h>

#define PARTS 3000

static PartDesc parts[PARTS];

static void random_parts(Rng *rng, float spread)
{
    for (uint32_t i = 0; i < PARTS; i++) {
        const float size = rng_below(rng, 40) == 0 ? 100.0f : 1.5f;
        const Quat turn = {rng_range(rng, -1, 1), rng_range(rng, -1, 1), rng_range(rng, -1, 1),
                           rng_range(rng, -1, 1)};
        parts[i] =
            (PartDesc){.shape = {(ShapeKind)rng_below(rng, SHAPE_KIND_COUNT),
                                 {rng_range(rng, 0.1f, size), rng_range(rng, 0.1f, size),
                                  rng_range(rng, 0.1f, size)}},
                       .pose = {{rng_range(rng, -spread, spread), rng_range(rng, -spread, spread),
                                 rng_range(rng, -spread, spread)},
                                rng_below(rng, 2) == 0 ? QUAT_IDENTITY : quat_normalise(turn)}};
    }
}

static void compare(const Scene *scene, Aabb box)
{
    static uint32_t want[PARTS];
    static uint32_t got[PARTS];
    uint32_t want_count = 0;
    for (uint32_t i = 0; i < scene_part_count(scene); i++) {
        if (aabb_overlaps(scene_part(scene, i)->placed.bounds, box)) {
            want[want_count++] = i;
        }
    }
    uint64_t work = 0;
    CHECK_INT(scene_query(scene, box, got, PARTS, &work), want_count);
    CHECK_BYTES(got, want, want_count * sizeof want[0]);
    CHECK_INT(scene_query(scene, box, got, want_count / 2, &work), want_count);
    CHECK_BYTES(got, want, want_count / 2 * sizeof want[0]);
}

static void queries_equal_brute_force(float spread)
{
    Heap heap = heap_make(64 << 20);
    Rng rng = rng_make(test_seed(), 2);
    random_parts(&rng, spread);
    Scene *scene = NULL;
    CHECK_OK(scene_create(&heap, &(SceneDesc){.parts = parts, .part_count = PARTS}, &scene, NULL));
    for (uint32_t i = 0; i < 1000 && test_is_passing(); i++) {
        const Vec3 min = {rng_range(&rng, -spread, spread), rng_range(&rng, -spread, spread),
                          rng_range(&rng, -spread, spread)};
        const float size = rng_below(&rng, 10) == 0 ? spread : 5;
        const Vec3 extent = {rng_range(&rng, 0, size), rng_range(&rng, 0, size),
                             rng_range(&rng, 0, size)};
        compare(scene, (Aabb){min, vec3_add(min, extent)});
    }
    scene_destroy(&heap, scene);
    CHECK_INT(heap.bytes_now, 0);
}

TEST(queries_in_a_crowded_scene)
{
    queries_equal_brute_force(40);
}

TEST(queries_in_a_scattered_scene)
{
    queries_equal_brute_force(8000);
}

TEST(bad_parts_are_named)
{
    Heap heap = heap_make(1 << 20);
    Scene *scene = NULL;
    const PartDesc good = {.shape = {SHAPE_BOX, {1, 1, 1}}, .pose = {{0, 0, 0}, QUAT_IDENTITY}};
    PartDesc list[3] = {good, good, good};
    const SceneDesc desc = {.parts = list, .part_count = 3};
    uint32_t bad = 99;
    list[2].shape.half.y = __builtin_nanf("");
    CHECK_INT(scene_create(&heap, &desc, &scene, &bad), STATUS_RANGE);
    CHECK_INT(bad, 2);
    list[2] = good;
    list[1].pose.rotation = (Quat){0, 0, 0, 2};
    CHECK_INT(scene_create(&heap, &desc, &scene, &bad), STATUS_RANGE);
    CHECK_INT(bad, 1);
    list[1] = good;
    list[0].data.flags = 1u << 20;
    CHECK_INT(scene_create(&heap, &desc, &scene, &bad), STATUS_RANGE);
    CHECK_INT(bad, 0);
    list[0] = good;
    list[0].pose.position.x = 1.0e9f;
    CHECK_INT(scene_create(&heap, &desc, &scene, &bad), STATUS_RANGE);
    const PieceDesc piece = {.cells_x = 9, .cells_y = 1, .cells_z = 1, .health = 1};
    CHECK_INT(scene_create(&heap, &(SceneDesc){.pieces = &piece, .piece_count = 1}, &scene, &bad),
              STATUS_RANGE);
    CHECK_INT(scene_create(&heap, &(SceneDesc){.part_count = SCENE_PARTS_MAX + 1}, &scene, &bad),
              STATUS_LIMIT);
    const Aabb inside_out = {{1, 1, 1}, {-1, -1, -1}};
    CHECK_INT(scene_create(&heap, &(SceneDesc){.bounds = inside_out}, &scene, &bad), STATUS_RANGE);
    const Aabb endless = {{-1, -1, -1}, {__builtin_inff(), 1, 1}};
    CHECK_INT(scene_create(&heap, &(SceneDesc){.bounds = endless}, &scene, &bad), STATUS_RANGE);
    CHECK(scene == NULL);
    CHECK_INT(heap.bytes_now, 0);
}

TEST(a_full_heap_leaves_nothing_behind)
{
    Rng rng = rng_make(test_seed(), 3);
    random_parts(&rng, 40);
    const SceneDesc desc = {.parts = parts, .part_count = 200};
    for (uint64_t cap = 0; cap < 400000; cap += 5000) {
        Heap heap = heap_make(cap);
        Scene *scene = NULL;
        if (scene_create(&heap, &desc, &scene, NULL) == STATUS_OK) {
            scene_destroy(&heap, scene);
        }
        CHECK_INT(heap.bytes_now, 0);
    }
}

TEST(the_hash_names_the_content)
{
    Heap heap = heap_make(1 << 20);
    const PartDesc part = {.shape = {SHAPE_BOX, {1, 1, 1}}, .pose = {{0, 0, 0}, QUAT_IDENTITY}};
    PartDesc other = part;
    other.data.bounce_speed = 1;
    Scene *a = NULL;
    Scene *b = NULL;
    Scene *c = NULL;
    CHECK_OK(scene_create(&heap, &(SceneDesc){.parts = &part, .part_count = 1}, &a, NULL));
    CHECK_OK(scene_create(&heap, &(SceneDesc){.parts = &part, .part_count = 1}, &b, NULL));
    CHECK_OK(scene_create(&heap, &(SceneDesc){.parts = &other, .part_count = 1}, &c, NULL));
    CHECK(scene_hash(a) == scene_hash(b));
    CHECK(scene_hash(a) != scene_hash(c));
    scene_destroy(&heap, a);
    scene_destroy(&heap, b);
    scene_destroy(&heap, c);
}
