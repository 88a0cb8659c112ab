// See time_text.h.
#define _GNU_SOURCE
#include "server/host/serve/time_text.h"

#include <string.h>
#include <time.h>

static void put_digits(char *out, size_t digits, unsigned number)
{
    for (size_t i = digits; i > 0; i--) {
        out[i - 1] = (char)('0' + number % 10);
        number /= 10;
    }
}

// Without strftime: a page of the listing has many of them.
void time_text(uint64_t unix_ms, char out[TIME_TEXT_BYTES])
{
    const uint64_t last = 253402300799999ull; // the end of the year 9999
    const uint64_t ms = unix_ms < last ? unix_ms : last;
    const time_t seconds = (time_t)(ms / 1000);
    struct tm parts = {0};
    (void)gmtime_r(&seconds, &parts);
    memcpy(out, "0000-00-00T00:00:00.000Z", sizeof "0000-00-00T00:00:00.000Z");
    put_digits(out, 4, (unsigned)parts.tm_year + 1900);
    put_digits(out + 5, 2, (unsigned)parts.tm_mon + 1);
    put_digits(out + 8, 2, (unsigned)parts.tm_mday);
    put_digits(out + 11, 2, (unsigned)parts.tm_hour);
    put_digits(out + 14, 2, (unsigned)parts.tm_min);
    put_digits(out + 17, 2, (unsigned)parts.tm_sec);
    put_digits(out + 20, 3, (unsigned)(ms % 1000));
}
