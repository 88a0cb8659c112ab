// See editor_modules.h. Only an ambient module without a body gives any name that is asked of it.
// Each script is declared as patterns, because the compiler looks at those only where it finds no
// file: a Cut.ts is never hidden by a Cut.lua elsewhere, nor by one that it has replaced since the
// last build. "R*eplicatedStorage/Lib/Cut" fits that path and nothing else that anybody writes. A
// name cannot be relative, so every end of the path has a pattern of its own: "*./Lib/Cut" fits
// `./Lib/Cut`, `../Lib/Cut` and `../../Lib/Cut`. That is less than the build knows, which knows
// from where; a name that is in no folder at all stays unknown. Names of scripts have no characters
// that a text or a pattern takes for its own (soul.c).
#define _GNU_SOURCE
#include "server/build/place/editor_modules.h"

#include "server/build/place/soul.h"

#include <string.h>

#define FOLDER_END "/index" // an import of the folder means this one

static const char head[] =
    "// Scripts in other languages that TypeScript can import; what comes from them is `any`.\n"
    "// Every build writes this file.\n";

// Declares the path itself, and every suffix of it. Declaring one twice is harmless.
static void put_path(Buffer *out, const char *path, size_t bytes, const char *ending)
{
    buffer_print(out, "declare module \"%c*%.*s%s\";\n", path[0], (int)bytes - 1, path + 1, ending);
    for (size_t i = 0; i < bytes; i++) {
        if (i == 0 || path[i - 1] == '/') {
            buffer_print(out, "declare module \"*./%.*s%s\";\n", (int)(bytes - i), path + i,
                         ending);
        }
    }
}

static void put_module(Buffer *out, const char *path)
{
    static const char *const endings[] = {"", ".lua", ".js",
                                          ".ts"}; // an import may have these endings
    const size_t bytes = strlen(path);
    for (size_t i = 0; i < sizeof endings / sizeof endings[0]; i++) {
        put_path(out, path, bytes, endings[i]);
    }
    if (place_path_ends(path, FOLDER_END)) {
        put_path(out, path, bytes - strlen(FOLDER_END), "");
    }
}

Status editor_modules_write(const char *place, Buffer *out)
{
    char reason[WORKER_REASON_BYTES] = "";
    PlaceFolder folder = {0};
    SoulList souls = {0};
    DiagnosticList said = {0}; // not used: the build has reported these
    Status status = place_folder_read_diagnosed(place, &folder, &said, reason);
    if (status == STATUS_OK || status == STATUS_MALFORMED) { // all files, or those that can be read
        status = soul_scan(&folder, &souls, &said);
        buffer_put(out, head, sizeof head - 1);
        for (uint32_t i = 0; i < souls.count; i++) {
            if (souls.items[i].language != SOUL_TYPESCRIPT) {
                put_module(out, souls.items[i].path);
            }
        }
        status = status == STATUS_OK ? out->status : status;
        soul_list_free(&souls);
        place_folder_free(&folder);
    }
    diagnostic_list_free(&said);
    return status;
}
