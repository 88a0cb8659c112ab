// Stored data in memory; see memory_store.h. Values are stored one after another in one block,
// which is compacted when its end is reached. A removed key is kept without a value, so that its
// version numbers continue, until its slot is needed.
#include "core/script/trial/memory_store.h"

#include "core/base/arena.h"
#include "core/base/check.h"
#include "core/base/utf8.h"

#include <string.h>

typedef struct Version {
    uint64_t version;
    double unix_seconds;
} Version;

typedef struct Key {
    uint8_t bytes;
    char data[STORE_KEY_BYTES_MAX];
} Key;

typedef struct Entry {
    bool used;
    bool exists; // false: removed
    bool ordered;
    ShortName store;
    Key key;
    uint64_t version;
    size_t at, bytes; // of the value, as one value without the list around it
    Version versions[STORE_VERSIONS_MAX];
    uint32_t version_count; // ever; the ring holds the last ones
} Entry;

struct MemoryStore {
    MemoryStoreConfig config;
    Entry *entries;
    uint8_t *values;
    size_t values_used;
};

MemoryStoreConfig memory_store_config_default(void)
{
    return (MemoryStoreConfig){.key_max = 1024, .bytes_max = 4u << 20};
}

Status memory_store_create(Heap *heap, const MemoryStoreConfig *config, MemoryStore **out)
{
    const size_t bytes = arena_need(sizeof(MemoryStore)) +
                         arena_need(config->key_max * sizeof(Entry)) +
                         arena_need(config->bytes_max);
    void *block = heap_alloc(heap, bytes);
    if (block == NULL) {
        return STATUS_LIMIT;
    }
    Arena arena;
    arena_init_zeroed(&arena, block, bytes);
    MemoryStore *store = arena_alloc(&arena, sizeof *store);
    ASSERT(store != NULL);
    store->config = *config;
    store->entries = arena_array(&arena, config->key_max, sizeof(Entry));
    store->values = arena_alloc(&arena, config->bytes_max);
    ASSERT(store->entries != NULL);
    ASSERT(store->values != NULL);
    *out = store;
    return STATUS_OK;
}

void memory_store_destroy(Heap *heap, MemoryStore *store)
{
    heap_free(heap, store);
}

// --- entries ------------------------------------------------------------------------------------

static bool key_equal(const Key *key, Text text)
{
    return key->bytes == text.bytes && memcmp(key->data, text.data, text.bytes) == 0;
}

static bool entry_is(const Entry *entry, const StoreRequest *request)
{
    return entry->used && entry->ordered == request->ordered &&
           key_equal(&entry->key, request->key) &&
           attribute_table_name_equal(&entry->store, request->store);
}

static Entry *entry_find(const MemoryStore *store, const StoreRequest *request)
{
    for (uint32_t i = 0; i < store->config.key_max; i++) {
        if (entry_is(&store->entries[i], request)) {
            return &store->entries[i];
        }
    }
    return NULL;
}

// A slot for a new key: an unused one, or that of a removed key.
static Entry *entry_free(const MemoryStore *store)
{
    Entry *removed = NULL;
    for (uint32_t i = 0; i < store->config.key_max; i++) {
        Entry *entry = &store->entries[i];
        if (!entry->used) {
            return entry;
        }
        if (!entry->exists && removed == NULL) {
            removed = entry;
        }
    }
    return removed;
}

static Entry *entry_make(MemoryStore *store, const StoreRequest *request)
{
    Entry *entry = entry_free(store);
    if (entry != NULL) {
        *entry = (Entry){.used = true, .ordered = request->ordered};
        entry->store.bytes = (uint8_t)request->store.bytes;
        memcpy(entry->store.data, request->store.data, request->store.bytes);
        entry->key.bytes = (uint8_t)request->key.bytes;
        memcpy(entry->key.data, request->key.data, request->key.bytes);
    }
    return entry;
}

// Compacts all values; their order stays.
static void compact(MemoryStore *store)
{
    size_t end = 0;
    size_t from = 0;
    for (;;) {
        Entry *next = NULL;
        for (uint32_t i = 0; i < store->config.key_max; i++) {
            Entry *entry = &store->entries[i];
            if (entry->exists && entry->bytes > 0 && entry->at >= from &&
                (next == NULL || entry->at < next->at)) {
                next = entry;
            }
        }
        if (next == NULL) {
            break;
        }
        from = next->at + next->bytes;
        memmove(store->values + end, store->values + next->at, next->bytes);
        next->at = end;
        end += next->bytes;
    }
    store->values_used = end;
}

