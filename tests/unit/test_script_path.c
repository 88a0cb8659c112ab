// Which paths scenes and files may use for a script, and which name they give.
#include "core/wire/script_path.h"
#include "tests/support/test.h"

#include <stdio.h>
#include <string.h>

TEST(every_spelling_is_one_name)
{
    static const char *const rows[] = {
        "Workspace/Door",
        "Workspace/Door.lua",
        "Workspace/Door.ts",
        "Workspace/Door.soul",
        "Workspace/Door.soul.lua",
        "SoulService/Workspace/Door",
        "SoulService/Workspace/Door.ts",
        ".sandlot/server/soul/Workspace/Door.lua",
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const ScriptPath path = script_path_trim(rows[i], strlen(rows[i]));
        CHECK_INT(path.bytes, strlen("Workspace/Door"));
        CHECK(memcmp(path.data, "Workspace/Door", path.bytes) == 0);
    }
}

// One ending and one folder are taken off, and never all there is.
TEST(nothing_else_is_taken_off)
{
    static const struct {
        const char *text, *want;
    } rows[] = {
        {"", ""},
        {".lua", ".lua"},
        {".ts", ".ts"},
        {".soul.lua", ".soul"},
        {"SoulService/", "SoulService/"},
        {"a.lua.lua", "a.lua"},
        {"a.ts.lua", "a.ts"},
        {"a.lua.ts", "a.lua"},
        {"a.soul.ts", "a.soul"},
        {"a.LUA", "a.LUA"},
        {"SoulService/SoulService/a", "SoulService/a"},
        {"SoulService/.sandlot/server/soul/a", ".sandlot/server/soul/a"},
        {".sandlot/client/soul/a.lua", ".sandlot/client/soul/a"},
        {"x/SoulService/a", "x/SoulService/a"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const ScriptPath path = script_path_trim(rows[i].text, strlen(rows[i].text));
        CHECK_INT(path.bytes, strlen(rows[i].want));
        CHECK(memcmp(path.data, rows[i].want, path.bytes) == 0);
    }
}

TEST(services_are_folders_with_something_in_them)
{
    for (uint32_t i = 0; i < SERVICE_COUNT; i++) {
        const char *name = script_service_names[i];
        char path[64];
        snprintf(path, sizeof path, "%s/a", name);
        CHECK_INT(script_path_service(path, strlen(path)), i);
        CHECK_INT(script_path_service(path, strlen(path) - 1), SERVICE_COUNT);
        CHECK_INT(script_path_service(name, strlen(name)), SERVICE_COUNT);
        path[strlen(name)] = '_';
        CHECK_INT(script_path_service(path, strlen(path)), SERVICE_COUNT);
        CHECK(strstr(SCRIPT_SERVICES_TEXT, name) != NULL);
    }
    CHECK_INT(script_path_service("", 0), SERVICE_COUNT);
    CHECK_INT(script_path_service("workspace/a", 11), SERVICE_COUNT);
}

TEST(the_soul_folder_is_measured)
{
    CHECK_INT(script_path_soul_bytes("SoulService/Workspace/A", 23), 12);
    CHECK_INT(script_path_soul_bytes("SoulService/", 12), 0);
    CHECK_INT(script_path_soul_bytes("Workspace/A", 11), 0);
}

TEST(a_spell_is_named_in_short)
{
    char out[40];
    CHECK(script_path_spell("@fire", 5, out, sizeof out) == 29);
    CHECK(strcmp(out, "ReplicatedStorage/spells/fire") == 0);
    CHECK(script_path_spell("@fire/part", 10, out, sizeof out) == 34);
    CHECK(strcmp(out, "ReplicatedStorage/spells/fire/part") == 0);
    CHECK(script_path_spell("@", 1, out, sizeof out) == 0);
    CHECK(script_path_spell("fire@x", 6, out, sizeof out) == 0);
    CHECK(script_path_spell("@fire/a-long-name", 17, out, sizeof out) == 0); // no room
}
