// `sandlot pack`, `unpack` and `inspect`: pack a place into one file, unpack it, list its contents.
// A stranger's package is safe to inspect: the jailed worker reads everything in it.
#define _GNU_SOURCE
#include "core/base/json_member.h"
#include "server/build/ask/ask_contexts.h"
#include "server/build/package/package.h"
#include "server/cli/command.h"
#include "server/cli/command_json.h"
#include "server/cli/package_show.h"
#include "server/sys/file.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define PATH_BYTES       4096
#define LARGE_BYTES      (8u << 20) // smaller files need no progress line
#define LINE_BYTES       1200
#define PROGRESS_COLUMNS 24
#define NAME_MAX_BYTES   256
#define WEAK_JAIL        "  --allow-weak-jail  continue even if the kernel lacks a layer of the jail\n\n"

typedef struct Options {
    const char *command;
    const char *from, *to, *thumbnail;
    bool json, allow_weak_jail, is_forced;
} Options;

// What all three commands need.
typedef struct Session {
    const Options *options;
    Worker *worker;
    DiagnosticList warnings;
    char reason[WORKER_REASON_BYTES];
    bool has_line; // a progress line is on the terminal and must be erased
} Session;

// --- the command line ---------------------------------------------------------------------------

static void print_usage(const char *command, FILE *out)
{
    if (strcmp(command, "pack") == 0) {
        fprintf(
            out,
            "usage: sandlot pack DIR [-o FILE] [--json]   pack a place into one .game file\n\n"
            "  -o FILE            the file to write (default: the place's name with .game, in the\n"
            "                     current folder)\n"
            "  --force            replace a file that exists, once the new one is complete\n"
            "  --json             print one object: ok, file, bytes, sha256, files, "
            "warnings, or ok and reason\n" WEAK_JAIL
            "The same folder always gives the same bytes. Hidden files (such as .sandlot) and\n"
            "backup files of editors (Game.lua~) are not packed. A package contains sources; the\n"
            "server that gets it compiles them.\n");
    } else if (strcmp(command, "unpack") == 0) {
        fprintf(
            out,
            "usage: sandlot unpack FILE [DIR]   unpack a .game (or zip, tar, tar.gz, tar.zst) "
            "into a folder\n\n"
            "  DIR                a new or empty folder (default: the file's name without its\n"
            "                     ending, in the current folder)\n" WEAK_JAIL
            "A package that breaks a rule is rejected, and nothing is written. The message names\n"
            "the file in the package and the rule.\n");
    } else {
        fprintf(
            out,
            "usage: sandlot inspect FILE|DIR [--json] [--thumbnail OUT.png]   list the contents\n\n"
            "  --json               print one object; \"ok\" is true if it could be read, "
            "\"errors\"\n"
            "                       is the number of errors that a build would report\n"
            "  --thumbnail OUT.png  write the place's thumbnail, at most 256 pixels\n"
            "  --allow-weak-jail    continue even if the kernel lacks a layer of the jail\n\n"
            "Lists every file with its kind, sizes and hash, where each script runs, and which\n"
            "scripts are sent to players.\n");
    }
    fprintf(out, "Exit codes: 0 success, 1 failed or rejected, 2 invalid arguments.\n");
}

static int usage_error(const Options *options, const char *what, const char *which)
{
    return command_misused(options->command, options->json, what, which);
}

static void print_pack_usage(FILE *out)
{
    print_usage("pack", out);
}

static void print_unpack_usage(FILE *out)
{
    print_usage("unpack", out);
}

static void print_inspect_usage(FILE *out)
{
    print_usage("inspect", out);
}

static CommandUsage usage_of(const char *command)
{
    return strcmp(command, "pack") == 0     ? print_pack_usage
           : strcmp(command, "unpack") == 0 ? print_unpack_usage
                                            : print_inspect_usage;
}

// Where the value of an option goes; NULL if the option takes no value.
static const char **value_of(Options *options, const char *name)
{
    if (strcmp(name, "-o") == 0 && strcmp(options->command, "pack") == 0) {
        return &options->to;
    }
    if (strcmp(name, "--thumbnail") == 0 && strcmp(options->command, "inspect") == 0) {
        return &options->thumbnail;
    }
    return NULL;
}

