// The sandlot program: finds the subcommand and calls it. It is also the table of roles: the host,
// a world process, an edit process, the build worker and the launcher of Node are all this program.
// This is the only file outside the jail that refers to code which runs in it (tools/check-jail).
#include "core/base/nearest.h"
#include "server/build/base/diagnostic.h"
#include "server/build/inside/worker_op.h"
#include "server/build/typescript/typescript_node.h"
#include "server/cli/command.h"
#include "server/shell/edit/edit_main.h"
#include "server/shell/world_main.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static int cmd_help(int argc, char **argv);
static int cmd_version(int argc, char **argv);

static const struct {
    const char *name;
    const char *summary;
    int (*run)(int argc, char **argv);
} commands[] = {
    {"up", "run the server: accounts, pages, all places and worlds", cmd_up},
    {"control", "run a server without worlds, beside `sandlot host` on one database", cmd_control},
    {"new", "create a place from a template", cmd_new},
    {"dev", "run a place and keep it up to date while you edit its files", cmd_dev},
    {"build", "compile a place's scripts and sign them", cmd_build},
    {"pack", "pack a place's folder into one .game file", cmd_pack},
    {"unpack", "unpack a .game, zip or tar into a folder", cmd_unpack},
    {"inspect", "list the contents of a package or a place, and what players get", cmd_inspect},
    {"world", "run one world of a place on one port", cmd_world},
    {"host", "run many worlds of many places on one port", cmd_host},
    {"backup", "back up a data folder into one file, also while it is used", cmd_backup},
    {"restore", "make a data folder from a backup", cmd_restore},
    {"store", "copy what is stored from one database to another", cmd_store},
    {"export-cdn", "write what players download of a place as static files", cmd_export_cdn},
    {"login", "sign in to a server, for the commands below", cmd_login},
    {"publish", "build a place and put it on a server", cmd_publish},
    {"place", "list, change, roll back and share places on a server", cmd_place},
    {"spell", "fetch and update the spells that a place uses, or publish one", cmd_spell},
    {"worlds", "list the worlds of a server", cmd_worlds},
    {"drain", "end a server; its worlds go on at others", cmd_drain},
    {"logs", "show the log of a server", cmd_logs},
    {"top", "show the worlds that run on a server, live", cmd_top},
    {"user", "list, show and change the accounts of a server", cmd_user},
    {"invite", "make a link by which somebody makes an account", cmd_invite},
    {"reports", "read and close the reports of a server, with their evidence", cmd_reports},
    {"moderate", "approve, unlist and remove places of a server", cmd_moderate},
    {"bots", "join a world with many simulated players and measure it", cmd_bots},
    {"replay", "replay the journal of a world and compare its hashes", cmd_replay},
    {"script", "run one script in a small world, or print the script reference", cmd_script},
    {"soul", "list, review and regenerate scripts written by a language model", cmd_soul},
    {"version", "print the version", cmd_version},
    {"help", "print this help", cmd_help},
};
#define COMMAND_COUNT (sizeof commands / sizeof commands[0])

static void print_help(FILE *out)
{
    fprintf(out, "usage: sandlot COMMAND [ARGUMENTS]\n\n");
    for (size_t i = 0; i < COMMAND_COUNT; i++) {
        fprintf(out, "  %-10s %s\n", commands[i].name, commands[i].summary);
    }
    fprintf(
        out,
        "\n`sandlot help COMMAND` describes one command. `--` ends the options; what follows is\n"
        "an argument even if it starts with a dash. Exit codes: 0 success, 1 failed, 2 invalid\n"
        "arguments, 3 a script failed.\n");
}

static int no_command(const char *name)
{
    Nearest nearest = nearest_begin(name, strlen(name));
    for (size_t i = 0; i < COMMAND_COUNT; i++) {
        (void)nearest_consider(&nearest, commands[i].name, strlen(commands[i].name));
    }
    const bool found = nearest.found != NULL;
    diagnostic_print(stderr, "sandlot: there is no command \"%s\"%s%s%s; `sandlot help` lists them",
                     name, found ? "; did you mean \"" : "", found ? nearest.found : "",
                     found ? "\"?" : "");
    return EXIT_USAGE;
}

// `sandlot help new` is `sandlot new --help`.
static int cmd_help(int argc, char **argv)
{
    if (argc < 2 || argv[1][0] == '-' || strcmp(argv[1], "help") == 0) {
        print_help(stdout);
        return EXIT_OK;
    }
    for (size_t i = 0; i < COMMAND_COUNT; i++) {
        if (strcmp(argv[1], commands[i].name) == 0) {
            char option[] = "--help";
            char *arguments[] = {argv[1], option, NULL};
            return commands[i].run(2, arguments);
        }
    }
    return no_command(argv[1]);
}

static int cmd_version(int argc, char **argv)
{
    (void)argc;
    (void)argv;
    printf("sandlot " SANDLOT_VERSION "\n");
    return EXIT_OK;
}

void command_end_locked(int code)
{
    code = command_finish(code);
    fflush(NULL);
    _exit(code);
}

// If a standard descriptor is closed, the next opened file gets its number, and our output would be
// written into that file. So it is replaced by a descriptor that cannot be written to;
// command_finish then reports that the output could not be written.
static void hold_standard_descriptors(void)
{
    for (int i = STDIN_FILENO; i <= STDERR_FILENO; i++) {
        if (fcntl(i, F_GETFD) < 0) {
            (void)open("/dev/null", O_RDONLY); // gets the lowest free number
        }
    }
}

int main(int argc, char **argv)
{
    hold_standard_descriptors();
    if (argc < 2) {
        print_help(stderr);
        return EXIT_USAGE;
    }
    if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0) {
        return command_finish(cmd_help(argc - 1, argv + 1));
    }
    if (strcmp(argv[1], "--version") == 0) {
        return command_finish(cmd_version(argc - 1, argv + 1));
    }
    // Roles that this program starts itself in, each in a process that locks itself in.
    if (strcmp(argv[1], "world-process") == 0) {
        return world_main();
    }
    if (strcmp(argv[1], "edit-process") == 0) {
        return edit_main();
    }
    if (strcmp(argv[1], "build-worker") == 0) {
        return worker_main();
    }
    if (strcmp(argv[1], TYPESCRIPT_LAUNCHER) == 0) {
        return node_jail_main(argc - 1, argv + 1);
    }
    for (size_t i = 0; i < COMMAND_COUNT; i++) {
        if (strcmp(argv[1], commands[i].name) == 0) {
            const int code = commands[i].run(command_end_options(argc - 1, argv + 1), argv + 1);
            // A world does not fail because its output could not be printed.
            const bool serves = commands[i].run == cmd_up || commands[i].run == cmd_world ||
                                commands[i].run == cmd_host || commands[i].run == cmd_dev;
            return serves ? code : command_finish(code);
        }
    }
    return no_command(argv[1]);
}
