// `sandlot worlds`: the worlds of a server, running or not.
#define _GNU_SOURCE
#include "server/build/base/diagnostic.h"
#include "server/cli/tool.h"

#include <inttypes.h>
#include <string.h>

#define PAGES_MAX 1000

static void print_usage(FILE *out)
{
    fprintf(out, "usage: sandlot worlds [options]   list the worlds of a server\n\n" TOOL_HELP
                 "\nA line is the world's id, its room code, its state, players, and its place.\n"
                 "Exit codes: 0 listed, 1 failed, 2 invalid arguments.\n");
}

// Both ways of writing it: the server's and the room document's.
static const char *either(const JsonNode *world, const char *one, const char *other)
{
    const char *text = tool_text(world, one);
    return text[0] != '\0' ? text : tool_text(world, other);
}

static void print_page(const JsonNode *root)
{
    const JsonNode *worlds = json_find(root, "worlds");
    for (const JsonNode *world = worlds != NULL ? worlds->first : NULL; world != NULL;
         world = world->next) {
        diagnostic_print(stdout, "%-20s  %-10s  %-9s  %3.0f  %s",
                         either(world, "world_id", "worldId"),
                         either(world, "room_code", "roomCode"), tool_text(world, "state"),
                         tool_number(world, "players"), either(world, "place_id", "placeId"));
    }
}

// The address of the next page, or "".
static void next_page(const JsonNode *root, char path[256])
{
    char after[128];
    const char *next = tool_text(root, "next");
    tool_escape(next, after, sizeof after);
    path[0] = '\0';
    if (next[0] != '\0') {
        snprintf(path, 256, "/worlds?after=%s", after);
    }
}

int cmd_worlds(int argc, char **argv)
{
    Tool client;
    if (argc == 2 && (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0)) {
        print_usage(stdout);
        return EXIT_OK;
    }
    int code = tool_open(&client, "worlds", &argc, argv);
    if (code == EXIT_OK && argc > 1) {
        return command_unknown_option("worlds", client.json, argv[1], print_usage);
    }
    char path[256] = "/worlds";
    double silent = 0;
    for (uint32_t page = 0; code == EXIT_OK && path[0] != '\0' && page < PAGES_MAX; page++) {
        ToolReply reply;
        code = tool_ask(&client, "GET", path, NULL, &reply);
        path[0] = '\0';
        silent = code == EXIT_OK ? tool_number(reply.root, "hostsSilent") : silent;
        if (code == EXIT_OK && client.json) {
            printf("%.*s\n", (int)reply.body.bytes, (const char *)reply.body.data);
            next_page(reply.root, path);
        } else if (code == EXIT_OK) {
            print_page(reply.root);
            next_page(reply.root, path);
        }
        tool_free(&reply);
    }
    if (silent > 0) {
        fprintf(stderr, "%.0f host%s not answer: the state of worlds there is not known\n", silent,
                silent > 1 ? "s do" : " does");
    }
    return code;
}
