// Formats a log event into a value on the stack and hands it to the sink. Text that is too long is
// cut between two UTF-8 characters, never inside one.
#include "core/base/log.h"

#include "core/base/check.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

const char *log_level_name(LogLevel level)
{
    static const char *const names[LOG_LEVEL_COUNT] = {"debug", "info", "warn", "error"};
    return (unsigned)level < LOG_LEVEL_COUNT ? names[level] : "?";
}

// Removes the start of a character whose end was cut off. text[bytes] is the terminator.
static void cut_at_character(char *text, size_t bytes)
{
    size_t start = bytes;
    while (start > 0 && bytes - start < 3 && ((unsigned char)text[start - 1] & 0xc0) == 0x80) {
        start -= 1;
    }
    if (start == 0) {
        return;
    }
    const unsigned char lead = (unsigned char)text[start - 1];
    const size_t want = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : lead >= 0xc0 ? 2 : 1;
    if (want > bytes - (start - 1)) {
        text[start - 1] = '\0';
    }
}

void log_write(LogSink *sink, uint64_t tick, LogLevel level, const char *area, const char *format,
               ...)
{
    ASSERT((unsigned)level < LOG_LEVEL_COUNT);
    ASSERT(area != NULL);
    if (level < sink->level_min) {
        return;
    }
    sink->written_count[level] += 1;
    if (sink->write == NULL) {
        return;
    }
    LogEvent event = {.tick = tick, .level = level, .area = area};
    va_list arguments;
    va_start(arguments, format);
    const int length = vsnprintf(event.text, sizeof event.text, format, arguments);
    va_end(arguments);
    if (length >= LOG_TEXT_BYTES) {
        cut_at_character(event.text, LOG_TEXT_BYTES - 1);
    }
    sink->write(sink->user, &event);
}
