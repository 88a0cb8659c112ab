// See world_limit.h.
#include "core/script/bridge/world_limit.h"

#include <stdarg.h>
#include <stdio.h>

Status world_limit(ScriptWorld *world, Status status, const char *format, ...)
{
    if (status == STATUS_LIMIT && world->refusal == NULL) {
        va_list arguments;
        va_start(arguments, format);
        vsnprintf(world->refusal_text, sizeof world->refusal_text, format, arguments);
        va_end(arguments);
        world->refusal = world->refusal_text;
    }
    return status;
}
