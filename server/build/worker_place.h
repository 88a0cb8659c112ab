// What WORKER_PLACE is asked and answers: the JSON files of a place in, the compiled scene out,
// whole and stripped. The host never parses a creator's JSON itself.
#pragma once

#include "server/build/diagnostic.h"
#include "server/build/place_folder.h"
#include "server/build/worker.h"

typedef struct PlaceOutput {
    uint8_t *whole, *stripped; // free with place_output_free
    size_t whole_bytes, stripped_bytes;
} PlaceOutput;

MUST_USE Status place_call(Worker *worker, const PlaceFolder *folder, PlaceOutput *out,
                           DiagnosticList *diagnostics, char reason[WORKER_REASON_BYTES]);
// What place_call does with the worker's answer, which may be any bytes at all; for the fuzzer.
MUST_USE Status place_read_reply(const Buffer *reply, Status said, PlaceOutput *out,
                                 DiagnosticList *diagnostics);
void place_output_free(PlaceOutput *output);
