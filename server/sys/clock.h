// The clocks of the machine. A world gets the time by entries; only processes around it read these.
#pragma once

#include <stdint.h>

#define NS_PER_MS 1000000ull
#define NS_PER_S  1000000000ull

uint64_t clock_ns(void);            // monotonic, from any starting point
static inline double clock_ms(void) // the same in milliseconds
{
    return (double)clock_ns() * 1e-6;
}
uint64_t clock_unix_ms(void); // of the wall clock; may jump, unless clock_follow was called
// From now on clock_unix_ms is the monotonic clock and so many milliseconds: processes that share a
// database follow its clock, and whatever the clock of their own machine says has no effect.
void clock_follow(int64_t unix_minus_monotonic_ms);
void clock_sleep_until(uint64_t ns);
uint64_t clock_cpu_us(void); // used by this process, in user and kernel mode