// EXIT_OK: continue. *done: nothing is left to do (the help was printed).
static int parse_arguments(Options *options, int argc, char **argv, bool *done)
{
    for (int i = 1; i < argc; i++) {
        const char **value = value_of(options, argv[i]);
        const bool is_unpack = strcmp(options->command, "unpack") == 0;
        if (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0) {
            print_usage(options->command, stdout);
            *done = true;
            return EXIT_OK;
        }
        if (value != NULL) {
            *value = command_value(argc, argv, i);
            if (*value == NULL) {
                return usage_error(options, "missing file name after", argv[i]);
            }
            i += 1;
        } else if (strcmp(argv[i], "--json") == 0 && !is_unpack) {
            options->json = true;
        } else if (strcmp(argv[i], "--allow-weak-jail") == 0) {
            options->allow_weak_jail = true;
        } else if (strcmp(argv[i], "--force") == 0 && strcmp(options->command, "pack") == 0) {
            options->is_forced = true;
        } else if (argv[i][0] == '-' && argv[i][1] != '\0') {
            return command_unknown_option(options->command, options->json, argv[i],
                                          usage_of(options->command));
        } else if (options->from == NULL) {
            options->from = argv[i];
        } else if (is_unpack && options->to == NULL) {
            options->to = argv[i];
        } else {
            return usage_error(options, "too many arguments:", argv[i]);
        }
    }
    return options->from != NULL ? EXIT_OK : usage_error(options, "no file or folder given", NULL);
}

// --- the session --------------------------------------------------------------------------------

static void wipe_line(Session *session)
{
    if (session->has_line) {
        fprintf(stderr, "\r\033[K");
        session->has_line = false;
    }
}

static void show_progress(void *user, uint32_t done, uint32_t total)
{
    Session *session = user;
    if (total == 0) {
        return;
    }
    const uint32_t filled =
        (uint32_t)((uint64_t)(done < total ? done : total) * PROGRESS_COLUMNS / total);
    fprintf(stderr, "\r\033[K%s [%.*s%*s] %u/%u", session->options->command, (int)filled,
            "########################", (int)(PROGRESS_COLUMNS - filled), "", done, total);
    session->has_line = true;
}

static bool begin_session(Session *session, const Options *options)
{
    struct sigaction action = {.sa_handler = command_cancel};
    WorkerConfig config = worker_config_default();
    config.allow_weak_jail = options->allow_weak_jail;
    config.cancel = &command_cancelled;
    *session = (Session){.options = options};
    (void)sigaction(SIGINT, &action, NULL);
    (void)sigaction(SIGTERM, &action, NULL);
    return worker_create(&config, &session->worker) == STATUS_OK;
}

static BuildContext context_of(Session *session)
{
    return (BuildContext){
        .worker = session->worker, .diagnostics = &session->warnings, .reason = session->reason};
}

// A large file is worth a line on a terminal.
static void watch(Session *session, uint64_t bytes)
{
    if (bytes >= LARGE_BYTES && isatty(STDERR_FILENO) != 0) {
        worker_watch(session->worker, &command_cancelled, show_progress, session);
    }
}

static void end(Session *session)
{
    worker_destroy(session->worker);
    diagnostic_list_free(&session->warnings);
}

static int fail(Session *session, Status status, const char *what)
{
    char reason[PATH_BYTES + WORKER_REASON_BYTES];
    snprintf(reason, sizeof reason, "%s: %s", what,
             status == STATUS_DENIED      ? "cancelled"
             : session->reason[0] != '\0' ? command_reason(session->reason, what)
                                          : status_text(status));
    wipe_line(session);
    return command_fail(session->options->command, session->options->json, EXIT_FAILED, reason);
}

// A reason that names a file of the folder, "path: rule: why" or "path: why", as editors parse it.
static bool print_refusal(const Session *session, const char *folder)
{
    char file[PATH_BYTES];
    const char *colon = strstr(session->reason, ": ");
    if (colon == NULL) {
        return false;
    }
    const int length = snprintf(file, sizeof file, "%s%s%.*s", folder,
                                folder[strlen(folder) - 1] == '/' ? "" : "/",
                                (int)(colon - session->reason), session->reason);
    struct stat about;
    if (length <= 0 || (size_t)length >= sizeof file || lstat(file, &about) != 0) {
        return false;
    }
    const char *rule = colon + 2;
    const size_t bytes = strspn(rule, "abcdefghijklmnopqrstuvwxyz-");
    const bool has_rule = bytes > 0 && strncmp(rule + bytes, ": ", 2) == 0;
    diagnostic_print(stderr, "%s: error: %s%s%.*s%s", file, has_rule ? rule + bytes + 2 : rule,
                     has_rule ? " [" : "", has_rule ? (int)bytes : 0, rule, has_rule ? "]" : "");
    return true;
}

