// Edits in a creator's own text: which parts change, and that nothing else does.
#include "core/base/sha256.h"
#include "server/build/inside/op_scene_ref.h"
#include "server/build/inside/worker_op.h"
#include "tests/support/test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define HASH_A "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
#define HASH_B "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb"
#define HASH_C "cccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccc"

static uint32_t make_scripts(SceneRefScript scripts[3])
{
    static const SceneRefScript all[] = {
        {.path = "ServerScriptService/Round", .language = SOUL_PLAIN},
        {.path = "Workspace/Door", .language = SOUL_LUA},
        {.path = "Workspace/deep/Lift", .language = SOUL_TYPESCRIPT, .in_soul = true}};
    static const uint8_t bytes[] = {0xcc, 0xaa, 0xbb};
    for (uint32_t i = 0; i < 3; i++) {
        scripts[i] = all[i];
        memset(scripts[i].code_hash, bytes[i], sizeof scripts[i].code_hash);
    }
    return 3;
}

static DiagnosticList told;
static uint8_t used[3]; // of the last find

static Status find(const char *text, size_t bytes, SceneRefKind kind, const SceneRefScript *scripts,
                   uint32_t count, Buffer *edits)
{
    const char *path = kind == SCENE_REF_SCENE ? "scene.json" : "prefabs/Gate.json";
    const SceneRefFile file = {path, kind, text, bytes};
    memset(used, 0, sizeof used);
    return scene_ref_find(&file, scripts, count, used, &told, edits);
}

// The text after an edit, terminated; "" and a failure of the test when it is refused.
static char edited[8192];
static bool edit(const char *text, SceneRefKind kind)
{
    SceneRefScript scripts[3];
    const uint32_t count = make_scripts(scripts);
    Buffer edits = buffer_of(4096), out = buffer_of(sizeof edited - 1);
    bool changed = false;
    told.count = told.error_count = 0;
    CHECK_OK(find(text, strlen(text), kind, scripts, count, &edits));
    CHECK_OK(scene_ref_apply(text, strlen(text), scripts, count, edits.data, edits.bytes, &out,
                             &changed));
    memcpy(edited, out.bytes > 0 ? out.data : (const uint8_t *)"", out.bytes);
    edited[out.bytes] = '\0';
    buffer_free(&out);
    buffer_free(&edits);
    CHECK(changed == (strcmp(text, edited) != 0));
    return changed;
}

// After the edit nothing is left to do.
static void check_edit(const char *text, const char *want)
{
    CHECK(edit(text, SCENE_REF_SCENE));
    CHECK_TEXT(edited, want);
    char once[sizeof edited];
    memcpy(once, edited, sizeof once);
    CHECK(!edit(once, SCENE_REF_SCENE));
}

TEST(values_are_replaced_where_they_are)
{
    check_edit(
        "{\"entities\": [\n"
        "  {\"id\": 1, \"scriptRef\": {\"path\": \"Workspace/Door.lua\", \"codeHash\": \"x\"},\n"
        "   \"scriptPath\"  :  \"Workspace/Old.lua\" , \"name\": \"Tür\"}  ]}\n\n",
        "{\"entities\": [\n"
        "  {\"id\": 1, \"scriptRef\": {\"path\": \"Workspace/Door.lua\", \"codeHash\": \"" HASH_A
        "\"},\n"
        "   \"scriptPath\"  :  \"Workspace/Door.lua\" , \"name\": \"Tür\"}  ]}\n\n");
}

TEST(what_is_made_is_named_where_it_is)
{
    check_edit("{\"entities\":[{\"scriptPath\":\"\",\"scriptRef\":{\"codeHash\":\"\","
               "\"path\":\"SoulService/Workspace/deep/Lift.ts\"}},"
               "{\"scriptRef\":{\"path\":\"ServerScriptService/Round.soul\"}}]}",
               "{\"entities\":[{\"scriptPath\":\".sandlot/server/soul/Workspace/deep/Lift.lua\","
               "\"scriptRef\":{\"codeHash\":\"" HASH_B
               "\",\"path\":\"SoulService/Workspace/deep/Lift.ts\"}},"
               "{\"scriptRef\":{\"path\":\"ServerScriptService/Round.soul\",\"codeHash\":\"" HASH_C
               "\"},\"scriptPath\":\".sandlot/server/soul/ServerScriptService/Round.lua\"}]}");
}

