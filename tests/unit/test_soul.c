// Which files are souls, their names and where they run; and the errors for other files.
#include "server/build/ask/ask_contexts.h"
#include "tests/support/test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FILES_MAX 4100

static PlaceFile files[FILES_MAX];
static uint32_t file_count;
static SoulList souls;
static Worker *worker;
static DiagnosticList list;

static void add(const char *path, const char *text)
{
    files[file_count++] =
        (PlaceFile){.path = path, .data = (const uint8_t *)text, .bytes = strlen(text)};
}

static void scan(void)
{
    const PlaceFolder folder = {.files = files, .file_count = file_count};
    CHECK_OK(soul_scan(&folder, &souls, &list));
    if (worker == NULL) {
        const WorkerConfig config = worker_config_default();
        CHECK_OK(worker_create(&config, &worker));
    }
    char reason[WORKER_REASON_BYTES];
    CHECK_OK(contexts_ask(&(BuildContext){.worker = worker, .diagnostics = &list, .reason = reason},
                          &folder, &souls));
    soul_check_counts(&souls, &list);
}

__attribute__((destructor)) static void end_worker(void)
{
    worker_destroy(worker);
}

static void clear(void)
{
    soul_list_free(&souls);
    diagnostic_list_free(&list);
    file_count = 0;
}

static const Soul *named(const char *path)
{
    for (uint32_t i = 0; i < souls.count; i++) {
        if (strcmp(souls.items[i].path, path) == 0) {
            return &souls.items[i];
        }
    }
    return NULL;
}

// One file, one problem.
static void refuse(const char *path, const char *code, const char *message)
{
    add(path, "");
    scan();
    if (souls.count != 0 || list.error_count != 1 || strcmp(list.items[0].code, code) != 0 ||
        strcmp(list.items[0].file, path) != 0 || strstr(list.items[0].message, message) == NULL) {
        test_fail(__FILE__, __LINE__, "%s: %u souls, %u errors, %s: %s", path, souls.count,
                  list.error_count, list.count > 0 ? list.items[0].code : "",
                  list.count > 0 ? list.items[0].message : "");
    }
    clear();
}

TEST(services_say_where_a_script_runs)
{
    static const struct {
        const char *file, *path;
        RunContext context;
        bool replicate;
    } rows[] = {{"ReplicatedFirst/Load.lua", "ReplicatedFirst/Load", CONTEXT_CLIENT, true},
                {"ReplicatedStorage/Tools.ts", "ReplicatedStorage/Tools", CONTEXT_BOTH, true},
                {"ServerScriptService/Sea.lua", "ServerScriptService/Sea", CONTEXT_SERVER, false},
                {"StarterGui/Bar.soul", "StarterGui/Bar", CONTEXT_CLIENT, true},
                {"SoulService/StarterPlayer/Cam.lua", "StarterPlayer/Cam", CONTEXT_CLIENT, true},
                {"Workspace/a/b/Door.lua", "Workspace/a/b/Door", CONTEXT_BOTH, true}};
    const uint32_t count = sizeof rows / sizeof rows[0];
    for (uint32_t i = 0; i < count; i++) {
        add(rows[i].file, "");
    }
    scan();
    CHECK_INT(souls.count, count);
    CHECK_INT(list.count, 0);
    for (uint32_t i = 0; i < count; i++) {
        const Soul *soul = named(rows[i].path);
        REQUIRE(soul != NULL);
        CHECK(soul->context == rows[i].context && soul->replicate == rows[i].replicate);
        CHECK_TEXT(soul->file->path, rows[i].file);
        CHECK(i == 0 || strcmp(souls.items[i - 1].path, souls.items[i].path) < 0);
    }
    CHECK_INT(named("ReplicatedStorage/Tools")->language, SOUL_TYPESCRIPT);
    CHECK_INT(named("StarterGui/Bar")->language, SOUL_PLAIN);
    clear();
}

TEST(what_is_no_soul_is_none)
{
    add("place.json", "{}");
    add("chunks/0_0_0.chunk", "");
    add("globals.d.ts", "");
    add("Workspace/types.d.ts", "");
    add("Workspace/Door.soul", "");
    add("Workspace/Door.soul.lua", "");
    scan();
    CHECK_INT(souls.count, 1);
    CHECK_INT(list.count, 0);
    clear();
}

TEST(lua_without_its_soul_is_a_warning)
{
    add("Workspace/Door.soul.lua", "");
    scan();
    CHECK_INT(souls.count, 0);
    CHECK(list.warning_count == 1 && list.error_count == 0);
    clear();
}