static void print_warnings(Session *session)
{
    char line[LINE_BYTES];
    wipe_line(session);
    for (uint32_t i = 0; i < session->warnings.count; i++) {
        const Diagnostic *item = &session->warnings.items[i];
        const bool is_whole = item->file[0] == '\0'; // of the place
        diagnostic_text(item, is_whole ? session->options->from : "", line, sizeof line);
        fprintf(stderr, "%s\n", line);
    }
}

// --- names --------------------------------------------------------------------------------------

// The last name of a path, without its slashes at the end.
static void last_name(const char *path, char out[NAME_MAX_BYTES])
{
    size_t begin = 0;
    const size_t bytes = file_last_name(path, &begin);
    snprintf(out, NAME_MAX_BYTES, "%.*s", (int)bytes, path + begin);
}

// "Capture the Flag" → "Capture the Flag.game"; characters that are invalid in a name become "-".
static void package_name(const char *place_name, const char *folder, char out[NAME_MAX_BYTES])
{
    char name[NAME_MAX_BYTES];
    snprintf(name, sizeof name, "%s", place_name);
    for (char *c = name; *c != '\0'; c++) {
        *c = strchr("/\\:*?\"<>|", *c) != NULL ? '-' : *c;
    }
    size_t bytes = strlen(name);
    while (bytes > 0 && (name[bytes - 1] == ' ' || name[bytes - 1] == '.')) {
        name[--bytes] = '\0';
    }
    if (bytes == 0 || name[0] == '.' || name[0] == ' ' || name[0] == '-') {
        char *whole = realpath(folder, NULL); // "." has no name, its folder has
        last_name(whole != NULL ? whole : folder, name);
        free(whole);
    }
    snprintf(out, NAME_MAX_BYTES, "%.240s.game", name);
}

static void folder_name(const char *file, char out[NAME_MAX_BYTES])
{
    static const char *const endings[] = {".game", ".zip", ".tar.gz", ".tgz", ".tar.zst", ".tar"};
    last_name(file, out);
    const size_t bytes = strlen(out);
    for (size_t i = 0; i < sizeof endings / sizeof endings[0]; i++) {
        const size_t ending = strlen(endings[i]);
        if (bytes > ending && strcmp(out + bytes - ending, endings[i]) == 0) {
            out[bytes - ending] = '\0';
            return;
        }
    }
    snprintf(out + bytes, NAME_MAX_BYTES - bytes, ".place"); // never the file itself
}

// --- pack ---------------------------------------------------------------------------------------

typedef struct Packed {
    const char *path;
    const Buffer *zip;
    const PackageInfo *info;
    uint32_t warning_count;
    uint8_t hash[SHA256_BYTES];
} Packed;

static void write_packed(JsonWriter *json, const void *what)
{
    const Packed *packed = what;
    json_member_bool(json, "ok", true);
    command_json_text(json, "file", packed->path);
    command_json_hash(json, "sha256", packed->hash);
    json_member_count(json, "bytes", packed->zip->bytes);
    json_member_count(json, "unpackedBytes", packed->info->folder.bytes);
    json_member_count(json, "files", packed->info->folder.file_count);
    json_member_count(json, "warnings", packed->warning_count);
}

static bool print_packed(const Session *session, const char *path, const Buffer *zip,
                         const PackageInfo *info)
{
    Packed packed = {path, zip, info, session->warnings.warning_count, {0}};
    sha256_of(zip->data, zip->bytes, packed.hash);
    if (session->options->json) {
        return command_json_print(write_packed, &packed);
    }
    char size[16], packed_size[16], hex[2 * SHA256_BYTES + 1];
    package_show_bytes(info->folder.bytes, size);
    package_show_bytes(zip->bytes, packed_size);
    sha256_hex(packed.hash, hex);
    diagnostic_print(stdout, "%s: %u files, %s, packed %s", path, info->folder.file_count, size,
                     packed_size);
    printf("sha256 %s\n", hex);
    return true;
}

// Why a file could not be opened or written, by errno.
static const char *file_refusal(void)
{
    return errno == EINVAL ? "is not a regular file" : strerror(errno);
}

