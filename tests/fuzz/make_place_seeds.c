// Writes the seed corpora of fuzz_place and fuzz_scene:  make_place_seeds CORPUS_FOLDER
// Run again when a format has changed and the old seeds no longer read. What a search has found
// beside them is kept as found_….
#include "core/base/check.h"
#include "tests/support/test_place.h"

#include <stdio.h>
#include <string.h>

#define PLACE                                                                          \
    "{\"format\":1,\"name\":\"P\",\"catalogue\":[{\"name\":\"a\",\"cells\":[1,2,3]}]," \
    "\"weapons\":[{\"name\":\"w\",\"rate\":2}],\"voxelKinds\":[{\"name\":\"k\"},"      \
    "{\"name\":\"l\",\"solid\":false}],\"spells\":{\"a\":[1,null]},\"actions\":[\"x\"]}"
#define SCENE                                                                                    \
    "{\"format\":1,\"terrain\":[{\"min\":[-3,-2,-3],\"max\":[3,-1,3],\"kind\":\"k\"},{\"chunk\"" \
    ":\"chunks/0_0_0.chunk\"}],\"entities\":[{\"id\":1,\"type\":\"spawn\",\"team\":\"t\"},"      \
    "{\"id\":2,\"type\":\"group\",\"transform\":{\"position\":[1,2,3],\"rotation\":[1,2,3]}},"   \
    "{\"id\":3,\"parent\":2,\"shape\":{\"kind\":\"wedge\",\"size\":[2,3,4]},\"attributes\":"     \
    "{\"a\":1,\"b\":\"t\",\"c\":[1,2,3],\"d\":{\"entity\":4},\"e\":{\"value\":true,"             \
    "\"private\":true}},\"tags\":[\"q\"],\"scriptPath\":\"Workspace/D.lua\",\"parameters\":"     \
    "{\"x\":1}},{\"id\":4,\"motion\":{\"loop\":true,\"waypoints\":[{\"position\":[1,0,0],"       \
    "\"seconds\":1},{\"position\":[0,0,0],\"seconds\":1}]}},{\"id\":5,\"type\":\"npc\",\"npc\":" \
    "{\"sight\":5,\"patrol\":[[1,0,0]]}},{\"id\":6,\"motion\":{\"segments\":[{\"seconds\":1,"    \
    "\"position\":[0,0,0],\"velocity\":[1,0,0]}]}}]}"
#define PREFAB "{\"format\":1,\"kind\":\"projectile\",\"projectile\":{\"damage\":3}}"

// All of kind 1: no planes.
static const uint8_t chunk[] = {1, 0, 0, 0, 0, 1, 0, 1, 0};

static void write_file(const char *folder, const char *name, const void *data, size_t bytes)
{
    char path[1024];
    (void)snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = fopen(path, "wb");
    ASSERT(file != NULL);
    ASSERT(fwrite(data, 1, bytes, file) == bytes);
    ASSERT(fclose(file) == 0);
}

static void write_forms(const char *folder, const char *name, Heap *heap, TestPlaceBytes whole)
{
    char path[128];
    const TestPlaceBytes stripped = test_place_strip(heap, whole);
    (void)snprintf(path, sizeof path, "scene/%s_whole", name);
    write_file(folder, path, whole.data, whole.bytes);
    (void)snprintf(path, sizeof path, "scene/%s_stripped", name);
    write_file(folder, path, stripped.data, stripped.bytes);
    test_place_free(heap, whole);
    test_place_free(heap, stripped);
}

int main(int argc, char **argv)
{
    ASSERT(argc == 2);
    const char *folder = argv[1];
    Heap heap = heap_make(64 << 20);
    static const char texts[] = PLACE "\0" SCENE "\0" PREFAB;
    uint8_t all[sizeof texts + sizeof chunk];
    memcpy(all, texts, sizeof texts);
    memcpy(all + sizeof texts, chunk, sizeof chunk);
    write_file(folder, "place/rich", all, sizeof all);
    char pair[32768];
    size_t bytes =
        (size_t)snprintf(pair, sizeof pair, "%s%c%s", TEST_PLACE_FLAT, '\0', TEST_PLACE_FLAT_SCENE);
    write_file(folder, "place/flat", pair, bytes);
    bytes = (size_t)snprintf(pair, sizeof pair, "%s%c%s", TEST_PLACE_COURSE, '\0',
                             TEST_PLACE_COURSE_SCENE);
    ASSERT(bytes < sizeof pair);
    write_file(folder, "place/course", pair, bytes);
    const PlaceFile files[] = {{"place.json", (const uint8_t *)PLACE, sizeof PLACE - 1},
                               {"scene.json", (const uint8_t *)SCENE, sizeof SCENE - 1},
                               {"prefabs/A.json", (const uint8_t *)PREFAB, sizeof PREFAB - 1},
                               {"chunks/0_0_0.chunk", chunk, sizeof chunk}};
    write_forms(folder, "rich", &heap, test_place_whole_files(&heap, files, 4));
    write_forms(folder, "flat", &heap,
                test_place_whole(&heap, TEST_PLACE_FLAT, TEST_PLACE_FLAT_SCENE));
    return 0;
}
