// The clocks of the machine. A world gets the time by entries; only processes around it read these.
#pragma once

#include <stdint.h>

uint64_t clock_ns(void);      // monotonic, from any starting point
uint64_t clock_unix_ms(void); // of the wall clock; may jump
void clock_sleep_until(uint64_t ns);
uint64_t clock_cpu_us(void); // used by this process, in user and kernel mode
