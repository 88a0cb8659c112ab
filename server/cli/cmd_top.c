// `sandlot top`: what runs on a server, or what the scripts of one world cost, as a table that is
// drawn again and again.
#define _GNU_SOURCE
#include "server/build/base/diagnostic.h"
#include "server/cli/tool.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define ROWS_MAX 4096
#define CLEAR    "\x1b[H\x1b[2J"

static void print_usage(FILE *out)
{
    fprintf(
        out,
        "usage: sandlot top [options]          show the worlds that run, live\n"
        "       sandlot top [options] WORLD    show its dearest scripts and loudest remotes\n\n"
        "  --once         show it once\n"
        "  --every S      draw it again every S seconds, 1 to 60 (default: 2)\n" TOOL_HELP
        "\nAll hosts on one database are listed, but not the worlds of a host that does not\n"
        "answer. TICK P99 is how late 99 of 100 ticks of the last second began at most; WORK is\n"
        "the longest tick of that second. For operators; in development for everybody on\n"
        "the server's own machine. What scripts cost is also for the owner and the editors of\n"
        "the place. MEAN and P99 are of one call, LOAD is compiling and loading; what clients\n"
        "report is theirs, and not checked. Exit codes: 0 shown, 1 failed, 2 invalid arguments.\n");
}

typedef struct Top {
    Tool client;
    bool is_once;
    uint32_t every_s;
    const char *world; // NULL: all of them
} Top;

static int parse_arguments(Top *top, int argc, char **argv)
{
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--once") == 0) {
            top->is_once = true;
        } else if (strcmp(argv[i], "--every") == 0) {
            if (!command_parse_u32(command_value(argc, argv, i), 1, 60, &top->every_s)) {
                return command_misused("top", top->client.json, "--every is 1 to 60 seconds", NULL);
            }
            i += 1;
        } else if (argv[i][0] != '-' && top->world == NULL) {
            top->world = argv[i];
        } else {
            return command_unknown_option("top", top->client.json, argv[i], print_usage);
        }
    }
    return EXIT_OK;
}

// The fullest first.
static int by_players(const void *a, const void *b)
{
    const double one = tool_number(*(const JsonNode *const *)a, "players");
    const double other = tool_number(*(const JsonNode *const *)b, "players");
    return (one < other) - (one > other);
}

static void print_uptime(double seconds, char out[32])
{
    const unsigned long whole = (unsigned long)seconds;
    snprintf(out, 32, "%lu:%02lu:%02lu", whole / 3600, whole / 60 % 60, whole % 60);
}

static void print_row(const JsonNode *world)
{
    char uptime[32];
    print_uptime(tool_number(world, "uptime_seconds"), uptime);
    diagnostic_print(stdout, "%-20s %-10s %-9s %3.0f/%-3.0f %8.1f %8.1f %7.0f %9s %7.0f  %s",
                     tool_text(world, "world_id"), tool_text(world, "room_code"),
                     tool_text(world, "state"), tool_number(world, "players"),
                     tool_number(world, "player_max"), tool_number(world, "tick_p99_ms"),
                     tool_number(world, "tick_work_max_ms"),
                     tool_number(world, "memory_bytes") / 1048576, uptime,
                     tool_number(world, "pid"), tool_text(world, "place_id"));
}

// Of several hosts on one database. Numbers are those of the last renewal of their rows.
static void print_hosts(const JsonNode *hosts)
{
    if (hosts == NULL || hosts->count < 2) {
        return;
    }
    diagnostic_print(stdout, "%-34s %-9s %7s %7s %7s %7s  %s", "HOST", "STATE", "WORLDS", "PLAYERS",
                     "MEM %", "TICKS %", "ADDRESS");
    for (const JsonNode *host = hosts->first; host != NULL; host = host->next) {
        const char *state = !tool_flag(host, "answers")   ? "silent"
                            : tool_flag(host, "draining") ? "draining"
                                                          : "serves";
        diagnostic_print(stdout, "%-34s %-9s %7.0f %7.0f %7.1f %7.1f  %s", tool_text(host, "id"),
                         state, tool_number(host, "worlds"), tool_number(host, "players"),
                         tool_number(host, "memory_permille") / 10,
                         tool_number(host, "tick_permille") / 10, tool_text(host, "address"));
    }
    printf("\n");
}

static void print_table(const Tool *client, const JsonNode *root)
{
    static const JsonNode *rows[ROWS_MAX];
    uint32_t count = 0;
    double players = 0;
    const JsonNode *servers = json_find(root, "servers");
    for (const JsonNode *world = servers != NULL ? servers->first : NULL;
         world != NULL && count < ROWS_MAX; world = world->next) {
        rows[count++] = world;
        players += tool_number(world, "players");
    }
    qsort(rows, count, sizeof rows[0], by_players);
    print_hosts(json_find(root, "hosts"));
    diagnostic_print(stdout, "%s: %u worlds, %.0f players", client->url, count, players);
    diagnostic_print(stdout, "%-20s %-10s %-9s %7s %8s %8s %7s %9s %7s  %s", "WORLD", "ROOM",
                     "STATE", "PLAYERS", "TICK P99", "WORK ms", "MEM MB", "UP", "PID", "PLACE");
    for (uint32_t i = 0; i < count; i++) {
        print_row(rows[i]);
    }
}

