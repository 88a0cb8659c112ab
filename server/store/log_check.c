// See log_check.h. All numbers in a log are big-endian; its checksum takes 32-bit words in the
// order that the last bit of the magic number says.
#define _GNU_SOURCE
#include "server/store/log_check.h"
#include "core/base/byte_values.h"

#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define HEADER_BYTES   32
#define FRAME_BYTES    24
#define PAGE_BYTES_MIN 512u
#define PAGE_BYTES_MAX 65536u

typedef struct Checksum {
    uint32_t first, second;
    bool is_big;
} Checksum;

static uint32_t read_little(const uint8_t *at)
{
    return (uint32_t)at[3] << 24 | (uint32_t)at[2] << 16 | (uint32_t)at[1] << 8 | at[0];
}

static void checksum_add(Checksum *sum, const uint8_t *data, size_t bytes)
{
    uint32_t (*const read)(const uint8_t *) = sum->is_big ? bytes_big_u32 : read_little;
    for (size_t i = 0; i + 8 <= bytes; i += 8) {
        sum->first += read(data + i) + sum->second;
        sum->second += read(data + i + 4) + sum->first;
    }
}

static bool checksum_is(const Checksum *sum, const uint8_t *at)
{
    return bytes_big_u32(at) == sum->first && bytes_big_u32(at + 4) == sum->second;
}

// Frames with other salts are of an earlier use of the file, and nobody's any more. When the header
// itself is wrong, the salts are those of the first frame.
static LogDamage check_frames(FILE *file, const uint8_t *header, uint32_t page_bytes,
                              uint8_t *frame)
{
    Checksum sum = {.is_big = (bytes_big_u32(header) & 1) != 0};
    checksum_add(&sum, header, HEADER_BYTES - 8);
    bool is_whole = checksum_is(&sum, header + HEADER_BYTES - 8);
    uint8_t salts[8];
    LogDamage damage = {.at = 0};
    bool is_odd_lost = false; // a commit whose own salts are wrong: lost, if others follow
    memcpy(salts, header + 16, sizeof salts);
    for (uint64_t at = HEADER_BYTES; fread(frame, FRAME_BYTES + page_bytes, 1, file) == 1;
         at += FRAME_BYTES + page_bytes) {
        if (at == HEADER_BYTES && !is_whole) {
            memcpy(salts, frame + 8, sizeof salts);
        }
        const bool is_ours = memcmp(frame + 8, salts, sizeof salts) == 0;
        if (is_whole) {
            checksum_add(&sum, frame, 8);
            checksum_add(&sum, frame + FRAME_BYTES, page_bytes);
            is_whole = is_ours && checksum_is(&sum, frame + 16);
            damage.at = is_whole ? 0 : at;
            is_odd_lost = !is_ours && bytes_big_u32(frame + 4) != 0;
        }
        damage.commit_lost += !is_whole && is_ours && bytes_big_u32(frame + 4) != 0;
    }
    damage.commit_lost += damage.commit_lost > 0 && is_odd_lost;
    return damage;
}

LogDamage log_check(const char *database_path)
{
    char path[PATH_MAX];
    uint8_t header[HEADER_BYTES];
    LogDamage damage = {.at = 0};
    const bool fits = snprintf(path, sizeof path, "%s-wal", database_path) < (int)sizeof path;
    FILE *file = fits ? fopen(path, "rbe") : NULL;
    if (file == NULL) {
        return damage;
    }
    if (fread(header, sizeof header, 1, file) == 1) {
        const uint32_t said = bytes_big_u32(header + 8);
        const bool is_size =
            said >= PAGE_BYTES_MIN && said <= PAGE_BYTES_MAX && (said & (said - 1)) == 0;
        const uint32_t page_bytes = is_size ? said : 4096; // SQLite's usual; the header is wrong
        uint8_t *frame = malloc(FRAME_BYTES + page_bytes);
        if (frame != NULL) {
            damage = check_frames(file, header, page_bytes, frame);
        }
        free(frame);
    }
    fclose(file);
    return damage;
}
