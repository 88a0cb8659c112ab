// Which spells a place uses: what `spells` of place.json wants, and what spells.lock.json, or the
// record of a revision, says was taken. See docs/FORMATS.md.
#pragma once

#include "core/base/limits.h"
#include "core/base/sha256.h"
#include "server/build/base/buffer.h"
#include "server/build/base/reason.h"

#define SPELL_ID_BYTES     65
#define SPELL_WANTED_BYTES 12
#define SPELL_LOCK         "spells.lock.json"
#define SPELL_LOCK_BYTES   (16u << 10)

typedef struct SpellUse {
    char spell_id[SPELL_ID_BYTES];
    char wanted[SPELL_WANTED_BYTES]; // "live", "beta" or "r3"
    uint32_t revision;               // 0: nothing was taken yet
    uint8_t package[SHA256_BYTES];   // of that revision
    uint8_t module[SHA256_BYTES];    // its Lua
} SpellUse;

typedef struct SpellList {
    SpellUse items[SPELLS_PER_PLACE_MAX]; // by id
    uint32_t count;
} SpellList;

// 1 to 64 of A-Z a-z 0-9 _ -. Ids of places are none.
bool spell_id_is_valid(const char *text);
const SpellUse *spell_list_find(const SpellList *list, const char *spell_id); // NULL: none
bool spell_use_equal(const SpellUse *a, const SpellUse *b);                   // what was taken

// The member `spells` of a place.json. A file that is no JSON has none: the build says what is
// wrong with it. STATUS_MALFORMED: `reason` says what is wrong with the spells.
MUST_USE Status spell_list_read_place(const void *text, size_t bytes, SpellList *out,
                                      char reason[WORKER_REASON_BYTES]);
// A lock or a record.
MUST_USE Status spell_list_read_lock(const void *text, size_t bytes, SpellList *out,
                                     char reason[WORKER_REASON_BYTES]);
// The same list gives the same bytes.
void spell_list_write(const SpellList *list, Buffer *out);
