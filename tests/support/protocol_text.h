// Texts generated from the code: the tables of docs/PROTOCOL.md and tests/vectors/messages.json.
// tools/protocol.c writes them, the unit tests compare them.
#pragma once

#include "core/base/arena.h"
#include "core/base/bytes.h"

#include <stdbool.h>

// A generated part of docs/PROTOCOL.md: the lines between `<!-- name: begin -->` and `<!-- name:
// end -->`, each on a line of its own.
typedef struct ProtocolRegion {
    const char *name;
    void (*write)(ByteWriter *writer);
} ProtocolRegion;
const ProtocolRegion *protocol_region_at(uint32_t index); // NULL past the last
// Where the contents of a region begin and end in a page; false without both markers, in order.
bool protocol_region_find(const char *page, const ProtocolRegion *region, const char **begin,
                          const char **end);
// Snapshots as JSON (protocol_example.c), each in lines that are not too long.
void protocol_snapshots_write(ByteWriter *writer);
// Three examples of every message: name, number, direction, bytes as hex, and JSON.
void protocol_vectors_write(ByteWriter *writer, Arena *arena);
