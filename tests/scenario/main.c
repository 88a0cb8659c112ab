// scenarios --list            lists the scenarios
// scenarios NAME              runs one and prints its summary
// scenarios --check           compares every scenario with the expectations compiled in
// scenarios --check FILE|DIR  the same with expectations read now; FILE checks one scenario
// scenarios --write DIR       writes the expectations of all scenarios that keep their own checks
//
// Exit code 0 if all is as expected, 1 if not, 2 for invalid arguments.
#include "tests/scenario/summary.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const Scenario *const TOPICS[] = {
    scenarios_crowd,      scenarios_platform,  scenarios_slope, scenarios_shape,
    scenarios_fall,       scenarios_edit,      scenarios_npc,   scenarios_part_data,
    scenarios_projectile, scenarios_structure, scenarios_whole,
};

// One of each is enough, and both are too large for a stack.
static ScenarioWorld world;
static char summary[SUMMARY_BYTES];
static char file_text[SUMMARY_BYTES];

// The scenario at a running number over all topics, or NULL.
static const Scenario *scenario_by_index(uint32_t index)
{
    for (size_t t = 0; t < sizeof TOPICS / sizeof TOPICS[0]; t++) {
        for (const Scenario *s = TOPICS[t]; s->name != NULL; s++) {
            if (index-- == 0) {
                return s;
            }
        }
    }
    return NULL;
}

static const Scenario *scenario_find(const char *name)
{
    const Scenario *s;
    for (uint32_t i = 0; (s = scenario_by_index(i)) != NULL; i++) {
        if (strcmp(s->name, name) == 0) {
            return s;
        }
    }
    return NULL;
}

// Leaves the text in `summary`; true if the scenario's own checks held.
static bool run(const Scenario *scenario)
{
    scenario_run(&world, scenario, false);
    summary_write(&world, summary);
    const bool good = world.failure_count == 0;
    scenario_close(&world);
    return good;
}

// The same scenario once more, saved and restored in the middle, must end the same.
static bool run_restored(const Scenario *scenario, uint64_t hash_want)
{
    scenario_run(&world, scenario, true);
    bool good = world.failure_count == 0;
    if (world.hash != hash_want) {
        printf("%s: ends differently when it is saved and restored in the middle\n",
               scenario->name);
        good = false;
    }
    scenario_close(&world);
    return good;
}

static bool read_text(const char *path)
{
    FILE *file = fopen(path, "rb");
    if (file == NULL) {
        return false;
    }
    const size_t length = fread(file_text, 1, sizeof file_text - 1, file);
    file_text[length] = '\0';
    (void)fclose(file);
    return length > 0;
}

// The expectation of a scenario: from the folder, or the one compiled in. NULL if there is none.
static const char *expectation_of(const Scenario *scenario, const char *folder)
{
    if (folder != NULL) {
        char path[1024];
        (void)snprintf(path, sizeof path, "%s/%s.txt", folder, scenario->name);
        return read_text(path) ? file_text : NULL;
    }
    for (const Expectation *e = expectations; e->name != NULL; e++) {
        if (strcmp(e->name, scenario->name) == 0) {
            return e->text;
        }
    }
    return NULL;
}

static bool check_one(const Scenario *scenario, const char *want)
{
    bool good = run(scenario);
    const uint64_t hash = world.hash;
    if (want == NULL) {
        printf("%s: there is no expectation for it\n", scenario->name);
        good = false;
    } else if (!summary_compare(scenario->name, summary, want)) {
        good = false;
    }
    return run_restored(scenario, hash) && good;
}

static int close_with(uint32_t passed, uint32_t failed)
{
    printf("%u passed, %u failed\n", passed, failed);
    return failed != 0 || passed == 0;
}

static int check_all(const char *folder)
{
    uint32_t passed = 0;
    uint32_t failed = 0;
    const Scenario *s;
    for (uint32_t i = 0; (s = scenario_by_index(i)) != NULL; i++) {
        const bool good = check_one(s, expectation_of(s, folder));
        passed += good;
        failed += !good;
    }
    for (const Expectation *e = expectations; folder == NULL && e->name != NULL; e++) {
        if (scenario_find(e->name) == NULL) {
            printf("%s: an expectation without a scenario\n", e->name);
            failed += 1;
        }
    }
    return close_with(passed, failed);
}

// One expectation file, which names its scenario in its first line.
static int check_file(const char *path)
{
    char name[64];
    if (!read_text(path) || sscanf(file_text, "scenario: %63s", name) != 1) {
        return check_all(path); // a folder
    }
    const Scenario *scenario = scenario_find(name);
    if (scenario == NULL) {
        printf("%s: there is no scenario %s\n", path, name);
        return close_with(0, 1);
    }
    const bool good = check_one(scenario, file_text);
    return close_with(good, !good);
}

static bool write_one(const Scenario *scenario, const char *folder)
{
    if (!run(scenario) || !run_restored(scenario, world.hash)) {
        return false;
    }
    char path[1024];
    (void)snprintf(path, sizeof path, "%s/%s.txt", folder, scenario->name);
    FILE *file = fopen(path, "wb");
    if (file == NULL) {
        printf("%s: cannot be written\n", path);
        return false;
    }
    const bool written = fwrite(summary, 1, strlen(summary), file) == strlen(summary);
    return fclose(file) == 0 && written;
}

static int write_all(const char *folder)
{
    uint32_t passed = 0;
    uint32_t failed = 0;
    const Scenario *s;
    for (uint32_t i = 0; (s = scenario_by_index(i)) != NULL; i++) {
        const bool good = write_one(s, folder);
        passed += good;
        failed += !good;
    }
    return close_with(passed, failed);
}

static int list(void)
{
    const Scenario *s;
    for (uint32_t i = 0; (s = scenario_by_index(i)) != NULL; i++) {
        printf("%-16s %s\n", s->name, s->purpose);
    }
    return 0;
}

int main(int argc, char **argv)
{
    if (argc == 2 && strcmp(argv[1], "--list") == 0) {
        return list();
    }
    if (argc >= 2 && argc <= 3 && strcmp(argv[1], "--check") == 0) {
        return argc == 3 ? check_file(argv[2]) : check_all(NULL);
    }
    if (argc == 3 && strcmp(argv[1], "--write") == 0) {
        return write_all(argv[2]);
    }
    const Scenario *scenario = argc == 2 ? scenario_find(argv[1]) : NULL;
    if (scenario == NULL) {
        (void)fprintf(stderr,
                      "usage: scenarios --list | NAME | --check [FILE|DIR] | --write DIR\n");
        return 2;
    }
    const bool good = run(scenario);
    (void)fputs(summary, stdout);
    return !good;
}
