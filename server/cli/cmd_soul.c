// `sandlot soul`: the plain-language souls of a place. Lists the stored Lua of each, records what a
// person has accepted, and asks the model to write one again. It does not build a place.
#define _GNU_SOURCE
#include "core/base/json_write.h"
#include "core/base/utf8.h"
#include "core/wire/script_path.h"
#include "server/build/ask/ask_contexts.h"
#include "server/build/base/diagnostic.h"
#include "server/build/soul/soul_diff.h"
#include "server/build/soul/soul_view.h"
#include "server/cli/command.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PATHS_MAX 256

typedef enum SoulCommand { SOUL_LIST, SOUL_ACCEPT, SOUL_ASK } SoulCommand;

typedef struct SoulOptions {
    SoulCommand command;
    const char *place;
    const char *paths[PATHS_MAX];
    uint32_t path_count;
    bool yes, json, allow_weak_jail;
} SoulOptions;

typedef struct Session {
    const SoulOptions *options;
    PlaceFolder folder;
    SoulList souls;
    Worker *worker;
    DiagnosticList diagnostics;
    Buffer json; // what --json will print
    bool has_failed;
    char reason[WORKER_REASON_BYTES]; // the first one
    uint32_t done_count, shown_count;
} Session;

static void print_usage(FILE *out)
{
    fprintf(
        out,
        "usage: sandlot soul list DIR [--json]                    list the state of each soul\n"
        "       sandlot soul accept DIR [PATH…] [--yes] [--json]  review what a model wrote\n"
        "       sandlot soul ask DIR PATH…                        have the model write again\n\n"
        "  DIR                the folder of the place\n"
        "  PATH               a plain-language soul: Workspace/Door, or its file\n"
        "  --yes              accept without asking\n"
        "  --json             print one object, for programs; accept then needs --yes\n"
        "  --allow-weak-jail  continue even if the kernel lacks a layer of the jail\n\n"
        "`accept` shows what has changed since the last review, asks for confirmation, and\n"
        "records the review in the first line of the .soul.lua file. Without PATH it reviews\n"
        "all files that are not stale or foreign. To accept a stale or foreign file, name it:\n"
        "this means that its Lua is right as it is.\n"
        "`ask` needs SANDLOT_MODEL_KEY (docs/OPERATIONS.md).\n\n"
        "States: fits (up to date), older (the script API has changed since), stale (the soul\n"
        "or the scene around it has changed), missing (no Lua yet), foreign (not written by\n"
        "Sandlot). edited: changed by hand.\n"
        "Exit codes: 0 success, 1 failed or declined, 2 invalid arguments.\n");
}

static int usage_error(const SoulOptions *options, const char *what, const char *which)
{
    return command_misused("soul", options->json, what, which);
}

static void complain(Session *session, const char *path, const char *why)
{
    const char *colon = path[0] != '\0' ? ": " : "";
    diagnostic_print(stderr, "sandlot soul: %s%s%s", path, colon, why);
    if (!session->has_failed) {
        snprintf(session->reason, sizeof session->reason, "%.200s%s%s", path, colon, why);
        utf8_clean(session->reason);
    }
    session->has_failed = true;
}

// --- the place ----------------------------------------------------------------------------------

static void print_diagnostics(Session *session)
{
    char folder[512], line[DIAGNOSTIC_MESSAGE_BYTES + 1024];
    const size_t bytes = strlen(session->options->place);
    const bool has_slash = bytes > 0 && session->options->place[bytes - 1] == '/';
    (void)snprintf(folder, sizeof folder, "%s%s", session->options->place, has_slash ? "" : "/");
    diagnostic_list_sort(&session->diagnostics);
    for (uint32_t i = 0; i < session->diagnostics.count; i++) {
        diagnostic_text(&session->diagnostics.items[i], folder, line, sizeof line);
        fprintf(stderr, "%s\n", line);
    }
    session->has_failed = session->has_failed || session->diagnostics.error_count > 0;
    diagnostic_list_free(&session->diagnostics);
}

