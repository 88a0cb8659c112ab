// Data folders: ours, a stranger's, a copy of our own, and links.
#define _GNU_SOURCE
#include "server/build/place/place_home.h"

#include "server/sys/file.h"
#include "tests/support/test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char place[64];
static char data[PLACE_HOME_PATH_BYTES];
static const char *why;

static void make_place(void)
{
    snprintf(place, sizeof place, "/tmp/sandlot-home-XXXXXX");
    REQUIRE(mkdtemp(place) != NULL);
    why = "";
}

static void remove_place(void)
{
    char command[256];
    snprintf(command, sizeof command, "rm -rf '%s' '%s.copy'", place, place);
    CHECK_INT(system(command), 0);
}

static void write_key(const char *folder)
{
    char path[PLACE_HOME_PATH_BYTES + 16];
    snprintf(path, sizeof path, "%s/ticket.key", folder);
    CHECK_OK(file_write_private(path, "key", 3));
}

TEST(what_is_made_here_stays_ours)
{
    make_place();
    CHECK_OK(place_home_check(place, &why)); // nothing there, nothing wrong
    CHECK_OK(place_home_data(place, data, &why));
    write_key(data);
    CHECK_OK(place_home_data(place, data, &why));
    CHECK_OK(place_home_check(place, &why));
    // A place that is moved takes its folder along.
    char elsewhere[80];
    snprintf(elsewhere, sizeof elsewhere, "%s.moved", place);
    REQUIRE(rename(place, elsewhere) == 0);
    CHECK_OK(place_home_data(elsewhere, data, &why));
    REQUIRE(rename(elsewhere, place) == 0);
    remove_place();
}

TEST(a_copy_is_refused_until_it_is_adopted)
{
    make_place();
    CHECK_OK(place_home_data(place, data, &why));
    write_key(data);
    char copy[80], command[256];
    snprintf(copy, sizeof copy, "%s.copy", place);
    snprintf(command, sizeof command, "cp -a '%s' '%s'", place, copy);
    REQUIRE(system(command) == 0);
    CHECK_INT(place_home_check(copy, &why), STATUS_DENIED);
    CHECK_INT(place_home_data(copy, data, &why), STATUS_DENIED);
    CHECK(strstr(why, "elsewhere") != NULL && strstr(why, "--adopt") != NULL);
    CHECK_OK(place_home_adopt(copy, &why));
    CHECK_OK(place_home_data(copy, data, &why));
    CHECK_OK(place_home_data(place, data, &why)); // and the first is as it was
    remove_place();
}

TEST(a_folder_with_nothing_to_believe_becomes_ours)
{
    make_place();
    char path[128];
    snprintf(path, sizeof path, "%s/.sandlot", place);
    REQUIRE(mkdir(path, 0700) == 0);
    snprintf(path, sizeof path, "%s/.sandlot/data", place);
    REQUIRE(mkdir(path, 0700) == 0);
    CHECK_OK(place_home_data(place, data, &why));
    CHECK_OK(place_home_check(place, &why));
    // A note of somebody else's.
    snprintf(path, sizeof path, "%s/.sandlot/data/made-here", place);
    CHECK_OK(file_write_private(path, "inode 1 born 2.000000003\n", 25));
    write_key(data);
    CHECK_INT(place_home_data(place, data, &why), STATUS_DENIED);
    remove_place();
}

TEST(a_folder_with_anything_in_it_is_not_empty)
{
    static const char *const names[] = {"ticket.key",     "ticket.key.old", "sandlot.db",
                                        "sandlot.db-wal", "blobs",          "x"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        make_place();
        CHECK_OK(place_home_data(place, data, &why));
        char path[PLACE_HOME_PATH_BYTES + 32];
        snprintf(path, sizeof path, "%s/made-here", data);
        REQUIRE(unlink(path) == 0);
        snprintf(path, sizeof path, "%s/%s", data, names[i]);
        REQUIRE(symlink("/tmp", path) == 0);
        CHECK_INT(place_home_check(place, &why), STATUS_DENIED);
        CHECK_INT(place_home_data(place, data, &why), STATUS_DENIED);
        remove_place();
    }
}

