// The small world of `sandlot script run` for tests of scripts; its output is kept as text.
#pragma once

#include "core/script/sample_world.h"

typedef struct SmallLog {
    char text[16384]; // a line each; what does not fit is left out
    size_t bytes;
} SmallLog;

extern SmallLog small_log; // of the world that is open

SampleWorld *small_world_open(void);
void small_world_close(SampleWorld *world); // and nothing of it is left on the heap
