// The last lines of the log, so that an operator can read them from afar (GET /admin/logs). One for
// the process; any thread adds to it.
#pragma once

#include "core/base/json_write.h"
#include "core/base/log.h"

#include <stdbool.h>
#include <stdint.h>

#define LOG_RING_LINES 2048

void log_ring_add(uint64_t unix_ms, LogLevel level, const char *area, const char *text);
uint64_t log_ring_last(void); // the number of the newest line; 0: there is none

typedef struct LogRingAsk {
    uint64_t after;   // lines with a higher number
    const char *area; // a world's id, or any other area; "": all
    uint32_t max;     // the newest of them
} LogRingAsk;
// Writes an array of {"id","time","level","area","text"}, the oldest first; how many.
uint32_t log_ring_write(const LogRingAsk *ask, JsonWriter *json);
