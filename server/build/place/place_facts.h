// The facts a host needs to start a world of a place.
#pragma once

#include "core/base/bytes.h"
#include "core/wire/place_doc.h"
#include "server/build/base/buffer.h"

typedef struct PlaceFacts {
    char name[PLACE_NAME_BYTES + 1];
    uint32_t tick_rate, player_max, entity_max; // player_max 0: not given
} PlaceFacts;

// How they are sent between processes and cached. The reader fails for a value that no place can
// have.
void place_facts_write(const PlaceFacts *facts, Buffer *out);
void place_facts_read(ByteReader *reader, PlaceFacts *out);
