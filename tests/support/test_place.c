// Places for tests; see test_place.h.
#include "tests/support/test_place.h"

#include "core/base/check.h"

#include <stdio.h>
#include <string.h>

static void die_of(const PlaceError *error)
{
    char text[512];
    place_error_text(error, text, sizeof text);
    fprintf(stderr, "%s\n", text);
    ASSERT(false && "the place compiles");
}

TestPlaceBytes test_place_whole_files(Heap *heap, const PlaceFile *files, uint32_t file_count)
{
    PlaceError error;
    ByteWriter counter = byte_counter();
    if (place_compile(heap, files, file_count, &counter, &error) != STATUS_OK) {
        die_of(&error);
    }
    TestPlaceBytes out = {heap_alloc(heap, counter.at), counter.at};
    ASSERT(out.data != NULL);
    ByteWriter writer = byte_writer(out.data, out.bytes);
    const Status status = place_compile(heap, files, file_count, &writer, &error);
    ASSERT(status == STATUS_OK && writer.at == out.bytes);
    return out;
}

TestPlaceBytes test_place_whole(Heap *heap, const char *place_json, const char *scene_json)
{
    const PlaceFile files[] = {
        {"place.json", (const uint8_t *)place_json, strlen(place_json)},
        {"scene.json", (const uint8_t *)scene_json, strlen(scene_json)},
    };
    return test_place_whole_files(heap, files, 2);
}

TestPlaceBytes test_place_strip(Heap *heap, TestPlaceBytes whole)
{
    ByteWriter counter = byte_counter();
    Status status = place_strip(heap, whole.data, whole.bytes, &counter);
    ASSERT(status == STATUS_OK);
    TestPlaceBytes out = {heap_alloc(heap, counter.at), counter.at};
    ASSERT(out.data != NULL);
    ByteWriter writer = byte_writer(out.data, out.bytes);
    status = place_strip(heap, whole.data, whole.bytes, &writer);
    ASSERT(status == STATUS_OK && writer.at == out.bytes);
    return out;
}

TestPlaceBytes test_place_stripped(Heap *heap, const char *place_json, const char *scene_json)
{
    const TestPlaceBytes whole = test_place_whole(heap, place_json, scene_json);
    const TestPlaceBytes stripped = test_place_strip(heap, whole);
    test_place_free(heap, whole);
    return stripped;
}

void test_place_free(Heap *heap, TestPlaceBytes bytes)
{
    heap_free(heap, bytes.data);
}

static Place *load(Heap *heap, TestPlaceBytes bytes)
{
    Place *place = NULL;
    const Status status = place_load(heap, bytes.data, bytes.bytes, &place);
    ASSERT(status == STATUS_OK);
    test_place_free(heap, bytes);
    return place;
}

Place *test_place_load(Heap *heap, const char *place_json, const char *scene_json)
{
    return load(heap, test_place_whole(heap, place_json, scene_json));
}

Place *test_place_load_stripped(Heap *heap, const char *place_json, const char *scene_json)
{
    return load(heap, test_place_stripped(heap, place_json, scene_json));
}

// --- the two places -----------------------------------------------------------------------------

const char TEST_PLACE_FLAT[] =
    "{\"format\": 1, \"name\": \"Flat\",\n"
    " \"limits\": {\"players\": 64, \"viewRadius\": 64, \"reach\": 10},\n"
    " \"permissions\": {\"build\": true, \"terraform\": true},\n"
    " \"respawnMs\": 2000,\n"
    " \"actions\": [\"wave\", \"dance\"],\n"
    " \"catalogue\": [\n"
    "  {\"name\": \"block\", \"health\": 50, \"material\": \"wood\", \"colour\": \"#aa7744\"},\n"
    "  {\"name\": \"wall\", \"cells\": [3, 3, 1], \"health\": 100}],\n"
    " \"weapons\": [{\"name\": \"blaster\", \"intervalMs\": 250, \"speed\": 60, \"damage\": 25}],\n"
    " \"voxelKinds\": [{\"name\": \"grass\"}, {\"name\": \"stone\"},\n"
    "  {\"name\": \"water\", \"solid\": false}]}\n";

