// Formats a log event into a value on the stack and passes it to the sink. Text that is too long is
// cut between two UTF-8 characters, never inside one. It may contain text of strangers: invalid
// bytes become "?".
#include "core/base/log.h"

#include "core/base/check.h"
#include "core/base/text.h"
#include "core/base/utf8.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

const char *log_level_name(LogLevel level)
{
    static const char *const names[LOG_LEVEL_COUNT] = {"debug", "info", "warn", "error"};
    return (unsigned)level < LOG_LEVEL_COUNT ? names[level] : "?";
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
    // One byte more than is kept, so that the cut sees whether it would split a character.
    char text[LOG_TEXT_BYTES + 1];
    va_list arguments;
    va_start(arguments, format);
    const int length = vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    LogEvent event = {.tick = tick, .level = level, .area = area};
    if (length > 0) {
        const size_t bytes = length < LOG_TEXT_BYTES ? (size_t)length : LOG_TEXT_BYTES;
        const size_t kept = utf8_cut(text, bytes, LOG_TEXT_BYTES - 1);
        memcpy(event.text, text, kept);
        text_repair(event.text, kept);
    }
    sink->write(sink->user, &event);
}
