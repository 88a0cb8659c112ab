// Two to eight editors of one place around one edit session, from a seed, in steps of virtual time:
// delays, lost connections, sessions that die before and after they stored something, refused
// stores, files that change on disk, undo. Ids come from a small range, so that they collide. With
// an even seed the store answers later, for several transactions at once.
#pragma once

#include <stdbool.h>
#include <stdint.h>

typedef struct EditorsResult {
    bool has_failed;
    char why[256];
    uint64_t hash; // of the document at the end, and of what happened
    uint64_t told, refused, renumbered, undone, deaths, disk_edits;
} EditorsResult;

EditorsResult editors_run(uint64_t seed);
