// Shared by all stores of scripts' data, in memory or in a database: which requests are valid, and
// the format of answers (value.h). A check that fails has written the error text for the script,
// and returns false.
#pragma once

#include "core/base/bytes.h"
#include "core/script/runtime/store_request.h"
#include "core/script/runtime/value.h"

#define STORE_VALUE_BYTES  (VALUE_BYTES_MAX - 64) // an answer adds a version
#define STORE_VERSIONS_MAX 16                     // remembered of each key, the newest included
#define STORE_DROPS_MAX    64                     // old values that one write drops for its own
#define STORE_PAGE_MAX     100                    // rows of one STORE_SORTED
#define STORE_ANSWER_MAX   VALUE_BYTES_MAX

// What a script reads when its place has no room; it says what to do.
#define STORE_IS_FULL                                                   \
    "the DataStores of this place are full; remove keys (RemoveAsync) " \
    "or store smaller values"
#define STORE_HAS_TOO_MANY_KEYS                                          \
    "the DataStores of this place have too many keys; remove some with " \
    "RemoveAsync, or store several things as one table under one key"

typedef enum StoreTag {
    STORE_TAG_NIL = 0,
    STORE_TAG_FALSE = 1,
    STORE_TAG_TRUE = 2,
    STORE_TAG_INTEGER = 3,
    STORE_TAG_TEXT = 5,
    STORE_TAG_LIST = 6,
    STORE_TAG_MAP = 7
} StoreTag;

void store_answer_list(ByteWriter *answer, uint64_t count);
void store_answer_integer(ByteWriter *answer, int64_t value);
void store_answer_text(ByteWriter *answer, const char *data, size_t bytes);
// Replaces the answer by an error; always false.
bool store_answer_fail(ByteWriter *answer, const char *message);

// Checks the names of store and key.
bool store_answer_check(const StoreRequest *request, ByteWriter *answer);
// The value to store, without the list around it.
bool store_answer_value(const StoreRequest *request, const uint8_t **value, size_t *bytes,
                        ByteWriter *answer);
// The page of a STORE_SORTED. An entry is on it if its number is between least and most, and it
// stands after (from, from_key) in the order that was asked for.
typedef struct StoreRange {
    uint32_t count;
    int64_t least, most;
    int64_t from;
    Text from_key;
} StoreRange;
bool store_answer_range(const StoreRequest *request, StoreRange *out, ByteWriter *answer);
// One item of VERSIONS.
void store_answer_version(ByteWriter *answer, uint64_t version, uint64_t unix_seconds, bool kept);
// False if it is not an integer.
bool store_answer_read_integer(const uint8_t *value, size_t bytes, int64_t *out);
