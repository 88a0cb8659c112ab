// `sandlot bots`: many simulated players in one process, and their measurements.
#define _GNU_SOURCE
#include "core/base/json_member.h"
#include "server/bots/bots.h"
#include "server/bots/rune_store.h"
#include "server/cli/command.h"
#include "server/cli/command_json.h"
#include "server/cli/place_known.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef struct Options {
    BotsConfig bots;
    bool json, best_effort;
    const char *place; // as it was named
    Tool tool;         // the server and the sign-in, if they are needed
    char place_id[PLACE_ID_TEXT_BYTES];
} Options;

// A bot on a place that is not for everybody is a tester meanwhile, and a team has 256 people.
#define BOTS_INVITED_MAX 200

static void print_usage(FILE *out)
{
    fprintf(
        out,
        "usage: sandlot bots --server URL [options]   join a world with simulated players "
        "and measure it\n\n"
        "  --server URL       the server, for example http://127.0.0.1:7777 (default:\n"
        "                     SANDLOT_URL or the last `sandlot login`). Give it again for other\n"
        "                     hosts of the same installation: bots ask the next one when one\n"
        "                     does not answer (not with --place or --scripts)\n"
        "  --world ID         the world to join (default: one of the default place, for all)\n"
        "  --place ID         a world of this place: an id, or the folder that it was published\n"
        "                     from. In one that is private the bots are testers while they\n"
        "                     play, which needs its owner's sign-in (`sandlot login`)\n"
        "  --channel NAME     of that place: live (the default) or beta\n"
        "  -n N               number of bots, 1 to 4000 (default 10)\n"
        "  --seconds S        how long to measure once all have joined, 1 to 86400 (default "
        "10)\n"
        "  --behaviour NAME   what the bots do (default walk):\n");
    static const char *const lines[] = {
#define BOTS_LINE(name, text, what) "                       " text ": " what "\n",
        BOTS_BEHAVIOURS(BOTS_LINE)
#undef BOTS_LINE
    };
    for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++) {
        fputs(lines[i], out);
    }
    fprintf(
        out,
        "  --seed N           seed of all random choices (default 1)\n"
        "  --scripts          also run client scripts, verified and inside the jail\n"
        "  --cache DIR        with --scripts: keep compiled scripts in DIR for the next run; "
        "`auto`\n"
        "                     is sandlot/runes in the user's cache folder (default: keep none)\n"
        "  --allow-weak-jail  with --scripts: continue even if the kernel lacks a layer of the "
        "jail\n"
        "  --truth N          how many bots compare what they show with the true positions\n"
        "                     (default 16)\n"
        "  --frames N         invalid frames per second of each hostile bot (default 500)\n"
        "  --ramp S           wait at most this many seconds until all have joined (default 60)\n"
        "  --ledger FILE      record in FILE what the server confirmed as stored\n"
        "  --check FILE       at the end, check that everything recorded in FILE still exists\n"
        "  --best-effort      do not fail if this machine is too busy to run the bots in time\n"
        "  --json             print one JSON object at the end, and nothing else\n\n"
        "Exit codes: 0 measured, 1 failed or the results are not valid, 2 invalid arguments.\n");
}

static bool parse_behaviour(const char *text, BotsBehaviour *out)
{
    for (uint32_t i = 0; text != NULL && i < BOTS_BEHAVIOUR_COUNT; i++) {
        if (strcmp(text, bots_behaviour_name((BotsBehaviour)i)) == 0) {
            *out = (BotsBehaviour)i;
            return true;
        }
    }
    return false;
}

// --- what is shown ------------------------------------------------------------------------------

static void show_progress(void *user, const BotsReport *report)
{
    const bool terminal = *(const bool *)user;
    printf("%s%6.0f s  %s  %u/%u playing  %.0f snapshots/s  %.1f kB/s  interval p99 %.1f ms  "
           "gap %.1f s  error p99 %.1f cm  failures %llu  %s",
           terminal ? "\r\033[K" : "", report->seconds,
           report->measuring ? "measuring" : "joining  ", report->playing, report->bots,
           report->snapshots_per_second_now, report->bytes_down_per_second_now / 1000,
           report->interarrival_p99_ms, report->gap_now_s, report->position_error_p99_m * 100,
           (unsigned long long)report->failures, terminal ? "" : "\n");
    fflush(stdout);
}