static BuildContext context_of(Session *session, char reason[WORKER_REASON_BYTES])
{
    return (BuildContext){
        .worker = session->worker, .diagnostics = &session->diagnostics, .reason = reason};
}

static bool open_session(Session *session)
{
    char reason[WORKER_REASON_BYTES] = "";
    const char *place = session->options->place;
    if (place_folder_read(place, &session->folder, reason) != STATUS_OK) {
        complain(session, place, command_reason(reason, place));
        return false;
    }
    WorkerConfig config = worker_config_default();
    config.allow_weak_jail = session->options->allow_weak_jail;
    Status status = soul_scan(&session->folder, &session->souls, &session->diagnostics);
    status = status == STATUS_OK ? worker_create(&config, &session->worker) : status;
    if (status == STATUS_OK) {
        const BuildContext context = context_of(session, reason);
        status = contexts_ask(&context, &session->folder, &session->souls);
    }
    if (status != STATUS_OK) {
        complain(session, place, reason[0] != '\0' ? reason : status_text(status));
    }
    // Errors in other scripts are reported by the build.
    diagnostic_list_free(&session->diagnostics);
    return status == STATUS_OK;
}

static void close_session(Session *session)
{
    worker_destroy(session->worker);
    soul_list_free(&session->souls);
    place_folder_free(&session->folder);
    diagnostic_list_free(&session->diagnostics);
    buffer_free(&session->json);
}

static bool is_soul(const Soul *soul, const char *path)
{
    const ScriptPath plain = script_path_trim(path, strlen(path));
    return soul->language == SOUL_PLAIN && plain.bytes == strlen(soul->path) &&
           memcmp(plain.data, soul->path, plain.bytes) == 0;
}

static bool is_named(const SoulOptions *options, const Soul *soul)
{
    for (uint32_t i = 0; i < options->path_count; i++) {
        if (is_soul(soul, options->paths[i])) {
            return true;
        }
    }
    return false;
}

static void check_paths(Session *session)
{
    const SoulOptions *options = session->options;
    for (uint32_t i = 0; i < options->path_count; i++) {
        bool found = false;
        for (uint32_t s = 0; s < session->souls.count; s++) {
            found = found || is_soul(&session->souls.items[s], options->paths[i]);
        }
        if (!found) {
            complain(session, options->paths[i],
                     "there is no such plain-language soul; `sandlot soul list` lists them");
        }
    }
}

// --- as JSON ------------------------------------------------------------------------------------

// One object of the list; `diff` may be NULL.
static void add_json(Session *session, const SoulView *view, bool accepted, const Buffer *diff)
{
    uint8_t *block = malloc(SOUL_DIFF_OUTPUT_MAX * 2 + 4096);
    if (block == NULL) {
        complain(session, "", "out of memory");
        return;
    }
    ByteWriter writer = byte_writer(block, SOUL_DIFF_OUTPUT_MAX * 2 + 4096);
    JsonWriter json = json_writer(&writer, 0);
    const bool is_there = view->kept.state != SOUL_MISSING;
    json_write_object_begin(&json);
    json_write_name(&json, "path");
    json_write_text(&json, view->soul->path);
    json_write_name(&json, "file");
    json_write_text(&json, view->kept_path);
    json_write_name(&json, "state");
    json_write_text(&json, soul_state_name(view->kept.state));
    json_write_name(&json, "edited");
    json_write_bool(&json, is_there && view->kept.is_edited);
    json_write_name(&json, "reviewed");
    json_write_bool(&json, accepted || view->kept.is_reviewed);
    if (session->options->command == SOUL_ACCEPT) {
        json_write_name(&json, "accepted");
        json_write_bool(&json, accepted);
        json_write_name(&json, "diff");
        json_write_text_bytes(&json, diff != NULL ? (const char *)diff->data : "",
                              diff != NULL ? diff->bytes : 0);
    }
    json_write_object_end(&json);
    if (json_writer_finish(&json) == STATUS_OK) {
        buffer_put(&session->json, ",", session->shown_count > 0);
        session->shown_count += 1;
        buffer_put(&session->json, block, writer.at);
    }
    free(block);
}

