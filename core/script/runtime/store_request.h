// Requests of scripts for stored data (DataStore). The owner of a world answers them, from a
// database or from memory; it needs no other header of scripts.
#pragma once

#include "core/base/text.h"

#include <stdbool.h>
#include <stdint.h>

typedef enum StoreOperation {
    STORE_GET,
    STORE_SET,
    STORE_INCREMENT,
    STORE_REMOVE,
    STORE_SORTED,
    STORE_VERSIONS,
    STORE_COMPARE_AND_SET, // UpdateAsync: set only if the version is still `version`
    STORE_GET_VERSION,     // what `version` of the key held
    STORE_OPERATION_END
} StoreOperation;

// Answers are lists of values:
//   GET              value or nil, version (0: never written)
//   SET              nothing
//   INCREMENT        the new number
//   REMOVE           what was there or nil
//   COMPARE_AND_SET  whether it was set, version
//   SORTED           a list of {key = …, value = …}
//   VERSIONS         a list of {kept = …, time = …, version = …}, newest first
//   GET_VERSION      the value of that version, or nil: removed then, or not kept any more
// The value of SORTED is empty, or a list of three: the least number, the greatest one, and the
// number after whose entry the page begins, each an integer or nil. That entry's key is the key.
typedef struct StoreRequest {
    uint64_t request_id; // answered by script_complete with the same id
    StoreOperation operation;
    bool ordered;
    Text store, key;
    const uint8_t *value; // value.h
    size_t value_bytes;
    double number; // increment; page size for STORE_SORTED
    bool ascending;
    uint64_t version;
} StoreRequest;