typedef struct Figure {
    const char *name;
    double value;
} Figure;

#define FIGURES_MAX 48

static uint32_t list_figures(const BotsReport *r, Figure *out)
{
    const Figure all[] = {
        {"cpu_ms_per_client_second", r->metrics_known ? r->cpu_ms_per_client_second : -1},
        {"bytes_down_per_client_second", r->bytes_down_per_client_second},
        {"bytes_up_per_client_second", r->bytes_up_per_client_second},
        {"snapshots_per_second", r->snapshots_per_second},
        {"interarrival_p50_ms", r->interarrival_p50_ms},
        {"interarrival_p99_ms", r->interarrival_p99_ms},
        {"interarrival_max_ms", r->interarrival_max_ms},
        {"gap_max_s", r->gap_max_s},
        {"position_error_p50_m", r->position_error_p50_m},
        {"position_error_p99_m", r->position_error_p99_m},
        {"position_error_max_m", r->position_error_max_m},
        {"position_checks", (double)r->position_checks},
        {"shape_error_max_m", r->shape_error_max_m},
        {"shape_checks", (double)r->shape_checks},
        {"position_missing", (double)r->position_missing},
        {"corrections_per_second", r->corrections_per_second},
        {"corrections_without_cause", (double)r->corrections_without_cause},
        {"visible", r->visible},
        {"rtt_ms", r->rtt_ms},
        {"bots", r->bots},
        {"playing", r->playing},
        {"connects", (double)r->connects},
        {"resumes", (double)r->resumes},
        {"failures", (double)r->failures},
        {"measured_seconds", r->measured_seconds},
        {"server_ticks", r->server_ticks},
        {"server_ticks_missed", r->server_ticks_missed},
        {"server_resident_bytes", r->server_resident_bytes},
        {"server_starts", r->server_starts},
        {"durable", (double)r->durable},
        {"durable_checked", (double)r->durable_checked},
        {"durable_lost", (double)r->durable_lost},
        {"hostile_frames", (double)r->hostile_frames},
        {"scripted", r->scripted},
        {"manifest_version", r->manifest_version},
        {"script_faults", (double)r->script_faults},
        {"runes_unpacked", (double)r->runes_unpacked},
        {"runes_cached", (double)r->runes_cached},
        {"manifests_fetched", (double)r->rows_fetched},
        {"manifests_cached", (double)r->rows_cached},
        {"loop_ticks", (double)r->loop_ticks},
        {"loop_ticks_late", (double)r->late},
        {"own_cpu_share", r->own_cpu_share},
        {"own_resident_bytes", (double)r->resident_bytes},
    };
    _Static_assert(sizeof all / sizeof all[0] <= FIGURES_MAX, "room for every figure");
    memcpy(out, all, sizeof all);
    return sizeof all / sizeof all[0];
}

typedef struct Outcome {
    const Options *options;
    const BotsReport *report;
    const char *reason; // "": the results are valid
} Outcome;

static void write_outcome(JsonWriter *json, const void *what)
{
    const Outcome *outcome = what;
    const BotsReport *report = outcome->report;
    Figure figures[FIGURES_MAX];
    const uint32_t count = list_figures(report, figures);
    json_member_bool(json, "ok", outcome->reason[0] == '\0');
    command_json_text(json, "reason", outcome->reason);
    command_json_text(json, "behaviour", bots_behaviour_name(outcome->options->bots.behaviour));
    for (uint32_t i = 0; i < count; i++) {
        json_write_name(json, figures[i].name);
        if (i == 0 && !report->metrics_known) {
            json_write_null(json);
        } else {
            json_write_number(json, figures[i].value);
        }
    }
    json_member_bool(json, "starved", report->starved);
    json_write_name(json, "reasons");
    json_write_object_begin(json);
    for (uint32_t i = 0; i < report->reason_count; i++) {
        json_member_count(json, report->reasons[i].text, report->reasons[i].count);
    }
    json_write_object_end(json);
}

static void print_report(const BotsReport *report)
{
    Figure figures[FIGURES_MAX];
    const uint32_t count = list_figures(report, figures);
    printf("\n");
    for (uint32_t i = 0; i < count; i++) {
        if (i == 0 && !report->metrics_known) {
            continue;
        }
        printf("  %-30s %.6g\n", figures[i].name, figures[i].value);
    }
    for (uint32_t i = 0; i < report->reason_count; i++) {
        diagnostic_print(stdout, "  failed %6llu × %s",
                         (unsigned long long)report->reasons[i].count, report->reasons[i].text);
    }
}

