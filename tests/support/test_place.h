// Places for tests: from JSON text to a loaded Place, and two ready-made ones that every netcode
// test uses. A failure here is a bug in the test, so these functions end the program instead of
// returning a status.
#pragma once

#include "core/base/heap.h"
#include "core/script/place.h"
#include "core/wire/place.h"

// Flat ground of 64 m, eight spawns around the origin, a weapon, two catalogue pieces; players may
// build and dig.
extern const char TEST_PLACE_FLAT[];       // place.json
extern const char TEST_PLACE_FLAT_SCENE[]; // scene.json

// A course within 60 m of the origin: stairs, ramps, moving platforms, a lift, conveyors, a ladder,
// a bounce pad, a trigger zone, a part that hurts, two guards.
extern const char TEST_PLACE_COURSE[];
extern const char TEST_PLACE_COURSE_SCENE[];

typedef struct TestPlaceBytes {
    uint8_t *data; // test_place_free
    size_t bytes;
} TestPlaceBytes;

// The compiled scene of two JSON texts, whole or stripped.
TestPlaceBytes test_place_whole(Heap *heap, const char *place_json, const char *scene_json);
TestPlaceBytes test_place_stripped(Heap *heap, const char *place_json, const char *scene_json);
// The same from any files.
TestPlaceBytes test_place_whole_files(Heap *heap, const PlaceFile *files, uint32_t file_count);
TestPlaceBytes test_place_strip(Heap *heap, TestPlaceBytes whole);
void test_place_free(Heap *heap, TestPlaceBytes bytes);

// Loaded; place_unload gives it back.
Place *test_place_load(Heap *heap, const char *place_json, const char *scene_json);
Place *test_place_load_stripped(Heap *heap, const char *place_json, const char *scene_json);
