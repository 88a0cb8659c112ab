// The control plane: who people are, and what they may do. One object for an installation, shared
// by the threads that serve HTTP.
//
//   token.h      secrets that are given out and recognised later
//   sign_in.c    sign-ins: all that are valid are in memory, and each change is in the store first
//   host_key.h   keys of hosts on other machines
//   identity.h   who somebody is who shows a token: the one place that decides
//
// Functions that say so wait for the disk, and are for threads of the pool.
#pragma once

#include "server/control/identity.h"
#include "server/store/store_account.h"

typedef struct Control Control;

typedef struct ControlConfig {
    Store *store;
    uint8_t secret[TOKEN_SECRET_BYTES]; // for the hashes of tokens, and nothing else
    uint64_t (*unix_ms)(void *user);    // NULL: the system's clock
    void *user;
} ControlConfig;

// Reads the sign-ins; waits for the disk.
MUST_USE Status control_create(const ControlConfig *config, Control **out);
void control_destroy(Control *control);

// At least once a second: notes which sign-ins were used. True: control_write has something to do.
bool control_step(Control *control);
// Writes when sign-ins were last used, and forgets those that have ended. Waits for the disk.
void control_write(Control *control);

// --- people; these wait for the disk ------------------------------------------------------------
// A guest, with a sign-in. The name was checked (name_text.h); "": one is made up. What others see
// is the name with GUEST_SIGN before it, which no account's name can contain.
#define GUEST_SIGN "~"
MUST_USE Status control_make_guest(Control *control, const char *name, Identity *who,
                                   char token[TOKEN_TEXT_BYTES]);

typedef struct ControlStats {
    uint32_t sign_ins; // that are valid
    uint64_t made, ended, refused;
} ControlStats;
ControlStats control_stats(Control *control);
