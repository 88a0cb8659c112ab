// `sandlot script`: runs one script in a small real world, and prints the reference of the API. The
// script may come from a stranger. So this process reads the file as bytes, has TypeScript compiled
// by the jailed processes that a build uses, and enters the jail before it parses anything.
#include "core/base/json_member.h"
#include "core/script/api/api_reference.h"
#include "core/script/check/check.h"
#include "core/script/luau/luau.h"
#include "core/script/trial/sample_world.h"
#include "server/cli/command.h"
#include "server/cli/command_json.h"
#include "server/cli/script_typescript.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LOG_LINES_MAX    10000
#define REFERENCE_BYTES  (1 << 20)
#define JAIL_BYTES       (8ull << 30)
#define CHECK_HEAP_BYTES (256u << 20)
#define LUAU_HEAP_BYTES  (64ull << 20)

typedef struct RunOptions {
    const char *file;
    const char *entity; // name of the entity that the script is bound to; NULL: none
    ScriptSide side;
    uint32_t time_ms, memory_mb, ticks;
    bool json, allow_weak_jail;
} RunOptions;

typedef struct LogLine {
    uint64_t tick;
    LogLevel level;
    char *text;
} LogLine;

typedef struct Run {
    RunOptions options;
    char *source;
    size_t source_bytes;
    ScriptRunes runes;                        // of TypeScript
    char compile_error[SCRIPT_MESSAGE_BYTES]; // "": none
    LogLine *lines;                           // kept for --json
    uint32_t line_count, dropped_count;
    ScriptFault *faults;
    uint32_t fault_count;
    char reason[WORKER_REASON_BYTES]; // why it could not be run; not an error of the script
} Run;

#define FAULTS_MAX 256

static void print_usage(FILE *out)
{
    fprintf(
        out,
        "usage: sandlot script run FILE [options]   run a script, .lua, .luau or .ts\n"
        "       sandlot script api [--format markdown|typescript|lua]   print the reference\n\n"
        "Options of run:\n"
        "  --context Server|Client   the side it runs on (default Server)\n"
        "  --entity NAME             the entity it belongs to: Door, Platform, Zone, Button or\n"
        "                            Wall (default none)\n"
        "  --time-ms N               time limit of one call, 1 to 1000 (default 5)\n"
        "  --memory-mb N             memory limit of all scripts, 1 to 512 (default 16)\n"
        "  --ticks N                 how many ticks of 1/60 s to run, 1 to 216000 (default 300)\n"
        "  --json                    print one JSON object at the end and nothing else\n"
        "  --allow-weak-jail         continue even if the kernel lacks a layer of the jail\n\n"
        "Exit codes: 0 ran without a fault, 1 could not be run, 2 invalid arguments, 3 the script\n"
        "has faults.\n");
}

// --- the file -----------------------------------------------------------------------------------

// If the file cannot be read, the reason is stored in the run.
static void read_source(Run *run)
{
    const char *path = run->options.file;
    FILE *file = fopen(path, "rb");
    run->source = file != NULL ? malloc(VM_SOURCE_BYTES_MAX + 1) : NULL;
    const char *why = file != NULL && run->source == NULL ? "out of memory" : NULL;
    run->source_bytes =
        run->source != NULL ? fread(run->source, 1, VM_SOURCE_BYTES_MAX + 1, file) : 0;
    if (file == NULL || ferror(file) != 0) {
        why = strerror(errno);
    } else if (run->source_bytes > VM_SOURCE_BYTES_MAX) {
        why = "a script has at most 256 KiB";
    }
    if (file != NULL) {
        fclose(file);
    }
    if (why != NULL) {
        snprintf(run->reason, sizeof run->reason, "%.300s: %s", path, why);
    }
}

// The name of the script in faults: the file's own name, so that editors find the line.
static const char *script_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return strlen(path) < SCRIPT_PATH_BYTES || slash == NULL ? path : slash + 1;
}

// --- what it says -------------------------------------------------------------------------------

static void write_line(void *user, const LogEvent *event)
{
    Run *run = user;
    if (!run->options.json) {
        diagnostic_print(stdout, "%6.2f  %-5s  %s", (double)event->tick / 60,
                         log_level_name(event->level), event->text);
        return;
    }
    char *text = run->line_count < LOG_LINES_MAX ? strdup(event->text) : NULL;
    if (text != NULL) {
        run->lines[run->line_count++] = (LogLine){event->tick, event->level, text};
    } else {
        run->dropped_count += 1;
    }
}

static const char *const kind_names[FAULT_KIND_COUNT] = {"error", "budget", "memory", "capability"};

