// See attempt.h. A table of small sets: who tries is one number, a hash with a secret that nobody
// can aim at, which stands in one of the eight places of its set.
#include "server/control/attempt.h"

#include "core/base/check.h"
#include "core/base/limits.h"
#include "server/sys/entropy.h"

#include <pthread.h>
#include <sodium.h>
#include <stdlib.h>
#include <string.h>

#define SET_PLACES 8
#define SETS       (ATTEMPTS_MAX / SET_PLACES)

typedef struct Counter {
    uint64_t who, begin_unix_ms;
    uint32_t count; // 0: free
} Counter;

struct Attempts {
    pthread_mutex_t lock;
    uint8_t secret[crypto_shorthash_KEYBYTES];
    Counter counters[SETS][SET_PLACES];
};

static const uint32_t most[ATTEMPT_KIND_COUNT] = {
    [ATTEMPT_NAME] = FAILURES_PER_NAME_MAX,    [ATTEMPT_ADDRESS] = FAILURES_PER_ADDRESS_MAX,
    [ATTEMPT_MADE] = ACCOUNTS_PER_ADDRESS_MAX, [ATTEMPT_REPORT] = REPORTS_PER_ACCOUNT,
    [ATTEMPT_REPORTS] = REPORTS_PER_ADDRESS,   [ATTEMPT_KICK] = KICKS_PER_ACCOUNT};

Status attempts_create(Attempts **out)
{
    Attempts *attempts = calloc(1, sizeof *attempts);
    if (attempts == NULL) {
        return STATUS_LIMIT;
    }
    pthread_mutex_init(&attempts->lock, NULL);
    entropy_fill(attempts->secret, sizeof attempts->secret);
    *out = attempts;
    return STATUS_OK;
}

void attempts_destroy(Attempts *attempts)
{
    if (attempts != NULL) {
        pthread_mutex_destroy(&attempts->lock);
        free(attempts);
    }
}

static uint64_t hash_of(const Attempts *attempts, AttemptKind kind, const void *who, size_t bytes)
{
    uint8_t text[1 + 64], digest[crypto_shorthash_BYTES];
    uint64_t number;
    const size_t kept = bytes < 64 ? bytes : 64;
    text[0] = (uint8_t)kind;
    memcpy(text + 1, who, kept);
    crypto_shorthash(digest, text, 1 + kept, attempts->secret);
    memcpy(&number, digest, sizeof number);
    return number;
}

// Its counter, or NULL.
static Counter *find_counter(Attempts *attempts, uint64_t who)
{
    Counter *set = attempts->counters[who % SETS];
    for (uint32_t i = 0; i < SET_PLACES; i++) {
        if (set[i].count > 0 && set[i].who == who) {
            return &set[i];
        }
    }
    return NULL;
}

// A clock that went back ends the window too.
static bool is_over(const Counter *counter, uint64_t now)
{
    return counter->count == 0 || now - counter->begin_unix_ms >= ATTEMPT_WINDOW_MS;
}

// The place of one that is over, or else of who tried least.
static Counter *make_counter(Attempts *attempts, uint64_t who, uint64_t now)
{
    Counter *set = attempts->counters[who % SETS], *found = &set[0];
    for (uint32_t i = 0; i < SET_PLACES && !is_over(found, now); i++) {
        if (is_over(&set[i], now) || set[i].count < found->count) {
            found = &set[i];
        }
    }
    *found = (Counter){.who = who, .begin_unix_ms = now};
    return found;
}

bool attempts_take(Attempts *attempts, AttemptKind kind, const void *who, size_t bytes,
                   uint64_t now_unix_ms, uint32_t *wait_s)
{
    const uint64_t number = hash_of(attempts, kind, who, bytes);
    pthread_mutex_lock(&attempts->lock);
    Counter *counter = find_counter(attempts, number);
    if (counter == NULL || is_over(counter, now_unix_ms)) {
        counter = counter == NULL ? make_counter(attempts, number, now_unix_ms) : counter;
        *counter = (Counter){.who = number, .begin_unix_ms = now_unix_ms};
    }
    const bool may = counter->count < most[kind];
    counter->count += may;
    if (!may) {
        const uint64_t end = counter->begin_unix_ms + ATTEMPT_WINDOW_MS;
        *wait_s = (uint32_t)((end - now_unix_ms) / 1000 + 1);
    }
    pthread_mutex_unlock(&attempts->lock);
    return may;
}

void attempts_give_back(Attempts *attempts, AttemptKind kind, const void *who, size_t bytes)
{
    pthread_mutex_lock(&attempts->lock);
    Counter *counter = find_counter(attempts, hash_of(attempts, kind, who, bytes));
    if (counter != NULL) {
        counter->count -= 1;
    }
    pthread_mutex_unlock(&attempts->lock);
}
