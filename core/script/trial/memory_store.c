// Stored data in memory; see memory_store.h. Values are stored one after another in one block, each
// after a header that says whose it is; the block is compacted when its end is reached. A removed
// key is kept without a value, so that its version numbers continue, until its slot is needed.
//
// Values that were replaced are kept with their versions, in room of their own: one that does not
// fit takes the place of those that were replaced first.
#include "core/script/trial/memory_store.h"

#include "core/base/arena.h"
#include "core/base/byte_values.h"
#include "core/base/check.h"
#include "core/base/utf8.h"

#include <string.h>

typedef struct Version {
    uint64_t version;
    double unix_seconds;     // when it was written
    double replaced_seconds; // when the next one was; means something only for values that are kept
    size_t at, bytes;        // of the value, as one value without the list around it; 0: none
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
    uint64_t version; // the newest; 0: never written
    Version versions[STORE_VERSIONS_MAX];
} Entry;

typedef struct Header {
    uint32_t entry, slot;
    size_t bytes;
} Header;

struct MemoryStore {
    MemoryStoreConfig config;
    Entry *entries;
    uint8_t *values;
    size_t values_max, values_used;
    size_t bytes, old_bytes; // of the values that keys have, and of those that they had
};

MemoryStoreConfig memory_store_config_default(void)
{
    return (MemoryStoreConfig){.key_max = 1024, .bytes_max = 4u << 20, .old_bytes_max = 1u << 20};
}

Status memory_store_create(Heap *heap, const MemoryStoreConfig *config, MemoryStore **out)
{
    // A value that is written stands beside everything else for a moment.
    const size_t headers = (size_t)config->key_max * STORE_VERSIONS_MAX + 1;
    const size_t values_max =
        config->bytes_max + config->old_bytes_max + VALUE_BYTES_MAX + headers * sizeof(Header);
    const size_t bytes = arena_need(sizeof(MemoryStore)) +
                         arena_need(config->key_max * sizeof(Entry)) + arena_need(values_max);
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
    store->values = arena_alloc(&arena, values_max);
    store->values_max = values_max;
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

static Version *version_at(Entry *entry, uint64_t version)
{
    return &entry->versions[version % STORE_VERSIONS_MAX];
}

static const Version *newest(const Entry *entry)
{
    return &entry->versions[entry->version % STORE_VERSIONS_MAX];
}

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
        for (uint32_t i = 0; i < STORE_VERSIONS_MAX; i++) {
            store->old_bytes -= entry->versions[i].bytes; // it was removed: all are old
        }
        *entry = (Entry){.used = true, .ordered = request->ordered};
        entry->store.bytes = (uint8_t)request->store.bytes;
        memcpy(entry->store.data, request->store.data, request->store.bytes);
        entry->key.bytes = (uint8_t)request->key.bytes;
        memcpy(entry->key.data, request->key.data, request->key.bytes);
    }
    return entry;
}

// Closes the gaps that values left which nobody has any more.
static void compact(MemoryStore *store)
{
    size_t end = 0, at = 0;
    while (at < store->values_used) {
        Header header;
        memcpy(&header, store->values + at, sizeof header);
        const size_t all = sizeof header + header.bytes;
        Version *version = &store->entries[header.entry].versions[header.slot];
        if (version->bytes > 0 && version->at == at + sizeof header) {
            memmove(store->values + end, store->values + at, all);
            version->at = end + sizeof header;
            end += all;
        }
        at += all;
    }
    store->values_used = end;
}

static void value_put(MemoryStore *store, Entry *entry, const uint8_t *value, size_t bytes)
{
    const Header header = {(uint32_t)(entry - store->entries),
                           (uint32_t)(entry->version % STORE_VERSIONS_MAX), bytes};
    if (store->values_max - store->values_used < sizeof header + bytes) {
        compact(store);
    }
    ASSERT(store->values_max - store->values_used >= sizeof header + bytes);
    memcpy(store->values + store->values_used, &header, sizeof header);
    Version *version = version_at(entry, entry->version);
    version->at = store->values_used + sizeof header;
    version->bytes = bytes;
    memcpy(store->values + version->at, value, bytes);
    store->values_used += sizeof header + bytes;
}

// --- old values ---------------------------------------------------------------------------------