// Root's `tar x` keeps owners and modes.
TEST(folders_of_others_are_refused)
{
    static const char *const names[] = {".sandlot", ".sandlot/data"};
    const bool is_root = geteuid() == 0; // who alone can give a folder away
    for (size_t i = 0; i < 2 * sizeof names / sizeof names[0]; i++) {
        const bool is_given = i % 2 == 1;
        char path[128];
        make_place();
        CHECK_OK(place_home_data(place, data, &why));
        snprintf(path, sizeof path, "%s/%s", place, names[i / 2]);
        if (is_given && (!is_root || chown(path, 65534, (gid_t)-1) != 0)) {
            remove_place();
            continue;
        }
        REQUIRE(is_given || chmod(path, 0720) == 0);
        CHECK_INT(place_home_data(place, data, &why), STATUS_DENIED);
        CHECK(strstr(why, is_given ? "chown" : "chmod") != NULL && strstr(why, "--data") != NULL);
        CHECK_INT(place_home_check(place, &why), STATUS_DENIED);
        CHECK_INT(place_home_adopt(place, &why), STATUS_DENIED);
        CHECK_INT(place_home_folder(place, "cache", data, &why),
                  i / 2 == 0 ? STATUS_DENIED : STATUS_OK);
        remove_place();
    }
}

static void check_hidden(const char *name)
{
    char path[128];
    uint8_t *text = NULL;
    size_t bytes = 0;
    snprintf(path, sizeof path, "%s/%s/.gitignore", place, name);
    REQUIRE(file_read(path, 16, &text, &bytes) == STATUS_OK);
    CHECK_TEXT((char *)text, "*\n");
    free(text);
}

TEST(git_sees_nothing_whatever_came_along)
{
    make_place();
    char path[128];
    CHECK_OK(place_home_data(place, data, &why));
    check_hidden(".sandlot");
    check_hidden(".sandlot/data");
    snprintf(path, sizeof path, "%s/.sandlot/data/.gitignore", place);
    CHECK_OK(file_write_private(path, "!*\n", 3));
    snprintf(path, sizeof path, "%s/.sandlot/.gitignore", place);
    REQUIRE(unlink(path) == 0 && symlink("/tmp/nowhere", path) == 0);
    CHECK_OK(place_home_data(place, data, &why));
    check_hidden(".sandlot");
    check_hidden(".sandlot/data");
    REQUIRE(unlink(path) == 0 && mkdir(path, 0700) == 0); // which is no list to git
    CHECK_INT(place_home_data(place, data, &why), STATUS_BLOCKED);
    CHECK(strstr(why, ".gitignore") != NULL);
    remove_place();
}

TEST(links_lead_nowhere)
{
    make_place();
    char path[128];
    snprintf(path, sizeof path, "%s/.sandlot", place);
    REQUIRE(symlink("/tmp", path) == 0);
    CHECK_INT(place_home_data(place, data, &why), STATUS_BLOCKED);
    CHECK_INT(place_home_folder(place, "cache", data, &why), STATUS_BLOCKED);
    CHECK_INT(place_home_adopt(place, &why), STATUS_BLOCKED);
    CHECK_INT(place_home_check(place, &why), STATUS_BLOCKED);
    CHECK_TEXT(place_home_at_fault(place, ".sandlot/data"), ".sandlot");
    CHECK(unlink(path) == 0 && mkdir(path, 0700) == 0);
    snprintf(path, sizeof path, "%s/.sandlot/data", place);
    REQUIRE(symlink("/tmp", path) == 0);
    CHECK_INT(place_home_data(place, data, &why), STATUS_BLOCKED);
    CHECK_TEXT(place_home_at_fault(place, ".sandlot/data"), ".sandlot/data");
    remove_place();
}
