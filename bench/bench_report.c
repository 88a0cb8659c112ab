#define _POSIX_C_SOURCE 200809L // clock_gettime

#include "bench/bench_report.h"

#include "core/base/check.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define MACHINE_ROUNDS      7
#define MACHINE_FLOAT_STEPS 2000000
#define MACHINE_COPY_BYTES  (4u << 20)

bool bench_wants(const BenchReport *report, const char *name)
{
    if (report->only == NULL) {
        return true;
    }
    // "sim" asks for "sim.edits"; and the group "sim.edits" runs when only "sim.edits.box" is
    // asked.
    const size_t shorter =
        strlen(report->only) < strlen(name) ? strlen(report->only) : strlen(name);
    return strncmp(report->only, name, shorter) == 0;
}

void bench_row(BenchReport *report, const char *name, double value, const char *unit, double goal)
{
    if (report->only != NULL && strncmp(report->only, name, strlen(report->only)) != 0) {
        return;
    }
    const bool has_goal = goal > BENCH_NO_GOAL;
    const bool missed = has_goal && !(value <= goal);
    if (report->json) {
        printf("{\"bench\":\"%s\",\"value\":%.6g,\"unit\":\"%s\"", name, value, unit);
        if (has_goal) {
            printf(",\"goal\":%.6g", goal);
        }
        printf("}\n");
    } else {
        if (report->row_count == 0) {
            printf("%-26s %12s  %-22s %s\n", "bench", "value", "unit", "goal");
        }
        printf("%-26s %12.4g  %-22s", name, value, unit);
        if (has_goal) {
            printf(" %.4g  %s", goal, missed ? "MISSED" : "ok");
        }
        printf("\n");
    }
    fflush(stdout);
    report->row_count += 1;
    report->missed_count += missed;
}

void bench_note(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    fputs("bench: ", stderr);
    vfprintf(stderr, format, args);
    fputc('\n', stderr);
    va_end(args);
}

double bench_seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

double bench_processor_seconds(void)
{
#ifdef __wasm__
    return bench_seconds();
#else
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
#endif
}

static int compare_doubles(const void *a, const void *b)
{
    const double x = *(const double *)a;
    const double y = *(const double *)b;
    return (x > y) - (x < y);
}

double bench_median(double *values, uint32_t count)
{
    ASSERT(count > 0);
    qsort(values, count, sizeof values[0], compare_doubles);
    return count % 2 == 1 ? values[count / 2] : (values[count / 2 - 1] + values[count / 2]) / 2;
}

double bench_middle_mean(double *values, uint32_t count)
{
    ASSERT(count > 0);
    qsort(values, count, sizeof values[0], compare_doubles);
    const uint32_t first = count / 4;
    const uint32_t end = count - first;
    double sum = 0;
    for (uint32_t i = first; i < end; i++) {
        sum += values[i];
    }
    return sum / (end - first);
}

// A chain of dependent float operations, as movement is one: it tells the clock of the core and
// its latency, not its width.
static double float_step_ns(void)
{
    double rounds[MACHINE_ROUNDS];
    for (uint32_t round = 0; round < MACHINE_ROUNDS; round++) {
        volatile float seed = 1.0f + (float)round;
        float x = seed;
        const double start = bench_seconds();
        for (uint32_t i = 0; i < MACHINE_FLOAT_STEPS; i++) {
            x = x * 0.999f + 0.5f;
        }
        rounds[round] = (bench_seconds() - start) * 1e9 / MACHINE_FLOAT_STEPS;
        seed = x;
    }
    return bench_median(rounds, MACHINE_ROUNDS);
}

// A copy that leaves the inner caches: it tells how busy the neighbours keep the memory.
static double copy_gigabytes_per_second(void)
{
    uint8_t *from = calloc(2, MACHINE_COPY_BYTES);
    if (from == NULL) {
        bench_note("no memory for the copy");
        return 0;
    }
    uint8_t *to = from + MACHINE_COPY_BYTES;
    double rounds[MACHINE_ROUNDS];
    for (uint32_t round = 0; round < MACHINE_ROUNDS; round++) {
        memset(from, (int)round + 1, MACHINE_COPY_BYTES);
        const double start = bench_seconds();
        for (uint32_t i = 0; i < 4; i++) {
            memcpy(to, from, MACHINE_COPY_BYTES);
            __asm__ volatile("" : : "r"(to) : "memory");
        }
        rounds[round] = 4.0 * MACHINE_COPY_BYTES / (bench_seconds() - start) * 1e-9;
    }
    free(from);
    return bench_median(rounds, MACHINE_ROUNDS);
}

void bench_machine_rows(BenchReport *report)
{
    if (bench_wants(report, "machine.float")) {
        bench_row(report, "machine.float", float_step_ns(), "ns/step", BENCH_NO_GOAL);
    }
    if (bench_wants(report, "machine.copy")) {
        bench_row(report, "machine.copy", copy_gigabytes_per_second(), "GB/s", BENCH_NO_GOAL);
    }
}
