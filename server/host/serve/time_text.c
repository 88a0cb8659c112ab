// See time_text.h.
#define _GNU_SOURCE
#include "server/host/serve/time_text.h"

#include <stdio.h>
#include <time.h>

void time_text(uint64_t unix_ms, char out[TIME_TEXT_BYTES])
{
    const uint64_t last = 253402300799999ull; // the end of the year 9999
    const uint64_t ms = unix_ms < last ? unix_ms : last;
    const time_t seconds = (time_t)(ms / 1000);
    struct tm parts = {0};
    (void)gmtime_r(&seconds, &parts);
    const size_t at = strftime(out, TIME_TEXT_BYTES, "%Y-%m-%dT%H:%M:%S", &parts);
    snprintf(out + at, TIME_TEXT_BYTES - at, ".%03uZ", (unsigned)(ms % 1000));
}
