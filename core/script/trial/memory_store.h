// Stored data of scripts in memory: the same operations and answers as a real store, lost when the
// process ends. Values, keys and stores are limited; a reached limit is an error that the script
// sees.
#pragma once

#include "core/base/heap.h"
#include "core/script/bridge/attribute_table.h"
#include "core/script/bridge/store_answer.h"

typedef struct MemoryStore MemoryStore;

typedef struct MemoryStoreConfig {
    uint32_t key_max;
    size_t bytes_max;     // of all values
    size_t old_bytes_max; // of all values that were replaced
} MemoryStoreConfig;

MemoryStoreConfig memory_store_config_default(void);
MUST_USE Status memory_store_create(Heap *heap, const MemoryStoreConfig *config, MemoryStore **out);
void memory_store_destroy(Heap *heap, MemoryStore *store);

// Executes a request and writes the answer: a list of values if it returns true, the text of an
// error if false. The writer has room for STORE_ANSWER_MAX.
bool memory_store_run(MemoryStore *store, const StoreRequest *request, double unix_seconds,
                      ByteWriter *answer);

// All of it as bytes, for another store of the same program: they are no format to keep.
void memory_store_write(const MemoryStore *store, ByteWriter *writer);
// Into an empty store of the same limits; all of the reader's bytes. Any bytes give a store or a
// status, and then the store is empty.
MUST_USE Status memory_store_read(MemoryStore *store, ByteReader *reader);
