// What all hosts on one database have in common: settings that an operator changed while they ran,
// and by which secret they hash sign-ins. These wait for the disk, as those of store_account.h.
#pragma once

#include "server/store/people/store_account.h"

#define STORE_SETTING_BYTES 256

// Other hosts hear of it (EVENT_SETTING, the name).
MUST_USE Status store_setting_put(Store *store, const char *name, const char *value);
// STATUS_NOT_FOUND: nobody has changed it, or its row is damaged.
MUST_USE Status store_setting_find(Store *store, const char *name, char out[STORE_SETTING_BYTES]);

// `check` is a hash that only whoever has the secret can make. The first host keeps it here, and
// every later one must have the same: STATUS_MISMATCH if it has another. A secret can be changed
// when nobody runs with the old one: no host has a valid row, and none has begun for a minute. Then
// *was_changed is true. A store that no other host shares agrees with whatever its host has.
#define STORE_SECRET_REST_MS 60000
MUST_USE Status store_secret_agree(Store *store, const uint8_t check[STORE_TOKEN_BYTES],
                                   bool is_shared, uint64_t now_unix_ms, bool *was_changed);
