// What store_person.c and store_export.c share.
#pragma once

#include "core/base/limits.h"
#include "server/store/store_inside.h"

// The key of a DataStore entry.
typedef struct PersonKey {
    char place_id[STORE_ID_BYTES + 1];
    uint64_t ordered;
    char store[WORLD_NAME_BYTES_MAX], key[STORE_KEY_BYTES_MAX];
    size_t store_bytes, key_bytes;
} PersonKey;

typedef struct PersonKeys {
    PersonKey *items; // by place; free with free()
    uint32_t count, capacity;
} PersonKeys;

// The keys that have the account's number in them. What was found is in `out`, also on failure.
MUST_USE Status person_keys(Store *store, uint64_t account, PersonKeys *out);
void person_put_key(SqlRow *row, const PersonKey *key);
