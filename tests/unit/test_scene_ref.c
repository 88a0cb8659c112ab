// Edits in a creator's own text: what changes, and above all what does not.
#include "core/base/sha256.h"
#include "server/build/scene_ref.h"
#include "server/build/worker_op.h"
#include "tests/support/test.h"

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
        {.path = "Workspace/deep/Lift", .language = SOUL_TYPESCRIPT}};
    static const uint8_t bytes[] = {0xcc, 0xaa, 0xbb};
    for (uint32_t i = 0; i < 3; i++) {
        scripts[i] = all[i];
        memset(scripts[i].code_hash, bytes[i], sizeof scripts[i].code_hash);
    }
    return 3;
}

// The text after an edit, terminated; "" and a failure of the test when it is refused.
static char edited[8192];
static bool edit(const char *text, SceneRefKind kind)
{
    SceneRefScript scripts[3];
    const uint32_t count = make_scripts(scripts);
    Buffer out = buffer_of(sizeof edited - 1);
    bool changed = false;
    CHECK_OK(scene_ref_edit(text, strlen(text), kind, scripts, count, &out, &changed));
    memcpy(edited, out.bytes > 0 ? out.data : (const uint8_t *)"", out.bytes);
    edited[out.bytes] = '\0';
    buffer_free(&out);
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
    check_edit(
        "{\"entities\": [{\"scriptRef\": {\"path\": \"Workspace/deep/Lift.lua\", \"codeHash\": "
        "\"\"}, \"scriptPath\": \"Workspace/deep/Lift.lua\"}]}",
        "{\"entities\": [{\"scriptRef\": {\"path\": \"Workspace/deep/Lift.ts\", \"codeHash\": "
        "\"" HASH_B "\"}, \"scriptPath\": \".sandlot/server/soul/Workspace/deep/Lift.lua\"}]}");
}

// Letters of more than one byte and escapes before and between the values.
TEST(positions_are_found_behind_any_text)
{
    check_edit(
        "{\"é\\\"{\": \"日本🐝\\\\\", \"entities\": [{\"name\": \"ü\", \"scr\\u0069ptRef\": "
        "{\"pa\\u0074h\": \"Workspace\\/Door.lua\", \"codeHash\": \"\\\"}\"}, \"tags\": [\"]}\"], "
        "\"scriptPath\": \"ß\"}]}",
        "{\"é\\\"{\": \"日本🐝\\\\\", \"entities\": [{\"name\": \"ü\", \"scr\\u0069ptRef\": "
        "{\"pa\\u0074h\": \"Workspace\\/Door.lua\", \"codeHash\": \"" HASH_A
        "\"}, \"tags\": [\"]}\"], \"scriptPath\": \"Workspace/Door.lua\"}]}");
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
    };
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        CHECK(!edit(texts[i], SCENE_REF_SCENE));
    }
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
        "",         "{",   "{\"entities\": [}",   "nul", "\xef\xbb\xbf{}",
        "\"\xff\"", "{}x", "{\"a\": 1, \"a\": 2}"};
    SceneRefScript scripts[3];
    const uint32_t count = make_scripts(scripts);
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        Buffer out = buffer_of(1024);
        bool changed = true;
        CHECK(scene_ref_edit(texts[i], strlen(texts[i]), SCENE_REF_SCENE, scripts, count, &out,
                             &changed) != STATUS_OK);
        CHECK(out.bytes == 0 && changed);
        buffer_free(&out);
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
    Buffer out = buffer_of(8 << 20);
    bool changed = false;
    CHECK_OK(scene_ref_edit((const char *)text.data, text.bytes, SCENE_REF_SCENE, scripts,
                            script_count, &out, &changed));
    const size_t added =
        strlen(",\"codeHash\":\"" HASH_A "\",\"scriptPath\":\"Workspace/Door.lua\"");
    CHECK(changed);
    CHECK_INT(out.bytes, text.bytes + count * added);
    // A cap that is too small is a refusal.
    Buffer small = buffer_of(text.bytes);
    CHECK_INT(scene_ref_edit((const char *)text.data, text.bytes, SCENE_REF_SCENE, scripts,
                             script_count, &small, &changed),
              STATUS_LIMIT);
    buffer_free(&small);
    buffer_free(&out);
    buffer_free(&text);
}

// The worker's request is any bytes at all.
TEST(a_request_that_is_cut_is_refused)
{
    Buffer request = buffer_of(4096);
    buffer_put_u32(&request, SCENE_REF_PREFAB);
    buffer_put_u32(&request, 1);
    buffer_put_block(&request, "Workspace/Door", 14);
    buffer_put_u32(&request, SOUL_LUA);
    uint8_t hash[32];
    memset(hash, 0xaa, sizeof hash);
    buffer_put(&request, hash, sizeof hash);
    const char *text = "{\"scriptRef\":{\"path\":\"Workspace/Door\"}}";
    buffer_put_block(&request, text, strlen(text));
    for (size_t bytes = 0; bytes <= request.bytes; bytes++) {
        WorkerCall call = {.request = byte_reader(request.data, bytes), .reply = buffer_of(4096)};
        const Status status = worker_scene_ref(&call);
        CHECK_INT(status, bytes == request.bytes ? STATUS_OK : STATUS_MALFORMED);
        CHECK(status != STATUS_OK || (call.reply.bytes > strlen(text) && call.reply.data[0] == 1));
        CHECK((status == STATUS_OK) == (call.reason[0] == '\0'));
        buffer_free(&call.reply);
    }
    request.data[4] = 0xff; // 255 scripts
    WorkerCall call = {.request = byte_reader(request.data, request.bytes),
                       .reply = buffer_of(4096)};
    CHECK_INT(worker_scene_ref(&call), STATUS_MALFORMED);
    buffer_free(&call.reply);
    buffer_free(&request);
}
