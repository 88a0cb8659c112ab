// The control plane: who people are, and what they may do. One object for an installation, shared
// by the threads that serve HTTP.
//
//   token.h      secrets that are given out and recognised later
//   sign_in.c    sign-ins: all that are valid are in memory, and each change is in the store first
//   host_key.h   keys of hosts on other machines
//   bans.h       who may not come in, or not talk
//   class.h      classes of a school: pupils, their codes, and what holds for them
//   chat.h       what may be said, and by whom it is not heard
//   identity.h   who somebody is who shows a token: the one place that decides
//   account.h    registering, passwords, links
//   issuer/      who somebody is at an issuer of identities: tokens, keys, the sign-in there
//   name.h, password.h, attempt.h   rules for names and passwords, and limits for guessing
//
// Functions that say so wait for the disk, and are for threads of the pool.
#pragma once

#include "server/control/identity.h"
#include "server/control/name.h"
#include "server/control/order/address_bans.h"
#include "server/control/order/bans.h"
#include "server/control/order/chat.h"
#include "server/store/people/store_account.h"
#include "server/store/people/store_audit.h"

typedef struct Control Control;

typedef struct ControlConfig {
    Store *store;
    uint8_t secret[TOKEN_SECRET_BYTES]; // for the hashes of tokens, and nothing else
    const char *data;                   // its folder, for operator.conf; NULL: none
    bool is_open;                       // anybody may register
    ChatRule chat;                      // of the installation
    ChatRule guest_chat;                // of those without an account
    bool approves;                      // an operator approves places before they are listed
    // There are no accounts: guests alone, at most GUEST_SIGN_INS_MAX.
    bool guests_only;
    // Issuers of identities; those without an address are none. NULL: none at all.
    const struct IssuerConfig *oidc, *clerk;
    uint64_t (*unix_ms)(void *user); // NULL: the system's clock
    void *user;
    bool is_shared; // other processes use the store too: control_hear is called
} ControlConfig;

// Reads the sign-ins; waits for the disk.
MUST_USE Status control_create(const ControlConfig *config, Control **out);
void control_destroy(Control *control);
// Another process has changed something (store_event.h): what is in memory here follows. Waits for
// the store. Running worlds hear of it as of every change (control_take_ban_change and the like).
struct StoreEvent;
void control_hear(Control *control, const struct StoreEvent *event);

// At least once a second: notes which sign-ins were used. True: control_write has something to do.
bool control_step(Control *control);
// Writes when sign-ins were last used, and forgets those that have ended. Waits for the disk.
void control_write(Control *control);

// --- people; these wait for the disk ------------------------------------------------------------
// A guest, with a sign-in. The name was checked (name_text.h); "": one is made up. What others see
// is the name with GUEST_SIGN before it. STATUS_EXISTS: an account has a name that looks like it.
MUST_USE Status control_make_guest(Control *control, const char *name, Identity *who,
                                   char token[TOKEN_TEXT_BYTES]);

// With guests_only: the same, but nothing waits, and the name has no sign before it. It is written
// later, so that the sign-in outlives the process.
typedef struct ControlGuest {
    StoreAccount account;
    StoreSignIn row;
} ControlGuest;
MUST_USE Status control_add_guest(Control *control, const char *name, Identity *who,
                                  char token[TOKEN_TEXT_BYTES], ControlGuest *to_write);
void control_write_guest(Control *control, const ControlGuest *guest); // waits for the disk

// --- for operators ------------------------------------------------------------------------------
typedef struct ControlSignIn {
    Identity who;
    char token_name[STORE_SHOWN_BYTES]; // of a token, else ""
    uint64_t created_unix_ms, used_unix_ms, expires_unix_ms;
} ControlSignIn;
// Those that are valid, of an account (0: of all), at most max; returns how many there are. Does
// not wait.
uint32_t control_sign_ins(Control *control, uint64_t account, ControlSignIn *out, uint32_t max);
// Sign-ins that have ended are forgotten, in memory and on disk, with links that nobody used and
// guests who left nothing (store_sweep). Waits for the disk.
MUST_USE Status control_sweep(Control *control, StoreSwept *out);

// Must an operator approve a place before it is listed? Changing it waits for the disk.
bool control_approves(Control *control);
MUST_USE Status control_set_approves(Control *control, bool approves);
// May the owner of a world or place remove another player now? As the next one.
bool control_may_kick(Control *control, uint64_t account, uint32_t *wait_s);
// May somebody report something now? Counts one. False: in so many seconds again. address 0: none.
bool control_may_report(Control *control, uint64_t account, uint64_t address, uint32_t *wait_s);

typedef struct ControlStats {
    uint32_t sign_ins; // that are valid
    uint64_t made, ended, refused;
} ControlStats;
ControlStats control_stats(Control *control);
