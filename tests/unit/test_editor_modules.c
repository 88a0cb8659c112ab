// Which modules are declared for editors, and that the file contains only names of scripts.
// tests/flow/test_new.py checks what the compiler does with it.
#define _GNU_SOURCE
#include "server/build/place/editor_modules.h"
#include "tests/support/test.h"
#include "tests/support/test_folder.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

static char text[1 << 16];

static const char *modules_of(const TestFolder *place)
{
    Buffer out = buffer_of(sizeof text - 1);
    CHECK_OK(editor_modules_write(place->path, &out));
    snprintf(text, sizeof text, "%.*s", (int)out.bytes, (const char *)out.data);
    buffer_free(&out);
    return text;
}

static bool declares(const char *modules, const char *pattern)
{
    char line[256];
    snprintf(line, sizeof line, "\ndeclare module \"%s\";\n", pattern);
    return strstr(modules, line) != NULL;
}

static unsigned lines_of(const char *modules)
{
    unsigned count = 0;
    for (const char *at = modules; (at = strstr(at, "\ndeclare ")) != NULL; at++) {
        count += 1;
    }
    return count;
}

TEST(a_module_is_known_by_its_path_and_its_ends)
{
    const TestFolder place = test_folder_make();
    test_folder_write(&place, "ReplicatedStorage/Lib/Cut.lua", "");
    const char *modules = modules_of(&place);
    CHECK(declares(modules, "R*eplicatedStorage/Lib/Cut"));
    CHECK(declares(modules, "*./ReplicatedStorage/Lib/Cut"));
    CHECK(declares(modules, "*./Lib/Cut"));
    CHECK(declares(modules, "*./Cut"));
    CHECK(declares(modules, "*./Cut.lua") && declares(modules, "*./Cut.ts"));
    CHECK(declares(modules, "R*eplicatedStorage/Lib/Cut.js"));
    CHECK_INT(lines_of(modules), 4 * 4);
    test_folder_remove(&place);
}

TEST(a_folder_is_known_by_its_index)
{
    const TestFolder place = test_folder_make();
    test_folder_write(&place, "SoulService/Workspace/Lib/index.soul", "A library.");
    const char *modules = modules_of(&place);
    CHECK(declares(modules, "W*orkspace/Lib/index") && declares(modules, "*./index.lua"));
    CHECK(declares(modules, "W*orkspace/Lib") && declares(modules, "*./Lib"));
    CHECK(!declares(modules, "*./Lib.lua"));
    CHECK(strstr(modules, "SoulService") == NULL);
    CHECK_INT(lines_of(modules), 4 * 4 + 3);
    test_folder_remove(&place);
}

TEST(what_is_no_module_is_not_declared)
{
    static const char *const names[] = {
        "scene.json",
        "Door.lua",
        "Nowhere/Door.lua",
        "Workspace/Typed.ts",
        "Workspace/Typed.d.ts",
        "Workspace/Made.soul.lua",
        "Workspace/.hidden.lua",
        "Workspace/node_modules/x.lua",
        "Workspace/a\"; evil(); \".lua",
        "Workspace/a\\.lua",
        "Workspace/a*b.lua",
        "Workspace/a\nb.lua",
        "Workspace/\xff.lua",
    };
    const TestFolder place = test_folder_make();
    char link[128];
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        test_folder_write(&place, names[i], "");
    }
    snprintf(link, sizeof link, "%s/Workspace/Link.lua", place.path);
    REQUIRE(symlink("Typed.ts", link) == 0);
    CHECK_INT(lines_of(modules_of(&place)), 0);
    // What cannot be read hides nothing else.
    test_folder_write(&place,
                      "Workspace/Gr\xc3\xb6\xc3\x9f"
                      "e 1.2-b.lua",
                      "");
    CHECK(declares(modules_of(&place), "*./Gr\xc3\xb6\xc3\x9f"
                                       "e 1.2-b"));
    CHECK_INT(lines_of(text), 3 * 4);
    test_folder_remove(&place);
}

TEST(a_place_that_is_not_there_has_none)
{
    Buffer out = buffer_of(EDITOR_MODULES_BYTES);
    const TestFolder place = test_folder_make();
    test_folder_remove(&place);
    CHECK(editor_modules_write(place.path, &out) != STATUS_OK);
    buffer_free(&out);
}

TEST(a_place_of_the_largest_kind_fits)
{
    const TestFolder place = test_folder_make();
    for (unsigned i = 0; i < 1024; i++) {
        char path[160];
        snprintf(path, sizeof path,
                 "ReplicatedStorage/bcdefghi/bcdefghi/bcdefghi/bcdefghi/bcdefghi/bcdefghi/"
                 "bcdefghi/bcdefghi/bcdefghi/bcdef%04u.lua",
                 i);
        test_folder_write(&place, path, "");
    }
    Buffer out = buffer_of(EDITOR_MODULES_BYTES);
    CHECK_OK(editor_modules_write(place.path, &out));
    buffer_free(&out);
    Buffer small = buffer_of(1000);
    CHECK(editor_modules_write(place.path, &small) == STATUS_LIMIT);
    buffer_free(&small);
    test_folder_remove(&place);
}
