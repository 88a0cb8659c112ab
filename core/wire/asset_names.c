// See asset_names.h. A whole path is found by halving the list; a shorter name by walking it, which
// happens when a script writes one and when a scene is compiled.
#include "core/wire/asset_names.h"

#include "core/base/check.h"
#include "core/base/nearest.h"

#include <stdio.h>
#include <string.h>

#define FOLDER       "assets/"
#define FOLDER_BYTES (sizeof FOLDER - 1)
#define LISTED_MAX   4

static const char *const pictures[] = {".png", ".jpg", ".jpeg", NULL};
static const char *const models[] = {".glb", ".gltf", NULL};
static const char *const others[] = {".ogg", ".wav", ".bin", NULL};

static bool ends_so(Text path, const char *const *endings)
{
    for (; *endings != NULL; endings++) {
        const size_t bytes = strlen(*endings);
        if (path.bytes > bytes && memcmp(path.data + path.bytes - bytes, *endings, bytes) == 0) {
            return true;
        }
    }
    return false;
}

static bool is_below_assets(Text path)
{
    return path.bytes > FOLDER_BYTES && path.bytes <= ASSET_PATH_BYTES_MAX &&
           memcmp(path.data, FOLDER, FOLDER_BYTES) == 0;
}

bool asset_name_is_asset(Text path)
{
    return is_below_assets(path) &&
           (ends_so(path, pictures) || ends_so(path, models) || ends_so(path, others));
}

static bool fits(Text path, PaintMember member)
{
    return ends_so(path, member == PAINT_MODEL ? models : pictures);
}

static Text without_folder(Text path)
{
    return (Text){path.data + FOLDER_BYTES, path.bytes - FOLDER_BYTES};
}

static Text without_ending(Text path)
{
    size_t bytes = path.bytes;
    while (bytes > 0 && path.data[bytes - 1] != '.') {
        bytes -= 1;
    }
    return (Text){path.data, bytes > 0 ? bytes - 1 : path.bytes};
}

static bool is_called(Text path, Text name)
{
    const Text shorter = without_folder(path);
    return text_equal(path, name) || text_equal(shorter, name) ||
           text_equal(without_ending(shorter), name);
}

static uint32_t find_path(const AssetNames *names, Text path)
{
    uint32_t low = 0;
    for (uint32_t high = names->count; low < high;) {
        const uint32_t middle = low + (high - low) / 2;
        if (text_compare(names->paths[middle], path) < 0) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low < names->count && text_equal(names->paths[low], path) ? low + 1 : 0;
}

uint32_t asset_name_find(const AssetNames *names, PaintMember member, Text name)
{
    ASSERT(paint_row(member)->kind == PAINT_KIND_ASSET);
    if (name.bytes == 0) {
        return 0;
    }
    const uint32_t whole = find_path(names, name);
    if (whole != 0 && fits(name, member)) {
        return whole;
    }
    for (uint32_t i = 0; i < names->count; i++) {
        if (fits(names->paths[i], member) && is_called(names->paths[i], name)) {
            return i + 1;
        }
    }
    return 0;
}

void asset_name_near(const AssetNames *names, PaintMember member, Text name,
                     char out[ASSET_NEAR_BYTES])
{
    Nearest nearest = nearest_begin_path(name.data, name.bytes);
    uint32_t count = 0;
    size_t at = (size_t)snprintf(out, ASSET_NEAR_BYTES, "there are");
    for (uint32_t i = 0; i < names->count; i++) {
        const Text path = names->paths[i];
        if (!fits(path, member)) {
            continue;
        }
        const Text shorter = without_ending(without_folder(path));
        (void)(nearest_consider(&nearest, path.data, path.bytes) ||
               nearest_consider(&nearest, shorter.data, shorter.bytes));
        if (count < LISTED_MAX && at < ASSET_NEAR_BYTES) {
            at += (size_t)snprintf(out + at, ASSET_NEAR_BYTES - at, "%s \"%.*s\"",
                                   count > 0 ? "," : "", (int)path.bytes, path.data);
        }
        count += 1;
    }
    if (nearest.found != NULL) {
        (void)snprintf(out, ASSET_NEAR_BYTES, "did you mean \"%.*s\"?", (int)nearest.found_bytes,
                       nearest.found);
    } else if (count == 0) {
        (void)snprintf(out, ASSET_NEAR_BYTES, "the folder assets has no %s",
                       member == PAINT_MODEL ? "model (.glb, .gltf)" : "picture (.png, .jpg)");
    } else if (count > LISTED_MAX && at < ASSET_NEAR_BYTES) {
        (void)snprintf(out + at, ASSET_NEAR_BYTES - at, " and %u more",
                       (unsigned)(count - LISTED_MAX));
    }
}
