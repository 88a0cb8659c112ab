// Which limit a call of ScriptWorldMethods has reached, for the error that the script gets.
#pragma once

#include "core/script/runtime/script_world.h"

// Gives `status` back. If it is STATUS_LIMIT and nobody has said why, the text says it.
Status world_limit(ScriptWorld *world, Status status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
