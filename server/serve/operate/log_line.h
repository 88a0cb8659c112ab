// One line of the log, for people or for programs that collect logs:
//
//   text    05:18:42 info  host: listening
//   logfmt  time=2026-11-16T05:18:42.123Z level=info area=host msg=listening
//   json    {"time":"2026-11-16T05:18:42.123Z","level":"info","area":"host","msg":"listening"}
//
// Values may hold a stranger's text: quotes, control characters and characters that show nothing
// are escaped, so that an event is always one line, and no text can pretend to be another field.
#pragma once

#include "core/base/log.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum LogFormat { LOG_FORMAT_TEXT, LOG_FORMAT_LOGFMT, LOG_FORMAT_JSON } LogFormat;

#define LOG_MESSAGE_BYTES 1024 // of a message or a value; what is longer is cut
#define LOG_FIELDS_MAX    8
// The largest line: each character of a value may become six, "\u001b".
#define LOG_LINE_BYTES (6 * LOG_MESSAGE_BYTES + LOG_FIELDS_MAX * (6 * 64 + 32) + 128)

typedef struct LogField {
    const char *name;  // a literal
    const char *value; // at most 64 bytes are kept
    bool is_number;    // it is one, in JSON without quotes
} LogField;

typedef struct LogLine {
    uint64_t unix_ms;
    LogLevel level;
    const char *area, *message;
    LogField fields[LOG_FIELDS_MAX]; // ends with a name of NULL, unless all are used
} LogLine;

// The line with its end; gives its length. Text lines have no fields.
size_t log_line_write(LogFormat format, const LogLine *line, char out[LOG_LINE_BYTES]);
