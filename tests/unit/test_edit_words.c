// What differs between two states of a place, in words.
#include "core/edit/text.h"
#include "core/edit/words.h"
#include "tests/support/test.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define PLACE "{\"format\": 1, \"name\": \"Obby\"}"

static char said[65536];

// Of a scene that is put together.
static char scenes[2][65536];
static size_t scene_bytes;

__attribute__((format(printf, 2, 3))) static void put(uint32_t which, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    const int bytes = vsnprintf(scenes[which] + scene_bytes, sizeof scenes[which] - scene_bytes,
                                format, arguments);
    va_end(arguments);
    scene_bytes += bytes > 0 ? (size_t)bytes : 0;
}

// One line for each difference, or what is wrong.
static void differ(const char *place_a, const char *scene_a, const char *place_b,
                   const char *scene_b, const EditFileChange *files, uint32_t file_count)
{
    Heap heap = heap_make(256u << 20);
    EditText *text = NULL;
    EditDoc *docs[2] = {0};
    const EditTexts texts[2] = {{text_from(place_a), text_from(scene_a)},
                                {text_from(place_b), text_from(scene_b)}};
    for (uint32_t i = 0; i < 2; i++) {
        PlaceError error;
        const Status status =
            edit_text_open(&heap, (EditBlobs){0}, texts[i], &text, &docs[i], &error);
        if (status != STATUS_OK) {
            place_error_text(&error, said, sizeof said);
            test_fail(__FILE__, __LINE__, "%s", said);
            return;
        }
        edit_text_close(text);
    }
    EditBuffer out = edit_buffer(&heap, sizeof said - 1);
    CHECK_OK(edit_words(docs[0], docs[1], files, file_count, &out));
    if (out.bytes > 0) {
        memcpy(said, out.data, out.bytes);
    }
    said[out.bytes] = '\0';
    edit_buffer_free(&out);
    edit_doc_destroy(docs[0]);
    edit_doc_destroy(docs[1]);
    CHECK_INT(heap.bytes_now, 0);
}

static void differ_scenes(const char *a, const char *b)
{
    differ(PLACE, a, PLACE, b, NULL, 0);
}

#define SCENE(entities) "{\"format\": 1, \"entities\": [" entities "]}"
#define LAMP(members)   "{\"id\": 1, \"name\": \"Lamp\"" members "}"

TEST(one_thing_by_its_name_with_old_and_new)
{
    differ_scenes(SCENE(LAMP(", \"colour\": \"#ff0000\"")),
                  SCENE(LAMP(", \"colour\": \"#0000ff\"")));
    CHECK_TEXT(said, "Lamp: colour #ff0000 → #0000ff\n");
    differ_scenes(SCENE(LAMP("")),
                  SCENE(LAMP(", \"transform\": {\"position\": [1, 2, 3], \"rotation\": [0, 90, 0]},"
                             "\"shape\": {\"kind\": \"wedge\"}, \"tags\": [\"light\"]")));
    CHECK_TEXT(said, "Lamp: moved, turned, kind box → wedge, tags changed\n");
    differ_scenes(SCENE(LAMP("")), SCENE("{\"id\": 1, \"name\": \"Torch\"}"));
    CHECK_TEXT(said, "Torch: name Lamp → Torch\n");
    differ_scenes(SCENE(LAMP("")), SCENE(LAMP("")));
    CHECK_TEXT(said, "");
    // What a build has written is nobody's change.
    differ_scenes(SCENE(LAMP(", \"scriptRef\": {\"path\": \"Workspace/Lamp.lua\"}")),
                  SCENE(LAMP(", \"scriptRef\": {\"path\": \"Workspace/Lamp.lua\", \"codeHash\": "
                             "\"ab\"}, \"scriptPath\": \"Workspace/Lamp.lua\"")));
    CHECK_TEXT(said, "");
    // Without a name, and a long value that is cut between two characters.
    differ_scenes(SCENE("{\"id\": 7}"), SCENE("{\"id\": 7, \"name\": "
                                              "\"aäaäaäaäaäaäaäaäaäaäaäaäaäaäaäaäaäaä\"}"));
    CHECK_TEXT(said, "aäaäaäaäaäaäaäaäaäaäaäaäaäa…: name nothing → aäaäaäaäaäaäaäaäaäaäaäaäaäa…\n");
}

TEST(things_that_changed_alike_are_one_line)
{
    for (uint32_t i = 0; i < 2; i++) {
        scene_bytes = 0;
        put(i, "{\"format\": 1, \"entities\": [{\"id\": 99}");
        for (int id = 1; id <= 12; id++) {
            put(i, ",{\"id\": %d, \"transform\": {\"position\": [%d, 0, %u]}}", id, id,
                (unsigned)i);
        }
        for (int id = 20; id < 23; id++) {
            put(i, ",{\"id\": %d, \"type\": \"%s\", \"ghost\": %s}", id, id == 20 ? "prop" : "part",
                i == 0 ? "false" : "true");
        }
        put(i, "]}");
    }
    differ_scenes(scenes[0], scenes[1]);
    CHECK_TEXT(said, "12 parts moved\n3 things: ghost false → true\n");
}

