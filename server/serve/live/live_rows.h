// A table of which only the changes are sent: rows of JSON by a key, each with the version in which
// it last changed. Whoever has seen version V is told the rows that changed after it; a row that is
// gone is null. One thread at a time.
#pragma once

#include "core/base/bytes.h"
#include "core/base/status.h"

#include <stdbool.h>
#include <stdint.h>

#define LIVE_KEY_BYTES 65

typedef struct LiveRow {
    char key[LIVE_KEY_BYTES];
    char *text; // JSON in one line; NULL: it is gone
    size_t bytes;
    uint64_t version;
    bool is_here; // in this look
} LiveRow;

typedef struct LiveRows {
    LiveRow *rows; // by key
    uint32_t count, capacity;
    uint64_t version;   // 0: nothing was ever put
    uint64_t forgotten; // who has seen less is told everything
} LiveRows;

void live_rows_free(LiveRows *rows);
// A look: begin, put every row that there is, end.
void live_rows_begin(LiveRows *rows);
// STATUS_LIMIT: too many rows, or no memory; it is left out.
MUST_USE Status live_rows_put(LiveRows *rows, const char *key, const char *text, size_t bytes);
void live_rows_end(LiveRows *rows);
bool live_rows_has_news(const LiveRows *rows, uint64_t seen);
// {"full":true,"rows":{"key":…}}: everything if `seen` is 0 or too old, else what changed since.
void live_rows_write(const LiveRows *rows, uint64_t seen, ByteWriter *out);