static bool is_old(const Entry *entry, const Version *version)
{
    return version->bytes > 0 && (!entry->exists || version->version != entry->version);
}

static int key_order(const Entry *entry, Text key)
{
    const size_t shorter = entry->key.bytes < key.bytes ? entry->key.bytes : key.bytes;
    const int order = memcmp(entry->key.data, key.data, shorter);
    return order != 0 ? order : (int)entry->key.bytes - (int)key.bytes;
}

// Whether a was replaced before b. Those of one second stand in the order of their keys.
static bool is_older(const Entry *a, const Version *x, const Entry *b, const Version *y)
{
    if (x->replaced_seconds != y->replaced_seconds) {
        return x->replaced_seconds < y->replaced_seconds;
    }
    if (a->ordered != b->ordered) {
        return b->ordered;
    }
    const size_t shorter = a->store.bytes < b->store.bytes ? a->store.bytes : b->store.bytes;
    int order = memcmp(a->store.data, b->store.data, shorter);
    order = order != 0 ? order : (int)a->store.bytes - (int)b->store.bytes;
    order = order != 0 ? order : key_order(a, (Text){b->key.data, b->key.bytes});
    return order != 0 ? order < 0 : x->version < y->version;
}

static bool drop_oldest(MemoryStore *store)
{
    Entry *whose = NULL;
    Version *oldest = NULL;
    for (uint32_t i = 0; i < store->config.key_max; i++) {
        Entry *entry = &store->entries[i];
        for (uint32_t slot = 0; slot < STORE_VERSIONS_MAX; slot++) {
            Version *version = &entry->versions[slot];
            if (is_old(entry, version) &&
                (oldest == NULL || is_older(entry, version, whose, oldest))) {
                whose = entry;
                oldest = version;
            }
        }
    }
    if (oldest != NULL) {
        store->old_bytes -= oldest->bytes;
        oldest->bytes = 0;
    }
    return oldest != NULL;
}

// The newest value of an entry becomes an old one, and has room, or is forgotten.
static void value_retire(MemoryStore *store, Entry *entry, double unix_seconds)
{
    Version *version = version_at(entry, entry->version);
    const size_t bytes = version->bytes, max = store->config.old_bytes_max;
    store->bytes -= bytes;
    version->bytes = 0;
    for (uint32_t i = 0; i < STORE_DROPS_MAX && bytes <= max && store->old_bytes > max - bytes;
         i++) {
        (void)drop_oldest(store);
    }
    if (bytes <= max && store->old_bytes <= max - bytes) {
        version->bytes = bytes;
        version->replaced_seconds = unix_seconds;
        store->old_bytes += bytes;
    }
}

// The next version, of which nothing is known but when.
static void version_add(MemoryStore *store, Entry *entry, double unix_seconds)
{
    Version *next = version_at(entry, entry->version + 1);
    store->old_bytes -= next->bytes; // the oldest of the key
    next->bytes = 0;
    if (entry->exists) {
        value_retire(store, entry, unix_seconds);
    }
    entry->version += 1;
    entry->exists = false;
    *next = (Version){.version = entry->version, .unix_seconds = unix_seconds};
}

// --- values -------------------------------------------------------------------------------------

