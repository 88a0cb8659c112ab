// `sandlot logs`: the last lines of a server's log, from afar.
#define _GNU_SOURCE
#include "server/build/base/diagnostic.h"
#include "server/cli/tool.h"

#include <inttypes.h>
#include <string.h>

static void print_usage(FILE *out)
{
    fprintf(out,
            "usage: sandlot logs [WORLD] [options]   show the log of a server, or of one world\n\n"
            "  -f, --follow   go on with new lines until Ctrl-C\n"
            "  --lines N      how many lines to begin with, 1 to 500 (default: 100)\n" TOOL_HELP
            "\nFor operators; in development for everybody on the server's own machine. The\n"
            "server keeps its last 2,048 lines. Exit codes: 0 shown, 1 failed, 2 invalid\n"
            "arguments. WORLD is the id or the room code of a world, as in `sandlot worlds`.\n");
}

typedef struct Logs {
    Tool client;
    const char *world;
    uint32_t lines;
    bool follows;
} Logs;

static int parse_arguments(Logs *logs, int argc, char **argv)
{
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "-f") == 0 || strcmp(argv[i], "--follow") == 0) {
            logs->follows = true;
        } else if (strcmp(argv[i], "--lines") == 0) {
            if (!command_parse_u32(command_value(argc, argv, i), 1, 500, &logs->lines)) {
                return command_misused("logs", logs->client.json, "--lines is 1 to 500", NULL);
            }
            i += 1;
        } else if (argv[i][0] == '-') {
            return command_unknown_option("logs", logs->client.json, argv[i], print_usage);
        } else if (logs->world[0] != '\0') {
            return command_misused("logs", logs->client.json, "unexpected argument", argv[i]);
        } else {
            logs->world = argv[i];
        }
    }
    return EXIT_OK;
}

static void print_lines(const Logs *logs, const ToolReply *reply)
{
    if (logs->client.json) {
        printf("%.*s\n", (int)reply->body.bytes, (const char *)reply->body.data);
        return;
    }
    const JsonNode *lines = json_find(reply->root, "lines");
    for (const JsonNode *line = lines != NULL ? lines->first : NULL; line != NULL;
         line = line->next) {
        diagnostic_print(stdout, "%s %-5s %s: %s", tool_text(line, "time"),
                         tool_text(line, "level"), tool_text(line, "area"),
                         tool_text(line, "text"));
    }
}

static int run(const Logs *logs)
{
    uint64_t after = 0;
    int code = EXIT_OK;
    bool is_first = true;
    while (code == EXIT_OK && (is_first || logs->follows)) {
        char path[512], world[300];
        ToolReply reply;
        tool_escape(logs->world, world, sizeof world);
        snprintf(path, sizeof path, "/admin/logs?after=%" PRIu64 "&limit=%" PRIu32 "&wait=%d%s%s",
                 after, is_first ? logs->lines : 500, is_first ? 0 : 30,
                 world[0] != '\0' ? "&world=" : "", world);
        code = tool_ask(&logs->client, "GET", path, NULL, &reply);
        if (code == EXIT_OK) {
            print_lines(logs, &reply);
            after = (uint64_t)tool_number(reply.root, "last");
            fflush(stdout);
        }
        tool_free(&reply);
        is_first = false;
    }
    return code;
}

int cmd_logs(int argc, char **argv)
{
    Logs logs = {.world = "", .lines = 100};
    if (argc == 2 && (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0)) {
        print_usage(stdout);
        return EXIT_OK;
    }
    int code = tool_open(&logs.client, "logs", &argc, argv);
    code = code == EXIT_OK ? parse_arguments(&logs, argc, argv) : code;
    return code == EXIT_OK ? run(&logs) : code;
}
