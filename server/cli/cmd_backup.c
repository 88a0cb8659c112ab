// `sandlot backup` and `sandlot restore`: a data folder as one file, and back.
#define _GNU_SOURCE
#include "server/backup/backup.h"
#include "server/build/base/diagnostic.h"
#include "server/cli/command.h"

#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#define NICE      10              // as work that blocks in a host
#define IDLE_DISK ((3 << 13) | 0) // ioprio_set(2): IOPRIO_CLASS_IDLE

// A running host comes first, for the processor and for the disk.
static void give_way(void)
{
    (void)setpriority(PRIO_PROCESS, 0, NICE);
    (void)syscall(SYS_ioprio_set, 1, 0, IDLE_DISK); // 1: this thread
}

static void print_backup_usage(FILE *out)
{
    fprintf(out, "usage: sandlot backup [--data DIR] FILE\n\n"
                 "  FILE        the backup: a tar, readable by its owner alone, because it holds\n"
                 "              the keys. It is replaced if it exists\n"
                 "  --data DIR  the data folder (default: SANDLOT_DATA, or\n"
                 "              ~/.local/share/sandlot)\n\n"
                 "Backs up a data folder, whether or not a sandlot is running on it. The cache\n"
                 "and journals are left out, and so are places that are folders of their own.\n"
                 "Exit codes: 0 success, 1 failed, 2 invalid arguments.\n");
}

static void print_restore_usage(FILE *out)
{
    fprintf(out, "usage: sandlot restore FILE [--data DIR] [--deletions FILE]\n\n"
                 "  FILE              a backup that `sandlot backup` made\n"
                 "  --data DIR        the data folder to make; it must not exist or be empty\n"
                 "                    (default: SANDLOT_DATA, or ~/.local/share/sandlot)\n"
                 "  --deletions FILE  deletions.log of the data folder that is replaced: the\n"
                 "                    accounts in it are deleted again\n\n"
                 "Everything is checked before the folder appears. Players and hosts of the\n"
                 "life after the backup are not let in.\n"
                 "Exit codes: 0 success, 1 failed, 2 invalid arguments.\n");
}

typedef struct BackupOptions {
    const char *command;
    CommandUsage usage;
    const char *data, *file, *deletions;
    char home[BACKUP_PATH_BYTES];
} BackupOptions;

// As `sandlot up` finds it.
static const char *default_data(BackupOptions *options)
{
    const char *named = getenv("SANDLOT_DATA"), *data = getenv("XDG_DATA_HOME");
    const char *home = getenv("HOME");
    if (named != NULL && named[0] != '\0') {
        return named;
    }
    if (data != NULL && data[0] == '/') {
        snprintf(options->home, sizeof options->home, "%s/sandlot", data);
    } else if (home != NULL && home[0] == '/') {
        snprintf(options->home, sizeof options->home, "%s/.local/share/sandlot", home);
    }
    return options->home[0] != '\0' ? options->home : NULL;
}

// -1: go on; else the exit code.
static int read_options(int argc, char **argv, BackupOptions *options)
{
    const bool is_restore = strcmp(options->command, "restore") == 0;
    for (int i = 1; i < argc; i++) {
        const char *value = command_value(argc, argv, i);
        if (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0) {
            options->usage(stdout);
            return EXIT_OK;
        }
        if (strcmp(argv[i], "--data") == 0 && value != NULL) {
            options->data = argv[++i];
        } else if (is_restore && strcmp(argv[i], "--deletions") == 0 && value != NULL) {
            options->deletions = argv[++i];
        } else if (argv[i][0] == '-') {
            char why[512];
            command_option_error(argv[i], options->usage, why, sizeof why);
            return command_misused(options->command, false, why, NULL);
        } else if (options->file != NULL) {
            return command_misused(options->command, false,
                                   "give only one file; this is a second:", argv[i]);
        } else {
            options->file = argv[i];
        }
    }
    if (options->file == NULL || options->file[0] == '\0') {
        return command_misused(options->command, false, "no file given", NULL);
    }
    options->data = options->data != NULL ? options->data : default_data(options);
    return options->data != NULL ? -1
                                 : command_misused(options->command, false,
                                                   "there is no home folder; say --data DIR", NULL);
}

int cmd_backup(int argc, char **argv)
{
    BackupOptions options = {.command = "backup", .usage = print_backup_usage};
    const int code = read_options(argc, argv, &options);
    if (code >= 0) {
        return code;
    }
    BackupFacts facts;
    char reason[BACKUP_REASON_BYTES] = "";
    command_on_signals(command_cancel);
    give_way();
    if (backup_write(options.data, options.file, SANDLOT_VERSION, command_is_cancelled, &facts,
                     reason) != STATUS_OK) {
        return command_fail("backup", false, EXIT_FAILED, reason);
    }
    diagnostic_print(stdout, "backed up %s as of %s into %s (%" PRIu64 " files, %" PRIu64 " bytes)",
                     options.data, facts.time, options.file, facts.file_count, facts.bytes);
    if (facts.skipped_count > 0) {
        diagnostic_print(stderr,
                         "sandlot backup: left out %u links or other things that are no files",
                         facts.skipped_count);
    }
    return EXIT_OK;
}

int cmd_restore(int argc, char **argv)
{
    BackupOptions options = {.command = "restore", .usage = print_restore_usage};
    const int code = read_options(argc, argv, &options);
    if (code >= 0) {
        return code;
    }
    BackupFacts facts;
    char reason[BACKUP_REASON_BYTES] = "", quoted[BACKUP_PATH_BYTES];
    command_on_signals(command_cancel);
    if (backup_restore(options.file, options.data, options.deletions, command_is_cancelled, &facts,
                       reason) != STATUS_OK) {
        return command_fail("restore", false, EXIT_FAILED, reason);
    }
    diagnostic_print(stdout, "restored %s as of %s (made by sandlot %s)", options.data, facts.time,
                     facts.program);
    if (options.deletions != NULL) {
        diagnostic_print(stdout, "deleted %u accounts again", facts.deletion_count);
    }
    command_quote(options.data, quoted, sizeof quoted);
    diagnostic_print(
        stdout, "start it:    sandlot up --data %s; places are built again at the start", quoted);
    return EXIT_OK;
}