const char TEST_PLACE_FLAT_SCENE[] =
    "{\"format\": 1,\n"
    " \"terrain\": [{\"min\": [-32, -4, -32], \"max\": [31, -1, 31], \"kind\": \"grass\"}],\n"
    " \"entities\": [\n"
    "  {\"id\": 1, \"type\": \"spawn\", \"transform\": {\"position\": [4, 0, 0]}},\n"
    "  {\"id\": 2, \"type\": \"spawn\", \"transform\": {\"position\": [3, 0, 3]}},\n"
    "  {\"id\": 3, \"type\": \"spawn\", \"transform\": {\"position\": [0, 0, 4]}},\n"
    "  {\"id\": 4, \"type\": \"spawn\", \"transform\": {\"position\": [-3, 0, 3]}},\n"
    "  {\"id\": 5, \"type\": \"spawn\", \"transform\": {\"position\": [-4, 0, 0]}},\n"
    "  {\"id\": 6, \"type\": \"spawn\", \"transform\": {\"position\": [-3, 0, -3]}},\n"
    "  {\"id\": 7, \"type\": \"spawn\", \"transform\": {\"position\": [0, 0, -4]}},\n"
    "  {\"id\": 8, \"type\": \"spawn\", \"transform\": {\"position\": [3, 0, -3]}}]}\n";

const char TEST_PLACE_COURSE[] =
    "{\"format\": 1, \"name\": \"Course\",\n"
    " \"limits\": {\"players\": 64, \"viewRadius\": 96, \"reach\": 10},\n"
    " \"permissions\": {\"build\": true, \"terraform\": true},\n"
    " \"respawnMs\": 2000,\n"
    " \"actions\": [\"wave\"],\n"
    " \"catalogue\": [\n"
    "  {\"name\": \"block\", \"health\": 50},\n"
    "  {\"name\": \"wall\", \"cells\": [3, 3, 1], \"health\": 100},\n"
    "  {\"name\": \"pillar\", \"cells\": [1, 4, 1], \"health\": 80, \"groundOnly\": true}],\n"
    " \"weapons\": [\n"
    "  {\"name\": \"blaster\", \"rate\": 4, \"speed\": 60, \"damage\": 25},\n"
    "  {\"name\": \"bow\", \"rate\": 1, \"speed\": 35, \"gravity\": 9.8, \"damage\": 60,\n"
    "   \"kind\": 1}],\n"
    " \"voxelKinds\": [{\"name\": \"grass\", \"colour\": \"#4c9a4c\"}, {\"name\": \"stone\"},\n"
    "  {\"name\": \"water\", \"solid\": false}]}\n";

