// See editor_modules.h. Only an ambient module without a body gives any name that is asked of it,
// and its name cannot be relative. So each script is declared by the last part of its path, behind
// a wildcard: that fits `./Words`, `../ReplicatedStorage/Words` and `ReplicatedStorage/Words`. The
// compiler looks at these only where it finds no file, so a Words.ts is never hidden by a Words.lua
// of another folder. Names of scripts have no characters that a string or a pattern would take for
// its own (soul.c).
#define _GNU_SOURCE
#include "server/build/editor_modules.h"

#include "server/build/soul.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define REASON_BYTES 512
#define FILE_MODULE  "index" // what an import of a folder means

static const char head[] =
    "// Scripts in other languages that TypeScript can import; what comes from them is `any`.\n"
    "// Every build writes this file.\n";

typedef struct Name {
    char text[SCRIPT_PATH_BYTES];
    bool is_folder; // found by its index: no ending may follow
} Name;

static int by_text(const void *a, const void *b)
{
    const Name *one = a, *two = b;
    const int order = strcmp(one->text, two->text);
    return order != 0 ? order : one->is_folder - two->is_folder;
}

// Of "ReplicatedStorage/Words": Words; of "ReplicatedStorage/Lib/index": index, and the folder Lib.
static uint32_t take_names(const char *path, Name out[2])
{
    const char *last = strrchr(path, '/') + 1; // a script is in a service
    out[0] = (Name){0};
    snprintf(out[0].text, sizeof out[0].text, "%s", last);
    if (strcmp(last, FILE_MODULE) != 0) {
        return 1;
    }
    const char *folder = last - 1;
    while (folder > path && folder[-1] != '/') {
        folder--;
    }
    out[1] = (Name){.is_folder = true};
    snprintf(out[1].text, sizeof out[1].text, "%.*s", (int)(last - 1 - folder), folder);
    return 2;
}

static void put_name(Buffer *out, const Name *name)
{
    static const char *const endings[] = {"", ".lua", ".js",
                                          ".ts"}; // those that an import may have
    for (size_t i = 0; i < (name->is_folder ? 1 : sizeof endings / sizeof endings[0]); i++) {
        buffer_print(out, "declare module \"*/%s%s\";\n", name->text, endings[i]);
    }
}

static Status put_all(const SoulList *souls, Buffer *out)
{
    Name *names = calloc(2 * (size_t)souls->count + 1, sizeof *names);
    if (names == NULL) {
        return STATUS_LIMIT;
    }
    uint32_t count = 0;
    for (uint32_t i = 0; i < souls->count; i++) {
        if (souls->items[i].language != SOUL_TYPESCRIPT) {
            count += take_names(souls->items[i].path, names + count);
        }
    }
    qsort(names, count, sizeof *names, by_text);
    buffer_put(out, head, sizeof head - 1);
    for (uint32_t i = 0; i < count; i++) {
        if (i == 0 || strcmp(names[i - 1].text, names[i].text) != 0) {
            put_name(out, &names[i]);
        }
    }
    free(names);
    return out->status;
}

Status editor_modules_write(const char *place, Buffer *out)
{
    char reason[REASON_BYTES] = "";
    PlaceFolder folder = {0};
    SoulList souls = {0};
    DiagnosticList said = {0}; // the build has told it all
    Status status = place_folder_read_told(place, &folder, &said, reason, sizeof reason);
    if (status == STATUS_OK || status == STATUS_MALFORMED) { // but for some files
        status = soul_scan(&folder, &souls, &said);
        status = status == STATUS_OK ? put_all(&souls, out) : status;
        soul_list_free(&souls);
        place_folder_free(&folder);
    }
    diagnostic_list_free(&said);
    return status;
}