static const char *const hook_names[HOOK_COUNT] = {
    "the file itself", "onStart",        "onUpdate",       "onDestroy", "onEnable", "onDisable",
    "onReload",        "OnTriggerEnter", "OnTriggerLeave", "OnTouch",   "a handler"};

static void take_faults(Run *run, ScriptSystem *scripts)
{
    const uint32_t before = run->fault_count;
    run->fault_count += script_faults(scripts, run->faults + before, FAULTS_MAX - before);
    for (uint32_t i = before; i < run->fault_count && !run->options.json; i++) {
        // The message and the traceback are in the log already.
        printf("        fault (%s) in %s\n", kind_names[run->faults[i].kind],
               hook_names[run->faults[i].hook]);
    }
}

// --- as JSON ------------------------------------------------------------------------------------

typedef struct Outcome {
    const Run *run;
    const char *compile_error; // "": none
    const ScriptStats *stats;
} Outcome;

static void write_log(JsonWriter *json, const Run *run)
{
    json_write_name(json, "log");
    json_write_array_begin(json);
    for (uint32_t i = 0; i < run->line_count; i++) {
        json_write_object_begin(json);
        json_member_count(json, "tick", run->lines[i].tick);
        command_json_text(json, "level", log_level_name(run->lines[i].level));
        command_json_text(json, "text", run->lines[i].text);
        json_write_object_end(json);
    }
    json_write_array_end(json);
    json_member_count(json, "logDropped", run->dropped_count);
}

static void write_faults(JsonWriter *json, const Run *run)
{
    json_write_name(json, "faults");
    json_write_array_begin(json);
    for (uint32_t i = 0; i < run->fault_count; i++) {
        const ScriptFault *fault = &run->faults[i];
        json_write_object_begin(json);
        command_json_text(json, "kind", kind_names[fault->kind]);
        command_json_text(json, "path", fault->path);
        json_member_count(json, "line", fault->line);
        command_json_text(json, "message", fault->message);
        command_json_text(json, "traceback", fault->traceback);
        json_write_object_end(json);
    }
    json_write_array_end(json);
}

static void write_outcome(JsonWriter *json, const void *what)
{
    const Outcome *outcome = what;
    const Run *run = outcome->run;
    const bool is_compiled = outcome->compile_error[0] == '\0';
    json_member_bool(json, "ok", is_compiled && run->fault_count == 0);
    command_json_text(json, "reason",
                      is_compiled && run->fault_count > 0 ? run->faults[0].message
                                                          : outcome->compile_error);
    if (is_compiled) {
        json_write_name(json, "compileError");
        json_write_null(json);
    } else {
        command_json_text(json, "compileError", outcome->compile_error);
    }
    write_log(json, run);
    write_faults(json, run);
    json_write_name(json, "cost");
    json_write_object_begin(json);
    json_member_count(json, "ticks", run->options.ticks);
    json_member_count(json, "steps", outcome->stats->step_count);
    json_write_name(json, "execMs");
    json_write_number(json, outcome->stats->exec_ms);
    json_member_count(json, "memoryPeakBytes", outcome->stats->memory.peak_bytes);
    json_write_object_end(json);
}

// --- for people ---------------------------------------------------------------------------------

static void print_cost(const Run *run, const ScriptStats *stats)
{
    const double ticks = run->options.ticks > 0 ? run->options.ticks : 1;
    printf("cost: %llu steps in %u ticks (%.3f ms per tick), %.1f KiB of memory, %u fault%s\n",
           (unsigned long long)stats->step_count, run->options.ticks, stats->exec_ms / ticks,
           (double)stats->memory.peak_bytes / 1024, run->fault_count,
           run->fault_count == 1 ? "" : "s");
}

// --- running ------------------------------------------------------------------------------------

static bool bind(Run *run, SampleWorld *world, ScriptSystem *scripts, const char *name)
{
    uint64_t entity = 0;
    if (run->options.entity != NULL) {
        ScriptWorld *face = authority_world(sample_world_authority(world));
        entity = face->methods->find(face, text_from(run->options.entity));
        if (entity == 0) {
            snprintf(run->reason, sizeof run->reason, "the small world has no entity \"%.100s\"",
                     run->options.entity);
            return false;
        }
    }
    uint32_t instance = 0;
    const InstanceDesc desc = {.script_id = name, .entity = entity, .enabled = true};
    const Status status = script_bind(scripts, &desc, &instance);
    if (status != STATUS_OK) {
        snprintf(run->reason, sizeof run->reason, "cannot bind the script to the entity: %s",
                 status_text(status));
    }
    return status == STATUS_OK;
}

