// The readable result of a scenario, one "key: value" per line, and the comparison of two of them.
#pragma once

#include "tests/scenario/scenario.h"

#define SUMMARY_BYTES (64u << 10)

// Writes the summary of a finished world; cut at SUMMARY_BYTES with a line that says so.
void summary_write(const ScenarioWorld *world, char text[SUMMARY_BYTES]);

// Describes where the two first differ: the range of ticks, and the first difference a reader would
// see. True if they are equal.
bool summary_compare(const char *name, const char *got, const char *want);

// An expectation that was compiled in; the table ends with an entry without a name.
typedef struct Expectation {
    const char *name;
    const char *text;
} Expectation;
extern const Expectation expectations[];