TEST(new_members_look_like_their_neighbours)
{
    // On lines of their own, with the file's indentation and line ends.
    check_edit("{\r\n\t\"entities\": [\r\n\t\t{\r\n\t\t\t\"scriptRef\": {\r\n"
               "\t\t\t\t\"path\": \"Workspace/Door.lua\"\r\n\t\t\t}\r\n\t\t}\r\n\t]\r\n}\r\n",
               "{\r\n\t\"entities\": [\r\n\t\t{\r\n\t\t\t\"scriptRef\": {\r\n"
               "\t\t\t\t\"path\": \"Workspace/Door.lua\",\r\n\t\t\t\t\"codeHash\": \"" HASH_A
               "\"\r\n\t\t\t},\r\n\t\t\t\"scriptPath\": \"Workspace/Door.lua\"\r\n\t\t}\r\n\t]\r\n}"
               "\r\n");
    // On one line, with spaces.
    check_edit("{\"entities\": [{\"scriptRef\": {\"path\": \"Workspace/Door.lua\"}, \"id\": 1}]}",
               "{\"entities\": [{\"scriptRef\": {\"path\": \"Workspace/Door.lua\", \"codeHash\": "
               "\"" HASH_A "\"}, \"scriptPath\": \"Workspace/Door.lua\", \"id\": 1}]}");
}

TEST(a_source_with_another_ending_is_followed)
{
    check_edit("{\"entities\": [{\"scriptRef\": {\"path\": "
               "\"SoulService/Workspace/deep/Lift.lua\", \"codeHash\": "
               "\"\"}, \"scriptPath\": \"Workspace/deep/Lift.lua\"}]}",
               "{\"entities\": [{\"scriptRef\": {\"path\": \"SoulService/Workspace/deep/Lift.ts\", "
               "\"codeHash\": \"" HASH_B
               "\"}, \"scriptPath\": \".sandlot/server/soul/Workspace/deep/Lift.lua\"}]}");
}

TEST(a_source_in_the_other_folder_is_followed)
{
    check_edit("{\"entities\": [{\"scriptRef\": {\"path\": \"SoulService/Workspace/Door.soul\", "
               "\"codeHash\": \"\"}, \"scriptPath\": \"SoulService/Workspace/Door.lua\"}]}",
               "{\"entities\": [{\"scriptRef\": {\"path\": \"Workspace/Door.lua\", "
               "\"codeHash\": \"" HASH_A "\"}, \"scriptPath\": \"Workspace/Door.lua\"}]}");
    check_edit("{\"entities\": [{\"scriptRef\": {\"path\": \"Workspace/deep/Lift\", "
               "\"codeHash\": \"" HASH_B
               "\"}, \"scriptPath\": \".sandlot/server/soul/Workspace/deep/Lift.lua\"}]}",
               "{\"entities\": [{\"scriptRef\": {\"path\": \"SoulService/Workspace/deep/Lift.ts\", "
               "\"codeHash\": \"" HASH_B
               "\"}, \"scriptPath\": \".sandlot/server/soul/Workspace/deep/Lift.lua\"}]}");
}

// Letters of more than one byte and escapes before and between the values.
TEST(positions_are_found_behind_any_text)
{
    check_edit("{\"é\\\"{\": \"日本🐝\\\\\", \"entities\": [{\"name\": \"ü\", \"scriptRef\": "
               "{\"path\": \"Workspace\\/Door.lua\", \"codeHash\": \"\\\"}\"}, \"tags\": [\"]}\"], "
               "\"scriptPath\": \"ß\"}]}",
               "{\"é\\\"{\": \"日本🐝\\\\\", \"entities\": [{\"name\": \"ü\", \"scriptRef\": "
               "{\"path\": \"Workspace\\/Door.lua\", \"codeHash\": \"" HASH_A
               "\"}, \"tags\": [\"]}\"], \"scriptPath\": \"Workspace/Door.lua\"}]}");
}

