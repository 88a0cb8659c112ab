// See log_ring.h.
#define _GNU_SOURCE
#include "server/serve/operate/log_ring.h"

#include "core/base/utf8.h"
#include "server/serve/http/time_text.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>

typedef struct RingLine {
    uint64_t unix_ms;
    LogLevel level;
    char area[96];
    char text[LOG_TEXT_BYTES + 64];
} RingLine;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static RingLine lines[LOG_RING_LINES];
static uint64_t last; // the line of number n is at n % LOG_RING_LINES

void log_ring_add(uint64_t unix_ms, LogLevel level, const char *area, const char *text)
{
    pthread_mutex_lock(&lock);
    last += 1;
    RingLine *line = &lines[last % LOG_RING_LINES];
    line->unix_ms = unix_ms;
    line->level = level;
    snprintf(line->area, sizeof line->area, "%s", area);
    snprintf(line->text, sizeof line->text, "%s", text);
    utf8_clean(line->area); // a name may be cut inside a character
    utf8_clean(line->text);
    pthread_mutex_unlock(&lock);
}

uint64_t log_ring_last(void)
{
    pthread_mutex_lock(&lock);
    const uint64_t number = last;
    pthread_mutex_unlock(&lock);
    return number;
}

static bool is_wanted(const LogRingAsk *ask, uint64_t number)
{
    return ask->area[0] == '\0' || strcmp(lines[number % LOG_RING_LINES].area, ask->area) == 0;
}

// The number before the first line that is written.
static uint64_t find_begin(const LogRingAsk *ask)
{
    const uint64_t oldest = last > LOG_RING_LINES ? last - LOG_RING_LINES : 0;
    const uint64_t after = ask->after > oldest ? ask->after : oldest;
    uint32_t count = 0;
    uint64_t number = last;
    while (number > after && count < ask->max) {
        count += is_wanted(ask, number);
        number -= 1;
    }
    return number;
}

static void write_line(JsonWriter *json, uint64_t number)
{
    const RingLine *line = &lines[number % LOG_RING_LINES];
    char time[TIME_TEXT_BYTES];
    time_text(line->unix_ms, time);
    json_write_object_begin(json);
    json_write_name(json, "id");
    json_write_integer(json, (int64_t)number);
    json_write_name(json, "time");
    json_write_text(json, time);
    json_write_name(json, "level");
    json_write_text(json, log_level_name(line->level));
    json_write_name(json, "area");
    json_write_text(json, line->area);
    json_write_name(json, "text");
    json_write_text(json, line->text);
    json_write_object_end(json);
}

uint32_t log_ring_write(const LogRingAsk *ask, JsonWriter *json)
{
    uint32_t count = 0;
    json_write_array_begin(json);
    pthread_mutex_lock(&lock);
    for (uint64_t number = find_begin(ask) + 1; number <= last; number++) {
        if (is_wanted(ask, number)) {
            write_line(json, number);
            count += 1;
        }
    }
    pthread_mutex_unlock(&lock);
    json_write_array_end(json);
    return count;
}
