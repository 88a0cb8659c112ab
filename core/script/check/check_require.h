// Whether what a script requires is there, on the sides where the script runs.
#pragma once

#include "core/script/check/check_name.h"

typedef struct CheckRequires {
    const char *file;   // who requires, as diagnostics name it
    RunContext context; // where it runs
    const char (*paths)[CHECK_PATH_BYTES];
    const uint32_t *lines; // of each
    uint32_t count;
} CheckRequires;

// `modules` are the scripts of the place, sorted by path.
void check_requires(const CheckRequires *requires, const CheckModule *modules,
                    uint32_t module_count, const CheckSink *sink);