TEST(a_mark_before_the_text_moves_nothing)
{
    check_edit("\xef\xbb\xbf{\"entities\": [{\"scriptRef\": {\"path\": \"Workspace/Door\", "
               "\"codeHash\": \"\"}, \"scriptPath\": \"\"}]}",
               "\xef\xbb\xbf{\"entities\": [{\"scriptRef\": {\"path\": \"Workspace/Door.lua\", "
               "\"codeHash\": \"" HASH_A "\"}, \"scriptPath\": \"Workspace/Door.lua\"}]}");
}

TEST(what_is_not_ours_stays)
{
    static const char *const texts[] = {
        "{}",
        "[]",
        "3",
        "{\"entities\": 3}",
        "{\"entities\": [3, null, [], {}]}",
        "{\"entities\": [{\"scriptPath\": \"Workspace/Door.lua\"}]}",
        "{\"entities\": [{\"scriptRef\": {\"path\": \"Workspace/Unknown.lua\"}}]}",
        "{\"entities\": [{\"scriptRef\": {\"path\": \"\"}}]}",
        "{\"entities\": [{\"scriptRef\": {\"path\": 3}}]}",
        "{\"entities\": [{\"scriptRef\": {\"codeHash\": \"\"}}]}",
        "{\"entities\": [{\"scriptRef\": \"Workspace/Door.lua\"}]}",
        "{\"entities\": [{\"scriptRef\": {\"path\": \"Workspace/Door.lua\", \"codeHash\": 3}}]}",
        "{\"entities\": [{\"scriptRef\": {\"path\": \"Workspace/Door.lua\"}, \"scriptPath\": {}}]}",
        "{\"scriptRef\": {\"path\": \"Workspace/Door.lua\"}}",
        "{\"x\": [{\"scriptRef\": {\"path\": \"Workspace/Door.lua\"}}], \"entities\": []}",
        // Names that are not written as they are read.
        "{\"entities\": [{\"scr\\u0069ptRef\": {\"path\": \"Workspace/Door.lua\"}}]}",
        "{\"entities\": [{\"scriptRef\": {\"p\\u0061th\": \"Workspace/Door.lua\"}}]}",
    };
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        CHECK(!edit(texts[i], SCENE_REF_SCENE));
    }
}

