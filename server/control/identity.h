// Who somebody is. Everything that a request is allowed to do follows from this and nothing else.
#pragma once

#include "core/base/status.h"
#include "server/control/token.h"
#include "server/store/people/store_account.h"

typedef enum Role {
    ROLE_CREATOR = 1 << 0,
    ROLE_TEACHER = 1 << 1,
    ROLE_OPERATOR = 1 << 2,
    ROLE_TRUSTED = 1 << 3,    // what they publish stays approved when it changes
    ROLES_ALL = (1 << 4) - 1, // those that an operator gives
    // A class made the account, which stays so when the pupil leaves the class (class.h).
    ROLE_PUPIL = 1 << 4
} Role; // everybody is a player

_Static_assert(STORE_ROLE_PUPIL == ROLE_PUPIL, "the store knows it too");
_Static_assert(STORE_ROLES_TRUSTED == (ROLE_OPERATOR | ROLE_TRUSTED), "the store knows them too");

// How long a sign-in is good for, see sign_in.c.
typedef enum SignInKind {
    SIGN_IN_SESSION = 1, // a browser, or a tool by /login
    SIGN_IN_TOKEN = 2,   // `sandlot login`: has a name, and lasts
    SIGN_IN_ISSUED = 3 // a token of an issuer (issuer/issuer.h): in memory alone, while it is good
} SignInKind;

// What a token of a tool may be used for; a session is for everything.
typedef enum Scope {
    SCOPE_PLAY = 1 << 0,
    SCOPE_CREATE = 1 << 1,
    SCOPE_OPERATE = 1 << 2,
    SCOPES_ALL = (1 << 3) - 1
} Scope;

typedef struct Identity {
    uint64_t account;            // 0: nobody
    char name[STORE_NAME_BYTES]; // of the account; "": a guest
    char shown_name[STORE_SHOWN_BYTES];
    uint32_t roles;
    bool is_guest;
    SignInKind kind;
    uint32_t scope;                    // of a token
    uint8_t sign_in[TOKEN_HASH_BYTES]; // which of the account's
} Identity;

typedef struct Control Control;

// Who shows this token: the only place that decides it, so that other ways to sign in can be added
// here. STATUS_DENIED: nobody (any more). Does not wait.
MUST_USE Status identity_of_token(Control *control, const char *token, Identity *out);
// Is that sign-in still good, with the same roles? Asking is no use of it. Does not wait.
bool identity_is_current(Control *control, const Identity *who);