TEST(a_script_in_no_service_is_told_where_to_go)
{
    refuse("Door.lua", "service", "ServerScriptService, ReplicatedStorage, Workspace");
    refuse("Scripts/Door.ts", "service", "StarterGui, StarterPlayer or ReplicatedFirst");
    refuse("workspace/Door.soul", "service", "did you mean Workspace?");
    refuse("ServerScripts/Door.lua", "service", "did you mean ServerScriptService?");
    refuse("SoulService/Worksapce/Door.lua", "service", "did you mean Workspace?");
    refuse("StarterPlayerScripts/Cam.lua", "service", "did you mean StarterPlayer?");
    refuse("ServerStorage/A.lua", "service",
           "Put it into ServerScriptService, ReplicatedStorage, ");
    refuse("Server.lua", "service", "put it into ServerScriptService, ");
    refuse("SoulService/Door.lua", "service", "no service");
    refuse("SoulService/SoulService/Workspace/Door.lua", "service", "no service");
    refuse("WorkspaceOld/Door.lua", "service", "no service");
}

TEST(names_can_be_shown_stored_and_linked)
{
    refuse("Workspace/a:b.lua", "name", "made of letters");
    refuse("Workspace/a\\b.lua", "name", "made of letters");
    refuse("Workspace/a\"b.lua", "name", "made of letters");
    refuse("Workspace/a\nb.lua", "name", "made of letters");
    refuse("Workspace/ a.lua", "name", "made of letters");
    refuse("Workspace/a .lua", "name", "ends with");
    refuse("Workspace/a../b.lua", "name", "ends with");
    refuse("Workspace/\xff.lua", "name", "UTF-8");
    refuse("Workspace/\xc2\x85.lua", "name", "control");
    refuse("Workspace/\xd1\x82\xc2\x9b.lua", "name", "control");
    refuse("Workspace/a.rune.lua", "name", ".rune");
    refuse("Workspace/a.LUA/b.lua", "name", ".rune");
    refuse("Workspace/"
           "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa.lua",
           "name", "1 to 64");
    refuse("Workspace/aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa/"
           "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa.ts",
           "name", "120");
    add("Workspace/T\xc3\xbcr v2.1_b-c.lua", "");
    scan();
    CHECK(souls.count == 1 && list.count == 0);
    clear();
}

TEST(one_name_has_one_source)
{
    add("SoulService/Workspace/Door.lua", "");
    add("Workspace/Door.lua", "");
    add("Workspace/Door.ts", "");
    add("Workspace/Gate.lua", "");
    scan();
    CHECK_INT(souls.count, 2);
    CHECK_INT(list.error_count, 2);
    CHECK_TEXT(list.items[0].code, "duplicate");
    CHECK(strstr(list.items[1].message, "SoulService/Workspace/Door.lua") != NULL);
    clear();
}

TEST(names_differ_in_more_than_case)
{
    add("Workspace/Door.lua", "");
    add("Workspace/Gate.lua", "");
    add("Workspace/dOOR.lua", "");
    scan();
    CHECK_INT(list.error_count, 1);
    CHECK_TEXT(list.items[0].code, "case");
    clear();
}

TEST(place_json_narrows)
{
    add("ReplicatedStorage/Vault.lua", "");
    add("ServerScriptService/Sea.lua", "");
    add("Workspace/Door.lua", "");
    add("Workspace/Lamp.lua", "");
    add("place.json", "{\"contexts\":{\"Workspace/Door\":\"Server\",\"Workspace/Lamp\":\"Client\","
                      "\"ReplicatedStorage/Vault\":\"Server\",\"ServerScriptService/Sea\":"
                      "\"Server\"},\"name\":\"x\"}");
    scan();
    CHECK_INT(list.count, 0);
    CHECK(named("Workspace/Door")->context == CONTEXT_SERVER &&
          !named("Workspace/Door")->replicate);
    CHECK(named("Workspace/Lamp")->context == CONTEXT_CLIENT && named("Workspace/Lamp")->replicate);
    CHECK(!named("ReplicatedStorage/Vault")->replicate);
    CHECK(!named("ServerScriptService/Sea")->replicate);
    clear();
}

