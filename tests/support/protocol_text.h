// Texts generated from the schema: the tables of docs/PROTOCOL.md and tests/vectors/messages.json.
// tools/protocol.c writes them, the unit tests compare them.
#pragma once

#include "core/base/arena.h"
#include "core/base/bytes.h"

#define PROTOCOL_TABLES_BEGIN "<!-- tables of the schema: begin -->\n"
#define PROTOCOL_TABLES_END   "<!-- tables of the schema: end -->\n"

// What stands between the two markers.
void protocol_tables_write(ByteWriter *writer);
// Three examples of every message: name, number, direction, bytes as hex, and JSON.
void protocol_vectors_write(ByteWriter *writer, Arena *arena);
