// `sandlot replay`: enters a journal into a new world and checks that the state is the same. A
// journal contains runes and is not signed. So the process first reads its files as bytes, then
// enters the jail, and only then parses them.
#include "core/place/place.h"
#include "server/build/base/diagnostic.h"
#include "server/build/place/place_folder.h"
#include "server/channel/journal_replay.h"
#include "server/cli/command.h"
#include "server/sys/file.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define JOURNAL_BYTES_MAX  (4ull << 30)
#define COMPILED_BYTES_MAX (256u << 20)
#define HEAP_BYTES         (8ull << 30)
#define JAIL_BYTES         (16ull << 30)

static void print_usage(FILE *out)
{
    fprintf(out,
            "usage: sandlot replay FILE [--place DIR]   replay the journal of a world\n\n"
            "  --place DIR        the place of that world, unchanged (default: the folder that\n"
            "                     contains .sandlot/data/FILE)\n"
            "  --allow-weak-jail  continue even if the kernel lacks a layer of the jail\n\n"
            "Compares the world's hash once per second with the one in the journal. Exit codes:\n"
            "0 all are equal, 1 one differs or the replay failed, 2 invalid arguments.\n");
}

typedef struct Replay {
    Heap heap;
    PlaceFolder folder;
    uint8_t *whole, *stripped;
    Place *place;
    uint8_t *journal;
    size_t journal_bytes;
    WorldConfig config;
} Replay;

static int failed(const char *what, const char *why)
{
    diagnostic_print(stderr, "sandlot replay: %s: %s", what, why);
    return EXIT_FAILED;
}

// Reads all files as bytes, without parsing them.
static int read_files(Replay *replay, const char *file, const char *place)
{
    char reason[WORKER_REASON_BYTES];
    if (place_folder_read(place, &replay->folder, reason) != STATUS_OK) {
        return failed("the place", reason);
    }
    const Status status =
        file_read(file, JOURNAL_BYTES_MAX, &replay->journal, &replay->journal_bytes);
    return status == STATUS_OK ? EXIT_OK : failed(file, status_text(status));
}

static int lock_in(bool allow_weak)
{
    char reason[256];
    return command_lock_in(allow_weak, JAIL_BYTES, reason, sizeof reason)
               ? EXIT_OK
               : failed("not replayed", reason);
}

static int open_place(Replay *replay, const char *path)
{
    char reason[512];
    PlaceError error = {0};
    replay->whole = malloc(COMPILED_BYTES_MAX);
    replay->stripped = malloc(COMPILED_BYTES_MAX);
    if (replay->whole == NULL || replay->stripped == NULL) {
        return failed(path, "out of memory");
    }
    ByteWriter whole = byte_writer(replay->whole, COMPILED_BYTES_MAX);
    ByteWriter stripped = byte_writer(replay->stripped, COMPILED_BYTES_MAX);
    Status status = place_compile(&replay->heap, replay->folder.files, replay->folder.file_count,
                                  &whole, &error);
    if (status != STATUS_OK) {
        place_error_text(&error, reason, sizeof reason);
        return failed(path, reason);
    }
    status = place_strip(&replay->heap, replay->whole, whole.at, &stripped);
    if (status == STATUS_OK) {
        status = place_load(&replay->heap, replay->whole, whole.at, &replay->place);
    }
    if (status != STATUS_OK) {
        return failed(path, status_text(status));
    }
    replay->config = world_config_default();
    replay->config.place = replay->place;
    replay->config.stripped = replay->stripped;
    replay->config.stripped_bytes = stripped.at;
    return EXIT_OK;
}

static int compare(Replay *replay, const char *file)
{
    JournalReplay result;
    const Status status = journal_replay_all(&replay->heap, &replay->config, replay->journal,
                                             replay->journal_bytes, &result);
    if (status != STATUS_OK) {
        return failed(file,
                      status == STATUS_MISMATCH
                          ? "the journal belongs to another place, or the place has changed since"
                          : status_text(status));
    }
    if (result.differs_tick != 0) {
        printf("differs at tick %" PRIu64 ": the journal has %016" PRIx64
               ", the replay has %016" PRIx64 "\n",
               result.differs_tick, result.expected, result.found);
        return EXIT_FAILED;
    }
    printf("%" PRIu64 " entries, %" PRIu64 " ticks, %" PRIu64 " hashes: all equal%s\n",
           result.entries, result.ticks, result.hashes,
           result.truncated ? "; the last record was cut off" : "");
    return EXIT_OK;
}

// The place, if the data folder is in it as usual: FILE/../../.. .
static bool place_of(const char *file, char *out, size_t bytes)
{
    const char *at = strstr(file, "/.sandlot/");
    if (at == NULL || (size_t)(at - file) >= bytes) {
        return false;
    }
    memcpy(out, file, (size_t)(at - file));
    out[at - file] = '\0';
    return true;
}

int cmd_replay(int argc, char **argv)
{
    const char *file = NULL, *place = NULL;
    bool allow_weak = false;
    char beside[4096];
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0) {
            print_usage(stdout);
            return EXIT_OK;
        }
        if (strcmp(argv[i], "--place") == 0 && i + 1 < argc) {
            place = argv[++i];
        } else if (strcmp(argv[i], "--allow-weak-jail") == 0) {
            allow_weak = true;
        } else if (argv[i][0] != '-' && file == NULL) {
            file = argv[i];
        } else {
            char why[512];
            snprintf(why, sizeof why, "give only one file at a time; this is a second one: %.300s",
                     argv[i]);
            if (argv[i][0] == '-') {
                command_option_error(argv[i], print_usage, why, sizeof why);
            }
            diagnostic_print(stderr, "sandlot replay: %s", why);
            fprintf(stderr, "\n");
            print_usage(stderr);
            return EXIT_USAGE;
        }
    }
    if (file == NULL || (place == NULL && !place_of(file, beside, sizeof beside))) {
        fprintf(stderr, "sandlot replay: %s\n\n",
                file == NULL ? "no journal file given"
                             : "the file is not inside a place; give the place with --place");
        print_usage(stderr);
        return EXIT_USAGE;
    }
    Replay replay = {.heap = heap_make(HEAP_BYTES)};
    place = place != NULL ? place : beside;
    int code = read_files(&replay, file, place);
    if (code == EXIT_OK) {
        code = lock_in(allow_weak);
    }
    if (code == EXIT_OK) {
        code = open_place(&replay, place);
    }
    if (code == EXIT_OK) {
        code = compare(&replay, file);
    }
    command_end_locked(code); // ending the process frees everything
}
