// What a build has to say about a creator's files: errors and warnings with file, line and column,
// in one list, printed in the form that editors parse:
//
//   Workspace/Door.lua:12:5: error: unexpected symbol near 'end' [syntax]
#pragma once

#include "core/base/status.h"
#include "core/script/check/check_tell.h"
#include "server/build/base/buffer.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#define DIAGNOSTIC_FILE_BYTES    CHECK_FILE_BYTES
#define DIAGNOSTIC_CODE_BYTES    32
#define DIAGNOSTIC_MESSAGE_BYTES CHECK_MESSAGE_BYTES
#define DIAGNOSTICS_MAX          1000

typedef enum DiagnosticLevel { DIAGNOSTIC_ERROR, DIAGNOSTIC_WARNING } DiagnosticLevel;

typedef struct Diagnostic {
    DiagnosticLevel level;
    char file[DIAGNOSTIC_FILE_BYTES]; // as it is in the place's folder; "": the place as a whole
    uint32_t line, column;            // from 1; 0: the file as a whole
    char code[DIAGNOSTIC_CODE_BYTES]; // "syntax", "undefined-global", "TS2322"
    char message[DIAGNOSTIC_MESSAGE_BYTES];
} Diagnostic;

typedef struct DiagnosticList {
    Diagnostic *items; // free with diagnostic_list_free
    uint32_t count, capacity;
    uint32_t error_count, warning_count; // also of those that did not fit
    uint32_t dropped_count;
} DiagnosticList;

void diagnostic_list_free(DiagnosticList *list);
void diagnostic_add(DiagnosticList *list, const Diagnostic *diagnostic);
void diagnostic_addf(DiagnosticList *list, DiagnosticLevel level, const char *file, uint32_t line,
                     uint32_t column, const char *code, const char *format, ...)
    __attribute__((format(printf, 7, 8)));
// Adds what a check tells (core/script/check).
CheckSink diagnostic_list_sink(DiagnosticList *list);
// How many errors there were, for people: "1 error", "1000 errors or more", because no compiler
// tells of more than DIAGNOSTICS_MAX.
void diagnostic_count_text(uint32_t error_count, char *out, size_t bytes);
// Adds all of `from`, which is not changed.
void diagnostic_list_append(DiagnosticList *list, const DiagnosticList *from);
// By file, line, column, level, code, message: the same build gives the same order.
void diagnostic_list_sort(DiagnosticList *list);
// One line without its end, safe for a terminal. `folder` is put before the file
// ("places/island/"), "" for none.
void diagnostic_text(const Diagnostic *diagnostic, const char *folder, char *out, size_t bytes);
// Prints one line for a person, with control characters removed, and its end. Use it for any text
// that may contain a stranger's name, reason or message.
void diagnostic_print(FILE *out, const char *format, ...) __attribute__((format(printf, 2, 3)));
// How they are sent between processes.
void diagnostic_list_write(const DiagnosticList *list, Buffer *out);
// For any bytes: appends the diagnostics, or returns STATUS_MALFORMED and appends nothing.
MUST_USE Status diagnostic_list_read(const uint8_t *bytes, size_t count, size_t *used,
                                     DiagnosticList *list);