TEST(what_came_and_what_went)
{
    differ_scenes(SCENE("{\"id\": 1, \"name\": \"Old\"}, {\"id\": 2, \"type\": \"spawn\"}"),
                  SCENE("{\"id\": 2, \"type\": \"spawn\"}, {\"id\": 3, \"name\": \"Block\"},"
                        "{\"id\": 4, \"name\": \"Block\"}, {\"id\": 5, \"name\": \"Coin\"},"
                        "{\"id\": 6}, {\"id\": 7, \"type\": \"npc\", \"name\": \"Guard\"}"));
    CHECK_TEXT(said, "4 parts added (Block ×2, Coin, 1 more)\n1 part removed (Old)\n"
                     "1 npc added (Guard)\n");
    differ_scenes(
        SCENE("{\"id\": 1, \"name\": \"A\"}, {\"id\": 2, \"name\": \"B\"}"),
        SCENE("{\"id\": 1, \"name\": \"A\"}, {\"id\": 2, \"name\": \"B\", \"parent\": 1}"));
    CHECK_TEXT(said, "B: below another thing\n");
}

TEST(settings_terrain_and_files)
{
    static const char *const stone = "{\"format\": 1, \"name\": \"Obby\", \"voxelKinds\": "
                                     "[{\"name\": \"stone\"}]}";
    static const char *const beach = "{\"format\": 1, \"name\": \"Beach\", \"respawnMs\": 100, "
                                     "\"voxelKinds\": [{\"name\": \"stone\"}]}";
#define BOX(x) "{\"min\": [" #x ", 0, 0], \"max\": [" #x ", 1, 1], \"kind\": \"stone\"}"
    static const EditFileChange files[] = {
        {{"Workspace/Door.lua", 18},
         true,
         true,
         true,
         {"a\nb\nc\nd\n", 8},
         {"a\nx\ny\nc\nz\nd", 11}},
        {{"Workspace/Coin.lua", 18}, false, true, false, {"", 0}, {"", 0}},
        {{"assets/a.png", 12}, true, false, false, {"", 0}, {"", 0}},
        {{"assets/b.png", 12}, true, true, false, {"", 0}, {"", 0}},
    };
    differ(stone, "{\"format\": 1, \"terrain\": [" BOX(1) "," BOX(2) "," BOX(3) "]}", beach,
           "{\"format\": 1, \"terrain\": [" BOX(1) "," BOX(7) "," BOX(8) "," BOX(3) "]}", files, 4);
    CHECK_TEXT(said, "Place: name Obby → Beach, respawnMs 3000 → 100\n"
                     "Terrain: 2 boxes added, 1 box removed\n"
                     "Workspace/Door.lua +3 −1 lines\nWorkspace/Coin.lua added\n"
                     "assets/a.png removed\nassets/b.png changed\n");
}

TEST(it_stays_short)
{
    for (uint32_t i = 0; i < 2; i++) {
        scene_bytes = 0;
        put(i, "{\"format\": 1, \"entities\": [{\"id\": 999}");
        for (int id = 1; id <= 100; id++) {
            put(i, ",{\"id\": %d, \"bounce\": %d}", id, i == 0 ? 1 : id % 50 + 2);
        }
        put(i, "]}");
    }
    differ_scenes(scenes[0], scenes[1]);
    uint32_t lines = 0;
    for (const char *at = said; *at != '\0'; at++) {
        lines += *at == '\n';
    }
    CHECK_INT(lines, EDIT_WORDS_LINES_MAX);
    CHECK(strstr(said, "2 parts: bounce 1 → 3\n") == said);
    CHECK(strstr(said, "\nand 22 more changes\n") != NULL);
}

TEST(as_a_page_asks)
{
    static const struct {
        const char *json, *answer;
    } cases[] = {
        {"{\"before\": {\"place\": \"{\\\"format\\\":1,\\\"name\\\":\\\"A\\\"}\", \"scene\": "
         "\"{\\\"format\\\":1}\"},"
         "\"after\": {\"place\": \"{\\\"format\\\":1,\\\"name\\\":\\\"B\\\"}\", \"scene\": "
         "\"{\\\"format\\\":1}\"},"
         "\"files\": [{\"path\": \"x.lua\", \"before\": \"1\", \"after\": \"1\\n2\"},"
         "{\"path\": \"y.lua\", \"before\": null, \"after\": true}]}",
         "[\"Place: name A → B\",\"x.lua +1 −0 lines\",\"y.lua added\"]"},
        {"{\"before\": {}}", NULL},
        {"{\"before\": {\"place\": \"{\", \"scene\": \"{}\"}}", NULL},
        {"[]", NULL},
        {"", NULL},
        {"{\"before\": {\"place\": \"{\\\"format\\\":1,\\\"name\\\":\\\"A\\\"}\", \"scene\": "
         "\"{\\\"format\\\":1}\"},"
         "\"after\": {\"place\": \"{\\\"format\\\":1,\\\"name\\\":\\\"B\\\"}\", \"scene\": "
         "\"{\\\"format\\\":1}\"},"
         "\"files\": [{\"path\": 7}]}",
         NULL},
    };
    for (uint32_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        Heap heap = heap_make(64u << 20);
        EditBuffer out = edit_buffer(&heap, 65536);
        PlaceError error;
        const Status status =
            edit_words_json(&heap, cases[i].json, strlen(cases[i].json), &out, &error);
        CHECK_INT(status == STATUS_OK, cases[i].answer != NULL);
        if (status == STATUS_OK) {
            edit_buffer_u8(&out, '\0');
            CHECK_TEXT((const char *)out.data, cases[i].answer);
        }
        edit_buffer_free(&out);
        CHECK_INT(heap.bytes_now, 0);
    }
}