// --- one world ----------------------------------------------------------------------------------

#define SCRIPT_ROWS 15

static const JsonNode *first_of(const JsonNode *object, const char *list)
{
    const JsonNode *found = object != NULL ? json_find(object, list) : NULL;
    return found != NULL ? found->first : NULL;
}

// The state of what clients report is not known.
static void print_scripts(const JsonNode *row, const char *title)
{
    fputs("\n", stdout);
    diagnostic_print(stdout, "%-40s %-9s %9s %8s %8s %8s %8s %7s %9s", title, "STATE", "CALLS",
                     "MEAN us", "P99 us", "LOAD us", "MEM KB", "FAULTS", "THROTTLED");
    for (uint32_t i = 0; row != NULL && i < SCRIPT_ROWS; i++, row = row->next) {
        diagnostic_print(stdout, "%-40s %-9s %9.0f %8.0f %8.0f %8.0f %8.0f %7.0f %9.0f",
                         tool_text(row, "path"), tool_text(row, "state"), tool_number(row, "calls"),
                         tool_number(row, "timeMeanUs"), tool_number(row, "timeP99Us"),
                         tool_number(row, "compileUs"), tool_number(row, "memoryBytes") / 1024,
                         tool_number(row, "faults"), tool_number(row, "throttles"));
    }
}

static void print_remotes(const JsonNode *row)
{
    if (row == NULL) {
        return;
    }
    fputs("\n", stdout);
    diagnostic_print(stdout, "%-40s %9s %12s %9s %12s %9s", "REMOTE", "UP", "BYTES", "DOWN",
                     "BYTES", "DROPPED");
    for (uint32_t i = 0; row != NULL && i < SCRIPT_ROWS; i++, row = row->next) {
        const char *name = tool_text(row, "name");
        diagnostic_print(stdout, "%-40s %9.0f %12.0f %9.0f %12.0f %9.0f",
                         name[0] != '\0' ? name : "(names without a row)",
                         tool_number(row, "upCount"), tool_number(row, "upBytes"),
                         tool_number(row, "downCount"), tool_number(row, "downBytes"),
                         tool_number(row, "dropped"));
    }
}

static void print_faults(const JsonNode *fault, const char *title)
{
    if (fault != NULL) {
        printf("\n%s\n", title);
    }
    for (; fault != NULL; fault = fault->next) {
        const char *path = tool_text(fault, "path"), *message = tool_text(fault, "message");
        if (strncmp(message, path, strlen(path)) == 0) { // file and line are in it
            diagnostic_print(stdout, "%s", message);
        } else {
            diagnostic_print(stdout, "%s:%.0f: %s", path, tool_number(fault, "line"), message);
        }
    }
}

static void print_world(const Top *top, const JsonNode *root)
{
    const JsonNode *clients = json_find(root, "clients");
    diagnostic_print(stdout, "%s on %s: tick %.0f, %.0f scripts", top->world, top->client.url,
                     tool_number(root, "tick"), tool_number(root, "scriptCount"));
    print_scripts(first_of(root, "scripts"), "SCRIPT ON THE SERVER");
    print_remotes(first_of(root, "remotes"));
    if (first_of(clients, "scripts") != NULL) {
        print_scripts(first_of(clients, "scripts"), "SCRIPT ON CLIENTS, AS THEY SAY");
    }
    print_faults(first_of(root, "faults"), "LAST FAULTS ON THE SERVER");
    print_faults(first_of(clients, "faults"), "FAULTS ON CLIENTS, AS THEY SAY");
}

// --- again and again ----------------------------------------------------------------------------

static int run(const Top *top)
{
    const bool redraws = !top->is_once && !top->client.json && isatty(STDOUT_FILENO) == 1;
    char path[512] = "/admin/servers";
    if (top->world != NULL) {
        char world[256];
        tool_escape(top->world, world, sizeof world);
        snprintf(path, sizeof path, "/api/worlds/%s/scripts", world);
    }
    int code;
    do {
        ToolReply reply;
        code = tool_ask(&top->client, "GET", path, NULL, &reply);
        if (code == EXIT_OK) {
            if (top->client.json) {
                printf("%.*s\n", (int)reply.body.bytes, (const char *)reply.body.data);
            } else {
                fputs(redraws ? CLEAR : "", stdout);
                if (top->world != NULL) {
                    print_world(top, reply.root);
                } else {
                    print_table(&top->client, reply.root);
                }
            }
            fflush(stdout);
        }
        tool_free(&reply);
        if (code == EXIT_OK && !top->is_once) {
            const struct timespec pause = {.tv_sec = (time_t)top->every_s};
            nanosleep(&pause, NULL);
        }
    } while (code == EXIT_OK && !top->is_once && ferror(stdout) == 0);
    return code;
}

int cmd_top(int argc, char **argv)
{
    Top top = {.every_s = 2};
    if (argc == 2 && (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0)) {
        print_usage(stdout);
        return EXIT_OK;
    }
    int code = tool_open(&top.client, "top", &argc, argv);
    code = code == EXIT_OK ? parse_arguments(&top, argc, argv) : code;
    return code == EXIT_OK ? run(&top) : code;
}