// --- the command --------------------------------------------------------------------------------

// How many arguments were used; 0: no such option; -1: its value is missing or invalid.
static int read_option(Options *options, const char *name, const char *value)
{
    BotsConfig *bots = &options->bots;
    const struct {
        const char *name;
        uint32_t low, high;
        uint32_t *out;
    } numbers[] = {
        {"-n", 1, BOTS_MAX, &bots->count},
        {"--seconds", 1, 86400, &bots->seconds},
        {"--truth", 0, BOTS_MAX, &bots->debug_count},
        {"--frames", 0, 100000, &bots->hostile_frames_per_second},
        {"--ramp", 1, 3600, &bots->ramp_seconds_max},
    };
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++) {
        if (strcmp(name, numbers[i].name) == 0) {
            return command_parse_u32(value, numbers[i].low, numbers[i].high, numbers[i].out) ? 2
                                                                                             : -1;
        }
    }
    uint32_t other = 0;
    while (other < BOTS_SERVERS_MAX - 1 && bots->others[other] != NULL) {
        other += 1;
    }
    const struct {
        const char *name;
        const char **out;
    } texts[] = {{"--server", bots->server == NULL ? &bots->server : &bots->others[other]},
                 {"--world", &bots->world},
                 {"--place", &options->place},
                 {"--channel", &bots->channel},
                 {"--ledger", &bots->ledger},
                 {"--check", &bots->check},
                 {"--cache", &bots->cache}};
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        if (strcmp(name, texts[i].name) == 0) {
            *texts[i].out = value;
            return value != NULL ? 2 : -1;
        }
    }
    if (strcmp(name, "--behaviour") == 0) {
        return parse_behaviour(value, &bots->behaviour) ? 2 : -1;
    }
    if (strcmp(name, "--seed") == 0) {
        return command_parse_u64(value, 0, UINT64_MAX, &bots->seed) ? 2 : -1;
    }
    bool *const flag = strcmp(name, "--json") == 0              ? &options->json
                       : strcmp(name, "--scripts") == 0         ? &bots->scripts
                       : strcmp(name, "--best-effort") == 0     ? &options->best_effort
                       : strcmp(name, "--allow-weak-jail") == 0 ? &bots->allow_weak_jail
                                                                : NULL;
    if (flag == NULL) {
        return 0;
    }
    *flag = true;
    return 1;
}

