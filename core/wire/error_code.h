// The codes of ERROR messages as C constants: ERROR_CODE(WORLD_FULL, …) of error.def gives
// ERROR_WORLD_FULL. Whoever sends an error names a row, so a code that docs/PROTOCOL.md does not
// have does not compile.
#pragma once

#include "core/base/status.h"

typedef enum ErrorCode {
    ERROR_NONE,
#define ERROR_CODE(NAME, name, fatal, when, advice) ERROR_##NAME,
#include "core/wire/error.def"
    ERROR_CODE_COUNT
} ErrorCode;

typedef enum ErrorFatal { ERROR_FATAL_NEVER, ERROR_FATAL_SOMETIMES, ERROR_FATAL_ALWAYS } ErrorFatal;

typedef struct ErrorRow {
    const char *name; // on the wire
    ErrorFatal fatal; // whether the session ends with it
    const char *when, *advice;
} ErrorRow;

// ERROR_NONE has no row.
const ErrorRow *error_row(ErrorCode code);
const char *error_name(ErrorCode code);
// What a command is answered with that failed for this reason. Not for STATUS_OK.
ErrorCode error_of_status(Status status);
