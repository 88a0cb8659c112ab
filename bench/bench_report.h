// Helpers of all benchmarks: a clock, medians, a reference measurement of the machine, and rows
// that are printed as a table for people or as one JSON object per line for programs.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#define BENCH_NO_GOAL 0.0

typedef struct BenchReport {
    bool json;
    const char *only; // rows whose name starts with this; NULL: all
    uint32_t row_count;
    uint32_t missed_count; // rows that have a goal and do not reach it
} BenchReport;

// True if the row, or any of a group of rows under this name, was asked for.
bool bench_wants(const BenchReport *report, const char *name);
// Lower is better for every row that has a goal.
void bench_row(BenchReport *report, const char *name, double value, const char *unit, double goal);
// A line for people, on standard error: it never mixes with the rows.
void bench_note(const char *format, ...) __attribute__((format(printf, 1, 2)));

// Monotonic, in seconds.
double bench_seconds(void);
// Seconds of this program on a processor, so that a busy machine takes nothing; asking takes a
// fraction of a microsecond. In WASM the same as bench_seconds.
double bench_processor_seconds(void);
// Sorts the values. count > 0.
double bench_median(double *values, uint32_t count);
// The mean of the middle half: what lies far above or below is left out. Sorts the values.
double bench_middle_mean(double *values, uint32_t count);

// The speed of the machine, measured by work that never changes, so that two runs on two machines
// (or on one that was busy) can be compared: divide by these.
void bench_machine_rows(BenchReport *report);