static bool value_put(MemoryStore *store, Entry *entry, const uint8_t *value, size_t bytes)
{
    if (bytes > store->config.bytes_max - store->values_used) {
        compact(store);
    }
    // The old value stays until the new one is written, so that a failure changes nothing.
    if (bytes > store->config.bytes_max - store->values_used) {
        return false;
    }
    memcpy(store->values + store->values_used, value, bytes);
    entry->at = store->values_used;
    entry->bytes = bytes;
    entry->exists = true;
    store->values_used += bytes;
    return true;
}

static void version_add(Entry *entry, double unix_seconds)
{
    entry->version += 1;
    entry->versions[entry->version_count % STORE_VERSIONS_MAX] =
        (Version){entry->version, unix_seconds};
    entry->version_count += 1;
}

// --- values -------------------------------------------------------------------------------------

static void write_value(const MemoryStore *store, const Entry *entry, ByteWriter *answer)
{
    if (entry != NULL && entry->exists) {
        byte_write_bytes(answer, store->values + entry->at, entry->bytes);
    } else {
        byte_write_u8(answer, STORE_TAG_NIL);
    }
}

// --- operations ---------------------------------------------------------------------------------

static bool run_get(MemoryStore *store, const StoreRequest *request, ByteWriter *answer)
{
    const Entry *entry = entry_find(store, request);
    store_answer_list(answer, 2);
    write_value(store, entry, answer);
    store_answer_integer(answer, entry != NULL ? (int64_t)entry->version : 0);
    return true;
}

// Writes a value under the request's key; answers with an error if that fails.
static bool put(MemoryStore *store, const StoreRequest *request, const uint8_t *value, size_t bytes,
                double unix_seconds, ByteWriter *answer, Entry **out)
{
    Entry *entry = entry_find(store, request);
    if (entry == NULL) {
        entry = entry_make(store, request);
    }
    if (entry == NULL) {
        return store_answer_fail(answer, "the store has too many keys");
    }
    if (!value_put(store, entry, value, bytes)) {
        return store_answer_fail(answer, "the store is full"); // a new key stays without a value
    }
    version_add(entry, unix_seconds);
    *out = entry;
    return true;
}

static bool run_set(MemoryStore *store, const StoreRequest *request, double unix_seconds,
                    ByteWriter *answer)
{
    const uint8_t *value = NULL;
    size_t bytes = 0;
    Entry *entry = NULL;
    if (!store_answer_value(request, &value, &bytes, answer) ||
        !put(store, request, value, bytes, unix_seconds, answer, &entry)) {
        return false;
    }
    store_answer_list(answer, 0);
    return true;
}

static bool run_compare_and_set(MemoryStore *store, const StoreRequest *request,
                                double unix_seconds, ByteWriter *answer)
{
    const uint8_t *value = NULL;
    size_t bytes = 0;
    Entry *entry = entry_find(store, request);
    const uint64_t version = entry != NULL ? entry->version : 0;
    if (!store_answer_value(request, &value, &bytes, answer)) {
        return false;
    }
    if (version != request->version) {
        store_answer_list(answer, 2);
        byte_write_u8(answer, STORE_TAG_FALSE);
        store_answer_integer(answer, (int64_t)version);
        return true;
    }
    if (!put(store, request, value, bytes, unix_seconds, answer, &entry)) {
        return false;
    }
    store_answer_list(answer, 2);
    byte_write_u8(answer, STORE_TAG_TRUE);
    store_answer_integer(answer, (int64_t)entry->version);
    return true;
}

static bool run_increment(MemoryStore *store, const StoreRequest *request, double unix_seconds,
                          ByteWriter *answer)
{
    const double limit = 9007199254740992.0; // 2^53
    int64_t value = 0;
    Entry *entry = entry_find(store, request);
    if (entry != NULL && entry->exists &&
        !store_answer_read_integer(store->values + entry->at, entry->bytes, &value)) {
        return store_answer_fail(answer, "what is stored there is not an integer");
    }
    const double sum = (double)value + request->number;
    if (!(request->number >= -limit && request->number <= limit) ||
        request->number != (double)(int64_t)request->number || !(sum >= -limit && sum <= limit)) {
        return store_answer_fail(answer, "an increment is an integer, and so is the sum");
    }
    value += (int64_t)request->number;
    uint8_t bytes[12];
    ByteWriter writer = byte_writer(bytes, sizeof bytes);
    store_answer_integer(&writer, value);
    if (!put(store, request, bytes, writer.at, unix_seconds, answer, &entry)) {
        return false;
    }
    store_answer_list(answer, 1);
    store_answer_integer(answer, value);
    return true;
}

