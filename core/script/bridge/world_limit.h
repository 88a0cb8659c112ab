// Which limit a call of ScriptWorldMethods has reached, for the error that the script gets.
#pragma once

#include "core/script/runtime/script_world.h"

// Returns `status`. If it is STATUS_LIMIT and no error text is set, sets this one.
Status world_limit(ScriptWorld *world, Status status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
