// Answers that are kept ready: how long they are given out, and what ends that.
#include "server/serve/listing/ready_cache.h"

#include "core/base/limits.h"
#include "tests/support/test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define KEY "/api/places"

static bool was_old; // the last answer

static bool find(ReadyCache *cache, const char *key, uint64_t generation, uint64_t now_ms,
                 const char *wanted)
{
    ReadyAnswer answer;
    const bool is_found = ready_cache_find(cache, key, generation, now_ms, &answer);
    if (is_found) {
        CHECK_INT(answer.count, strlen(wanted));
        CHECK(memcmp(answer.bytes, wanted, answer.count) == 0);
        CHECK_TEXT(answer.tag, "\"tag\"");
        was_old = answer.is_old;
        free(answer.bytes);
    }
    return is_found;
}

static void put(ReadyCache *cache, const char *key, uint64_t generation, uint64_t now_ms,
                const char *text)
{
    ready_cache_put(cache, key, generation, now_ms, (const uint8_t *)text, strlen(text), "\"tag\"");
}

TEST(an_answer_is_renewed_for_one_and_given_to_all_meanwhile)
{
    ReadyCache *cache = NULL;
    CHECK_OK(ready_cache_create(&cache));
    const uint64_t begin = 100000;
    CHECK(!find(cache, KEY, 1, begin, ""));
    put(cache, KEY, 1, begin, "old");
    CHECK(find(cache, KEY, 1, begin + READY_FRESH_MS - 1, "old") && !was_old);
    CHECK(find(cache, KEY, 1, begin + READY_FRESH_MS, "old") && was_old); // it is made anew for it
    CHECK(find(cache, KEY, 1, begin + READY_FRESH_MS, "old") && !was_old);
    CHECK(find(cache, KEY, 1, begin + READY_STALE_MS - 1, "old") && !was_old);
    CHECK(!find(cache, KEY, 1, begin + READY_STALE_MS, "old")); // whoever makes it takes too long
    put(cache, KEY, 1, begin + READY_STALE_MS, "new");
    CHECK(find(cache, KEY, 1, begin + READY_STALE_MS, "new"));
    ready_cache_destroy(cache);
}

TEST(what_was_changed_is_never_shown_old)
{
    ReadyCache *cache = NULL;
    CHECK_OK(ready_cache_create(&cache));
    put(cache, KEY, 1, 100000, "old");
    CHECK(find(cache, KEY, 1, 100001, "old"));
    CHECK(!find(cache, KEY, 2, 100001, "old"));
    CHECK(!find(cache, KEY, 2, 100001, "old"));
    CHECK(!find(cache, "/api/tags", 1, 100001, "old"));
    ready_cache_destroy(cache);
}

TEST(what_is_too_large_is_not_kept_and_memory_is_bounded)
{
    static char large[READY_ANSWER_BYTES + 2], key[READY_KEY_BYTES + 1];
    ReadyCache *cache = NULL;
    CHECK_OK(ready_cache_create(&cache));
    memset(large, 'a', sizeof large - 1);
    memset(key, 'k', sizeof key - 1);
    put(cache, KEY, 1, 100000, large);
    CHECK(!find(cache, KEY, 1, 100000, ""));
    put(cache, key, 1, 100000, "text");
    CHECK(!find(cache, key, 1, 100000, ""));
    uint32_t kept = 0;
    for (uint32_t i = 0; i < 4 * READY_ANSWERS_MAX; i++) {
        snprintf(key, sizeof key, "%u", i);
        put(cache, key, 1, 100000, "text");
    }
    for (uint32_t i = 0; i < 4 * READY_ANSWERS_MAX; i++) {
        snprintf(key, sizeof key, "%u", i);
        kept += find(cache, key, 1, 100000, "text");
    }
    CHECK(kept > READY_ANSWERS_MAX / 2 && kept <= READY_ANSWERS_MAX);
    ready_cache_destroy(cache);
}

TEST(the_tag_is_of_the_bytes)
{
    char first[READY_TAG_BYTES], second[READY_TAG_BYTES];
    ready_tag((const uint8_t *)"abc", 3, first);
    ready_tag((const uint8_t *)"abd", 3, second);
    CHECK(strcmp(first, second) != 0);
    ready_tag((const uint8_t *)"abcd", 3, second);
    CHECK_TEXT(first, second);
    CHECK(first[0] == '"' && first[strlen(first) - 1] == '"');
}