// A reference to a missing script is reported at its own line.
TEST(a_script_that_is_not_there_is_told)
{
    static const char unnamed[] =
        "this scriptRef names no script: give it a \"path\", or remove it";
    static const struct {
        const char *entity, *message;
    } cases[] = {
        {"{\"scriptRef\": {\"path\": \"Workspace/Dor.lua\"}}",
         "$.entities[1].scriptRef.path names no script; did you mean Workspace/Door?"},
        {"{\"scriptPath\": \"SoulService/workspace/Door.lua\"}", NULL},
        {"{\"scriptPath\": \"Workspace/DooR\"}",
         "$.entities[1].scriptPath names no script; did you mean Workspace/Door?"},
        {"{\"scriptRef\": {\"path\": \"\"}, \"scriptPath\": \"Workspace/deep/Lfit.ts\"}",
         "$.entities[1].scriptPath names no script: there is no Workspace/deep/Lfit.lua, .luau, "
         ".ts or "
         ".soul"},
        {"{\"scriptRef\": {\"path\": \"ServerScriptService/Far.soul\"}}",
         "$.entities[1].scriptRef.path names no script: there is no ServerScriptService/Far.lua, "
         ".luau, .ts or .soul"},
        // It is brought up to date.
        {"{\"scriptRef\": {\"path\": \"Workspace/Door\"}, \"scriptPath\": \"Workspace/Old\"}",
         NULL},
        // The scene compiler reports these.
        {"{\"scriptRef\": {\"path\": \"ReplicatedStorage/Dor\"}}", NULL},
        {"{\"scriptRef\": {\"path\": \"Door\"}}", NULL},
        {"{\"scriptRef\": 3, \"scriptPath\": 4}", NULL},
        {"{\"scriptPath\": \"\"}", NULL},
        // What has no effect.
        {"{\"scriptRef\": {}}", unnamed},
        {"{\"scriptRef\": {\"path\": \"\"}}", unnamed},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char text[256];
        snprintf(text, sizeof text, "{\"entities\": [{},\n  %s]}", cases[i].entity);
        (void)edit(text, SCENE_REF_SCENE);
        REQUIRE(told.count == (cases[i].message != NULL));
        if (cases[i].message != NULL) {
            CHECK_TEXT(told.items[0].message, cases[i].message);
            CHECK_TEXT(told.items[0].file, "scene.json");
            CHECK(told.items[0].line == 2);
            CHECK((told.items[0].level == DIAGNOSTIC_WARNING) == (cases[i].message == unnamed));
        }
    }
    CHECK(!edit("{\"scriptPath\": \"Workspace/Dor\"}", SCENE_REF_PREFAB));
    REQUIRE(told.count == 1);
    CHECK_TEXT(told.items[0].file, "prefabs/Gate.json");
    CHECK_INT(told.items[0].column, 16);
    diagnostic_list_free(&told);
}

TEST(a_prefab_is_one_entity)
{
    CHECK(edit("{\"scriptRef\": {\"path\": \"Workspace/Door.lua\"}, \"entities\": "
               "[{\"scriptRef\": {\"path\": \"Workspace/Door.lua\"}}]}",
               SCENE_REF_PREFAB));
    CHECK_TEXT(edited, "{\"scriptRef\": {\"path\": \"Workspace/Door.lua\", \"codeHash\": \"" HASH_A
                       "\"}, \"scriptPath\": \"Workspace/Door.lua\", \"entities\": "
                       "[{\"scriptRef\": {\"path\": \"Workspace/Door.lua\"}}]}");
}

TEST(what_is_no_json_is_refused)
{
    static const char *const texts[] = {
        "",         "{",   "{\"entities\": [}",   "nul", "\xef\xbb\xbf",
        "\"\xff\"", "{}x", "{\"a\": 1, \"a\": 2}"};
    SceneRefScript scripts[3];
    const uint32_t count = make_scripts(scripts);
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        Buffer edits = buffer_of(1024);
        CHECK(find(texts[i], strlen(texts[i]), SCENE_REF_SCENE, scripts, count, &edits) !=
              STATUS_OK);
        CHECK_INT(edits.bytes, 0);
        buffer_free(&edits);
    }
}

// One line of ten thousand entities: the work is in proportion, not squared.
TEST(a_long_line_is_read_once)
{
    const size_t count = 10000;
    Buffer text = buffer_of(4 << 20);
    buffer_print(&text, "{\"entities\":[");
    for (size_t i = 0; i < count; i++) {
        buffer_print(&text, "%s{\"scriptRef\":{\"path\":\"Workspace/Door.lua\"}}",
                     i > 0 ? "," : "");
    }
    buffer_print(&text, "]}");
    SceneRefScript scripts[3];
    const uint32_t script_count = make_scripts(scripts);
    Buffer edits = buffer_of(1 << 20), out = buffer_of(8 << 20);
    bool changed = false;
    const char *data = (const char *)text.data;
    CHECK_OK(find(data, text.bytes, SCENE_REF_SCENE, scripts, script_count, &edits));
    CHECK_OK(scene_ref_apply(data, text.bytes, scripts, script_count, edits.data, edits.bytes, &out,
                             &changed));
    const size_t added =
        strlen(",\"codeHash\":\"" HASH_A "\",\"scriptPath\":\"Workspace/Door.lua\"");
    CHECK(changed);
    CHECK_INT(out.bytes, text.bytes + count * added);
    // A cap that is too small is a refusal.
    Buffer small = buffer_of(text.bytes), few = buffer_of(100);
    CHECK_INT(find(data, text.bytes, SCENE_REF_SCENE, scripts, script_count, &few), STATUS_LIMIT);
    CHECK_INT(scene_ref_apply(data, text.bytes, scripts, script_count, edits.data, edits.bytes,
                              &small, &changed),
              STATUS_LIMIT);
    buffer_free(&few);
    buffer_free(&small);
    buffer_free(&edits);
    buffer_free(&out);
    buffer_free(&text);
}

