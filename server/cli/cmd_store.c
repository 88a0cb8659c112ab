// `sandlot store copy`: what is stored, from one database to another of any engine.
#define _GNU_SOURCE
#include "server/build/base/diagnostic.h"
#include "server/cli/command.h"
#include "server/control/settings/settings.h"
#include "server/store/place/blob_move.h"
#include "server/store/store.h"
#include "server/store/store_move.h"
#include "server/sys/file.h"

#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PATH_BYTES 4096

static void print_usage(FILE *out)
{
    fprintf(out, "usage: sandlot store copy [--overwrite] FROM TO\n\n"
                 "  FROM, TO  a data folder, or the address of a PostgreSQL server:\n"
                 "            postgres://sandlot@db.example/sandlot\n\n"
                 "Copies everything that is stored in the database of FROM to that of TO, and\n"
                 "compares the two at the end. Only what differs is written, so it can be stopped\n"
                 "and run again. A server may run on FROM meanwhile; stop it, and run the copy\n"
                 "once more for what it has written since, before a server starts on TO. While\n"
                 "one runs on TO the copy is refused; also if hosts have run there since, unless\n"
                 "--overwrite says that what they have stored there may be deleted.\n"
                 "Exit codes: 0 both are the same, 1 failed or not the same yet, 2 invalid\n"
                 "arguments.\n");
}

static bool is_url(const char *text)
{
    return strncmp(text, "postgres://", 11) == 0 || strncmp(text, "postgresql://", 13) == 0;
}

typedef struct End {
    char path[PATH_BYTES];
    int lock; // of the data folder; -1: none, or a server uses it
    bool is_used;
} End;

// The database of a data folder, which is locked while it is copied unless a server has it.
static bool find_end(const char *given, End *out)
{
    out->lock = -1;
    out->is_used = false;
    if (is_url(given)) {
        return snprintf(out->path, sizeof out->path, "%s", given) < (int)sizeof out->path;
    }
    if (file_make_folders(given) != STATUS_OK ||
        snprintf(out->path, sizeof out->path, "%s/host.lock", given) >= (int)sizeof out->path) {
        return false;
    }
    const Status status = file_lock(out->path, &out->lock);
    out->is_used = status == STATUS_EXISTS;
    out->lock = status == STATUS_OK ? out->lock : -1;
    snprintf(out->path, sizeof out->path, "%s/sandlot.db", given);
    return status == STATUS_OK || status == STATUS_EXISTS;
}

static void print_table(void *user, const char *table, uint64_t rows, uint64_t written)
{
    (void)user;
    if (rows > 0 || written > 0) {
        diagnostic_print(stdout, "%-26s %10" PRIu64 " rows, %" PRIu64 " written", table, rows,
                         written);
    }
}

// Blobs are in files of a data folder, and in rows of a server.
static Status copy_blobs(const char *from, const char *to, char *reason, size_t bytes)
{
    const bool is_back = is_url(from);
    BlobMoved moved;
    if (is_back == is_url(to)) {
        return STATUS_OK;
    }
    StoreConfig config = store_config_default();
    Store *store = NULL;
    config.path = is_back ? from : to;
    Status status = store_open(&config, &store, reason, bytes); // makes the tables
    if (status != STATUS_OK) {
        return status;
    }
    store_close(store);
    status = blob_move(is_back ? to : from, is_back ? from : to, is_back, command_is_cancelled,
                       &moved, reason, bytes);
    if (status == STATUS_OK) {
        diagnostic_print(stdout, "%-26s %10" PRIu64 " files, %" PRIu64 " written", "blobs",
                         moved.seen, moved.copied);
    }
    return status;
}

static int copy(const char *from, const char *to, bool overwrites)
{
    static End source, target;
    char reason[512] = "";
    if (!find_end(from, &source) || !find_end(to, &target)) {
        return command_fail("store", false, EXIT_FAILED, "the data folder cannot be used");
    }
    if (target.is_used) {
        return command_fail("store", false, EXIT_FAILED,
                            "a server runs on the target; stop it first");
    }
    const struct sigaction action = {.sa_handler = command_cancel, .sa_flags = SA_RESTART};
    (void)sigaction(SIGINT, &action, NULL);
    (void)sigaction(SIGTERM, &action, NULL);
    StoreMoved moved = {0};
    const StoreMove move = {.from = source.path,
                            .to = target.path,
                            .overwrites = overwrites,
                            .is_cancelled = command_is_cancelled,
                            .told = print_table};
    Status status = store_move_check(target.path, reason, sizeof reason);
    // First the blobs, then the rows that name them.
    if (status == STATUS_OK) {
        status = copy_blobs(from, to, reason, sizeof reason);
    }
    if (status == STATUS_OK) {
        status = store_move(&move, &moved, reason, sizeof reason);
    }
    if (status == STATUS_OK && !source.is_used && !moved.source_has_hosts) {
        diagnostic_print(
            stdout, "both are the same: %" PRIu64 " rows, hash %016" PRIx64 "; %" PRIu64 " written",
            moved.rows, moved.hash, moved.written);
        return EXIT_OK;
    }
    if (status == STATUS_OK || status == STATUS_MISMATCH) {
        diagnostic_print(stdout, "copied %" PRIu64 " rows (%" PRIu64 " written) while %s",
                         moved.rows, moved.written,
                         is_url(from) ? "hosts run on the source. Stop all of them and run this "
                                        "again; one that was killed counts for half a minute more"
                                      : "a server uses the source. Stop that server and run this "
                                        "again");
        return EXIT_FAILED;
    }
    if (status == STATUS_LIMIT) {
        return command_fail("store", false, EXIT_FAILED,
                            "stopped; run it again to go on with the rest");
    }
    return command_fail("store", false, EXIT_FAILED,
                        reason[0] != '\0' ? reason : status_text(status));
}

int cmd_store(int argc, char **argv)
{
    bool overwrites = false;
    int kept = 1;
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0) {
            print_usage(stdout);
            return EXIT_OK;
        }
        if (strcmp(argv[i], "--overwrite") == 0) {
            overwrites = true;
        } else if (argv[i][0] == '-') {
            char why[512];
            command_option_error(argv[i], print_usage, why, sizeof why);
            return command_misused("store", false, why, NULL);
        } else {
            argv[kept++] = argv[i];
        }
    }
    argc = kept;
    if (argc < 2 || strcmp(argv[1], "copy") != 0) {
        return command_misused("store", false, "the only thing it does is: copy FROM TO", NULL);
    }
    if (argc != 4) {
        return command_misused("store", false, "copy needs two arguments: FROM and TO", NULL);
    }
    for (int i = 2; i < 4; i++) {
        char why[SETTINGS_REASON_BYTES];
        if (is_url(argv[i]) && !settings_check_store(argv[i], why)) {
            return command_misused("store", false, why, NULL);
        }
    }
    return copy(argv[2], argv[3], overwrites);
}
