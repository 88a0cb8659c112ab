// What a host must know of a place to start a world of it.
#pragma once

#include "core/base/bytes.h"
#include "core/wire/place_doc.h"
#include "server/build/base/buffer.h"

typedef struct PlaceFacts {
    char name[PLACE_NAME_BYTES + 1];
    uint32_t tick_rate, player_max, entity_max; // player_max 0: the place does not say
} PlaceFacts;

// Between processes, and in the cache. Total: a fact that no place can have fails the reader.
void place_facts_write(const PlaceFacts *facts, Buffer *out);
void place_facts_read(ByteReader *reader, PlaceFacts *out);