// --- edits of a worker that somebody got the better of ------------------------------------------

static void put_edit(Buffer *edits, uint32_t at, uint32_t script, uint32_t field)
{
    buffer_put_u32(edits, at);
    buffer_put_u32(edits, script);
    buffer_put_u8(edits, (uint8_t)field);
}

static Status apply(const char *text, const Buffer *edits)
{
    SceneRefScript scripts[3];
    const uint32_t count = make_scripts(scripts);
    Buffer out = buffer_of(sizeof edited - 1);
    bool changed = false;
    const Status status = scene_ref_apply(text, strlen(text), scripts, count, edits->data,
                                          edits->bytes, &out, &changed);
    memcpy(edited, out.bytes > 0 ? out.data : (const uint8_t *)"", out.bytes);
    edited[out.bytes] = '\0';
    buffer_free(&out);
    return status;
}

static uint32_t place_of(const char *text, const char *what)
{
    return (uint32_t)(strstr(text, what) - text);
}

static const char two[] = "{\"entities\":[{\"name\":\"Vault\",\"scriptRef\":{\"path\":\"a\","
                          "\"codeHash\":\"b\"},\"scriptPath\":\"c\"},{\"scriptRef\":"
                          "{\"path\":\"\\\"path\\\": \\\"\"},\"open\":[{\"scriptRef\":[1]}]}]}";

TEST(an_edit_meets_a_member_of_ours_or_nothing)
{
    const uint32_t good = place_of(two, "\"path\""), bytes = (uint32_t)strlen(two);
    for (uint32_t field = 0; field <= SCENE_REF_FIELD_COUNT; field++) {
        for (uint32_t at = 0; at <= bytes + 1; at++) {
            static const char *const names[] = {"path", "codeHash", "scriptPath", "path",
                                                "scriptRef"};
            const char *name = field < SCENE_REF_FIELD_COUNT ? names[field] : "?";
            const bool is_there = at < bytes && two[at] == '"' && two[at - 1] != '\\' &&
                                  strncmp(two + at + 1, name, strlen(name)) == 0 &&
                                  two[at + 1 + strlen(name)] == '"' &&
                                  strncmp(two + at, "\"scriptRef\":[", 13) != 0;
            Buffer edits = buffer_of(64);
            put_edit(&edits, at, 1, field);
            const Status status = apply(two, &edits);
            CHECK_INT(status, is_there ? STATUS_OK : STATUS_MALFORMED);
            CHECK(status != STATUS_OK || strstr(edited, HASH_A) != NULL ||
                  strstr(edited, "\"Workspace/Door.lua\"") != NULL);
            buffer_free(&edits);
        }
    }
    const uint32_t wrong[][3] = {{good, 3, SCENE_REF_PATH},
                                 {good, UINT32_MAX, SCENE_REF_PATH},
                                 {UINT32_MAX, 1, SCENE_REF_PATH},
                                 {good, 1, SCENE_REF_FIELD_COUNT},
                                 {good, 1, 255}};
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        Buffer edits = buffer_of(64);
        put_edit(&edits, wrong[i][0], wrong[i][1], wrong[i][2]);
        CHECK_INT(apply(two, &edits), STATUS_MALFORMED);
        buffer_free(&edits);
    }
}

