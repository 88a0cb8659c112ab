// How everything in this room reports: one diagnostic at a time, to whoever asked. The build worker
// puts them into its reply, a page into a list (check_list.h).
#pragma once

#include <stddef.h>
#include <stdint.h>

#define CHECK_FILE_BYTES    128
#define CHECK_MESSAGE_BYTES 768

typedef enum CheckLevel { CHECK_ERROR, CHECK_WARNING } CheckLevel;

typedef struct CheckDiagnostic {
    CheckLevel level;
    const char *file;      // as it is in the place's folder
    uint32_t line, column; // from 1; 0: of the file as a whole
    const char *code;      // "syntax", "undefined-global"
    const char *message;
} CheckDiagnostic;

// The diagnostic and its texts are only valid during the call.
typedef struct CheckSink {
    void (*tell)(void *user, const CheckDiagnostic *diagnostic);
    void *user;
} CheckSink;

// Makes text fit to be shown, in place: what is not UTF-8 becomes '?', control characters become
// spaces, except the ends of lines and tabs.
void check_tell_clean(char *text, size_t bytes);
// Tells a copy of it whose message is clean. A message is at most CHECK_MESSAGE_BYTES with its end;
// what is longer is cut.
void check_tell_copy(const CheckSink *sink, const CheckDiagnostic *diagnostic);
// The same, of a line as a whole.
void check_tell(const CheckSink *sink, CheckLevel level, const char *file, uint32_t line,
                const char *code, const char *format, ...) __attribute__((format(printf, 6, 7)));
