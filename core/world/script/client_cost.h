// What scripts cost on the clients, as clients say it (`script.costs`), added up for the creator.
//
// A client may lie, so nothing follows from it but numbers that are shown as theirs: a path must be
// one of the scripts that clients are sent, each number is cut to what an honest client can reach
// between two reports, one report in CLIENT_COST_REPORT_MS counts, and the tables are bounded.
#pragma once

#include "core/base/limits.h"
#include "core/script/runtime/script.h"

// X(field, name in JSON, most in one report, SUM or MOST, what it is).
#define CLIENT_COST_NUMBERS(X)                                                        \
    X(calls, "calls", 1000000, SUM, "entries into the script")                        \
    X(steps, "steps", 10000000000, SUM, "that they took")                             \
    X(time_us, "timeUs", 60000000, SUM, "that they took by the clients' clocks")      \
    X(time_p99_us, "timeP99Us", 60000000, MOST, "the largest that a client reported") \
    X(compile_us, "compileUs", 60000000, MOST, "the largest that a client reported")  \
    X(memory_bytes, "memoryBytes", 1073741824, MOST, "the largest likewise")          \
    X(faults, "faults", 100000, SUM, "that they reported")                            \
    X(throttles, "throttles", 100000, SUM, "times that it was paused or put last")

typedef struct ClientCost {
    char path[SCRIPT_PATH_BYTES];
    uint64_t reports; // in which it was
#define CLIENT_COST_FIELD(field, name, most, way, help) uint64_t field;
    CLIENT_COST_NUMBERS(CLIENT_COST_FIELD)
#undef CLIENT_COST_FIELD
} ClientCost;

typedef struct ClientFault {
    char path[SCRIPT_PATH_BYTES];
    uint32_t line;
    char message[SCRIPT_MESSAGE_BYTES];
    uint64_t count; // how often it was reported
} ClientFault;

typedef struct ClientCosts {
    uint64_t reports, refused;
    ClientCost rows[CLIENT_COST_ROWS];
    uint32_t row_count;
    ClientFault faults[CLIENT_FAULT_ROWS]; // the one reported last is the last
    uint32_t fault_count;
} ClientCosts;
