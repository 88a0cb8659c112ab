// What scenes and files may call a script, and what it is then known as.
#include "core/wire/script_path.h"
#include "tests/support/test.h"

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