TEST(place_json_never_widens_and_nothing_in_it_is_overlooked)
{
    static const struct {
        const char *text, *message;
    } rows[] = {
        {"{\"contexts\":{\"ServerScriptService/Sea\":\"Both\"}}", "only take a side away"},
        {"{\"contexts\":{\"ServerScriptService/Sea\":\"Client\"}}", "only take a side away"},
        {"{\"contexts\":{\"StarterGui/Bar\":\"Server\"}}", "only take a side away"},
        {"{\"contexts\":{\"StarterGui/Bar\":\"Both\"}}", "only take a side away"},
        {"{\"contexts\":{\"Workspace/Dor\":\"Server\"}}",
         "names no script; did you mean Workspace/Door?"},
        {"{\"contexts\":{\"Workspace/Door.lua\":\"Server\"}}", "without an ending"},
        {"{\"contexts\":{\"Workspace/Door\":\"server\"}}", "Server"},
        {"{\"contexts\":{\"Workspace/Door\":1}}", "string"},
        {"{\"contexts\":[]}", "object"},
        {"{\"contexts\":{\"Workspace/Door\":\"Server\"}", "ends"},
        {"{\"contexts\":{\"Workspace/Door\":\"Server\",\"Workspace/Door\":\"Both\"}}", "twice"},
        {"\xff", ""},
        // The others apply all the same, so that no secret is sent.
        {"{\"contexts\":{\"Workspace/Dor\":\"Server\",\"Workspace/Lamp\":\"Server\"}}", "names no"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        add("ServerScriptService/Sea.lua", "");
        add("StarterGui/Bar.lua", "");
        add("Workspace/Door.lua", "");
        add("Workspace/Lamp.lua", "");
        add("place.json", rows[i].text);
        scan();
        CHECK(named("Workspace/Lamp")->replicate == (strstr(rows[i].text, "Lamp") == NULL));
        if (list.error_count != 1 || strcmp(list.items[0].file, "place.json") != 0 ||
            list.items[0].line != 1 || strstr(list.items[0].message, rows[i].message) == NULL) {
            test_fail(__FILE__, __LINE__, "%s\n  %u errors: %s", rows[i].text, list.error_count,
                      list.count > 0 ? list.items[0].message : "");
        }
        clear();
    }
}

// A worker that was taken over could at most remove sides.
TEST(what_a_worker_says_is_believed_where_it_narrows)
{
    static const struct {
        uint8_t bytes[12];
        size_t count;
        bool is_taken;
    } rows[] = {
        {{0, 0, 0, 0, 2, 0, 0, 0, CONTEXT_SERVER, CONTEXT_CLIENT}, 10, true},
        {{0, 0, 0, 0, 2, 0, 0, 0, CONTEXT_SERVER, CONTEXT_BOTH}, 10, true},
        {{0, 0, 0, 0, 2, 0, 0, 0, CONTEXT_BOTH, CONTEXT_BOTH}, 10, false},
        {{0, 0, 0, 0, 2, 0, 0, 0, CONTEXT_CLIENT, CONTEXT_SERVER}, 10, false},
        {{0, 0, 0, 0, 2, 0, 0, 0, CONTEXT_SERVER, 3}, 10, false},
        {{0, 0, 0, 0, 2, 0, 0, 0, CONTEXT_SERVER, 255}, 10, false},
        {{0, 0, 0, 0, 2, 0, 0, 0, CONTEXT_SERVER}, 9, false},
        {{0, 0, 0, 0, 2, 0, 0, 0, CONTEXT_SERVER, CONTEXT_CLIENT, 0}, 11, false},
        {{0, 0, 0, 0, 1, 0, 0, 0, CONTEXT_SERVER}, 9, false},
        {{0, 0, 0, 0}, 4, false},
        {{255, 255, 255, 255}, 4, false},
        {{0}, 0, false},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        add("ServerScriptService/Sea.lua", "");
        add("Workspace/Door.lua", "");
        scan();
        Buffer reply = buffer_of(64);
        buffer_put(&reply, rows[i].bytes, rows[i].count);
        const Status status = contexts_read_reply(&reply, &souls, &list);
        CHECK_INT(status, rows[i].is_taken ? STATUS_OK : STATUS_MALFORMED);
        CHECK(souls.items[0].context == CONTEXT_SERVER && !souls.items[0].replicate);
        CHECK_INT(souls.items[1].context,
                  rows[i].is_taken ? (RunContext)rows[i].bytes[9] : CONTEXT_BOTH);
        CHECK_INT(list.count, 0);
        buffer_free(&reply);
        clear();
    }
}

TEST(there_are_limits)
{
    static char names[FILES_MAX][48];
    for (uint32_t i = 0; i <= SOULS_MAX; i++) {
        snprintf(names[i], sizeof names[0], "ServerScriptService/S%05u.lua", i);
        add(names[i], "");
    }
    scan();
    CHECK_INT(souls.count, SOULS_MAX);
    CHECK(list.error_count == 1 && strstr(list.items[0].message, "4001") != NULL);
    clear();
    for (uint32_t i = 0; i <= MANIFEST_SCRIPTS_MAX; i++) {
        snprintf(names[i], sizeof names[0], "Workspace/S%05u.lua", i);
        add(names[i], "");
    }
    scan();
    CHECK(list.error_count == 1 && strstr(list.items[0].message, "2001") != NULL);
    clear();
    scan(); // an empty place has no souls, and that is all right
    CHECK(souls.count == 0 && list.count == 0);
    clear();
}
