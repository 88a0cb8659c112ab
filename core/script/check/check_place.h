// Scripts among the files of a place, for whoever has them: the local world, and a page that edits.
#pragma once

#include "core/base/bytes.h"
#include "core/script/check/check.h"
#include "core/wire/place.h"

// The scripts of a place: all that the check of one needs to know of the others.
typedef struct CheckPlace {
    CheckModule *modules; // sorted by path, each once
    uint32_t module_count;
} CheckPlace;

// Reads names and place.json; what is wrong with them is told, and what is right stays in the list.
// STATUS_LIMIT: too little memory.
MUST_USE Status check_place_open(Heap *heap, const PlaceFile *files, uint32_t file_count,
                                 const CheckSink *sink, CheckPlace *out);
void check_place_close(Heap *heap, CheckPlace *place);
// The module of a file; NULL: it is no script, or has no name for one. Door.soul.lua, the Lua that
// was made of Door.soul, is the module of the latter.
const CheckModule *check_place_module(const CheckPlace *place, const char *file);
// A script of the place, with what it requires; what check_place_open told is not told again. As
// check_script, and STATUS_NOT_FOUND: it is no script of the place; STATUS_UNSUPPORTED: it is not
// Lua. STATUS_OK with errors: no world takes it.
MUST_USE Status check_place_script(Heap *heap, const CheckPlace *place, const PlaceFile *file,
                                   const CheckSink *sink, CheckOutput *out);

// Checks the file of that path and writes the answer as one object: "ok", "run_context" ("Server",
// "Client", "Both"; "" for a file that is in no service), "rune_bytes", "requires", and
// "diagnostics", "errors", "warnings" as `sandlot build --json` prints them. It has what is wrong
// with this file and with place.json; of the other files only the names are read.
// STATUS_NOT_FOUND: no such file; STATUS_UNSUPPORTED: not Lua; STATUS_LIMIT: too little memory or
// room.
MUST_USE Status check_place_json(Heap *heap, const PlaceFile *files, uint32_t file_count,
                                 const char *path, ByteWriter *out);
