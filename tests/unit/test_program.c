// Finding the folders that belong to the program, by the program's location. A test program is in
// build/….
#define _GNU_SOURCE
#include "server/sys/program.h"
#include "tests/support/test.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

TEST(the_source_tree_of_a_built_program)
{
    char root[PROGRAM_PATH_BYTES], path[PROGRAM_PATH_BYTES + 32];
    CHECK(program_source_root(root));
    snprintf(path, sizeof path, "%s/server/sys/program.h", root);
    CHECK(access(path, R_OK) == 0);
    CHECK(!program_prefix(root)); // it is in no bin/
}

TEST(a_folder_is_found_wherever_one_works)
{
    char found[PROGRAM_PATH_BYTES];
    CHECK(chdir("/") == 0);
    CHECK(program_folder("server/sys", "share/sandlot/sys", "program.h", found));
    CHECK(found[0] == '/' && strstr(found, "/server/sys") != NULL);
    CHECK(!program_folder("server/sys", "share/sandlot/sys", "nosuch.h", found));
    CHECK(!program_folder("server/nosuch", "share/sandlot/sys", "program.h", found));
}
