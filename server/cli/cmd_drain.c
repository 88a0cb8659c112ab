// `sandlot drain`: a server gives its worlds back, and ends.
#define _GNU_SOURCE
#include "server/cli/tool.h"

#include <string.h>
#include <time.h>

#define WAIT_S 60 // until it has ended; a server stops in less

static void print_usage(FILE *out)
{
    fprintf(out,
            "usage: sandlot drain [options]   end a server without losing anything\n\n" TOOL_HELP
            "  --gently       worlds that run go on, and no others are started; the server does\n"
            "                 not end\n"
            "  --host ID      another host on the same database; `sandlot top` lists them\n"
            "\nWorlds are saved and released. If other hosts use the same database, players go "
            "on there\nafter a moment.\n"
            "Exit codes: 0 done, 1 failed, 2 invalid arguments.\n");
}

static bool has_ended(const Tool *client)
{
    Tool quiet = *client;
    quiet.is_quiet = true;
    ToolReply reply;
    (void)tool_ask(&quiet, "GET", "/healthz", NULL, &reply);
    const bool is_there = reply.status != 0;
    tool_free(&reply);
    return !is_there;
}

static bool is_host_id(const char *text)
{
    return text != NULL && text[0] != '\0' && strlen(text) <= 64 &&
           strspn(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-") ==
               strlen(text);
}

// Another host has ended when the server that we ask knows it no more, or hears nothing of it.
static bool is_gone(const Tool *client, const char *host)
{
    Tool quiet = *client;
    quiet.is_quiet = true;
    ToolReply reply;
    bool is_there = tool_ask(&quiet, "GET", "/admin/servers", NULL, &reply) != EXIT_OK;
    const JsonNode *hosts = is_there ? NULL : json_find(reply.root, "hosts");
    for (const JsonNode *at = hosts != NULL ? hosts->first : NULL; at != NULL; at = at->next) {
        is_there = is_there || (strcmp(tool_text(at, "id"), host) == 0 && tool_flag(at, "answers"));
    }
    tool_free(&reply);
    return !is_there;
}

static int wait_for_end(const Tool *client, const char *host)
{
    for (uint32_t i = 0; i < WAIT_S * 10; i++) {
        if (host != NULL ? is_gone(client, host) : has_ended(client)) {
            return EXIT_OK;
        }
        const struct timespec rest = {.tv_nsec = 100000000};
        nanosleep(&rest, NULL);
    }
    return tool_fail(client, "%s still answers after %d s; was it started again?",
                     host != NULL ? host : client->url, WAIT_S);
}

int cmd_drain(int argc, char **argv)
{
    Tool client;
    bool is_gentle = false;
    const char *host = NULL;
    if (argc == 2 && (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0)) {
        print_usage(stdout);
        return EXIT_OK;
    }
    int code = tool_open(&client, "drain", &argc, argv);
    for (int i = 1; i < argc && code == EXIT_OK; i++) {
        if (strcmp(argv[i], "--gently") == 0) {
            is_gentle = true;
        } else if (strcmp(argv[i], "--host") == 0) {
            host = command_value(argc, argv, i++);
            if (!is_host_id(host)) {
                return command_misused("drain", client.json, "--host is the id of a host", NULL);
            }
        } else {
            return command_unknown_option("drain", client.json, argv[i], print_usage);
        }
    }
    ToolReply reply = {.status = 0};
    if (code == EXIT_OK) {
        char body[128];
        snprintf(body, sizeof body, "{\"stop\":%s,\"host\":\"%s\"}", is_gentle ? "false" : "true",
                 host != NULL ? host : "");
        code = tool_ask(&client, "POST", "/admin/drain", body, &reply);
    }
    if (code == EXIT_OK && !is_gentle) {
        code = wait_for_end(&client, host);
    }
    if (code == EXIT_OK && client.json) {
        printf("{\"draining\":true,\"ended\":%s}\n", is_gentle ? "false" : "true");
    } else if (code == EXIT_OK) {
        printf("%s\n", is_gentle ? "no worlds are started any more" : "the server has ended");
    }
    tool_free(&reply);
    return code;
}