static bool run_remove(MemoryStore *store, const StoreRequest *request, double unix_seconds,
                       ByteWriter *answer)
{
    Entry *entry = entry_find(store, request);
    store_answer_list(answer, 1);
    write_value(store, entry, answer);
    if (entry != NULL && entry->exists) {
        entry->exists = false;
        entry->bytes = 0;
        version_add(entry, unix_seconds);
    }
    return true;
}

static int64_t entry_integer(const MemoryStore *store, const Entry *entry)
{
    int64_t value = 0;
    const bool is_integer =
        store_answer_read_integer(store->values + entry->at, entry->bytes, &value);
    ASSERT(is_integer);
    return value;
}

// Whether a comes before b; equal numbers by key.
static bool is_before(const MemoryStore *store, const Entry *a, const Entry *b, bool ascending)
{
    const int64_t x = entry_integer(store, a);
    const int64_t y = entry_integer(store, b);
    if (x != y) {
        return ascending ? x < y : x > y;
    }
    const size_t shorter = a->key.bytes < b->key.bytes ? a->key.bytes : b->key.bytes;
    const int order = memcmp(a->key.data, b->key.data, shorter);
    return order != 0 ? order < 0 : a->key.bytes < b->key.bytes;
}

static bool run_sorted(MemoryStore *store, const StoreRequest *request, ByteWriter *answer)
{
    if (!request->ordered) {
        return store_answer_fail(answer, "only an ordered store can be read in order");
    }
    if (!(request->number >= 1 && request->number <= STORE_PAGE_MAX)) {
        return store_answer_fail(answer, "between 1 and 100 entries can be read at once");
    }
    const Entry *page[STORE_PAGE_MAX];
    const uint32_t max = (uint32_t)request->number;
    uint32_t count = 0;
    for (uint32_t i = 0; i < store->config.key_max; i++) {
        const Entry *entry = &store->entries[i];
        if (!entry->used || !entry->exists || !entry->ordered ||
            !attribute_table_name_equal(&entry->store, request->store)) {
            continue;
        }
        uint32_t at = count;
        while (at > 0 && is_before(store, entry, page[at - 1], request->ascending)) {
            at -= 1;
        }
        if (at == max) {
            continue;
        }
        count = count < max ? count + 1 : max;
        memmove(&page[at + 1], &page[at], (count - 1 - at) * sizeof page[0]);
        page[at] = entry;
    }
    store_answer_list(answer, 1);
    store_answer_list(answer, count);
    for (uint32_t i = 0; i < count; i++) {
        byte_write_u8(answer, STORE_TAG_MAP);
        byte_write_varint(answer, 2);
        store_answer_text(answer, "key", 3);
        store_answer_text(answer, page[i]->key.data, page[i]->key.bytes);
        store_answer_text(answer, "value", 5);
        write_value(store, page[i], answer);
    }
    return true;
}

static bool run_versions(MemoryStore *store, const StoreRequest *request, ByteWriter *answer)
{
    const Entry *entry = entry_find(store, request);
    const uint32_t ever = entry != NULL ? entry->version_count : 0;
    const uint32_t count = ever < STORE_VERSIONS_MAX ? ever : STORE_VERSIONS_MAX;
    store_answer_list(answer, 1);
    store_answer_list(answer, count);
    for (uint32_t i = 0; i < count; i++) {
        const Version *version = &entry->versions[(ever - 1 - i) % STORE_VERSIONS_MAX];
        byte_write_u8(answer, STORE_TAG_MAP);
        byte_write_varint(answer, 2);
        store_answer_text(answer, "time", 4);
        store_answer_integer(answer, (int64_t)version->unix_seconds);
        store_answer_text(answer, "version", 7);
        store_answer_integer(answer, (int64_t)version->version);
    }
    return true;
}

bool memory_store_run(MemoryStore *store, const StoreRequest *request, double unix_seconds,
                      ByteWriter *answer)
{
    if (!store_answer_check(request, answer)) {
        return false;
    }
    const bool time_is_sane = unix_seconds >= 0 && unix_seconds < 1e15;
    const double seconds = time_is_sane ? unix_seconds : 0;
    switch (request->operation) {
    case STORE_GET:
        return run_get(store, request, answer);
    case STORE_SET:
        return run_set(store, request, seconds, answer);
    case STORE_INCREMENT:
        return run_increment(store, request, seconds, answer);
    case STORE_REMOVE:
        return run_remove(store, request, seconds, answer);
    case STORE_SORTED:
        return run_sorted(store, request, answer);
    case STORE_VERSIONS:
        return run_versions(store, request, answer);
    case STORE_COMPARE_AND_SET:
        return run_compare_and_set(store, request, seconds, answer);
    default:
        return store_answer_fail(answer, "unknown operation");
    }
}