// The number of bytes before ".ts"; 0 if it is not TypeScript.
static size_t typescript_bytes(const char *name)
{
    const size_t bytes = strlen(name);
    return bytes > 3 && strcmp(name + bytes - 3, ".ts") == 0 ? bytes - 3 : 0;
}

// The name of the script in the world: its file, without .ts.
static void name_of(const Run *run, char name[SCRIPT_PATH_BYTES])
{
    snprintf(name, SCRIPT_PATH_BYTES, "%s", script_name(run->options.file));
    name[typescript_bytes(name) > 0 ? typescript_bytes(name) : strlen(name)] = '\0';
}

// Warnings are printed too: they are about surprising behaviour at run time.
static void make_typescript(Run *run)
{
    char name[SCRIPT_PATH_BYTES], reason[WORKER_REASON_BYTES];
    name_of(run, name);
    const ScriptTypeScript script = {.name = name,
                                     .file = script_name(run->options.file),
                                     .source = run->source,
                                     .bytes = run->source_bytes,
                                     .side = run->options.side,
                                     .allow_weak_jail = run->options.allow_weak_jail};
    DiagnosticList list = {0};
    const bool is_made = script_typescript_make(&script, &run->runes, &list, reason) == STATUS_OK;
    if (!is_made) {
        snprintf(run->compile_error, sizeof run->compile_error, "%.*s", SCRIPT_MESSAGE_BYTES - 1,
                 reason);
    }
    for (uint32_t i = 0; i < list.count; i++) {
        char line[DIAGNOSTIC_FILE_BYTES + DIAGNOSTIC_MESSAGE_BYTES + 64];
        diagnostic_text(&list.items[i], "", line, sizeof line);
        if (!run->options.json) {
            diagnostic_print(stdout, "%s", line);
        } else if (i == 0 && !is_made) {
            snprintf(run->compile_error, sizeof run->compile_error, "%.*s",
                     SCRIPT_MESSAGE_BYTES - 1, line);
        }
    }
    if (!is_made && list.error_count == 0) {
        snprintf(run->reason, sizeof run->reason, "%.100s: %.400s", script.file, reason);
    }
    diagnostic_list_free(&list);
}

static void tell_lint(void *user, const CheckDiagnostic *diagnostic)
{
    Run *run = user;
    const bool is_error = diagnostic->level == CHECK_ERROR;
    LogEvent event = {.level = is_error ? LOG_ERROR : LOG_WARN};
    snprintf(event.text, sizeof event.text, "%s:%u: %s", diagnostic->file, diagnostic->line,
             diagnostic->message);
    if (is_error && run->compile_error[0] == '\0') {
        snprintf(run->compile_error, sizeof run->compile_error, "%.*s", SCRIPT_MESSAGE_BYTES - 1,
                 event.text);
    }
    write_line(run, &event);
}

// The source becomes the Lua of it, line by line.
static void translate_luau(Run *run, const char *name)
{
    const size_t bytes = strlen(name);
    if (bytes <= 5 || strcmp(name + bytes - 5, ".luau") != 0) {
        return;
    }
    Heap heap = heap_make(LUAU_HEAP_BYTES);
    LuauLua made = {0};
    const Status status = luau_translate(&heap, run->source, run->source_bytes, &made);
    char *lua = status == STATUS_OK ? malloc(made.lua_bytes + 1) : NULL;
    if (lua != NULL) {
        memcpy(lua, made.lua, made.lua_bytes);
        free(run->source);
        run->source = lua;
        run->source_bytes = made.lua_bytes;
    } else if (status == STATUS_MALFORMED) {
        snprintf(run->compile_error, sizeof run->compile_error, "%.80s:%u: %.140s", name, made.line,
                 made.message);
    } else {
        snprintf(run->compile_error, sizeof run->compile_error, "%.80s: out of memory", name);
    }
    if (run->compile_error[0] != '\0' && !run->options.json) {
        diagnostic_print(stdout, "%s", run->compile_error);
    }
    luau_free(&heap, &made);
}