static void print_json(Session *session)
{
    char text[6 * WORKER_REASON_BYTES + 64]; // six: an escaped character
    ByteWriter out = byte_writer(text, sizeof text);
    JsonWriter json = json_writer(&out, 0);
    json_write_text(&json, session->reason);
    const bool is_text = json_writer_finish(&json) == STATUS_OK;
    printf("{\"ok\":%s,\"reason\":%.*s,\"souls\":[%.*s]}\n", session->has_failed ? "false" : "true",
           is_text ? (int)out.at : 2, is_text ? text : "\"\"", (int)session->json.bytes,
           session->json.data != NULL ? (const char *)session->json.data : "");
}

// --- list ---------------------------------------------------------------------------------------

static void list_one(Session *session, const SoulView *view)
{
    if (session->options->json) {
        add_json(session, view, false, NULL);
        return;
    }
    const SoulKept *kept = &view->kept;
    const bool is_there = kept->state != SOUL_MISSING && kept->state != SOUL_FOREIGN;
    diagnostic_print(stdout, "%-8s%s%s %s", soul_state_name(kept->state),
                     !is_there           ? "           "
                     : kept->is_reviewed ? " reviewed  "
                                         : " unreviewed",
                     is_there && kept->is_edited ? " edited" : "       ", view->soul->path);
    session->shown_count += 1;
}

// --- accept -------------------------------------------------------------------------------------

static void print_diff(const Buffer *diff)
{
    const bool has_colours = isatty(STDOUT_FILENO) && getenv("NO_COLOR") == NULL;
    const char *text = (const char *)diff->data, *end = text + diff->bytes;
    while (text < end) {
        const char *stop = memchr(text, '\n', (size_t)(end - text));
        const char *next = stop != NULL ? stop + 1 : end;
        const char *colour = !has_colours     ? ""
                             : text[0] == '+' ? "\x1b[32m"
                             : text[0] == '-' ? "\x1b[31m"
                             : text[0] == '@' ? "\x1b[36m"
                                              : "";
        printf("%s%.*s%s", colour, (int)(next - text), text, colour[0] != '\0' ? "\x1b[0m" : "");
        text = next;
    }
}

static Status make_diff(const Session *session, const SoulView *view, Buffer *out, char *reason)
{
    uint8_t *reviewed = NULL;
    size_t bytes = 0;
    const Status found =
        soul_reviewed_read(session->options->place, &view->kept.header, &reviewed, &bytes);
    char before_name[SOUL_DIFF_NAME_BYTES], after_name[SOUL_DIFF_NAME_BYTES];
    (void)snprintf(before_name, sizeof before_name, "%s (%s)", view->kept_path,
                   found == STATUS_OK             ? "reviewed"
                   : view->kept.header.has_review ? "reviewed elsewhere: text not found here"
                                                  : "never reviewed");
    (void)snprintf(after_name, sizeof after_name, "%s", view->kept_path);
    const SoulDiffText before = {before_name, reviewed != NULL ? (const char *)reviewed : "",
                                 bytes};
    const SoulDiffText after = {after_name, view->kept.body, view->kept.body_bytes};
    const Status status = soul_diff_write(&before, &after, out);
    if (status != STATUS_OK) {
        (void)snprintf(reason, WORKER_REASON_BYTES, "the difference is too large to be shown");
    }
    free(reviewed);
    return status;
}

static bool is_confirmed(const Session *session, const SoulView *view)
{
    if (session->options->yes) {
        return true;
    }
    char question[SCRIPT_PATH_BYTES + 32];
    (void)snprintf(question, sizeof question, "Accept %s? [y/N] ", view->soul->path);
    utf8_clean(question);
    printf("%s", question);
    (void)fflush(stdout);
    char line[16] = "";
    if (fgets(line, sizeof line, stdin) == NULL) {
        printf("\n");
    }
    return line[0] == 'y' || line[0] == 'Y';
}

