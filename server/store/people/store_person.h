// Everything that is stored about a person: to be deleted, or to be given to them. These wait for
// the disk, and read all keys of all DataStores: they are for a pool's threads and the command
// line.
//
// What is about somebody: the account, its names, passwords and codes, sign-ins, links, bans,
// invitations, offers, checkpoints, presence, character profiles, resume tokens, favourites, votes,
// what they played, and DataStore entries whose key has the account's number in it as a whole
// number ("17", "score_17", not "170"). What somebody did as an operator stays in the audit, under
// the number alone.
#pragma once

#include "server/store/store.h"

#include <stdio.h>

#define STORE_BUILT_IN_ACCOUNT 1 // has the places that came with the program, and no password

// Worlds of the account belong to the built-in account afterwards. Its packages are deleted, but
// for listed ones, which are in the trash of the built-in account from then on. Deleting twice is
// deleting once. A world that runs may write about a player who leaves it later: delete again then.
// STATUS_DENIED: the built-in account.
MUST_USE Status store_person_delete(Store *store, uint64_t account);
// One JSON object, without secrets. STATUS_NOT_FOUND: there is no such account; STATUS_BLOCKED: the
// disk refuses, and what is in the file is not whole.
MUST_USE Status store_person_export(Store *store, uint64_t account, FILE *out);
// Is the number in the text, as a whole number?
bool store_key_has_number(const char *key, size_t bytes, uint64_t number);