// North is +z. Spawns stand around the origin; what can be walked on begins 6 m away from it and
// lies apart, so that a bot which walks anywhere meets something else in each direction.
const char TEST_PLACE_COURSE_SCENE[] =
    "{\"format\": 1,\n"
    " \"bounds\": {\"min\": [-64, -32, -64], \"max\": [64, 64, 64]},\n"
    " \"terrain\": [\n"
    "  {\"min\": [-60, -4, -60], \"max\": [59, -1, 59], \"kind\": \"grass\"},\n"
    "  {\"min\": [-60, 0, -60], \"max\": [-60, 2, 59], \"kind\": \"stone\"},\n"
    "  {\"min\": [59, 0, -60], \"max\": [59, 2, 59], \"kind\": \"stone\"},\n"
    "  {\"min\": [-60, 0, -60], \"max\": [59, 2, -60], \"kind\": \"stone\"},\n"
    "  {\"min\": [-60, 0, 59], \"max\": [59, 2, 59], \"kind\": \"stone\"},\n"
    // Voxel stairs, one metre a step, which need a jump.
    "  {\"min\": [20, 0, -30], \"max\": [24, 0, -24], \"kind\": \"stone\"},\n"
    "  {\"min\": [20, 1, -30], \"max\": [24, 1, -26], \"kind\": \"stone\"},\n"
    "  {\"min\": [20, 2, -30], \"max\": [24, 2, -28], \"kind\": \"stone\"},\n"
    // A ditch with water that is no floor.
    "  {\"min\": [-30, -2, -30], \"max\": [-20, -1, -26], \"kind\": \"water\"}],\n"
    " \"entities\": [\n"
    "  {\"id\": 1, \"type\": \"spawn\", \"transform\": {\"position\": [4, 0, 0]}},\n"
    "  {\"id\": 2, \"type\": \"spawn\", \"transform\": {\"position\": [3, 0, 3]}},\n"
    "  {\"id\": 3, \"type\": \"spawn\", \"transform\": {\"position\": [0, 0, 4]}},\n"
    "  {\"id\": 4, \"type\": \"spawn\", \"transform\": {\"position\": [-3, 0, 3]}},\n"
    "  {\"id\": 5, \"type\": \"spawn\", \"transform\": {\"position\": [-4, 0, 0]}},\n"
    "  {\"id\": 6, \"type\": \"spawn\", \"transform\": {\"position\": [-3, 0, -3]}},\n"
    "  {\"id\": 7, \"type\": \"spawn\", \"transform\": {\"position\": [0, 0, -4]}},\n"
    "  {\"id\": 8, \"type\": \"spawn\", \"transform\": {\"position\": [3, 0, -3]}},\n"
    // North: stairs of 0.4 m up to a deck, a wedge down again.
    "  {\"id\": 10, \"name\": \"Stairs\", \"type\": \"group\",\n"
    "   \"transform\": {\"position\": [0, 0, 8]}},\n"
    "  {\"id\": 11, \"name\": \"Step1\", \"parent\": 10,\n"
    "   \"transform\": {\"position\": [0, 0.2, 0.5]}, \"shape\": {\"size\": [4, 0.4, 1]}},\n"
    "  {\"id\": 12, \"name\": \"Step2\", \"parent\": 10,\n"
    "   \"transform\": {\"position\": [0, 0.4, 1.5]}, \"shape\": {\"size\": [4, 0.8, 1]}},\n"
    "  {\"id\": 13, \"name\": \"Step3\", \"parent\": 10,\n"
    "   \"transform\": {\"position\": [0, 0.6, 2.5]}, \"shape\": {\"size\": [4, 1.2, 1]}},\n"
    "  {\"id\": 14, \"name\": \"Step4\", \"parent\": 10,\n"
    "   \"transform\": {\"position\": [0, 0.8, 3.5]}, \"shape\": {\"size\": [4, 1.6, 1]}},\n"
    "  {\"id\": 15, \"name\": \"Deck\", \"parent\": 10,\n"
    "   \"transform\": {\"position\": [0, 1, 7]}, \"shape\": {\"size\": [8, 2, 6]}},\n"
    "  {\"id\": 16, \"name\": \"Ramp\", \"parent\": 10,\n"
    "   \"transform\": {\"position\": [0, 1, 13], \"rotation\": [0, 180, 0]},\n"
    "   \"shape\": {\"kind\": \"wedge\", \"size\": [8, 2, 6]}, \"tags\": [\"ramp\"]},\n"
    // East: a platform that goes to and fro, one that goes round, a lift.
    "  {\"id\": 20, \"name\": \"Ferry\", \"transform\": {\"position\": [10, 0.2, 0]},\n"
    "   \"shape\": {\"size\": [4, 0.4, 4]}, \"colour\": \"#3366cc\",\n"
    "   \"motion\": {\"loop\": true, \"waypoints\": [\n"
    "    {\"position\": [22, 0.2, 0], \"seconds\": 4, \"wait\": 1},\n"
    "    {\"position\": [10, 0.2, 0], \"seconds\": 4, \"wait\": 1}]}},\n"
    "  {\"id\": 21, \"name\": \"Round\", \"transform\": {\"position\": [12, 0.15, 10]},\n"
    "   \"shape\": {\"size\": [5, 0.3, 5]},\n"
    "   \"motion\": {\"loop\": true, \"waypoints\": [\n"
    "    {\"position\": [20, 0.15, 10], \"seconds\": 3, \"turn\": [0, 90, 0]},\n"
    "    {\"position\": [20, 0.15, 18], \"seconds\": 3, \"turn\": [0, 180, 0]},\n"
    "    {\"position\": [12, 0.15, 18], \"seconds\": 3, \"turn\": [0, 270, 0]},\n"
    "    {\"position\": [12, 0.15, 10], \"seconds\": 3, \"turn\": [0, 360, 0]}]}},\n"
    "  {\"id\": 22, \"name\": \"Lift\", \"transform\": {\"position\": [10, 0.1, -8]},\n"
    "   \"shape\": {\"size\": [3, 0.2, 3]},\n"
    "   \"motion\": {\"loop\": true, \"waypoints\": [\n"
    "    {\"position\": [10, 5.9, -8], \"seconds\": 3, \"wait\": 1.5},\n"
    "    {\"position\": [10, 0.1, -8], \"seconds\": 3, \"wait\": 1.5}]}},\n"
    "  {\"id\": 23, \"name\": \"Balcony\", \"transform\": {\"position\": [14.5, 5.9, -8]},\n"
    "   \"shape\": {\"size\": [6, 0.2, 4]}},\n"
    "  {\"id\": 24, \"name\": \"Fan\", \"transform\": {\"position\": [24, 0.2, -12]},\n"
    "   \"shape\": {\"kind\": \"cylinder\", \"size\": [6, 0.4, 6]},\n"
    "   \"motion\": {\"loop\": true, \"segments\": [\n"
    "    {\"position\": [24, 0.2, -12], \"seconds\": 6,\n"
    "     \"angularVelocity\": [0, 1.0471976, 0]}]}},\n"
    // West: conveyors, a ladder up a tower, a bounce pad.
    "  {\"id\": 30, \"name\": \"BeltOut\", \"transform\": {\"position\": [-14, 0.1, 2]},\n"
    "   \"shape\": {\"size\": [12, 0.2, 3]}, \"conveyor\": [-3, 0, 0]},\n"
    "  {\"id\": 31, \"name\": \"BeltBack\",\n"
    "   \"transform\": {\"position\": [-14, 0.1, -2], \"rotation\": [0, 180, 0]},\n"
    "   \"shape\": {\"size\": [12, 0.2, 3]}, \"conveyor\": [-3, 0, 0]},\n"
    "  {\"id\": 32, \"name\": \"Tower\", \"transform\": {\"position\": [-12, 3, 12]},\n"
    "   \"shape\": {\"size\": [4, 6, 4]}, \"material\": \"brick\"},\n"
    "  {\"id\": 33, \"name\": \"Ladder\", \"transform\": {\"position\": [-9.8, 3.1, 12]},\n"
    "   \"shape\": {\"size\": [0.4, 6.2, 1.5]}, \"ladder\": true},\n"
    "  {\"id\": 34, \"name\": \"Pad\", \"transform\": {\"position\": [-8, -0.05, -10]},\n"
    "   \"shape\": {\"kind\": \"cylinder\", \"size\": [3, 0.2, 3]}, \"bounce\": 14},\n"
    "  {\"id\": 35, \"name\": \"Boulder\", \"transform\": {\"position\": [-16, 0.5, -14]},\n"
    "   \"shape\": {\"kind\": \"sphere\", \"size\": [5, 5, 5]}},\n"
    // South: a zone, what hurts, a slope that is turned freely, a wall with a passage.
    "  {\"id\": 40, \"name\": \"Zone\", \"transform\": {\"position\": [0, 1.5, -12]},\n"
    "   \"shape\": {\"size\": [4, 3, 4]}, \"trigger\": true, \"ghost\": true,\n"
    "   \"attributes\": {\"reward\": 10, \"secret\": {\"value\": \"xyzzy\", \"private\": true},\n"
    "    \"visits\": {\"value\": 0, \"persistent\": true}, \"guard\": {\"entity\": 50}},\n"
    "   \"tags\": [\"zone\", \"goal\"]},\n"
    "  {\"id\": 41, \"name\": \"Thorns\", \"transform\": {\"position\": [6, 0.25, -14]},\n"
    "   \"shape\": {\"size\": [2, 0.5, 2]}, \"damage\": 5, \"colour\": \"#aa2222\"},\n"
    "  {\"id\": 42, \"name\": \"Slope\",\n"
    "   \"transform\": {\"position\": [0, 0.5, -20], \"rotation\": [20, 35, 10]},\n"
    "   \"shape\": {\"size\": [6, 0.5, 8]}},\n"
    "  {\"id\": 43, \"name\": \"WallLeft\", \"transform\": {\"position\": [-8, 1.5, -24]},\n"
    "   \"shape\": {\"size\": [12, 3, 1]}},\n"
    "  {\"id\": 44, \"name\": \"WallRight\", \"transform\": {\"position\": [8, 1.5, -24]},\n"
    "   \"shape\": {\"size\": [12, 3, 1]}},\n"
    "  {\"id\": 45, \"name\": \"Coin\", \"type\": \"prop\",\n"
    "   \"transform\": {\"position\": [0, 1, -27]}, \"ghost\": true, \"trigger\": true,\n"
    "   \"shape\": {\"kind\": \"sphere\", \"size\": [0.6, 0.6, 0.6]}, \"tags\": [\"coin\"]},\n"
    "  {\"id\": 46, \"name\": \"Crate\", \"anchored\": false,\n"
    "   \"transform\": {\"position\": [-4, 0.5, 18], \"rotation\": [0, 30, 0]}},\n"
    "  {\"id\": 47, \"name\": \"Alarm\", \"serverOnly\": true, \"ghost\": true, \"trigger\": "
    "true,\n"
    "   \"transform\": {\"position\": [0, 1, -34]}, \"shape\": {\"size\": [8, 2, 2]}},\n"
    "  {\"id\": 50, \"name\": \"Guard1\", \"type\": \"npc\",\n"
    "   \"transform\": {\"position\": [-6, 0, -34]},\n"
    "   \"npc\": {\"sight\": 14, \"patrol\": [[-6, 0, -34], [6, 0, -34], [6, 0, -42]]}},\n"
    "  {\"id\": 51, \"name\": \"Guard2\", \"type\": \"npc\",\n"
    "   \"transform\": {\"position\": [30, 0, 30], \"rotation\": [0, -135, 0]},\n"
    "   \"npc\": {\"sight\": 12, \"pauseMs\": 500,\n"
    "    \"patrol\": [[30, 0, 30], [20, 0, 34], [34, 0, 22]]}}]}\n";
