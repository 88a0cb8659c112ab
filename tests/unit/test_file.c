// Writing files: completely or not at all, and never over something that is not a regular file.
#define _GNU_SOURCE
#include "server/sys/file.h"
#include "tests/support/test.h"
#include "tests/support/test_folder.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char *inside(const TestFolder *folder, const char *name)
{
    static char path[4096];
    snprintf(path, sizeof path, "%s/%s", folder->path, name);
    return path;
}

static mode_t kind_of(const char *path)
{
    struct stat about;
    return lstat(path, &about) == 0 ? about.st_mode & S_IFMT : 0;
}

TEST(a_file_is_replaced_whole)
{
    const TestFolder folder = test_folder_make();
    const char *path = inside(&folder, "file");
    uint8_t *text = NULL;
    size_t bytes = 0;
    CHECK_OK(file_write_shared(path, "one", 3));
    CHECK_OK(file_write_private(path, "three", 5));
    CHECK_INT(file_read(path, 4, &text, &bytes), STATUS_LIMIT);
    REQUIRE(file_read(path, 5, &text, &bytes) == STATUS_OK);
    CHECK_TEXT((const char *)text, "three");
    free(text);
    CHECK_INT(test_folder_count(&folder, "."), 1);
    test_folder_remove(&folder);
}

TEST(what_is_no_file_stays_what_it_is)
{
    const TestFolder folder = test_folder_make();
    const char *path = inside(&folder, "thing");
    uint8_t *text = NULL;
    size_t bytes = 0;
    REQUIRE(mkfifo(path, 0600) == 0);
    CHECK_INT(file_write_shared(path, "x", 1), STATUS_BLOCKED);
    CHECK_INT(file_read(path, 10, &text, &bytes), STATUS_BLOCKED); // at once: nobody writes to it
    CHECK(kind_of(path) == S_IFIFO);
    REQUIRE(unlink(path) == 0 && mkdir(path, 0700) == 0);
    CHECK_INT(file_write_shared(path, "x", 1), STATUS_BLOCKED);
    CHECK_INT(file_read(path, 10, &text, &bytes), STATUS_BLOCKED);
    CHECK(kind_of(path) == S_IFDIR);
    CHECK_INT(test_folder_count(&folder, "."), 1); // nothing is left beside it
    test_folder_remove(&folder);
}
