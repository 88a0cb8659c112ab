// See build_version.h.
#define _GNU_SOURCE
#include "server/build/pipeline/build_version.h"

#include "core/base/check.h"

#include "server/sys/file.h"

#include <inttypes.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define TEXT_BYTES 128
#define ID_DIGITS  16

// Whether it is the key in the place's own .sandlot, by any spelling of the path.
static bool is_own_key(const char *key_path, const char *place)
{
    char *key = realpath(key_path, NULL);
    char *root = realpath(place, NULL);
    const size_t bytes = root == NULL ? 0 : strlen(root);
    const bool is_own = key != NULL && root != NULL && strncmp(key, root, bytes) == 0 &&
                        strcmp(key + bytes, "/.sandlot/data/ticket.key") == 0;
    free(key);
    free(root);
    return is_own;
}

Status build_version_path(const char *key_path, const char *place,
                          char out[BUILD_VERSION_PATH_BYTES])
{
    char hex[2 * SHA256_BYTES + 1] = "";
    const bool is_own = is_own_key(key_path, place);
    if (!is_own) {
        uint8_t hash[SHA256_BYTES];
        char *root = realpath(place, NULL);
        const char *name = root != NULL ? root : place;
        sha256_of(name, strlen(name), hash);
        sha256_hex(hash, hex);
        free(root);
    }
    const int length = snprintf(out, BUILD_VERSION_PATH_BYTES, "%s.version%s%.*s", key_path,
                                is_own ? "" : ".", ID_DIGITS, hex);
    return length > 0 && length < BUILD_VERSION_PATH_BYTES ? STATUS_OK : STATUS_RANGE;
}

static int print(const BuildVersion *version, char out[TEXT_BYTES])
{
    char hex[2 * SHA256_BYTES + 1];
    sha256_hex(version->set, hex);
    return snprintf(out, TEXT_BYTES, "version %" PRIu32 "\nset %s\n", version->number, hex);
}

// Accepts only the exact text that would be written for these values.
static bool parse_version(const char *text, size_t bytes, BuildVersion *out)
{
    BuildVersion version = {0};
    char hex[2 * SHA256_BYTES + 1], again[TEXT_BYTES];
    size_t made = 0;
    if (sscanf(text, "version %10" SCNu32 " set %64s", &version.number, hex) != 2 ||
        sodium_hex2bin(version.set, sizeof version.set, hex, strlen(hex), NULL, &made, NULL) != 0 ||
        made != sizeof version.set) {
        return false;
    }
    const int length = print(&version, again);
    if ((size_t)length != bytes || memcmp(again, text, bytes) != 0) {
        return false;
    }
    *out = version;
    return true;
}

BuildVersion build_version_read(const char *path)
{
    BuildVersion version = {0};
    uint8_t *text = NULL;
    size_t bytes = 0;
    if (file_read_own(path, S_IWGRP | S_IWOTH, TEXT_BYTES, &text, &bytes) != STATUS_OK ||
        !parse_version((const char *)text, bytes, &version)) {
        version = (BuildVersion){0};
    }
    free(text);
    return version;
}

Status build_version_write(const char *path, const BuildVersion *version)
{
    ASSERT(version->number > 0);
    char text[TEXT_BYTES];
    const int length = print(version, text);
    return file_write_private(path, text, (size_t)length);
}