static int fail_to_write(Session *session, Status status, const char *path)
{
    snprintf(session->reason, sizeof session->reason, "cannot be written: %s", file_refusal());
    return fail(session, status, path);
}

// Whatever lies there, a link to nowhere too, may be somebody's work.
static bool would_replace(Session *session, const char *path)
{
    struct stat about;
    const bool is_there = !session->options->is_forced && lstat(path, &about) == 0;
    if (is_there) {
        snprintf(session->reason, sizeof session->reason, "exists; --force replaces it");
    }
    return is_there;
}

static int pack(Session *session)
{
    const Options *options = session->options;
    Buffer zip = {0};
    PackageInfo info = {0};
    watch(session, LARGE_BYTES);
    const BuildContext context = context_of(session);
    Status status = package_pack(&context, options->from, &zip, &info);
    if (status != STATUS_OK) {
        wipe_line(session);
        if (print_refusal(session, options->from) && !options->json) { // JSON has the reason
            snprintf(session->reason, sizeof session->reason, "not packed: 1 error");
        }
        return fail(session, status, options->from);
    }
    char name[NAME_MAX_BYTES];
    package_name(info.name, options->from, name);
    const char *path = options->to != NULL ? options->to : name;
    print_warnings(session);
    status =
        would_replace(session, path) ? STATUS_EXISTS : file_write_shared(path, zip.data, zip.bytes);
    int result = EXIT_FAILED;
    if (status == STATUS_EXISTS) {
        result = fail(session, status, path);
    } else if (status != STATUS_OK) {
        result = fail_to_write(session, status, path);
    } else if (print_packed(session, path, &zip, &info)) {
        result = EXIT_OK;
    }
    package_info_free(&info);
    buffer_free(&zip);
    return result;
}

// --- unpack and inspect -------------------------------------------------------------------------

// Reads a package from disk. Its path may be a symbolic link, because people use them.
static Status read_package(Session *session, uint8_t **bytes, size_t *count)
{
    const char *path = session->options->from;
    char *whole = realpath(path, NULL);
    const Status status = file_read(whole != NULL ? whole : path, PACKAGE_BYTES_MAX, bytes, count);
    if (status == STATUS_LIMIT) {
        snprintf(session->reason, sizeof session->reason, "a package has at most %u MiB",
                 PACKAGE_BYTES_MAX >> 20);
    } else if (status != STATUS_OK) {
        snprintf(session->reason, sizeof session->reason, "%s", file_refusal());
    }
    free(whole);
    return status;
}

static void print_next(const char *folder)
{
    char quoted[PATH_BYTES];
    command_quote(folder, quoted, sizeof quoted);
    diagnostic_print(stdout, "check it:        sandlot build %s", quoted);
    diagnostic_print(stdout, "play it:         sandlot world --place %s", quoted);
    diagnostic_print(stdout, "for an editor:   sandlot new %s --types", quoted);
}

static int unpack(Session *session)
{
    const Options *options = session->options;
    uint8_t *bytes = NULL;
    size_t count = 0;
    PlaceFolder files;
    char name[NAME_MAX_BYTES];
    folder_name(options->from, name);
    const char *folder = options->to != NULL ? options->to : name;
    Status status = read_package(session, &bytes, &count);
    if (status != STATUS_OK) {
        return fail(session, status, options->from);
    }
    watch(session, count);
    const BuildContext context = context_of(session);
    status = package_read(&context, bytes, count, &files);
    free(bytes);
    if (status != STATUS_OK) {
        return fail(session, status, options->from);
    }
    print_warnings(session);
    status = package_unpack(&files, folder, session->reason);
    if (status == STATUS_OK) {
        char size[16];
        package_show_bytes(files.bytes, size);
        diagnostic_print(stdout, "%s: %u files, %s", folder, files.file_count, size);
        print_next(folder);
    }
    place_folder_free(&files);
    return status == STATUS_OK ? EXIT_OK : fail(session, status, options->from);
}

static bool is_folder(const char *path)
{
    struct stat about;
    return stat(path, &about) == 0 && S_ISDIR(about.st_mode);
}

