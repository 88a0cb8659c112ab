// Passwords: argon2id with 19 MiB, two passes and one thread, by libsodium. Hashing takes tens of
// milliseconds and is for threads of the pool, whose number bounds the memory too.
#pragma once

#include "core/base/status.h"
#include "server/store/people/store_account.h"

#include <stdbool.h>

#define PASSWORD_BYTES_MIN 8
#define PASSWORD_BYTES_MAX 256
// For people: a letter outside of ASCII counts as two or more.
#define PASSWORD_RULE "a password has 8 to 256 characters"

bool password_is_valid(const char *password);
// One that everybody tries first, or the name itself.
bool password_is_common(const char *password, const char *name);
// STATUS_LIMIT: no memory.
MUST_USE Status password_hash(const char *password, char out[STORE_PASSWORD_BYTES]);
bool password_matches(const char *hash, const char *password);
