// `sandlot build`: compiles souls into signed runes. The result is one line on standard output;
// errors, warnings and progress are on standard error (build_show.h).
#define _GNU_SOURCE
#include "core/base/json_member.h"
#include "core/base/utf8.h"
#include "server/build/base/diagnostic.h"
#include "server/build/pipeline/build.h"
#include "server/build/pipeline/build_show.h"
#include "server/build/pipeline/build_watch.h"
#include "server/build/place/editor_files.h"
#include "server/build/place/place_home.h"
#include "server/cli/command.h"
#include "server/cli/command_json.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define PATH_BYTES 4096

typedef struct BuildOptions {
    const char *place;
    bool force, watch, verify, json, rotate_key, adopt, allow_weak_jail;
} BuildOptions;

static void print_usage(FILE *out)
{
    fprintf(
        out,
        "usage: sandlot build DIR [options]   compile and sign the scripts of a place\n\n"
        "  DIR                the folder of the place\n"
        "  --force            compile everything, even files that have not changed\n"
        "  --watch            keep running and build again when a file changes; Ctrl-C stops it\n"
        "  --verify           do not build; check that the last build is complete and signed\n"
        "  --json             print one JSON object (with --watch: one per build), no progress\n"
        "  --adopt            trust the key and data in DIR/.sandlot, which were created in\n"
        "                     another folder (use it for your own copies)\n"
        "  --rotate-key       first create a new signing key and sign everything again; old\n"
        "                     signatures stay valid\n"
        "  --allow-weak-jail  continue even if the kernel lacks a layer of the jail\n\n"
        "The results are in DIR/.sandlot: server/soul for the server, client/soul for clients,\n"
        "client/assets.json for the files in assets/, cache for the next build. Errors are\n"
        "printed as path:line:column: error: message, relative to the current folder.\n"
        "Exit codes: 0 built, perhaps with warnings; 1 the build or the check failed; 2 invalid\n"
        "arguments.\n");
}

static int fail(const BuildOptions *options, const char *reason)
{
    return command_fail("build", options->json, EXIT_FAILED, reason);
}

static bool parse_flag(BuildOptions *options, const char *name)
{
    const struct {
        const char *name;
        bool *flag;
    } flags[] = {{"--force", &options->force},
                 {"--watch", &options->watch},
                 {"--verify", &options->verify},
                 {"--json", &options->json},
                 {"--rotate-key", &options->rotate_key},
                 {"--allow-weak-jail", &options->allow_weak_jail},
                 {"--adopt", &options->adopt}};
    for (size_t i = 0; i < sizeof flags / sizeof flags[0]; i++) {
        if (strcmp(name, flags[i].name) == 0) {
            *flags[i].flag = true;
            return true;
        }
    }
    return false;
}

// --- JSON ---------------------------------------------------------------------------------------

typedef struct Outcome {
    const BuildResult *result;
    Status status;
    const char *reason;
} Outcome;

static void write_scripts(JsonWriter *json, const BuildResult *result)
{
    json_write_name(json, "scripts");
    json_write_array_begin(json);
    for (uint32_t i = 0; i < result->rune_count; i++) {
        const BuildRune *rune = &result->runes[i];
        json_write_object_begin(json);
        command_json_text(json, "path", rune->path);
        command_json_text(json, "language", soul_language_ending(rune->language) + 1);
        command_json_text(json, "service", soul_service_name(rune->service));
        command_json_text(json, "run_context", soul_context_name(rune->context));
        json_member_bool(json, "replicate", rune->replicate);
        json_member_bool(json, "cached", rune->was_cached);
        command_json_hash(json, "rune_hash", rune->hash);
        command_json_hash(json, "code_hash", rune->code_hash);
        json_member_count(json, "size_bytes", rune->count);
        json_write_object_end(json);
    }
    json_write_array_end(json);
}

static void write_assets(JsonWriter *json, const BuildResult *result)
{
    json_write_name(json, "assets");
    json_write_object_begin(json);
    json_member_count(json, "count", result->asset_count);
    json_member_count(json, "read", result->asset_read_count);
    json_member_count(json, "checked", result->asset_checked_count);
    json_write_object_end(json);
}

