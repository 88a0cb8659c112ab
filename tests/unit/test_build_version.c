// The file with the last version: where it is, and when it is trusted.
#define _GNU_SOURCE
#include "server/build/pipeline/build_version.h"
#include "tests/support/test.h"
#include "tests/support/test_folder.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const BuildVersion sample = {.number = 4294967295u, .set = {0xab, 1, 2, 3}};

TEST(what_is_written_is_read)
{
    const TestFolder folder = test_folder_make();
    char path[512];
    snprintf(path, sizeof path, "%s/note", folder.path);
    CHECK_INT(build_version_read(path).number, 0);
    CHECK_OK(build_version_write(path, &sample));
    const BuildVersion back = build_version_read(path);
    CHECK_INT(back.number, sample.number);
    CHECK_BYTES(back.set, sample.set, sizeof back.set);
    test_folder_remove(&folder);
}

TEST(nothing_but_its_own_text_counts)
{
    const TestFolder folder = test_folder_make();
    char path[512], good[256], bad[256];
    snprintf(path, sizeof path, "%s/note", folder.path);
    CHECK_OK(build_version_write(path, &sample));
    snprintf(good, sizeof good, "%s", test_folder_read(&folder, "note"));
    const size_t bytes = strlen(good);
    for (size_t i = 0; i < bytes; i++) { // cut off, or changed by one
        snprintf(bad, sizeof bad, "%.*s", (int)i, good);
        test_folder_write(&folder, "note", bad);
        CHECK_INT(build_version_read(path).number, 0);
        snprintf(bad, sizeof bad, "%s", good);
        bad[i] = bad[i] == 'z' ? 'y' : 'z';
        test_folder_write(&folder, "note", bad);
        CHECK_INT(build_version_read(path).number, 0);
    }
    static const char *const others[] = {"version 4294967296\nset ", "version -1\nset ",
                                         "version 01\nset ", "version  1\nset ",
                                         " version 1\nset "};
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
        snprintf(bad, sizeof bad, "%s%064d\n", others[i], 0);
        test_folder_write(&folder, "note", bad);
        CHECK_INT(build_version_read(path).number, 0);
    }
    test_folder_remove(&folder);
}

TEST(what_others_may_write_counts_for_nothing)
{
    const TestFolder folder = test_folder_make();
    char path[512], link[512];
    snprintf(path, sizeof path, "%s/note", folder.path);
    snprintf(link, sizeof link, "%s/link", folder.path);
    CHECK_OK(build_version_write(path, &sample));
    CHECK(symlink(path, link) == 0);
    CHECK_INT(build_version_read(link).number, 0);
    CHECK(chmod(path, 0620) == 0);
    CHECK_INT(build_version_read(path).number, 0);
    CHECK(chmod(path, 0600) == 0);
    CHECK_INT(build_version_read(path).number, sample.number);
    if (geteuid() == 0) {
        CHECK(chown(path, 65534, (gid_t)-1) == 0);
        CHECK_INT(build_version_read(path).number, 0);
    }
    test_folder_remove(&folder);
}

TEST(each_place_has_its_own)
{
    const TestFolder one = test_folder_make(), two = test_folder_make();
    char own[512], round[512], first[BUILD_VERSION_PATH_BYTES], second[BUILD_VERSION_PATH_BYTES];
    test_folder_write(&one, ".sandlot/data/ticket.key", "key");
    snprintf(own, sizeof own, "%s/.sandlot/data/ticket.key", one.path);
    snprintf(round, sizeof round, "%s/.sandlot/../.sandlot/data/ticket.key", one.path);
    CHECK_OK(build_version_path(own, one.path, first));
    CHECK_TEXT(first + strlen(own), ".version");
    CHECK_OK(build_version_path(round, one.path, first)); // however it is written
    CHECK_TEXT(first + strlen(round), ".version");
    CHECK_OK(build_version_path(own, two.path, first));
    CHECK_INT(strlen(first), strlen(own) + strlen(".version.") + 16);
    CHECK_OK(build_version_path(own, "/", second));
    CHECK(strcmp(first, second) != 0);
    static char endless[BUILD_VERSION_PATH_BYTES + 1];
    memset(endless, 'a', sizeof endless - 1);
    CHECK_INT(build_version_path(endless, two.path, first), STATUS_RANGE);
    test_folder_remove(&one);
    test_folder_remove(&two);
}
