// See generated_lua_list.h. The text is not parsed: to check a file, the caller builds the line
// that must be there and searches for it.
#define _GNU_SOURCE
#include "server/build/sign/generated_lua_list.h"

#include "core/base/sha256.h"
#include "server/build/place/place_folder.h"

#include <sodium.h>
#include <stdio.h>
#include <string.h>

#define HEAD          "# sandlot: made Lua 1\n" // no manifest and no ticket begins so
#define SIGNED        "# signed "
#define SIGNATURE_HEX ((size_t)2 * SIGNING_SIGNATURE_BYTES)
#define TAIL_BYTES    (sizeof SIGNED - 1 + SIGNATURE_HEX + 1)
#define LINE_BYTES    512

// manifest.json, and all Lua.
static bool is_listed(const char *path)
{
    return strcmp(path, "manifest.json") == 0 || place_path_ends(path, ".lua");
}

// With the preceding line end, so that only a whole line is found. 0: too long.
static size_t line_of(const PlaceFile *file, char out[LINE_BYTES])
{
    uint8_t hash[SHA256_BYTES];
    char hex[2 * SHA256_BYTES + 1];
    sha256_of(file->data, file->bytes, hash);
    sha256_hex(hash, hex);
    const int length = snprintf(out, LINE_BYTES, "\n%s  %s\n", hex, file->path);
    return length > 0 && length < LINE_BYTES ? (size_t)length : 0;
}

Status generated_lua_list_write(const PlaceFile *files, uint32_t count, const SigningKey *key,
                                Buffer *out)
{
    uint8_t signature[SIGNING_SIGNATURE_BYTES];
    char line[LINE_BYTES], hex[SIGNATURE_HEX + 1];
    const size_t begin = out->bytes;
    buffer_put(out, HEAD, sizeof HEAD - 1);
    for (uint32_t i = 0; i < count; i++) {
        if (is_listed(files[i].path)) {
            const size_t bytes = line_of(&files[i], line);
            if (bytes == 0) {
                return STATUS_LIMIT;
            }
            buffer_put(out, line + 1, bytes - 1);
        }
    }
    if (out->status == STATUS_OK) {
        signing_sign(key, out->data + begin, out->bytes - begin, signature);
        sodium_bin2hex(hex, sizeof hex, signature, sizeof signature);
        buffer_print(out, SIGNED "%s\n", hex);
    }
    return out->status;
}

bool generated_lua_list_verify(const void *text, size_t bytes, const SigningPublicKeys *halves)
{
    uint8_t signature[SIGNING_SIGNATURE_BYTES];
    size_t made = 0;
    if (bytes < sizeof HEAD - 1 + TAIL_BYTES || memcmp(text, HEAD, sizeof HEAD - 1) != 0) {
        return false;
    }
    const char *tail = (const char *)text + bytes - TAIL_BYTES;
    return memcmp(tail, SIGNED, sizeof SIGNED - 1) == 0 && tail[TAIL_BYTES - 1] == '\n' &&
           sodium_hex2bin(signature, sizeof signature, tail + sizeof SIGNED - 1, SIGNATURE_HEX,
                          NULL, &made, NULL) == 0 &&
           made == sizeof signature &&
           signing_verify_any(halves, text, bytes - TAIL_BYTES, signature, NULL);
}

bool generated_lua_list_has(const void *text, size_t bytes, const PlaceFile *file)
{
    char line[LINE_BYTES];
    const size_t count = line_of(file, line);
    return count > 0 && memmem(text, bytes, line, count) != NULL;
}
