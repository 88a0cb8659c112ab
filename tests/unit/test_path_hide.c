// Messages for strangers contain no folder of this machine, and stay readable.
#include "server/build/job/path_hide.h"
#include "tests/support/test.h"

#include <stdio.h>
#include <string.h>

static const char *folder_hidden(const char *text, const char *folder)
{
    static char out[512];
    snprintf(out, sizeof out, "%s", text);
    path_hide_folder(out, folder, strlen(folder));
    return out;
}

static const char *hidden(const char *text)
{
    static char out[512];
    snprintf(out, sizeof out, "%s", text);
    path_hide_all(out);
    return out;
}

TEST(a_folder_is_named_by_its_own_name)
{
    static const char *const rows[][2] = {
        {"/srv/my games/obby: Permission denied", "obby: Permission denied"},
        {"/srv/my games/obby/.sandlot/cache: x", "obby/.sandlot/cache: x"},
        {"see \"/srv/my games/obby\" (/srv/my games/obby/a), /srv/my games/obby",
         "see \"obby\" (obby/a), obby"},
        {"/srv/my games/obby2/a: x", "/srv/my games/obby2/a: x"}, // another one
        {"x/srv/my games/obby: x", "x/srv/my games/obby: x"},
        {"/srv/my games/", "/srv/my games/"},
        {"", ""},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        CHECK_TEXT(folder_hidden(rows[i][0], "/srv/my games/obby"), rows[i][1]);
        CHECK_TEXT(folder_hidden(rows[i][0], "/srv/my games/obby//"), rows[i][1]);
    }
    CHECK_TEXT(folder_hidden("../secret/data/ticket.key: is none", "../secret/data"),
               "data/ticket.key: is none");
    CHECK_TEXT(folder_hidden("data: x", "data"), "data: x");
    CHECK_TEXT(folder_hidden("/: x", "/"), "/: x");
    CHECK_TEXT(folder_hidden("a b", ""), "a b");
}

TEST(of_other_paths_the_last_name_stays)
{
    static const char *const rows[][2] = {
        {"/opt/x/ticket.key: is no signing key", "ticket.key: is no signing key"},
        {"Node cannot be run (/opt/my node/bin/node: Permission denied); do something",
         "Node cannot be run (node: Permission denied); do something"},
        {"there is no /a/b/node_modules/bin/node. Run tools/setup, or set X to the path.",
         "there is no node. Run tools/setup, or set X to the path."},
        {"=/etc/passwd \"/etc/shadow\"", "=passwd \"shadow\""},
        {"/etc/", "etc/"},
        {"/x", "x"},
        // What is none.
        {"https://models.example/v1/messages: timed out",
         "https://models.example/v1/messages: timed out"},
        {"Workspace/Door.lua and/or ../Wall.lua: a / b // c /",
         "Workspace/Door.lua and/or ../Wall.lua: a / b // c /"},
        {"", ""},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        CHECK_TEXT(hidden(rows[i][0]), rows[i][1]);
    }
}