static Status record(const Session *session, const SoulView *view, char *reason)
{
    SoulHeader header = view->kept.header;
    const char *slash = strrchr(view->soul->file->path, '/');
    (void)snprintf(header.name, sizeof header.name, "%s",
                   slash != NULL ? slash + 1 : view->soul->file->path);
    memcpy(header.prompt, view->prompt.prompt_hash, SHA256_BYTES);
    memcpy(header.source, view->prompt.source_hash, SHA256_BYTES);
    memcpy(header.review, view->kept.body_hash, SHA256_BYTES);
    header.has_review = true;
    Buffer file = buffer_of(VM_SOURCE_BYTES_MAX);
    soul_header_write(&header, &file);
    buffer_put(&file, view->kept.body, view->kept.body_bytes);
    Status status = file.status;
    if (status == STATUS_OK) {
        const SoulFile target = {.place = session->options->place,
                                 .path = view->kept_path,
                                 .before = view->kept_file->data,
                                 .before_bytes = view->kept_file->bytes};
        status = soul_file_write(&target, file.data, file.bytes, reason);
    } else {
        (void)snprintf(reason, WORKER_REASON_BYTES,
                       "the file with its new first line is larger than 256 KiB");
    }
    buffer_free(&file);
    return status;
}

// Why it cannot be reviewed now; NULL if it can.
static const char *why_not(const Session *session, const SoulView *view)
{
    const bool is_chosen = is_named(session->options, view->soul);
    switch (view->kept.state) {
    case SOUL_MISSING:
        return "there is no Lua yet; build the place first";
    case SOUL_STALE:
        return is_chosen
                   ? NULL
                   : "is stale: build the place to have it written again, or name it to accept "
                     "it as it is";
    case SOUL_FOREIGN:
        return is_chosen ? NULL : "was not written from its soul; name it to accept it as it is";
    default:
        return NULL;
    }
}

static void accept_one(Session *session, const SoulView *view)
{
    const bool is_json = session->options->json;
    const char *problem = why_not(session, view);
    if (problem != NULL) {
        if (is_named(session->options, view->soul) || view->kept.state != SOUL_MISSING) {
            complain(session, view->kept_path, problem);
        }
        return;
    }
    if (view->kept.state == SOUL_FITS && view->kept.is_reviewed) {
        return;
    }
    char reason[WORKER_REASON_BYTES] = "";
    Buffer diff = buffer_of(SOUL_DIFF_OUTPUT_MAX);
    if (make_diff(session, view, &diff, reason) != STATUS_OK) {
        complain(session, view->kept_path, reason);
        buffer_free(&diff);
        return;
    }
    if (!is_json && diff.bytes > 0) {
        print_diff(&diff);
    } else if (!is_json) {
        diagnostic_print(
            stdout, "%s: the Lua is unchanged since its review; the soul or the scene has changed",
            view->kept_path);
    }
    if (!is_confirmed(session, view)) {
        complain(session, view->kept_path, "not accepted");
    } else if (record(session, view, reason) != STATUS_OK) {
        complain(session, "", reason);
    } else {
        session->done_count += 1;
        // If this fails, the next review shows the whole text; the review itself is recorded.
        status_ignore(soul_reviewed_write(session->options->place, &view->kept));
        if (is_json) {
            add_json(session, view, true, &diff);
        } else {
            diagnostic_print(stdout, "%s: accepted", view->kept_path);
        }
    }
    buffer_free(&diff);
}

// --- ask ----------------------------------------------------------------------------------------

static void ask_one(Session *session, const SoulView *view)
{
    const ModelConfig config = model_config_environment();
    char reason[WORKER_REASON_BYTES] = "";
    SoulLua lua = {0};
    if (isatty(STDERR_FILENO)) {
        diagnostic_print(stderr, "asking the model for %s…", view->soul->path);
    }
    const BuildContext context = context_of(session, reason);
    const Status status = soul_ask(&context, &config, session->options->place, view, &lua);
    if (status == STATUS_OK) {
        diagnostic_print(stdout, "%s: written, %u repair%s", view->kept_path, lua.repairs,
                         lua.repairs == 1 ? "" : "s");
        session->done_count += 1;
    } else if (session->diagnostics.error_count == 0) {
        complain(session, "", reason);
    }
    print_diagnostics(session);
    soul_lua_free(&lua);
}

