// The inside of the control plane, for the files of server/control alone.
#pragma once

#include "server/control/control.h"
#include "server/control/host_key.h"

#include <pthread.h>

// A sign-in that is valid, and what its account's row says; changed under the lock.
typedef struct SignIn {
    StoreSignIn row;
    StoreAccount account; // without the password
    bool is_used;         // since it was last written
} SignIn;

struct HostKeys {
    StoreHostKey *items; // HOST_KEYS_MAX
    uint32_t count;
};

struct Control {
    ControlConfig config;
    pthread_mutex_t lock;
    SignIn **slots; // by hash of the token; a power of two, never full
    uint32_t slot_count, count;
    uint64_t written_unix_ms; // when uses were last written
    ControlStats stats;
    struct HostKeys host_keys; // with the lock
};

uint64_t control_now(const Control *control);
// An account's number: random, so that nobody can guess how many there are.
uint64_t control_new_account(void);

// --- host_key.c ---------------------------------------------------------------------------------
MUST_USE Status host_keys_read(Control *control);
void host_keys_free(Control *control);

// --- sign_in.c ----------------------------------------------------------------------------------
MUST_USE Status sign_ins_read(Control *control);
void sign_ins_free(Control *control);
// A new one, not in the table yet.
void sign_in_make(Control *control, uint64_t account, SignInKind kind, const char *name,
                  uint32_t scope, StoreSignIn *out, char token[TOKEN_TEXT_BYTES]);
// Into the table, once it is on disk.
MUST_USE Status sign_in_add(Control *control, const StoreSignIn *row, const StoreAccount *account);
// Ends those of an account, on disk too; but for one (NULL: all).
MUST_USE Status sign_ins_end(Control *control, uint64_t account,
                             const uint8_t but[TOKEN_HASH_BYTES]);
// The account's row has changed: its sign-ins know.
void sign_ins_change(Control *control, const StoreAccount *account);
void sign_in_identity(const SignIn *sign_in, Identity *out);
