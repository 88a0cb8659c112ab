// See time_text.h.
#define _GNU_SOURCE
#include "server/serve/http/time_text.h"

#include <time.h>

_Static_assert(TIME_TEXT_BYTES >= 25, "it fits");

static void put_digits(char *out, uint32_t digits, uint32_t number, char after)
{
    for (uint32_t i = digits; i > 0; i--) {
        out[i - 1] = (char)('0' + number % 10);
        number /= 10;
    }
    out[digits] = after;
}

void time_text(uint64_t unix_ms, char out[TIME_TEXT_BYTES])
{
    const uint64_t last = 253402300799999ull; // the end of the year 9999
    const uint64_t ms = unix_ms < last ? unix_ms : last;
    const time_t seconds = (time_t)(ms / 1000);
    struct tm parts = {0};
    (void)gmtime_r(&seconds, &parts);
    // By hand: a list of worlds has hundreds of them, and printf takes ten times as long.
    put_digits(out, 4, (uint32_t)parts.tm_year + 1900, '-');
    put_digits(out + 5, 2, (uint32_t)parts.tm_mon + 1, '-');
    put_digits(out + 8, 2, (uint32_t)parts.tm_mday, 'T');
    put_digits(out + 11, 2, (uint32_t)parts.tm_hour, ':');
    put_digits(out + 14, 2, (uint32_t)parts.tm_min, ':');
    put_digits(out + 17, 2, (uint32_t)parts.tm_sec, '.');
    put_digits(out + 20, 3, (uint32_t)(ms % 1000), 'Z');
    out[24] = '\0';
}
