// Character profiles, which belong to accounts: one set for all worlds.
#pragma once

#include "core/world/save/row.h"
#include "server/store/store.h"

#define STORE_PROFILES_BYTES 8192 // more than a row of PROFILES_MAX profiles

// Queues: the completion's rows are the account's ROW_PROFILES, repaired, or nothing if it never
// chose anything. For a host that lets somebody in.
MUST_USE Status store_profiles_find(Store *store, uint64_t account, uint64_t tag);
// These wait for the disk. The row is the caller's, to be freed; NULL: nothing is stored.
MUST_USE Status store_profiles_read(Store *store, uint64_t account, uint8_t **row, size_t *bytes);
MUST_USE Status store_profiles_put(Store *store, const RowProfiles *profiles); // a valid set
