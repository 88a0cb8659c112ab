// What is kept about people: accounts, guests among them, and their sign-ins. These wait for the
// disk; they are for a pool's threads and the command line.
#pragma once

#include "server/store/store.h"

#define STORE_NAME_BYTES     33  // of an account's name, with its terminator
#define STORE_SHOWN_BYTES    65  // of the name that is shown
#define STORE_PASSWORD_BYTES 129 // as argon2 writes it
#define STORE_TOKEN_BYTES    32  // of the hash of a token

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

// STATUS_EXISTS: another account has that name. The sign-in (NULL: none) is written with it, or
// neither is.
MUST_USE Status store_account_put(Store *store, const StoreAccount *account,
                                  const StoreSignIn *sign_in);
// STATUS_NOT_FOUND; STATUS_MALFORMED: damaged.
MUST_USE Status store_account_find(Store *store, uint64_t account_id, StoreAccount *out);
MUST_USE Status store_account_by_name(Store *store, const char *name, StoreAccount *out);

MUST_USE Status store_sign_in_put(Store *store, const StoreSignIn *sign_ins, uint32_t count);
MUST_USE Status store_sign_in_delete(Store *store, const uint8_t (*hashes)[STORE_TOKEN_BYTES],
                                     uint32_t count);
MUST_USE Status store_sign_in_expire(Store *store, uint64_t now_unix_ms);
// Those that have not expired, with their accounts. The sink must not call the store.
typedef void (*StoreSignInSink)(void *user, const StoreSignIn *sign_in,
                                const StoreAccount *account);
MUST_USE Status store_sign_ins(Store *store, uint64_t now_unix_ms, StoreSignInSink sink,
                               void *user);