// A folder is inspected as the package that it would become.
static Status read_from(Session *session, uint8_t **bytes, size_t *count)
{
    if (!is_folder(session->options->from)) {
        return read_package(session, bytes, count);
    }
    Buffer zip = {0};
    DiagnosticList said_again = {0};
    BuildContext context = context_of(session);
    context.diagnostics = &said_again;
    const Status status = package_write(&context, session->options->from, &zip);
    diagnostic_list_free(&said_again);
    if (status == STATUS_OK) {
        *bytes = zip.data;
        *count = zip.bytes;
    }
    return status;
}

static int write_thumbnail(Session *session, const PackageInfo *info)
{
    const char *path = session->options->thumbnail;
    if (info->thumbnail == NULL) {
        snprintf(session->reason, sizeof session->reason,
                 "the place has no picture in assets/ for a thumbnail");
        return fail(session, STATUS_NOT_FOUND, session->options->from);
    }
    const Status status = file_write_shared(path, info->thumbnail, info->thumbnail_bytes);
    return status == STATUS_OK ? EXIT_OK : fail_to_write(session, status, path);
}

static bool is_error_too(const DiagnosticList *list, const Diagnostic *warning)
{
    for (uint32_t i = 0; i < list->count; i++) {
        const Diagnostic *item = &list->items[i];
        if (item->level == DIAGNOSTIC_ERROR && item->line == warning->line &&
            item->column == warning->column && strcmp(item->file, warning->file) == 0 &&
            strcmp(item->message, warning->message) == 0) {
            return true;
        }
    }
    return false;
}

// If place.json cannot be read, reading the name gives a warning and reading the contexts an error.
// That is one mistake, so it is printed once.
static void drop_repeated(DiagnosticList *list)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < list->count; i++) {
        const Diagnostic item = list->items[i];
        if (item.level == DIAGNOSTIC_WARNING && is_error_too(list, &item)) {
            list->warning_count -= 1;
        } else {
            list->items[kept++] = item;
        }
    }
    list->count = kept;
}

static int show(Session *session, const PackageInfo *info, size_t count)
{
    const Options *options = session->options;
    SoulList souls = {0};
    Status status = soul_scan(&info->folder, &souls, &session->warnings);
    if (status == STATUS_OK) {
        const BuildContext context = context_of(session);
        status = contexts_ask(&context, &info->folder, &souls);
    }
    if (status != STATUS_OK) {
        soul_list_free(&souls);
        return fail(session, status, options->from);
    }
    soul_check_counts(&souls, &session->warnings);
    drop_repeated(&session->warnings);
    const PackageShown shown = {.path = options->from,
                                .info = info,
                                .is_folder = is_folder(options->from),
                                .archive_bytes = count,
                                .souls = &souls,
                                .diagnostics = &session->warnings};
    // First the steps that can fail, so that one JSON object can report the result.
    int result = options->thumbnail != NULL ? write_thumbnail(session, info) : EXIT_OK;
    if (!options->json) {
        package_show_table(&shown, stdout);
    } else if (result == EXIT_OK && !package_show_json(&shown)) {
        result = EXIT_FAILED;
    }
    soul_list_free(&souls);
    return result;
}

static int inspect(Session *session)
{
    uint8_t *bytes = NULL;
    size_t count = 0;
    PackageInfo info;
    Status status = read_from(session, &bytes, &count);
    if (status == STATUS_OK) {
        watch(session, count);
        const BuildContext context = context_of(session);
        status = package_open(&context, bytes, count, true, &info);
    }
    free(bytes);
    if (status != STATUS_OK) {
        return fail(session, status, session->options->from);
    }
    wipe_line(session);
    package_hash_files(&info);
    const int result = show(session, &info, count);
    package_info_free(&info);
    return result;
}

static int run(int argc, char **argv, int (*work)(Session *))
{
    Options options = {.command = argv[0], .json = command_wants_json(argc, argv)};
    Session session;
    bool done = false;
    const int parsed = parse_arguments(&options, argc, argv, &done);
    if (parsed != EXIT_OK || done) {
        return parsed;
    }
    if (!begin_session(&session, &options)) {
        return command_fail(options.command, options.json, EXIT_FAILED, "out of memory");
    }
    const int result = work(&session);
    end(&session);
    return result;
}

int cmd_pack(int argc, char **argv)
{
    return run(argc, argv, pack);
}

int cmd_unpack(int argc, char **argv)
{
    return run(argc, argv, unpack);
}

int cmd_inspect(int argc, char **argv)
{
    return run(argc, argv, inspect);
}