static void write_outcome(JsonWriter *json, const void *what)
{
    const Outcome *outcome = what;
    const BuildResult *result = outcome->result;
    json_member_bool(json, "ok", outcome->status == STATUS_OK);
    command_json_text(json, "reason", outcome->reason);
    json_member_count(json, "version", result->version);
    json_member_bool(json, "unchanged", result->unchanged);
    json_member_count(json, "compiled", result->compiled_count);
    json_member_count(json, "cached", result->cached_count);
    json_member_count(json, "took_ms", result->took_ms);
    command_json_diagnostics(json, &result->diagnostics);
    write_scripts(json, result);
    write_assets(json, result);
    if (result->manifest != NULL) {
        uint8_t hash[SHA256_BYTES];
        sha256_of(result->manifest, result->manifest_bytes, hash);
        command_json_hash(json, "manifest_hash", hash);
    }
}

static bool print_json(const BuildResult *result, Status status, const char *reason)
{
    return command_json_print(write_outcome, &(Outcome){result, status, reason});
}

// --- building -----------------------------------------------------------------------------------

// "unchanged": files were compiled, but the runes are the same as before.
static void print_summary(const BuildOptions *options, const BuildResult *result)
{
    char counts[BUILD_SHOW_BYTES];
    build_show_counts(result, counts);
    diagnostic_print(stdout, "%s: %s, version %u: %s", options->place,
                     !result->unchanged           ? "built"
                     : result->compiled_count > 0 ? "unchanged"
                                                  : "up to date",
                     result->version, counts);
    fflush(stdout);
}

// Writes the types for editors: a place that was cloned or unpacked has none, and an older program
// wrote others. If this fails, the build still succeeds. A folder that is not a place is not
// changed.
static void renew_types(const BuildOptions *options)
{
    char reason[WORKER_REASON_BYTES] = "", settings[4096];
    bool written = false;
    snprintf(settings, sizeof settings, "%s/place.json", options->place);
    if (access(settings, F_OK) != 0) {
        return;
    }
    if (editor_files_renew_types(options->place, &written, reason) != STATUS_OK) {
        diagnostic_print(stderr, "sandlot build: wrote no types for editors: %s", reason);
    }
}

// No such folder, or no place in it: says so, because the system's message would not help.
static void explain_missing(const char *place, char *reason, size_t bytes)
{
    struct stat about;
    if (stat(place, &about) != 0 && errno == ENOENT) {
        snprintf(reason, bytes, "%.400s: there is no such folder; `sandlot new` makes a place",
                 place);
        utf8_clean(reason);
    }
}

static bool build_once(const BuildOptions *options, Builder *builder)
{
    BuildShow show = build_show_begin();
    const BuildRequest request = {.place = options->place,
                                  .force = options->force,
                                  .write = true,
                                  .progress = options->json ? NULL : build_show_progress,
                                  .user = &show,
                                  .cancel = &command_cancelled};
    BuildResult result;
    char reason[WORKER_REASON_BYTES];
    const Status status = builder_build(builder, &request, &result, reason);
    utf8_clean(reason);
    build_show_end(&show);
    build_show_diagnostics(&result.diagnostics, options->place);
    bool done = status == STATUS_OK;
    if (!done && reason[0] == '\0') {
        snprintf(reason, sizeof reason, "%s", status_text(status));
    }
    if (!done) {
        explain_missing(options->place, reason, sizeof reason);
        diagnostic_print(stderr, "sandlot build: %s: not built: %s", options->place,
                         command_reason(reason, options->place));
    }
    if (done || status == STATUS_MALFORMED) { // they are most useful while fixing an error
        renew_types(options);
    }
    if (options->json) {
        done = print_json(&result, status, reason) && done;
    } else if (done) {
        print_summary(options, &result);
    }
    build_result_free(&result);
    return done;
}

static void take_signals(void)
{
    struct sigaction action = {.sa_handler = command_cancel};
    (void)sigaction(SIGINT, &action, NULL);
    (void)sigaction(SIGTERM, &action, NULL);
}

