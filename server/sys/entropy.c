// See entropy.h. Without randomness there are no secrets, so a failure ends the process.
#define _GNU_SOURCE
#include "server/sys/entropy.h"

#include "core/base/check.h"

#include <errno.h>
#include <sys/random.h>

void entropy_fill(void *out, size_t bytes)
{
    uint8_t *at = out;
    while (bytes > 0) {
        const ssize_t got = getrandom(at, bytes, 0);
        ASSERT(got > 0 || errno == EINTR);
        if (got > 0) {
            at += got;
            bytes -= (size_t)got;
        }
    }
}

uint64_t entropy_u64(void)
{
    uint64_t number;
    entropy_fill(&number, sizeof number);
    return number;
}
