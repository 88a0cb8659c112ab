// Log events go to a sink that the owner of a world or client supplies; core prints nothing. An
// event is a value: level, area, text, and the tick it happened in. Text is cut at
// LOG_TEXT_BYTES, its terminator included, and never inside a UTF-8 character.
#pragma once

#include <stdint.h>

#define LOG_TEXT_BYTES 240

typedef enum LogLevel { LOG_DEBUG, LOG_INFO, LOG_WARN, LOG_ERROR, LOG_LEVEL_COUNT } LogLevel;

typedef struct LogEvent {
    uint64_t tick;
    LogLevel level;
    const char *area; // a string literal: "sim", "script", …
    char text[LOG_TEXT_BYTES];
} LogEvent;

typedef struct LogSink {
    void (*write)(void *user, const LogEvent *event); // NULL: events are dropped
    void *user;
    LogLevel level_min;
    uint64_t written_count[LOG_LEVEL_COUNT]; // events at or above level_min, even if dropped
} LogSink;

const char *log_level_name(LogLevel level);
void log_write(LogSink *sink, uint64_t tick, LogLevel level, const char *area, const char *format,
               ...) __attribute__((format(printf, 5, 6)));