// What a build would say about it, so that a mistake is named where it was made; with an error no
// world takes the script.
static void load_lua(Run *run, ScriptSystem *scripts, const char *name)
{
    Heap heap = heap_make(CHECK_HEAP_BYTES);
    const CheckSink sink = {tell_lint, run};
    const CheckScript script = {.path = name,
                                .file = name,
                                .context = run->options.side == SCRIPT_SERVER ? CONTEXT_SERVER
                                                                              : CONTEXT_CLIENT,
                                .source = run->source,
                                .source_bytes = run->source_bytes};
    CheckOutput output;
    const Status status = check_script(&heap, &script, &sink, &output);
    if (status != STATUS_OK && run->compile_error[0] == '\0') {
        snprintf(run->compile_error, sizeof run->compile_error, "%s", status_text(status));
    }
    check_output_free(&heap, &output);
    if (run->compile_error[0] == '\0') {
        translate_luau(run, name);
    }
    if (run->compile_error[0] == '\0') {
        const CompileRequest request = {
            .script_id = name, .code = run->source, .code_bytes = run->source_bytes};
        const CompileResult result = script_compile(scripts, &request);
        memcpy(run->compile_error, result.error, sizeof run->compile_error);
    }
}

static void load(Run *run, ScriptSystem *scripts, const char *name)
{
    if (typescript_bytes(run->options.file) == 0) {
        load_lua(run, scripts, name);
    } else if (run->compile_error[0] == '\0') {
        const Status status = script_runes_load(&run->runes, scripts);
        snprintf(run->compile_error, sizeof run->compile_error, "%s",
                 status == STATUS_OK ? "" : status_text(status));
    }
}

// A script that does not compile counts as a fault.
static int run_in(Run *run, SampleWorld *world)
{
    ScriptSystem *scripts = sample_world_scripts(world, run->options.side);
    char name[SCRIPT_PATH_BYTES];
    name_of(run, name);
    load(run, scripts, name);
    const bool is_compiled = run->compile_error[0] == '\0';
    if (is_compiled && !bind(run, world, scripts, name)) {
        return EXIT_FAILED;
    }
    for (uint32_t i = 0; is_compiled && i < run->options.ticks && !script_is_dead(scripts); i++) {
        sample_world_step(world, 1);
        take_faults(run, scripts);
    }
    ScriptStats stats;
    script_stats(scripts, &stats);
    bool is_told = true;
    if (run->options.json) {
        is_told = command_json_print(write_outcome, &(Outcome){run, run->compile_error, &stats});
    } else {
        print_cost(run, &stats);
    }
    return !is_compiled || run->fault_count > 0 ? EXIT_FAULT : is_told ? EXIT_OK : EXIT_FAILED;
}

// EXIT_FAILED: the run's reason says why, if nothing was printed yet.
static int run_source(Run *run)
{
    const RunOptions *options = &run->options;
    Heap heap = heap_make(2ull << 30);
    LogSink sink = {.write = write_line, .user = run};
    SampleWorldConfig config = sample_world_config_default();
    config.server = options->side == SCRIPT_SERVER;
    config.client = options->side == SCRIPT_CLIENT;
    config.script.log = &sink;
    config.script.call_ms = options->time_ms;
    config.script.tick_ms = options->time_ms < 997 ? options->time_ms + 3 : 1000;
    config.script.vm.memory_soft_bytes = (size_t)options->memory_mb << 20;
    config.script.vm.memory_hard_bytes = config.script.vm.memory_soft_bytes + (8u << 20);
    SampleWorld *world = NULL;
    const Status status = sample_world_create(&heap, &config, &world);
    if (status != STATUS_OK) {
        snprintf(run->reason, sizeof run->reason, "cannot create the small world: %s",
                 status_text(status));
        return EXIT_FAILED;
    }
    const int result = run_in(run, world);
    sample_world_destroy(&heap, world);
    return result;
}

static _Noreturn void run_script(const RunOptions *options)
{
    int result = EXIT_FAILED;
    Run run = {.options = *options};
    read_source(&run);
    run.lines = calloc(LOG_LINES_MAX, sizeof *run.lines);
    run.faults = calloc(FAULTS_MAX, sizeof *run.faults);
    if (run.lines == NULL || run.faults == NULL) {
        snprintf(run.reason, sizeof run.reason, "out of memory");
    }
    if (run.reason[0] == '\0' && typescript_bytes(options->file) > 0) {
        make_typescript(&run);
    }
    if (run.reason[0] == '\0' &&
        command_lock_in(options->allow_weak_jail, JAIL_BYTES, run.reason, sizeof run.reason)) {
        result = run_source(&run);
    }
    if (run.reason[0] != '\0') {
        result = command_fail("script", options->json, EXIT_FAILED, run.reason);
    }
    command_end_locked(result); // ending the process frees everything
}

