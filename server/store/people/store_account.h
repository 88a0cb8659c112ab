// What is kept about people: accounts, guests among them, and their sign-ins. These wait for the
// disk; they are for a pool's threads and the command line.
#pragma once

#include "server/store/store.h"

#define STORE_NAME_BYTES     33  // of an account's name, with its terminator
#define STORE_SHOWN_BYTES    65  // of the name that is shown
#define STORE_PASSWORD_BYTES 129 // as argon2 writes it
#define STORE_TOKEN_BYTES    32  // of the hash of a token

// Roles (identity.h) whose packages need not be approved again when they change.
#define STORE_ROLES_TRUSTED (1u << 2 | 1u << 3)
#define STORE_ROLE_PUPIL    (1u << 4) // a class made the account

typedef struct StoreAccount {
    uint64_t account_id;         // never 0
    char name[STORE_NAME_BYTES]; // ASCII, unique whatever its case; "": a guest
    char shown_name[STORE_SHOWN_BYTES];
    uint32_t roles;
    char password[STORE_PASSWORD_BYTES]; // "": none
    uint64_t created_unix_ms, seen_unix_ms;
} StoreAccount;

typedef struct StoreSignIn {
    uint8_t token_hash[STORE_TOKEN_BYTES];
    uint64_t account_id;
    uint32_t kind, scope;
    char name[STORE_SHOWN_BYTES];
    uint64_t created_unix_ms, used_unix_ms, expires_unix_ms;
} StoreSignIn;

typedef struct StoreLink {
    uint8_t token_hash[STORE_TOKEN_BYTES];
    uint32_t purpose;    // never 0
    uint64_t account_id; // whose password it changes; 0: it makes an account
    uint32_t roles;      // of the account that it makes
    uint64_t maker_id, created_unix_ms, expires_unix_ms;
} StoreLink;

#define STORE_RECOVERY_CODES 8

// Who somebody is at an issuer of identities: its address and the name that it gives them.
#define STORE_ISSUER_BYTES  256
#define STORE_SUBJECT_BYTES 256
typedef struct StoreIdentity {
    char issuer[STORE_ISSUER_BYTES], subject[STORE_SUBJECT_BYTES]; // neither is ""
    uint64_t account_id, created_unix_ms;
} StoreIdentity;

// All of it is written, or nothing is.
typedef struct StoreAccountChange {
    const StoreAccount *account; // the row as it shall be
    // Only if the row still has this name and password: they were looked at before. NULL: there is
    // no row yet.
    const StoreAccount *was;
    const char *names[2];       // folded, in place of those that it has; both NULL: they stay
    const StoreSignIn *sign_in; // a new one
    const uint8_t *ends;        // the hash of one that ends
    bool ends_all;              // all of the account, but for this one and the new one:
    const uint8_t *keeps;
    const uint8_t (*codes)[STORE_TOKEN_BYTES]; // in place of the recovery codes that it has
    const uint8_t *code, *link;                // that are used up by this
    uint32_t link_purpose;                     // not 0: with all links of that purpose for nobody
    const struct StorePupil *pupil;            // of a class (store_class.h), with a new code
    const StoreIdentity *identity;             // a new one; STATUS_EXISTS: it is another account's
    bool ends_identities;                      // those that it has are forgotten
    // Roles that the last account that has them does not lose: STATUS_DENIED.
    uint32_t last_keeps;
    uint64_t now_unix_ms;
} StoreAccountChange;
// Whoever gets another shown name is called so by their classes too.
// STATUS_EXISTS: another account has such a name. STATUS_MISMATCH: the row is not as it was.
// STATUS_NOT_FOUND: the code or the link is not good (any more).
MUST_USE Status store_account_change(Store *store, const StoreAccountChange *change);
// STATUS_NOT_FOUND: nobody here is known by it.
MUST_USE Status store_identity_find(Store *store, const char *issuer, const char *subject,
                                    StoreIdentity *out);
// Those of an account, at most max.
MUST_USE Status store_identities(Store *store, uint64_t account, StoreIdentity *out, uint32_t max,
                                 uint32_t *count);
// Whose name it is, folded; 0: nobody's.
MUST_USE Status store_name_find(Store *store, const char *folded, uint64_t *account);
// How many accounts have one of these roles.
MUST_USE Status store_account_count(Store *store, uint32_t roles, uint64_t *count);

// In place of those of that purpose for the account (only, if it is the account's).
MUST_USE Status store_link_put(Store *store, const StoreLink *link, bool is_only);
MUST_USE Status store_link_find(Store *store, const uint8_t hash[STORE_TOKEN_BYTES],
                                StoreLink *out);
MUST_USE Status store_recovery_find(Store *store, uint64_t account,
                                    const uint8_t hash[STORE_TOKEN_BYTES]);

// STATUS_EXISTS: another account has that name. The sign-in (NULL: none) is written with it, or
// neither is.
MUST_USE Status store_account_put(Store *store, const StoreAccount *account,
                                  const StoreSignIn *sign_in);
// STATUS_NOT_FOUND; STATUS_MALFORMED: damaged.
MUST_USE Status store_account_find(Store *store, uint64_t account_id, StoreAccount *out);
MUST_USE Status store_account_by_name(Store *store, const char *name, StoreAccount *out);
// Those with names, by name, from behind that one on ("": from the first), at most max. What is
// damaged is left out, and counted.
MUST_USE Status store_accounts(Store *store, const char *after, StoreAccount *out, uint32_t max,
                               uint32_t *count);

MUST_USE Status store_sign_in_put(Store *store, const StoreSignIn *sign_ins, uint32_t count);
// When they were last used; those that were deleted meanwhile stay so.
MUST_USE Status store_sign_in_used(Store *store, const StoreSignIn *sign_ins, uint32_t count);
MUST_USE Status store_sign_in_delete(Store *store, const uint8_t (*hashes)[STORE_TOKEN_BYTES],
                                     uint32_t count);
MUST_USE Status store_sign_in_expire(Store *store, uint64_t now_unix_ms);
// One of them, also if it has expired. STATUS_NOT_FOUND.
MUST_USE Status store_sign_in_find(Store *store, const uint8_t hash[STORE_TOKEN_BYTES],
                                   StoreSignIn *sign_in, StoreAccount *account);
// Those that have not expired, with their accounts. The sink must not call the store.
typedef void (*StoreSignInSink)(void *user, const StoreSignIn *sign_in,
                                const StoreAccount *account);
MUST_USE Status store_sign_ins(Store *store, uint64_t now_unix_ms, StoreSignInSink sink,
                               void *user);
