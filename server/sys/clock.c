// See clock.h. Nothing here can fail on a system that has these clocks, as all supported systems
// do.
#define _GNU_SOURCE
#include "server/sys/clock.h"

#include "core/base/check.h"

#include <errno.h>
#include <stdatomic.h>
#include <sys/resource.h>
#include <time.h>

static uint64_t now_ns(clockid_t clock)
{
    struct timespec now;
    const int failed = clock_gettime(clock, &now);
    ASSERT(failed == 0);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

uint64_t clock_ns(void)
{
    return now_ns(CLOCK_MONOTONIC);
}

static atomic_llong followed_ms; // 0: the machine's own clock

uint64_t clock_unix_ms(void)
{
    const int64_t ahead = atomic_load_explicit(&followed_ms, memory_order_relaxed);
    return ahead != 0 ? (uint64_t)((int64_t)(clock_ns() / 1000000u) + ahead)
                      : now_ns(CLOCK_REALTIME) / 1000000u;
}

void clock_follow(int64_t unix_minus_monotonic_ms)
{
    ASSERT(unix_minus_monotonic_ms > 0);
    atomic_store_explicit(&followed_ms, unix_minus_monotonic_ms, memory_order_relaxed);
}

void clock_sleep_until(uint64_t ns)
{
    const struct timespec until = {.tv_sec = (time_t)(ns / 1000000000u),
                                   .tv_nsec = (long)(ns % 1000000000u)};
    while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL) == EINTR) {
    }
}

static uint64_t us_of(struct timeval time)
{
    return (uint64_t)time.tv_sec * 1000000u + (uint64_t)time.tv_usec;
}

uint64_t clock_cpu_us(void)
{
    struct rusage usage;
    if (getrusage(RUSAGE_SELF, &usage) != 0) {
        return 0;
    }
    return us_of(usage.ru_utime) + us_of(usage.ru_stime);
}