// The watch starts before the folder is read, so that no change in between is missed.
static int build_and_watch(const BuildOptions *options, Builder *builder)
{
    bool goes_on = true, is_told = options->json;
    while (goes_on) {
        BuildWatch watch;
        char reason[256];
        if (build_watch_open(&watch, options->place, reason, sizeof reason) != STATUS_OK) {
            return fail(options, reason);
        }
        (void)build_once(options, builder); // errors were printed; the next change may fix them
        goes_on = !command_is_cancelled() && ferror(stdout) == 0;
        if (goes_on && !is_told) {
            fprintf(stderr, "sandlot build: waiting for changes; press Ctrl-C to stop\n");
            is_told = true;
        }
        if (goes_on) {
            build_watch_wait(&watch, &command_cancelled);
            goes_on = !command_is_cancelled();
        }
        build_watch_close(&watch);
    }
    return EXIT_OK;
}

static int verify(const BuildOptions *options, const BuildConfig *config)
{
    BuildResult result = {0};
    char reason[WORKER_REASON_BYTES] = "";
    const Status status = build_verify(config, options->place, &result, reason);
    utf8_clean(reason);
    build_show_diagnostics(&result.diagnostics, options->place);
    if (status == STATUS_MALFORMED && reason[0] == '\0') {
        snprintf(reason, sizeof reason, "%u problem%s", result.diagnostics.error_count,
                 result.diagnostics.error_count == 1 ? "" : "s");
    }
    bool done = status == STATUS_OK;
    if (!done) {
        diagnostic_print(stderr, "sandlot build: %s: not verified: %s", options->place, reason);
    }
    if (options->json) {
        done = print_json(&result, status, reason) && done;
    } else if (done) {
        diagnostic_print(stdout, "%s: verified, version %u", options->place, result.version);
    }
    build_result_free(&result);
    return done ? EXIT_OK : EXIT_FAILED;
}

static int run(const BuildOptions *options)
{
    BuildConfig config = build_config_default();
    config.allow_weak_jail = options->allow_weak_jail;
    if (options->verify) {
        return verify(options, &config);
    }
    char reason[WORKER_REASON_BYTES];
    const char *why = "";
    if (options->adopt && place_home_adopt(options->place, &why) != STATUS_OK) {
        snprintf(reason, sizeof reason, "%.300s/%s: %s", options->place,
                 place_home_at_fault(options->place, ".sandlot/data"), why);
        return fail(options, reason);
    }
    if (options->rotate_key) {
        const Status status = build_rotate_key(&config, options->place, reason);
        if (status != STATUS_OK &&
            status != STATUS_NOT_FOUND) { // no key yet: the build creates the first one
            return fail(options, reason);
        }
    }
    Builder *builder = NULL;
    const Status status = builder_create(&config, &builder);
    if (status != STATUS_OK) {
        return fail(options, status_text(status));
    }
    take_signals();
    int code = EXIT_OK;
    if (options->watch) {
        code = build_and_watch(options, builder);
    } else {
        code = build_once(options, builder) ? EXIT_OK : EXIT_FAILED;
    }
    builder_destroy(builder);
    return code;
}

int cmd_build(int argc, char **argv)
{
    BuildOptions options = {.json = command_wants_json(argc, argv)};
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0) {
            print_usage(stdout);
            return EXIT_OK;
        }
        if (argv[i][0] == '-') {
            if (!parse_flag(&options, argv[i])) {
                return command_unknown_option("build", options.json, argv[i], print_usage);
            }
        } else if (options.place != NULL) {
            return command_misused("build", options.json,
                                   "give only one place at a time; this is a second one:", argv[i]);
        } else {
            options.place = argv[i];
        }
    }
    if (options.place == NULL || options.place[0] == '\0') {
        return command_misused("build", options.json, "no place given; name the place's folder",
                               NULL);
    }
    if (options.verify && (options.force || options.watch || options.rotate_key)) {
        return command_misused("build", options.json,
                               "--verify cannot be used with --force, --watch or --rotate-key",
                               NULL);
    }
    return run(&options);
}