// A message if the value is invalid; NULL if it is valid. *is_known: the option exists.
static const char *parse_option(RunOptions *options, const char *name, const char *value,
                                bool *is_known)
{
    const struct {
        const char *name, *takes;
        uint32_t high;
        uint32_t *out;
    } numbers[] = {
        {"--time-ms", "--time-ms takes a number from 1 to 1000", 1000, &options->time_ms},
        {"--memory-mb", "--memory-mb takes a number from 1 to 512", 512, &options->memory_mb},
        {"--ticks", "--ticks takes a number from 1 to 216000", 216000, &options->ticks}};
    *is_known = true;
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++) {
        if (strcmp(name, numbers[i].name) == 0) {
            return command_parse_u32(value, 1, numbers[i].high, numbers[i].out) ? NULL
                                                                                : numbers[i].takes;
        }
    }
    if (strcmp(name, "--entity") == 0) {
        options->entity = value;
        return value != NULL ? NULL : "--entity takes a name";
    }
    if (strcmp(name, "--context") == 0) {
        const bool is_client = value != NULL && strcmp(value, "Client") == 0;
        options->side = is_client ? SCRIPT_CLIENT : SCRIPT_SERVER;
        return is_client || (value != NULL && strcmp(value, "Server") == 0)
                   ? NULL
                   : "--context takes Server or Client";
    }
    *is_known = false;
    return NULL;
}

static int misused(bool json, const char *what, const char *which)
{
    return command_misused("script", json, what, which);
}

static int cmd_run(int argc, char **argv)
{
    RunOptions options = {.side = SCRIPT_SERVER,
                          .time_ms = 5,
                          .memory_mb = 16,
                          .ticks = 300,
                          .json = command_wants_json(argc, argv)};
    for (int i = 1; i < argc; i++) {
        bool has_value = false;
        if (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0) {
            print_usage(stdout);
            return EXIT_OK;
        }
        const char *wrong =
            parse_option(&options, argv[i], command_value(argc, argv, i), &has_value);
        if (wrong != NULL) {
            return misused(options.json, wrong, NULL);
        }
        if (has_value) {
            i += 1;
        } else if (strcmp(argv[i], "--allow-weak-jail") == 0) {
            options.allow_weak_jail = true;
        } else if (argv[i][0] == '-' && strcmp(argv[i], "--json") != 0) {
            return command_unknown_option("script", options.json, argv[i], print_usage);
        } else if (argv[i][0] != '-' && options.file != NULL) {
            return misused(options.json,
                           "give only one file at a time; this is a second one:", argv[i]);
        } else if (argv[i][0] != '-') {
            options.file = argv[i];
        }
    }
    if (options.file == NULL) {
        return misused(options.json, "no script file given", NULL);
    }
    run_script(&options);
}

static int cmd_api(int argc, char **argv)
{
    static const struct {
        const char *name;
        ApiFormat format;
    } formats[] = {{"markdown", API_FORMAT_MARKDOWN},
                   {"typescript", API_FORMAT_TYPESCRIPT},
                   {"lua", API_FORMAT_LUA}};
    ApiFormat format = API_FORMAT_MARKDOWN;
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--help") == 0) {
            print_usage(stdout);
            return EXIT_OK;
        }
        bool known = false;
        if (strcmp(argv[i], "--format") == 0 && i + 1 < argc) {
            i += 1;
            for (size_t f = 0; f < sizeof formats / sizeof formats[0]; f++) {
                if (strcmp(argv[i], formats[f].name) == 0) {
                    format = formats[f].format;
                    known = true;
                }
            }
        }
        if (!known) {
            return misused(command_wants_json(argc, argv),
                           "--format takes markdown, typescript or lua, not", argv[i]);
        }
    }
    uint8_t *bytes = malloc(REFERENCE_BYTES);
    if (bytes == NULL) {
        return EXIT_FAILED;
    }
    ByteWriter writer = byte_writer(bytes, REFERENCE_BYTES);
    api_reference_write(format, &writer);
    const bool written = writer.status == STATUS_OK &&
                         fwrite(bytes, 1, writer.at, stdout) == writer.at && fflush(stdout) == 0;
    free(bytes);
    return written ? EXIT_OK : EXIT_FAILED;
}

int cmd_script(int argc, char **argv)
{
    if (argc >= 2 && strcmp(argv[1], "run") == 0) {
        return cmd_run(argc - 1, argv + 1);
    }
    if (argc >= 2 && strcmp(argv[1], "api") == 0) {
        return cmd_api(argc - 1, argv + 1);
    }
    if (argc >= 2 && (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0)) {
        print_usage(stdout);
        return EXIT_OK;
    }
    const bool is_none = argc < 2 || argv[1][0] == '-';
    return misused(command_wants_json(argc, argv),
                   is_none ? "no subcommand given; use run or api" : "unknown subcommand",
                   is_none ? NULL : argv[1]);
}
