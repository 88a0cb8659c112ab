// What is counted of drafts that are edited, for /metrics.
#pragma once

#include "server/channel/edit_link.h"

typedef struct EditNumbers {
    uint32_t drafts, editors;
    uint64_t starts, deaths;
    uint64_t commits, commit_us; // how long the store took, in all
    EditCounts counts;
} EditNumbers;