TEST(edits_go_forward_and_none_is_cut)
{
    const uint32_t path = place_of(two, "\"path\""), hash = place_of(two, "\"codeHash\""),
                   ref = place_of(two, "\"scriptRef\"");
    Buffer edits = buffer_of(128);
    put_edit(&edits, path, 1, SCENE_REF_PATH);
    put_edit(&edits, path, 1, SCENE_REF_NEW_HASH);
    put_edit(&edits, hash, 1, SCENE_REF_HASH);
    put_edit(&edits, ref, 2, SCENE_REF_NEW_LUA);
    CHECK_OK(apply(two, &edits));
    CHECK(strstr(edited, "\"Workspace/Door.lua\",\"codeHash\":\"" HASH_A "\",\"codeHash\":\"" HASH_A
                         "\"},\"scriptPath\":"
                         "\".sandlot/server/soul/Workspace/deep/Lift.lua\"") != NULL);
    for (size_t bytes = 1; bytes < edits.bytes; bytes++) {
        const Buffer cut = {.data = edits.data, .bytes = bytes};
        CHECK_INT(apply(two, &cut), bytes % 9 == 0 ? STATUS_OK : STATUS_MALFORMED);
    }
    const uint32_t back[][2] = {{SCENE_REF_NEW_LUA, ref}, // the same once more
                                {SCENE_REF_PATH, path},
                                {SCENE_REF_HASH, hash},
                                {SCENE_REF_NEW_HASH, path}};
    for (size_t i = 0; i < sizeof back / sizeof back[0]; i++) {
        Buffer more = buffer_of(128);
        buffer_put(&more, edits.data, edits.bytes);
        put_edit(&more, back[i][1], 1, back[i][0]);
        CHECK_INT(apply(two, &more), STATUS_MALFORMED);
        buffer_free(&more);
    }
    buffer_free(&edits);
}

TEST(scripts_that_are_named_are_known)
{
    (void)edit("{\"entities\": [{\"scriptPath\": \"Workspace/Door\"}]}", SCENE_REF_SCENE);
    uint32_t count = 0;
    for (uint32_t i = 0; i < 3; i++) {
        count += used[i];
    }
    CHECK_INT(count, 1);
    (void)edit("{\"entities\": [{\"scriptPath\": \"\"}, {\"name\": \"Workspace/Door\"}]}",
               SCENE_REF_SCENE);
    CHECK(used[0] == 0 && used[1] == 0 && used[2] == 0);
}

// The worker's request is any bytes at all.
TEST(a_request_that_is_cut_is_refused)
{
    Buffer request = buffer_of(4096);
    buffer_put_u32(&request, SCENE_REF_PREFAB);
    buffer_put_block(&request, "a.json", 6);
    buffer_put_u32(&request, 1);
    buffer_put_block(&request, "Workspace/Door", 14);
    buffer_put_u32(&request, SOUL_LUA);
    buffer_put_u32(&request, 0);
    uint8_t hash[32];
    memset(hash, 0xaa, sizeof hash);
    buffer_put(&request, hash, sizeof hash);
    const char *text = "{\"scriptRef\":{\"path\":\"Workspace/Door\"}}";
    buffer_put_block(&request, text, strlen(text));
    for (size_t bytes = 0; bytes <= request.bytes; bytes++) {
        WorkerCall call = {.request = byte_reader(request.data, bytes), .reply = buffer_of(4096)};
        const Status status = worker_scene_ref(&call);
        CHECK_INT(status, bytes == request.bytes ? STATUS_OK : STATUS_MALFORMED);
        CHECK(status != STATUS_OK || call.reply.bytes == 4 + 1 + 27); // path, hash, Lua
        CHECK((status == STATUS_OK) == (call.reason[0] == '\0'));
        buffer_free(&call.reply);
    }
    request.data[14] = 0xff; // 255 scripts
    WorkerCall call = {.request = byte_reader(request.data, request.bytes),
                       .reply = buffer_of(4096)};
    CHECK_INT(worker_scene_ref(&call), STATUS_MALFORMED);
    buffer_free(&call.reply);
    buffer_free(&request);
}
