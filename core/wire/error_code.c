// The rows of error.def as a table.
#include "core/wire/error_code.h"

#include "core/base/check.h"

static const ErrorRow rows[ERROR_CODE_COUNT] = {
#define ERROR_CODE(NAME, name, fatal, when, advice) \
    [ERROR_##NAME] = {name, ERROR_FATAL_##fatal, when, advice},
#include "core/wire/error.def"
};

const ErrorRow *error_row(ErrorCode code)
{
    ASSERT(code > ERROR_NONE && code < ERROR_CODE_COUNT);
    return &rows[code];
}

const char *error_name(ErrorCode code)
{
    return error_row(code)->name;
}

ErrorCode error_of_status(Status status)
{
    static const ErrorCode codes[STATUS_COUNT] = {
        [STATUS_LIMIT] = ERROR_LIMIT,         [STATUS_TRUNCATED] = ERROR_MALFORMED,
        [STATUS_MALFORMED] = ERROR_MALFORMED, [STATUS_UNSUPPORTED] = ERROR_UNSUPPORTED,
        [STATUS_RANGE] = ERROR_RANGE,         [STATUS_NOT_FOUND] = ERROR_NOT_FOUND,
        [STATUS_EXISTS] = ERROR_EXISTS,       [STATUS_BLOCKED] = ERROR_BLOCKED,
        [STATUS_DENIED] = ERROR_DENIED,       [STATUS_MISMATCH] = ERROR_MISMATCH,
    };
    ASSERT(status > STATUS_OK && status < STATUS_COUNT);
    ASSERT(codes[status] != ERROR_NONE); // a new status needs a code
    return codes[status];
}
