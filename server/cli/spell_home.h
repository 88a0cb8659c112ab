// The spells of a place on this computer: what place.json wants, the lock, the modules in
// .sandlot/spells that a build reads, and a cache of all that were ever fetched, by hash.
#pragma once

#include "server/cli/tool.h"
#include "server/serve/publish/spell_bundle.h"
#include "server/serve/publish/spell_list.h"

typedef struct SpellHome {
    const char *folder; // of the place
    SpellList wanted;   // then what is taken
    SpellList lock;
    Buffer modules[SPELLS_PER_PLACE_MAX]; // of `wanted`; empty: not known yet
} SpellHome;

// EXIT_OK, or what is wrong with the files was printed.
int spell_home_read(SpellHome *home, const Tool *client, const char *folder);
void spell_home_free(SpellHome *home);
// The module of the place's folder, or of the cache. False: it is not here.
bool spell_home_has(SpellHome *home, uint32_t index);
// Takes what a server sent. False: it is not the module of that hash.
bool spell_home_take(SpellHome *home, uint32_t index, const Buffer *data);
// Puts all modules and the lock in place of what is there: a build sees either all or nothing of
// it.
int spell_home_write(SpellHome *home, const Tool *client);