static bool world_id_is_valid(const char *id)
{
    static const char letters[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-";
    const size_t bytes = strlen(id);
    return bytes > 0 && bytes <= 64 && strspn(id, letters) == bytes;
}

static int misused(const Options *options, const char *what, const char *which)
{
    return command_misused("bots", options->json, what, which);
}

static volatile sig_atomic_t stopped;

// The first signal ends the measurement and prints the report; the second ends the process at once.
static void on_signal(int number)
{
    stopped = 1;
    (void)signal(number, SIG_DFL);
}

// Why the results are not valid; "" if they are.
static void judge(const Options *options, const BotsReport *report, char *reason, size_t bytes)
{
    reason[0] = '\0';
    if (report->durable_lost > 0) {
        snprintf(reason, bytes, "%llu stored things are missing or have changed",
                 (unsigned long long)report->durable_lost);
    } else if (report->starved && !options->best_effort) {
        snprintf(
            reason, bytes,
            "the bots could not keep up (%llu of %llu ticks late), so the results are not valid",
            (unsigned long long)report->late, (unsigned long long)report->loop_ticks);
    }
}

// Whether guests may play it; otherwise its owner lets the bots in.
static int read_place(Options *options)
{
    BotsConfig *bots = &options->bots;
    char path[128];
    ToolReply page;
    int code = place_argument(&options->tool, options->place, options->place_id);
    if (code != EXIT_OK) {
        return code;
    }
    snprintf(path, sizeof path, "/api/places/%s", options->place_id);
    code = tool_ask(&options->tool, "GET", path, NULL, &page);
    const bool is_beta = bots->channel != NULL && strcmp(bots->channel, "beta") == 0;
    if (code == EXIT_OK &&
        (is_beta || strcmp(tool_text(page.root, "visibility"), "private") == 0)) {
        bots->owner = options->tool.token;
        if (bots->count > BOTS_INVITED_MAX) {
            code = tool_fail(&options->tool, "in a place that is not for everybody at most %u bots",
                             BOTS_INVITED_MAX);
        }
    }
    tool_free(&page);
    bots->place = options->place_id;
    return code;
}

// The server and the place, where they are not given as an address alone.
static int find_server(Options *options)
{
    BotsConfig *bots = &options->bots;
    char name[] = "bots", option[] = "--server", json[] = "--json", server[TOOL_URL_BYTES];
    char *words[] = {name, option, server, json, NULL};
    int count = 3 + options->json;
    if (bots->server != NULL && options->place == NULL) {
        return EXIT_OK;
    }
    snprintf(server, sizeof server, "%s", bots->server != NULL ? bots->server : "");
    if (bots->server == NULL) {
        words[1] = options->json ? json : NULL;
        words[2] = NULL;
        count = 1 + options->json;
    }
    const int code = tool_open(&options->tool, "bots", &count, words);
    if (code != EXIT_OK) {
        return code;
    }
    if (bots->server == NULL && options->tool.token[0] == '\0' && getenv("SANDLOT_URL") == NULL) {
        return command_misused("bots", options->json,
                               "no server given; for example --server http://127.0.0.1:7777", NULL);
    }
    bots->server = options->tool.url;
    return options->place != NULL ? read_place(options) : EXIT_OK;
}

static int run(Options *options)
{
    bool terminal = isatty(STDOUT_FILENO) == 1;
    char reason[256];
    BotsReport report;
    (void)signal(SIGINT, on_signal);
    (void)signal(SIGTERM, on_signal);
    options->bots.stop = &stopped;
    if (!options->json) {
        options->bots.progress = show_progress;
        options->bots.user = &terminal;
    }
    if (bots_run(&options->bots, &report, reason, sizeof reason) != STATUS_OK) {
        return command_fail("bots", options->json, EXIT_FAILED, reason);
    }
    judge(options, &report, reason, sizeof reason);
    const bool is_good = reason[0] == '\0';
    bool is_told = true;
    if (options->json) {
        is_told = command_json_print(write_outcome, &(Outcome){options, &report, reason});
    } else {
        print_report(&report);
    }
    if (!is_good) {
        fprintf(stderr, "sandlot bots: %s\n", reason);
    }
    return is_good && is_told ? EXIT_OK : EXIT_FAILED;
}

int cmd_bots(int argc, char **argv)
{
    Options options = {.bots = bots_config_default(), .json = command_wants_json(argc, argv)};
    const BotsConfig *bots = &options.bots;
    for (int i = 1; i < argc;) {
        if (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0) {
            print_usage(stdout);
            return EXIT_OK;
        }
        const int taken = read_option(&options, argv[i], command_value(argc, argv, i));
        if (taken == 0) {
            return command_unknown_option("bots", options.json, argv[i], print_usage);
        }
        if (taken < 0) {
            return misused(&options, "missing or invalid value for", argv[i]);
        }
        i += taken;
    }
    if (bots->channel != NULL && (options.place == NULL || (strcmp(bots->channel, "beta") != 0 &&
                                                            strcmp(bots->channel, "live") != 0))) {
        return misused(&options, "--channel is live or beta, of a --place", NULL);
    }
    if (options.place != NULL && bots->world != NULL) {
        return misused(&options, "--place or --world, not both", NULL);
    }
    if (bots->world != NULL && !world_id_is_valid(bots->world)) {
        return misused(&options, "invalid world id", bots->world);
    }
    if (bots->scripts && bots->ledger != NULL) {
        return misused(
            &options,
            "--ledger cannot be used with --scripts: bots that run scripts may not write files",
            NULL);
    }
    if (bots->others[0] != NULL && (bots->scripts || options.place != NULL)) {
        return misused(&options, "several --server cannot be used with --scripts or --place", NULL);
    }
    static char folder[4096];
    if (bots->cache != NULL && strcmp(bots->cache, "auto") == 0) {
        options.bots.cache = rune_store_default(folder, sizeof folder) ? folder : NULL;
    }
    int code = find_server(&options);
    code = code == EXIT_OK ? run(&options) : code;
    explicit_bzero(&options.tool, sizeof options.tool);
    if (bots->scripts) {
        command_end_locked(code);
    }
    return code;
}
