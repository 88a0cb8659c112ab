// Lists, answers and builds of a server, for the commands that show them. See tool.h.
#define _GNU_SOURCE
#include "server/build/base/diagnostic.h"
#include "server/cli/tool.h"
#include "server/sys/clock.h"

#include <string.h>
#include <time.h>

#define PAGES_MAX   10000
#define PATH_BYTES  1024
#define POLL_MS_MIN 20
#define POLL_MS_MAX 500
#define WAIT_MS_MAX (35u * 60 * 1000) // a build has at most 30 minutes

static void print_json(const ToolReply *reply)
{
    printf("%.*s\n", (int)reply->body.bytes, (const char *)reply->body.data);
}

// What the next page goes on from: a text or a number; "": there is none.
static void read_next(const JsonNode *root, char out[256])
{
    const JsonNode *next = json_find(root, "next");
    char text[128];
    snprintf(text, sizeof text, "%s", tool_text(root, "next"));
    if (next != NULL && next->kind == JSON_NUMBER) {
        snprintf(text, sizeof text, "%.0f", next->number);
    }
    tool_escape(text, out, 256);
}

int tool_list(const Tool *client, const char *path, const char *name, const char *more,
              ToolRow print)
{
    char address[PATH_BYTES], next[256] = "";
    int code = EXIT_OK;
    for (uint32_t page = 0; code == EXIT_OK && (page == 0 || next[0] != '\0') && page < PAGES_MAX;
         page++) {
        ToolReply reply;
        const char *mark = strchr(path, '?') == NULL ? "?" : "&";
        snprintf(address, sizeof address, "%s%s%s%s%s", path, page > 0 ? mark : "",
                 page > 0 ? more : "", page > 0 ? "=" : "", next);
        code = tool_ask(client, "GET", address, NULL, &reply);
        next[0] = '\0';
        if (code == EXIT_OK) {
            const JsonNode *rows = json_find(reply.root, name);
            for (const JsonNode *row = rows != NULL && !client->json ? rows->first : NULL;
                 row != NULL; row = row->next) {
                print(row);
            }
            if (client->json) {
                print_json(&reply);
            }
            read_next(reply.root, next);
        }
        tool_free(&reply);
    }
    return code;
}

int tool_show(const Tool *client, const char *method, const char *path, const char *body,
              ToolRow print)
{
    ToolReply reply;
    const int code = tool_ask(client, method, path, body, &reply);
    if (code == EXIT_OK && client->json) {
        print_json(&reply);
    } else if (code == EXIT_OK) {
        print(reply.root);
    }
    tool_free(&reply);
    return code;
}

// --- waiting for a build ------------------------------------------------------------------------

static void print_log(const JsonNode *root)
{
    const JsonNode *log = json_find(root, "log");
    for (const JsonNode *line = log != NULL ? log->first : NULL; line != NULL; line = line->next) {
        if (line->kind == JSON_STRING && strstr(line->text, ": error: ") != NULL) {
            diagnostic_print(stderr, "%s", line->text);
        }
    }
}

typedef struct Wait {
    const Tool *client;
    const char *what;
    char address[128], stage[32];
    ToolStage show;
    void *user;
    bool is_over;
} Wait;

static int look(Wait *wait)
{
    ToolReply reply;
    int code = tool_ask(wait->client, "GET", wait->address, NULL, &reply);
    if (code == EXIT_OK) {
        const char *status = tool_text(reply.root, "status"), *now = tool_text(reply.root, "stage");
        const bool is_running = strcmp(status, "running") == 0;
        wait->is_over = !is_running && strcmp(status, "waiting") != 0;
        if (is_running && wait->show != NULL && strcmp(wait->stage, now) != 0) {
            snprintf(wait->stage, sizeof wait->stage, "%s", now);
            wait->show(wait->user, now, tool_number(reply.root, "progress_pct"));
        }
        if (wait->is_over && strcmp(status, "done") != 0) {
            if (wait->show != NULL) {
                wait->show(wait->user, NULL, 0);
            }
            print_log(reply.root);
            code = tool_fail(wait->client, "%s: the server could not build it: %s", wait->what,
                             tool_text(reply.root, "reason"));
        }
    }
    tool_free(&reply);
    return code;
}

int tool_wait(const Tool *client, const char *job_id, const char *what, ToolStage show, void *user)
{
    Wait wait = {.client = client, .what = what, .show = show, .user = user};
    const uint64_t begin = clock_ns();
    int code = EXIT_OK;
    snprintf(wait.address, sizeof wait.address, "/api/jobs/%s", job_id);
    for (uint32_t pause = POLL_MS_MIN; code == EXIT_OK && !wait.is_over;) {
        code = look(&wait);
        if (code == EXIT_OK && !wait.is_over) {
            const struct timespec time = {.tv_nsec = (long)(pause * NS_PER_MS)};
            (void)nanosleep(&time, NULL);
            pause = pause * 5 / 4 < POLL_MS_MAX ? pause * 5 / 4 + 1 : POLL_MS_MAX;
        }
        if (!wait.is_over && (clock_ns() - begin) / NS_PER_MS > WAIT_MS_MAX) {
            return tool_fail(client, "the server still builds it; ask %s%s later", client->url,
                             wait.address);
        }
    }
    return code;
}