static void write_value(const MemoryStore *store, const Entry *entry, ByteWriter *answer)
{
    if (entry != NULL && entry->exists) {
        byte_write_bytes(answer, store->values + newest(entry)->at, newest(entry)->bytes);
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
static bool put_value(MemoryStore *store, const StoreRequest *request, const uint8_t *value,
                      size_t bytes, double unix_seconds, ByteWriter *answer, Entry **out)
{
    Entry *entry = entry_find(store, request);
    if (entry == NULL) {
        entry = entry_make(store, request);
    }
    if (entry == NULL) {
        return store_answer_fail(answer, STORE_HAS_TOO_MANY_KEYS);
    }
    const size_t others = store->bytes - (entry->exists ? newest(entry)->bytes : 0);
    if (bytes > store->config.bytes_max || others > store->config.bytes_max - bytes) {
        return store_answer_fail(answer, STORE_IS_FULL); // a new key stays without a value
    }
    version_add(store, entry, unix_seconds);
    value_put(store, entry, value, bytes);
    entry->exists = true;
    store->bytes += bytes;
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
        !put_value(store, request, value, bytes, unix_seconds, answer, &entry)) {
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
    if (!put_value(store, request, value, bytes, unix_seconds, answer, &entry)) {
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
        !store_answer_read_integer(store->values + newest(entry)->at, newest(entry)->bytes,
                                   &value)) {
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
    if (!put_value(store, request, bytes, writer.at, unix_seconds, answer, &entry)) {
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
        version_add(store, entry, unix_seconds);
    }
    return true;
}

static int64_t entry_integer(const MemoryStore *store, const Entry *entry)
{
    int64_t value = 0;
    const bool is_integer =
        store_answer_read_integer(store->values + newest(entry)->at, newest(entry)->bytes, &value);
    ASSERT(is_integer);
    return value;
}

// Where an entry stands to (number, key); equal numbers by key.
static int order_to(const MemoryStore *store, const Entry *entry, int64_t number, Text key)
{
    const int64_t own = entry_integer(store, entry);
    return own != number ? (own < number ? -1 : 1) : key_order(entry, key);
}

// Whether a comes before b.
static bool is_before(const MemoryStore *store, const Entry *a, const Entry *b, bool ascending)
{
    const int order =
        order_to(store, a, entry_integer(store, b), (Text){b->key.data, b->key.bytes});
    return ascending ? order < 0 : order > 0;
}

static bool is_on_page(const MemoryStore *store, const Entry *entry, const StoreRange *range,
                       const StoreRequest *request)
{
    if (!entry->used || !entry->exists || !entry->ordered ||
        !attribute_table_name_equal(&entry->store, request->store)) {
        return false;
    }
    const int64_t number = entry_integer(store, entry);
    const int order = order_to(store, entry, range->from, range->from_key);
    return number >= range->least && number <= range->most &&
           (request->ascending ? order > 0 : order < 0);
}

static bool run_sorted(MemoryStore *store, const StoreRequest *request, ByteWriter *answer)
{
    StoreRange range;
    if (!store_answer_range(request, &range, answer)) {
        return false;
    }
    const Entry *page[STORE_PAGE_MAX];
    const uint32_t max = range.count;
    uint32_t count = 0;
    for (uint32_t i = 0; i < store->config.key_max; i++) {
        const Entry *entry = &store->entries[i];
        if (!is_on_page(store, entry, &range, request)) {
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
    const uint64_t ever = entry != NULL ? entry->version : 0;
    const uint64_t count = ever < STORE_VERSIONS_MAX ? ever : STORE_VERSIONS_MAX;
    store_answer_list(answer, 1);
    store_answer_list(answer, count);
    for (uint64_t i = 0; i < count; i++) {
        const Version *version = &entry->versions[(ever - i) % STORE_VERSIONS_MAX];
        store_answer_version(answer, version->version, (uint64_t)version->unix_seconds,
                             version->bytes > 0);
    }
    return true;
}

static bool run_get_version(MemoryStore *store, const StoreRequest *request, ByteWriter *answer)
{
    Entry *entry = entry_find(store, request);
    const Version *version = entry != NULL ? version_at(entry, request->version) : NULL;
    store_answer_list(answer, 1);
    if (version != NULL && version->version == request->version && version->bytes > 0) {
        byte_write_bytes(answer, store->values + version->at, version->bytes);
    } else {
        byte_write_u8(answer, STORE_TAG_NIL);
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
    case STORE_GET_VERSION:
        return run_get_version(store, request, answer);
    default:
        return store_answer_fail(answer, "unknown operation");
    }
}

// --- all of it ----------------------------------------------------------------------------------

enum { KEPT_EXISTS = 1 << 0, KEPT_ORDERED = 1 << 1 };

static double read_seconds(ByteReader *reader)
{
    const uint64_t bits = byte_read_u64(reader);
    double seconds;
    memcpy(&seconds, &bits, sizeof seconds);
    return seconds;
}

static void write_entry(const MemoryStore *store, const Entry *entry, ByteWriter *writer)
{
    byte_write_u8(
        writer, (uint8_t)((entry->exists ? KEPT_EXISTS : 0) | (entry->ordered ? KEPT_ORDERED : 0)));
    byte_write_u8(writer, entry->store.bytes);
    byte_write_bytes(writer, entry->store.data, entry->store.bytes);
    byte_write_u8(writer, entry->key.bytes);
    byte_write_bytes(writer, entry->key.data, entry->key.bytes);
    byte_write_u64(writer, entry->version);
    for (uint32_t slot = 0; slot < STORE_VERSIONS_MAX; slot++) {
        const Version *version = &entry->versions[slot];
        byte_write_u64(writer, version->version);
        byte_write_double(writer, version->unix_seconds);
        byte_write_double(writer, version->replaced_seconds);
        byte_write_u32(writer, (uint32_t)version->bytes);
        byte_write_bytes(writer, store->values + version->at, version->bytes);
    }
}

void memory_store_write(const MemoryStore *store, ByteWriter *writer)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < store->config.key_max; i++) {
        count += store->entries[i].used;
    }
    byte_write_u32(writer, count);
    for (uint32_t i = 0; i < store->config.key_max; i++) {
        if (store->entries[i].used) {
            write_entry(store, &store->entries[i], writer);
        }
    }
}

static Status read_versions(MemoryStore *store, Entry *entry, ByteReader *reader)
{
    const uint64_t newest_version = entry->version;
    for (uint32_t slot = 0; slot < STORE_VERSIONS_MAX; slot++) {
        Version *version = &entry->versions[slot];
        version->version = byte_read_u64(reader);
        version->unix_seconds = read_seconds(reader);
        version->replaced_seconds = read_seconds(reader);
        const uint32_t bytes = byte_read_u32(reader);
        const uint8_t *value = byte_read_bytes(reader, bytes);
        if (value == NULL || bytes == 0) {
            continue;
        }
        const bool is_newest = entry->exists && version->version == newest_version;
        size_t *sum = is_newest ? &store->bytes : &store->old_bytes;
        const size_t most = is_newest ? store->config.bytes_max : store->config.old_bytes_max;
        if (version->version % STORE_VERSIONS_MAX != slot || bytes > VALUE_BYTES_MAX ||
            *sum > most - bytes || bytes > most) {
            return STATUS_MALFORMED;
        }
        *sum += bytes;
        entry->version = version->version; // whose slot value_put takes
        value_put(store, entry, value, bytes);
        entry->version = newest_version;
    }
    return entry->exists && newest(entry)->bytes == 0 ? STATUS_MALFORMED : reader->status;
}

static Status read_entry(MemoryStore *store, ByteReader *reader)
{
    const uint8_t flags = byte_read_u8(reader);
    const uint8_t store_bytes = byte_read_u8(reader);
    const uint8_t *store_name = byte_read_bytes(reader, store_bytes);
    const uint8_t key_bytes = byte_read_u8(reader);
    const uint8_t *key = byte_read_bytes(reader, key_bytes);
    const StoreRequest request = {.ordered = (flags & KEPT_ORDERED) != 0,
                                  .store = {(const char *)store_name, store_bytes},
                                  .key = {(const char *)key, key_bytes}};
    if (reader->status != STATUS_OK) {
        return reader->status;
    }
    if (store_bytes > sizeof((ShortName *)0)->data || key_bytes > STORE_KEY_BYTES_MAX ||
        flags > (KEPT_EXISTS | KEPT_ORDERED) || entry_find(store, &request) != NULL) {
        return STATUS_MALFORMED;
    }
    Entry *entry = entry_make(store, &request);
    if (entry == NULL) {
        return STATUS_LIMIT;
    }
    entry->exists = (flags & KEPT_EXISTS) != 0;
    entry->version = byte_read_u64(reader);
    return read_versions(store, entry, reader);
}

Status memory_store_read(MemoryStore *store, ByteReader *reader)
{
    const uint32_t count = byte_read_u32(reader);
    Status status = reader->status;
    if (status == STATUS_OK && count > store->config.key_max) {
        status = STATUS_LIMIT;
    }
    for (uint32_t i = 0; i < count && status == STATUS_OK; i++) {
        status = read_entry(store, reader);
    }
    status = status == STATUS_OK ? byte_reader_finish(reader) : status;
    if (status != STATUS_OK) {
        memset(store->entries, 0, store->config.key_max * sizeof *store->entries);
        store->values_used = store->bytes = store->old_bytes = 0;
    }
    return status;
}
