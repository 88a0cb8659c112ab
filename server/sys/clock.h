// The clocks of the machine. A world is told the time by entries; only shells look here.
#pragma once

#include <stdint.h>

uint64_t clock_ns(void);      // from anywhere, never back
uint64_t clock_unix_ms(void); // of the wall clock; may jump
void clock_sleep_until(uint64_t ns);
uint64_t clock_cpu_us(void); // used by this process, in user and kernel
