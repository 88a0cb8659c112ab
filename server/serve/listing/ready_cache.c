// See ready_cache.h.
#define _GNU_SOURCE
#include "server/serve/listing/ready_cache.h"

#include "core/base/hash.h"
#include "core/base/limits.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct Slot {
    char key[READY_KEY_BYTES];
    uint8_t *bytes; // NULL: free
    size_t count;
    char tag[READY_TAG_BYTES];
    uint64_t generation, made_ms;
    uint64_t renewed_ms; // when somebody last went to make it anew
} Slot;

struct ReadyCache {
    pthread_mutex_t lock;
    Slot slots[READY_ANSWERS_MAX]; // by the hash of the key; the older one gives way
};

Status ready_cache_create(ReadyCache **out)
{
    ReadyCache *cache = calloc(1, sizeof *cache);
    if (cache == NULL) {
        return STATUS_LIMIT;
    }
    pthread_mutex_init(&cache->lock, NULL);
    *out = cache;
    return STATUS_OK;
}

void ready_cache_destroy(ReadyCache *cache)
{
    if (cache == NULL) {
        return;
    }
    for (uint32_t i = 0; i < READY_ANSWERS_MAX; i++) {
        free(cache->slots[i].bytes);
    }
    pthread_mutex_destroy(&cache->lock);
    free(cache);
}

static Slot *slot_of(ReadyCache *cache, const char *key)
{
    Hash64 hash = HASH64_INIT;
    hash_bytes(&hash, key, strlen(key));
    return &cache->slots[hash.state % READY_ANSWERS_MAX];
}

static bool is_good(const Slot *slot, uint64_t generation, uint64_t now_ms)
{
    return slot->generation == generation && now_ms - slot->made_ms < READY_STALE_MS;
}

// Is it time to make it anew, and has nobody gone to do that? The lock is held.
static bool is_old(Slot *slot, uint64_t now_ms)
{
    const bool is_time =
        now_ms - slot->made_ms >= READY_FRESH_MS && now_ms - slot->renewed_ms >= READY_FRESH_MS;
    slot->renewed_ms = is_time ? now_ms : slot->renewed_ms;
    return is_time;
}

bool ready_cache_find(ReadyCache *cache, const char *key, uint64_t generation, uint64_t now_ms,
                      ReadyAnswer *out)
{
    bool is_found = false;
    pthread_mutex_lock(&cache->lock);
    Slot *slot = slot_of(cache, key);
    if (slot->bytes != NULL && strcmp(slot->key, key) == 0 && is_good(slot, generation, now_ms)) {
        out->bytes = malloc(slot->count + sizeof slot->tag);
        is_found = out->bytes != NULL;
        if (is_found) {
            memcpy(out->bytes, slot->bytes, slot->count);
            memcpy(out->bytes + slot->count, slot->tag, sizeof slot->tag);
            out->count = slot->count;
            out->tag = (const char *)out->bytes + slot->count;
            out->is_old = is_old(slot, now_ms);
        }
    }
    pthread_mutex_unlock(&cache->lock);
    return is_found;
}

void ready_cache_put(ReadyCache *cache, const char *key, uint64_t generation, uint64_t now_ms,
                     const uint8_t *bytes, size_t count, const char *tag)
{
    uint8_t *copy =
        strlen(key) < READY_KEY_BYTES && count <= READY_ANSWER_BYTES ? malloc(count + 1) : NULL;
    if (copy == NULL) {
        return;
    }
    memcpy(copy, bytes, count);
    pthread_mutex_lock(&cache->lock);
    Slot *slot = slot_of(cache, key);
    free(slot->bytes);
    *slot = (Slot){.bytes = copy, .count = count, .generation = generation, .made_ms = now_ms};
    snprintf(slot->key, sizeof slot->key, "%s", key);
    snprintf(slot->tag, sizeof slot->tag, "%s", tag);
    pthread_mutex_unlock(&cache->lock);
}

void ready_tag(const uint8_t *bytes, size_t count, char out[READY_TAG_BYTES])
{
    Hash64 hash = HASH64_INIT;
    hash_bytes(&hash, bytes, count);
    snprintf(out, READY_TAG_BYTES, "\"%016" PRIx64 "\"", hash.state);
}
