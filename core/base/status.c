// Names and texts of the status list.
#include "core/base/status.h"

#include <stddef.h>

static const char *const names[] = {
#define STATUS_NAME(name, text) #name,
    STATUS_LIST(STATUS_NAME)
#undef STATUS_NAME
};

static const char *const texts[] = {
#define STATUS_TEXT(name, text) text,
    STATUS_LIST(STATUS_TEXT)
#undef STATUS_TEXT
};

_Static_assert(sizeof names / sizeof names[0] == STATUS_COUNT, "one name per status");

const char *status_name(Status status)
{
    return (unsigned)status < STATUS_COUNT ? names[status] : "?";
}

const char *status_text(Status status)
{
    return (unsigned)status < STATUS_COUNT ? texts[status] : "unknown status";
}
