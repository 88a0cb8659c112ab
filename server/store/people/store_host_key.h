// Keys of hosts on other machines, as hashes. These wait for the disk, as those of store_account.h.
#pragma once

#include "server/store/people/store_account.h"

#define STORE_HOST_KEY_ID_BYTES 17 // the first 8 bytes of the hash as hex digits, terminated

typedef struct StoreHostKey {
    uint8_t key_hash[STORE_TOKEN_BYTES];
    char name[STORE_SHOWN_BYTES];
    uint64_t maker_id, created_unix_ms, used_unix_ms;
} StoreHostKey;

// What names it to people. The ids of its hosts begin with it.
void store_host_key_id(const uint8_t key_hash[STORE_TOKEN_BYTES],
                       char out[STORE_HOST_KEY_ID_BYTES]);
MUST_USE Status store_host_key_put(Store *store, const StoreHostKey *key);
// The key, and the rows of all its hosts: what they hold can be taken at once.
MUST_USE Status store_host_key_delete(Store *store, const uint8_t key_hash[STORE_TOKEN_BYTES]);
// The sink must not call the store.
typedef void (*StoreHostKeySink)(void *user, const StoreHostKey *key);
MUST_USE Status store_host_keys(Store *store, StoreHostKeySink sink, void *user);
