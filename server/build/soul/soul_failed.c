// See soul_failed.h.
#include "server/build/soul/soul_failed.h"

#include <pthread.h>
#include <string.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static SoulFailure failures[SOUL_FAILED_KEPT]; // a ring
static uint64_t failure_count;

static SoulFailure *find_failure(const uint8_t prompt[SHA256_BYTES])
{
    const uint64_t kept = failure_count < SOUL_FAILED_KEPT ? failure_count : SOUL_FAILED_KEPT;
    for (uint64_t i = 0; i < kept; i++) {
        if (memcmp(failures[i].prompt, prompt, SHA256_BYTES) == 0) {
            return &failures[i];
        }
    }
    return NULL;
}

void soul_failed_note(const SoulFailure *failure)
{
    (void)pthread_mutex_lock(&lock);
    SoulFailure *same = find_failure(failure->prompt);
    if (same != NULL) {
        *same = *failure;
    } else {
        failures[failure_count % SOUL_FAILED_KEPT] = *failure;
        failure_count += 1;
    }
    (void)pthread_mutex_unlock(&lock);
}

bool soul_failed_find(const uint8_t prompt[SHA256_BYTES], SoulFailure *out)
{
    (void)pthread_mutex_lock(&lock);
    const SoulFailure *found = find_failure(prompt);
    if (found != NULL) {
        *out = *found;
    }
    (void)pthread_mutex_unlock(&lock);
    return found != NULL;
}
