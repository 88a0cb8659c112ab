// See live_rows.h.
#define _GNU_SOURCE
#include "server/serve/live/live_rows.h"

#include "core/base/byte_values.h"
#include "core/base/check.h"
#include "core/base/json_write.h"
#include "core/base/limits.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void live_rows_free(LiveRows *rows)
{
    for (uint32_t i = 0; i < rows->count; i++) {
        free(rows->rows[i].text);
    }
    free(rows->rows);
    *rows = (LiveRows){0};
}

// Where the key is, or would be.
static uint32_t place_of(const LiveRows *rows, const char *key)
{
    uint32_t low = 0, high = rows->count;
    while (low < high) {
        const uint32_t middle = (low + high) / 2;
        if (strcmp(rows->rows[middle].key, key) < 0) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

static LiveRow *insert(LiveRows *rows, uint32_t at, const char *key)
{
    if (rows->count == LIVE_ROWS_MAX) {
        return NULL;
    }
    if (rows->count == rows->capacity) {
        const uint32_t capacity = rows->capacity > 0 ? 2 * rows->capacity : 16;
        LiveRow *more = realloc(rows->rows, capacity * sizeof *more);
        if (more == NULL) {
            return NULL;
        }
        rows->rows = more;
        rows->capacity = capacity;
    }
    LiveRow *row = &rows->rows[at];
    memmove(row + 1, row, (rows->count - at) * sizeof *row);
    rows->count += 1;
    *row = (LiveRow){0};
    snprintf(row->key, sizeof row->key, "%s", key);
    return row;
}

void live_rows_begin(LiveRows *rows)
{
    rows->version += 1;
    for (uint32_t i = 0; i < rows->count; i++) {
        rows->rows[i].is_here = false;
    }
}

Status live_rows_put(LiveRows *rows, const char *key, const char *text, size_t bytes)
{
    ASSERT(strlen(key) < LIVE_KEY_BYTES && memchr(text, '\n', bytes) == NULL);
    const uint32_t at = place_of(rows, key);
    LiveRow *row =
        at < rows->count && strcmp(rows->rows[at].key, key) == 0 ? &rows->rows[at] : NULL;
    if (row != NULL && row->text != NULL && row->bytes == bytes &&
        memcmp(row->text, text, bytes) == 0) {
        row->is_here = true;
        return STATUS_OK;
    }
    char *copy = malloc(bytes + 1);
    row = copy == NULL || row != NULL ? row : insert(rows, at, key);
    if (copy == NULL || row == NULL) {
        free(copy);
        return STATUS_LIMIT;
    }
    memcpy(copy, text, bytes);
    free(row->text);
    row->text = copy;
    row->bytes = bytes;
    row->version = rows->version;
    row->is_here = true;
    return STATUS_OK;
}

// Rows that are gone are remembered for those who have not heard of it, but not for ever.
static void forget_gone(LiveRows *rows)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < rows->count; i++) {
        if (rows->rows[i].text != NULL) {
            rows->rows[kept++] = rows->rows[i];
        }
    }
    rows->count = kept;
    rows->forgotten = rows->version;
}

void live_rows_end(LiveRows *rows)
{
    uint32_t gone = 0;
    for (uint32_t i = 0; i < rows->count; i++) {
        LiveRow *row = &rows->rows[i];
        if (!row->is_here && row->text != NULL) {
            free(row->text);
            row->text = NULL;
            row->version = rows->version;
        }
        gone += row->text == NULL;
    }
    if (gone > 16 && gone > rows->count / 2) {
        forget_gone(rows);
    }
}

static bool is_full(const LiveRows *rows, uint64_t seen)
{
    return seen == 0 || seen < rows->forgotten;
}

bool live_rows_has_news(const LiveRows *rows, uint64_t seen)
{
    bool has = rows->version > 0 && is_full(rows, seen);
    for (uint32_t i = 0; i < rows->count && !has; i++) {
        has = rows->rows[i].version > seen;
    }
    return has;
}

void live_rows_write(const LiveRows *rows, uint64_t seen, ByteWriter *out)
{
    const bool whole = is_full(rows, seen);
    bool is_first = true;
    byte_write_chars(out, whole ? "{\"full\":true,\"rows\":{" : "{\"full\":false,\"rows\":{");
    for (uint32_t i = 0; i < rows->count; i++) {
        const LiveRow *row = &rows->rows[i];
        if (whole ? row->text == NULL : row->version <= seen) {
            continue;
        }
        byte_write_chars(out, is_first ? "" : ",");
        is_first = false;
        JsonWriter key = json_writer(out, 0);
        json_write_text(&key, row->key);
        byte_write_chars(out, ":");
        if (row->text != NULL) {
            byte_write_bytes(out, row->text, row->bytes);
        } else {
            byte_write_chars(out, "null");
        }
    }
    byte_write_chars(out, "}}");
}
