// What operators did, and what they sweep away. These wait for the disk; they are for a pool's
// threads and the command line.
#pragma once

#include "server/store/store.h"

#define STORE_ACTION_BYTES 33
#define STORE_DETAIL_BYTES 513
#define STORE_AUDIT_ALL    INT64_MAX // an id above all others

typedef struct StoreAudit {
    uint64_t audit_id; // rises by one
    uint64_t unix_ms;
    uint64_t account_id; // who; 0: somebody on this machine, in development
    char action[STORE_ACTION_BYTES];
    char detail[STORE_DETAIL_BYTES]; // UTF-8
} StoreAudit;

// Fills its audit_id.
MUST_USE Status store_audit_add(Store *store, StoreAudit *row);
// Those below that id, the newest first. What is damaged is left out, and counted.
MUST_USE Status store_audit_read(Store *store, uint64_t below, StoreAudit *out, uint32_t max,
                                 uint32_t *count);

typedef struct StoreSwept {
    uint64_t sign_ins, guests, links;
} StoreSwept;
// Removes sign-ins and links that have expired, and guests who were last seen before that time, are
// not signed in, were never in a world and own none. Also what keys of DataStores held more than
// HISTORY_DAYS ago.
MUST_USE Status store_sweep(Store *store, uint64_t now_unix_ms, uint64_t unseen_since_unix_ms,
                            StoreSwept *out);