// --- all of them --------------------------------------------------------------------------------

static int run_session(Session *session)
{
    const SoulOptions *options = session->options;
    uint32_t plain_count = 0;
    check_paths(session);
    for (uint32_t i = 0; i < session->souls.count; i++) {
        const Soul *soul = &session->souls.items[i];
        if (soul->language != SOUL_PLAIN || (options->path_count > 0 && !is_named(options, soul))) {
            continue;
        }
        plain_count += 1;
        char reason[WORKER_REASON_BYTES] = "";
        SoulView view;
        const BuildContext context = context_of(session, reason);
        const Status status = soul_view_open(&context, &session->folder, soul, &view);
        if (status != STATUS_OK) {
            complain(session, "", reason);
        } else if (options->command == SOUL_LIST) {
            list_one(session, &view);
        } else if (options->command == SOUL_ACCEPT) {
            accept_one(session, &view);
        } else {
            ask_one(session, &view);
        }
        soul_view_close(&view);
    }
    if (!options->json && plain_count == 0 && !session->has_failed) {
        diagnostic_print(stdout, "%s has no plain-language souls (.soul)", options->place);
    } else if (!options->json && options->command == SOUL_ACCEPT && session->done_count == 0 &&
               !session->has_failed) {
        printf("nothing to review\n");
    }
    return session->has_failed ? EXIT_FAILED : EXIT_OK;
}

static int parse_options(int argc, char **argv, SoulOptions *options)
{
    for (int i = 2; i < argc; i++) {
        if (strcmp(argv[i], "--yes") == 0 && options->command == SOUL_ACCEPT) {
            options->yes = true;
        } else if (strcmp(argv[i], "--json") == 0 && options->command != SOUL_ASK) {
            options->json = true;
        } else if (strcmp(argv[i], "--allow-weak-jail") == 0) {
            options->allow_weak_jail = true;
        } else if (argv[i][0] == '-') {
            return command_unknown_option("soul", options->json, argv[i], print_usage);
        } else if (options->place == NULL) {
            options->place = argv[i];
        } else if (options->path_count == PATHS_MAX) {
            return usage_error(options, "too many paths", NULL);
        } else {
            options->paths[options->path_count++] = argv[i];
        }
    }
    if (options->place == NULL) {
        return usage_error(options, "no place given", NULL);
    }
    if (options->command == SOUL_ASK && options->path_count == 0) {
        return usage_error(options, "no soul given; name the souls to write again", NULL);
    }
    if (options->command == SOUL_ACCEPT && options->json && !options->yes) {
        return usage_error(options, "accept --json cannot ask for confirmation; add --yes", NULL);
    }
    if (options->command == SOUL_ACCEPT && !options->yes && !isatty(STDIN_FILENO)) {
        return usage_error(
            options, "there is no terminal to ask for confirmation; --yes accepts without asking",
            NULL);
    }
    return EXIT_OK;
}

int cmd_soul(int argc, char **argv)
{
    static const char *const names[] = {"list", "accept", "ask"};
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0) {
            print_usage(stdout);
            return EXIT_OK;
        }
    }
    SoulOptions options = {.command = SOUL_LIST, .json = command_wants_json(argc, argv)};
    uint32_t command = 0;
    while (argc >= 2 && command < 3 && strcmp(argv[1], names[command]) != 0) {
        command += 1;
    }
    if (argc < 2 || command == 3) {
        return usage_error(&options,
                           argc < 2 ? "no subcommand given; use list, accept or ask"
                                    : "unknown subcommand",
                           argc < 2 ? NULL : argv[1]);
    }
    options.command = (SoulCommand)command;
    const int parsed = parse_options(argc, argv, &options);
    if (parsed != EXIT_OK) {
        return parsed;
    }
    Session session = {.options = &options, .json = buffer_of(64u << 20)};
    const int result = open_session(&session) ? run_session(&session) : EXIT_FAILED;
    if (options.json) {
        print_json(&session);
    }
    close_session(&session);
    return result;
}
