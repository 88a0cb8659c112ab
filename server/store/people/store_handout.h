// What was or is being handed out to a class (http_handout.c): a job whose progress is stored, so
// that it goes on after a restart. These wait for the disk.
#pragma once

#include "server/store/people/store_class.h"

#define STORE_HANDOUT_REASON_BYTES 257

typedef enum StoreHandoutState {
    STORE_HANDOUT_RUNNING = 1,
    STORE_HANDOUT_DONE = 2,
    STORE_HANDOUT_FAILED = 3,   // what it hands out is not there any more
    STORE_HANDOUT_STOPPING = 4, // cancelled, but its job may still be at a pupil
    STORE_HANDOUT_CANCELLED = 5
} StoreHandoutState;

typedef struct StoreHandout {
    char class_id[65], handout[STORE_HANDOUT_BYTES]; // the key
    StoreHandoutState state;
    uint64_t maker_id;                                         // 0: forgotten
    char title[STORE_TITLE_BYTES], template[64], place_id[65]; // place_id "": the template
    uint32_t total, given, had, failed;
    char reason[STORE_HANDOUT_REASON_BYTES]; // of the last one that failed
    uint64_t created_unix_ms, updated_unix_ms;
} StoreHandout;

// A new one, or the same again. *runs: it runs already or has not stopped yet, nothing was written,
// and *handout has it.
// STATUS_NOT_FOUND: no such class.
MUST_USE Status store_handout_begin(Store *store, StoreHandout *handout, bool *runs);
// Its progress. If it was cancelled meanwhile, a running one becomes STORE_HANDOUT_CANCELLED, also
// in *handout, and its job must end. STATUS_NOT_FOUND: the class was deleted, and with it this.
MUST_USE Status store_handout_save(Store *store, StoreHandout *handout);
// One that runs becomes STORE_HANDOUT_STOPPING, until its job saves it; others stay as they are.
// *out has it as it is now.
MUST_USE Status store_handout_cancel(Store *store, const char *class_id, const char *key,
                                     StoreHandout *out);
MUST_USE Status store_handout_find(Store *store, const char *class_id, const char *key,
                                   StoreHandout *out);
// Those of a class by key, at most max.
MUST_USE Status store_handouts(Store *store, const char *class_id, StoreHandout *out, uint32_t max,
                               uint32_t *count);
// Those in a state, the oldest first, at most max.
MUST_USE Status store_handouts_in(Store *store, StoreHandoutState state, StoreHandout *out,
                                  uint32_t max, uint32_t *count);
