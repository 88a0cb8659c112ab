// One file of a place: written completely or not at all, never through a link, and created only
// once.
#define _GNU_SOURCE
#include "server/build/place/place_file.h"
#include "tests/support/test.h"
#include "tests/support/test_folder.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

TEST(files_are_written_and_read)
{
    const TestFolder place = test_folder_make();
    uint8_t *text = NULL;
    size_t bytes = 0;
    CHECK_INT(place_file_read(place.path, "a/b.lua", 100, &text, &bytes), STATUS_NOT_FOUND);
    CHECK_INT(place_file_write(place.path, "a/b.lua", "one", 3, false), STATUS_NOT_FOUND);
    CHECK_OK(place_file_write(place.path, "a/b.lua", "one", 3, true));
    CHECK_INT(place_file_write(place.path, "a/b.lua", "two", 3, true), STATUS_EXISTS);
    CHECK_OK(place_file_write(place.path, "a/b.lua", "three", 5, false));
    CHECK_INT(place_file_read(place.path, "a/b.lua", 4, &text, &bytes), STATUS_LIMIT);
    REQUIRE(place_file_read(place.path, "a/b.lua", 5, &text, &bytes) == STATUS_OK);
    CHECK_INT(bytes, 5);
    CHECK_TEXT((const char *)text, "three");
    free(text);
    CHECK_INT(test_folder_count(&place, "a"), 1);
    char aside[64];
    snprintf(aside, sizeof aside, ".sandlot-%ld-0123", (long)getpid());
    CHECK(place_file_is_aside(aside));
    snprintf(aside, sizeof aside, ".sandlot-%ld-0123", (long)getppid());
    CHECK(!place_file_is_aside(aside) && !place_file_is_aside("scene.json"));
    CHECK_INT(place_file_write("/no/such/place", "a.lua", "x", 1, true), STATUS_NOT_FOUND);
    test_folder_remove(&place);
}

TEST(paths_stay_inside)
{
    static const char *const paths[] = {
        "",  "/",   "/etc/x", "..",      "../x", "a/../x",   "a//b",   "a/",
        ".", "./a", "a/./b",  ".hidden", "a\\b", "a/.git/x", "a/b\\c", "a/../../x"};
    const TestFolder place = test_folder_make();
    for (size_t i = 0; i < sizeof paths / sizeof paths[0]; i++) {
        uint8_t *text = NULL;
        size_t bytes = 0;
        CHECK_INT(place_file_write(place.path, paths[i], "x", 1, true), STATUS_MALFORMED);
        CHECK_INT(place_file_read(place.path, paths[i], 9, &text, &bytes), STATUS_MALFORMED);
    }
    char longest[PLACE_FILE_PATH_BYTES + 1];
    memset(longest, 'x', sizeof longest - 1);
    longest[sizeof longest - 1] = '\0';
    CHECK_INT(place_file_write(place.path, longest, "x", 1, true), STATUS_MALFORMED);
    CHECK_INT(test_folder_count(&place, ""), 0);
    test_folder_remove(&place);
}

TEST(links_and_odd_files_are_refused)
{
    const TestFolder place = test_folder_make();
    uint8_t *text = NULL;
    size_t bytes = 0;
    char path[128];
    test_folder_write(&place, "real.lua", "real");
    snprintf(path, sizeof path, "%s/link.lua", place.path);
    CHECK(symlink("real.lua", path) == 0);
    snprintf(path, sizeof path, "%s/up", place.path);
    CHECK(symlink("..", path) == 0);
    snprintf(path, sizeof path, "%s/pipe.lua", place.path);
    CHECK(mkfifo(path, 0600) == 0);
    snprintf(path, sizeof path, "%s/folder.lua", place.path);
    CHECK(mkdir(path, 0700) == 0);
    static const char *const paths[] = {"link.lua", "up/x.lua", "pipe.lua", "folder.lua"};
    for (size_t i = 0; i < sizeof paths / sizeof paths[0]; i++) {
        CHECK_INT(place_file_read(place.path, paths[i], 99, &text, &bytes), STATUS_DENIED);
        CHECK_INT(place_file_write(place.path, paths[i], "x", 1, false), STATUS_DENIED);
    }
    CHECK_INT(place_file_write(place.path, "link.lua", "x", 1, true), STATUS_DENIED);
    CHECK_INT(place_file_write(place.path, "up/x.lua", "x", 1, true), STATUS_DENIED);
    CHECK_INT(place_file_read(place.path, "real.lua/x", 99, &text, &bytes), STATUS_NOT_FOUND);
    CHECK_TEXT(test_folder_read(&place, "real.lua"), "real");
    CHECK_INT(test_folder_count(&place, ""), 5);
    test_folder_remove(&place);
}

// --- without any lock ---------------------------------------------------------------------------

#define WRITERS 6
#define ROUNDS  40

typedef struct Writer {
    const TestFolder *place;
    const char *path;
    char text[16];
    pthread_barrier_t *gate;
    Status status;
} Writer;

static void *writer_main(void *user)
{
    Writer *writer = user;
    pthread_barrier_wait(writer->gate);
    writer->status = place_file_write(writer->place->path, writer->path, writer->text,
                                      strlen(writer->text), true);
    return NULL;
}

TEST(a_new_file_is_made_once)
{
    const TestFolder place = test_folder_make();
    for (uint32_t round = 0; round < ROUNDS && test_is_passing(); round++) {
        char path[32];
        snprintf(path, sizeof path, "r%u/f.lua", round);
        Writer writers[WRITERS];
        pthread_t threads[WRITERS];
        pthread_barrier_t gate;
        pthread_barrier_init(&gate, NULL, WRITERS);
        for (uint32_t i = 0; i < WRITERS; i++) {
            writers[i] = (Writer){.place = &place, .path = path, .gate = &gate};
            snprintf(writers[i].text, sizeof writers[i].text, "writer %u", i);
            REQUIRE(pthread_create(&threads[i], NULL, writer_main, &writers[i]) == 0);
        }
        uint32_t made = 0;
        const char *winner = "";
        for (uint32_t i = 0; i < WRITERS; i++) {
            pthread_join(threads[i], NULL);
            made += writers[i].status == STATUS_OK;
            winner = writers[i].status == STATUS_OK ? writers[i].text : winner;
            CHECK(writers[i].status == STATUS_OK || writers[i].status == STATUS_EXISTS);
        }
        pthread_barrier_destroy(&gate);
        CHECK_INT(made, 1);
        CHECK_TEXT(test_folder_read(&place, path), winner);
    }
    test_folder_remove(&place);
}
