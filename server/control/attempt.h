// How often something was tried in the last quarter of an hour, by whom: failed sign-ins by name
// and by address, accounts made by address, reports by account and by address, and kicks. The
// memory is fixed; when it is full, who tried least is forgotten first.
#pragma once

#include "core/base/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ATTEMPT_WINDOW_MS (15 * 60000ull)

typedef enum AttemptKind {
    ATTEMPT_NAME,    // a failure for this name
    ATTEMPT_ADDRESS, // a failure from this address
    ATTEMPT_MADE,    // an account or a guest that was made from this address
    ATTEMPT_REPORT,  // a report by this account
    ATTEMPT_REPORTS, // a report from this address
    ATTEMPT_KICK,    // a player whom this account removed from a world of theirs
    ATTEMPT_KIND_COUNT
} AttemptKind;

typedef struct Attempts Attempts;

MUST_USE Status attempts_create(Attempts **out);
void attempts_destroy(Attempts *attempts);
// Counts one, before it is known how it ends, so that many at once are counted too. False: there
// were as many as there may be; in so many seconds one may try again.
bool attempts_take(Attempts *attempts, AttemptKind kind, const void *who, size_t bytes,
                   uint64_t now_unix_ms, uint32_t *wait_s);
// It went well, and does not count.
void attempts_give_back(Attempts *attempts, AttemptKind kind, const void *who, size_t bytes);
