// A builder that builds nothing, in place of server/build/pipeline/build.c: it waits inside a build
// until the test releases it, and the test chooses the result.
#pragma once

#include "server/build/pipeline/build.h"

typedef struct FakeBuilder {
    Status status;      // what builds end with
    uint32_t errors;    // diagnostics they have
    bool hold;          // builds wait until this is false, or they are cancelled
    uint32_t began;     // so far
    uint32_t wrote;     // of these, with artifacts
    uint32_t at_once;   // now
    uint32_t most;      // at once, ever
    uint32_t most_same; // of one place
    uint32_t results;   // that were not freed
    uint32_t builders;
    uint32_t cold; // builds whose builder had another place before, or none
    const char *reason;
} FakeBuilder;

void fake_builder_reset(void);
// What builds say that end with STATUS_BLOCKED: "@" is the place's folder.
void fake_builder_say(const char *reason);
FakeBuilder fake_builder(void); // a copy
void fake_builder_set(Status status, uint32_t errors, bool hold);
// Until so many builds have begun; gives up, and fails the test, after half a minute.
void fake_builder_wait_began(uint32_t count);
