#define _POSIX_C_SOURCE 200809L // popen

#include "bench/bench_outside.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define RATIO_ROUNDS     5
#define RATIO_GOAL       2.0
#define COUNT_TICKS      "40"
#define COMMAND_MAX      2048
#define LINE_MAX_BYTES   512
#define NUMBER_NOT_FOUND (-1.0)

// Runs a command line and gives the number after the last occurrence of `key` in its output.
static double number_from(const char *command, const char *key)
{
    FILE *pipe = popen(command, "r");
    if (pipe == NULL) {
        return NUMBER_NOT_FOUND;
    }
    double value = NUMBER_NOT_FOUND;
    char line[LINE_MAX_BYTES];
    while (fgets(line, sizeof line, pipe) != NULL) {
        const char *found = strstr(line, key);
        if (found != NULL) {
            value = strtod(found + strlen(key), NULL);
        }
    }
    return pclose(pipe) == 0 ? value : NUMBER_NOT_FOUND;
}

void bench_wasm_ratio(BenchReport *report, const char *program, const char *wasm_path)
{
    if (access(wasm_path, R_OK) != 0) {
        bench_note("no %s, so no sim.wasm_ratio: build it with the wasm preset", wasm_path);
        return;
    }
    static const char arguments[] = "--json --only sim.characters";
    char native_command[COMMAND_MAX];
    char wasm_command[COMMAND_MAX];
    snprintf(native_command, sizeof native_command, "'%s' %s", program, arguments);
    snprintf(wasm_command, sizeof wasm_command,
             "'%s/tools/node' '%s/tests/support/run_wasm.mjs' '%s' %s", SANDLOT_ROOT, SANDLOT_ROOT,
             wasm_path, arguments);
    double native[RATIO_ROUNDS];
    double wasm[RATIO_ROUNDS];
    for (uint32_t i = 0; i < RATIO_ROUNDS; i++) {
        native[i] = number_from(native_command, "\"value\":");
        wasm[i] = number_from(wasm_command, "\"value\":");
        if (native[i] <= 0 || wasm[i] <= 0) {
            bench_note("sim.wasm_ratio: %s failed", native[i] <= 0 ? native_command : wasm_command);
            return;
        }
    }
    const double wasm_median = bench_median(wasm, RATIO_ROUNDS);
    const double native_median = bench_median(native, RATIO_ROUNDS);
    bench_row(report, "sim.wasm_ratio", wasm_median / native_median, "wasm/native", RATIO_GOAL);
}

double bench_in_wasm(const char *wasm_path, const char *arguments)
{
    if (access(wasm_path, R_OK) != 0) {
        bench_note("no %s: build it with the wasm preset", wasm_path);
        return 0;
    }
    char command[COMMAND_MAX];
    snprintf(command, sizeof command, "'%s/tools/node' '%s/tests/support/run_wasm.mjs' '%s' %s",
             SANDLOT_ROOT, SANDLOT_ROOT, wasm_path, arguments);
    const double value = number_from(command, "\"value\":");
    if (value <= 0) {
        bench_note("it failed: %s", command);
        return 0;
    }
    return value;
}

double bench_count(const char *program, const char *argument, const char *function)
{
    if (number_from("valgrind --version", "valgrind-") <= 0) {
        bench_note("no valgrind, so no instructions");
        return 0;
    }
    char command[COMMAND_MAX];
    snprintf(command, sizeof command,
             "valgrind --tool=callgrind --toggle-collect=%s --callgrind-out-file=/dev/null"
             " '%s' --count %s 2>&1 | sed -n 's/.*Collected *: */collected /p;/^units/p'",
             function, program, argument);
    // The program prints how much work it did, callgrind how many instructions that took.
    FILE *pipe = popen(command, "r");
    double units = 0;
    double collected = 0;
    char line[LINE_MAX_BYTES];
    while (pipe != NULL && fgets(line, sizeof line, pipe) != NULL) {
        if (strncmp(line, "units ", 6) == 0) {
            units = strtod(line + 6, NULL);
        } else if (strncmp(line, "collected ", 10) == 0) {
            collected = strtod(line + 10, NULL);
        }
    }
    if (pipe == NULL || pclose(pipe) != 0 || units <= 0 || collected <= 0) {
        bench_note("callgrind did not tell the instructions");
        return 0;
    }
    return collected / units;
}

void bench_instructions(BenchReport *report, const char *program)
{
    const double instructions = bench_count(program, COUNT_TICKS, "sim_step");
    if (instructions > 0) {
        bench_row(report, "sim.instructions", instructions, "instructions/character",
                  BENCH_NO_GOAL);
    }
}
