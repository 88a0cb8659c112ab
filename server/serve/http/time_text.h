// Times as the API writes them: UTC, RFC 3339, "2026-11-16T05:42:16.250Z".
#pragma once

#include <stdint.h>

#define TIME_TEXT_BYTES 32

void time_text(uint64_t unix_ms, char out[TIME_TEXT_BYTES]);
