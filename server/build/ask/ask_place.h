// What WORKER_PLACE is asked and answers: the JSON files of a place in, the compiled scene out,
// whole and stripped, and the few numbers that a host goes by. It never parses a creator's JSON,
// nor the scene that was made of it.
#pragma once

#include "core/base/bytes.h"
#include "core/wire/place_doc.h"
#include "server/build/base/diagnostic.h"
#include "server/build/place/place_folder.h"
#include "server/build/ask/worker.h"

// What a host must know of a place to start a world of it.
typedef struct PlaceFacts {
    char name[PLACE_NAME_BYTES + 1];
    uint32_t tick_rate, player_max, entity_max; // player_max 0: the place does not say
} PlaceFacts;

typedef struct PlaceOutput {
    uint8_t *whole, *stripped; // free with place_output_free
    size_t whole_bytes, stripped_bytes;
    PlaceFacts facts;
} PlaceOutput;

MUST_USE Status place_call(Worker *worker, const PlaceFolder *folder, PlaceOutput *out,
                           DiagnosticList *diagnostics, char reason[WORKER_REASON_BYTES]);
// What place_call does with the worker's answer, which may be any bytes at all; for the fuzzer.
MUST_USE Status place_read_reply(const Buffer *reply, Status said, PlaceOutput *out,
                                 DiagnosticList *diagnostics);
// Between processes, and in the cache. Total: a fact that no place can have fails the reader.
void place_facts_write(const PlaceFacts *facts, Buffer *out);
void place_facts_read(ByteReader *reader, PlaceFacts *out);
void place_output_free(PlaceOutput *output);
