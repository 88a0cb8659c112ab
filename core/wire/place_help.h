// Help for the members of a place's files (place_table.h): a sentence for the person who changes
// one, and its unit. Apart from the tables, and a library of its own, so that the game in a
// browser, which reads places but never asks, does not carry the texts.
#pragma once

#include "core/wire/place_table.h"

typedef struct PlaceHelp {
    const char *table; // as in PlaceTable; "": any
    const char *member;
    const char *unit; // "m", "m/s", "ms", …; "": none
    const char *text;
} PlaceHelp;

// NULL: there is none, which a test forbids.
const PlaceHelp *place_help(const PlaceTable *table, const PlaceField *field);
const PlaceHelp *place_help_at(uint32_t index); // all of them; NULL ends it
