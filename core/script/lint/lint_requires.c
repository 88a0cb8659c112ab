// The modules that a script requires by a constant path: sorted, each once with its first line. And
// the assets that it names.
#include "core/script/lint/lint_inside.h"

#include <string.h>

// Functions are not walked in the order of their lines.
static void keep_first_line(LintResult *result, uint32_t at, uint32_t line)
{
    if (result->require_lines != NULL && line < result->require_lines[at]) {
        result->require_lines[at] = line;
    }
}

// Inserts at `at`.
static void insert_require(LintResult *result, uint32_t at, const char *plain, uint32_t line)
{
    const uint32_t behind = result->require_count - at;
    memmove(result->requires[at + 1], result -> requires[at], behind * sizeof result->requires[0]);
    memcpy(result->requires[at], plain, strlen(plain) + 1);
    if (result->require_lines != NULL) {
        memmove(&result->require_lines[at + 1], &result->require_lines[at],
                behind * sizeof result->require_lines[0]);
        result->require_lines[at] = line;
    }
    result->require_count += 1;
}

void lint_add_require(LintResult *result, uint32_t line, Text written)
{
    char whole[SCRIPT_PATH_BYTES];
    const Text path = script_path_plain(script_path_whole(written, whole));
    for (size_t i = 0; i < path.bytes; i++) {
        if ((unsigned char)path.data[i] < 0x20 || path.data[i] == 0x7f) {
            return; // not a valid path of a module
        }
    }
    char plain[SCRIPT_PATH_BYTES];
    if (path.bytes == 0 || path.bytes >= sizeof plain) {
        return;
    }
    memcpy(plain, path.data, path.bytes);
    plain[path.bytes] = 0;
    uint32_t at = 0;
    while (at < result->require_count && strcmp(result->requires[at], plain) < 0) {
        at += 1;
    }
    if (at < result->require_count && strcmp(result->requires[at], plain) == 0) {
        keep_first_line(result, at, line);
        return;
    }
    if (result->require_count == result->require_max) {
        result->dropped_count += 1;
        return;
    }
    insert_require(result, at, plain, line);
}

void lint_add_asset(LintResult *result, LintAssetKind kind, uint32_t line, Text name)
{
    if (name.bytes == 0 || name.bytes >= LINT_ASSET_BYTES ||
        result->asset_count >= result->asset_max) {
        return;
    }
    for (size_t i = 0; i < name.bytes; i++) {
        if ((unsigned char)name.data[i] < 0x20 || name.data[i] == 0x7f) {
            return; // it could not be shown
        }
    }
    LintAsset *asset = &result->assets[result->asset_count++];
    *asset = (LintAsset){.kind = kind, .line = line};
    memcpy(asset->name, name.data, name.bytes);
}
