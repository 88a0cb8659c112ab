// `sandlot reports` and `sandlot moderate`: what operators read and decide.
#define _GNU_SOURCE
#include "server/build/base/diagnostic.h"
#include "server/cli/place_known.h"

#include <string.h>

#define PATH_BYTES 512
#define BODY_BYTES 2048

static void print_reports_usage(FILE *out)
{
    fprintf(
        out,
        "usage: sandlot reports [list] [--state STATE]      reports, the newest first: open (the\n"
        "                                                   default), dismissed, acted or all\n"
        "       sandlot reports show N                      one report, with its evidence\n"
        "       sandlot reports close N OUTCOME [--note TEXT]\n"
        "                                                   closes it: dismissed or acted\n"
        "       sandlot reports reopen N [--note TEXT]\n\n" TOOL_HELP
        "\nWho reads a report's evidence is written into the audit. What is done about somebody "
        "or\n"
        "something: `sandlot user` (ban, mute, kick) and `sandlot moderate` (places). For\n"
        "operators: sign in with `sandlot login` first. Exit codes: 0 done, 1 failed, 2 invalid\n"
        "arguments.\n");
}

static void print_moderate_usage(FILE *out)
{
    fprintf(
        out,
        "usage: sandlot moderate waiting                    places that wait to be approved\n"
        "       sandlot moderate approve ID                 it may be listed\n"
        "       sandlot moderate refuse ID --reason TEXT    it may not\n"
        "       sandlot moderate unlist ID --reason TEXT    found by its address alone\n"
        "       sandlot moderate remove ID --reason TEXT    nobody plays it; its worlds stop\n"
        "       sandlot moderate restore ID                 neither unlisted nor "
        "removed\n\n" TOOL_HELP
        "\nID is a place's id, or spell:NAME. Its owner reads the reason. For operators: sign in\n"
        "with `sandlot login` first. Exit codes: 0 done, 1 failed, 2 invalid arguments.\n");
}

typedef struct Order {
    Tool client;
    const char *words[4];
    uint32_t word_count;
    const char *text; // the note or the reason
    const char *state;
} Order;

// --- reports ------------------------------------------------------------------------------------

static void print_row(const JsonNode *report)
{
    const char *about = tool_text(report, "account");
    about = about[0] != '\0' ? about : tool_text(report, "place_id");
    about = about[0] != '\0' ? about : tool_text(report, "world_id");
    diagnostic_print(stdout, "%5.0f  %-9s  %s  %-9s  %-24s  %s", tool_number(report, "report_id"),
                     tool_text(report, "state"), tool_text(report, "created"),
                     tool_text(report, "reason"), about, tool_text(report, "text"));
}

static void print_evidence(const JsonNode *report)
{
    const JsonNode *lines = json_find(report, "evidence");
    if (lines == NULL) {
        return;
    }
    diagnostic_print(stdout, lines->first != NULL
                                 ? "evidence      what a world said was said there; * the server "
                                   "knows that this account was there"
                                 : "evidence      none, or older than 30 days");
    for (const JsonNode *line = lines->first; line != NULL; line = line->next) {
        const JsonNode *known = json_find(line, "known");
        diagnostic_print(stdout, "  %s %s %-7s  %s (%s)%s%s", tool_text(line, "at"),
                         known != NULL && known->boolean ? "*" : " ", tool_text(line, "kind"),
                         command_or_dash(tool_text(line, "shown_name")),
                         command_or_dash(tool_text(line, "account")),
                         tool_text(line, "text")[0] != '\0' ? ": " : "", tool_text(line, "text"));
    }
}

static void print_report(const JsonNode *report)
{
    static const struct {
        const char *shown, *name;
    } rows[] = {{"state", "state"},       {"reason", "reason"},  {"text", "text"},
                {"about", "account"},     {"place", "place_id"}, {"world", "world_id"},
                {"reporter", "reporter"}, {"from", "source"},    {"created", "created"},
                {"handled", "handled"},   {"by", "handler"},     {"note", "note"}};
    diagnostic_print(stdout, "report        %.0f", tool_number(report, "report_id"));
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const char *text = tool_text(report, rows[i].name);
        if (text[0] != '\0') {
            diagnostic_print(stdout, "%-12s  %s", rows[i].shown, text);
        }
    }
    print_evidence(report);
}

static int close_report(const Order *order, const char *path, const char *state)
{
    char body[BODY_BYTES];
    return tool_object(body, sizeof body, "state", state, "note", order->text, NULL)
               ? tool_show(&order->client, "POST", path, body, print_report)
               : tool_fail(&order->client, "the note is no text, or too long");
}

static int list_reports(const Order *order)
{
    char path[PATH_BYTES], state[64];
    if (strcmp(order->state, "all") == 0) {
        return tool_list(&order->client, "/admin/reports", "reports", "before", print_row);
    }
    tool_escape(order->state, state, sizeof state);
    snprintf(path, sizeof path, "/admin/reports?state=%s", state);
    return tool_list(&order->client, path, "reports", "before", print_row);
}

static int run_reports(const Order *order)
{
    const bool json = order->client.json;
    const char *verb = order->word_count > 0 ? order->words[0] : "list";
    char path[PATH_BYTES];
    uint64_t number;
    if (strcmp(verb, "list") == 0) {
        return order->word_count <= 1
                   ? list_reports(order)
                   : command_misused("reports", json, "list takes nothing more", NULL);
    }
    const bool closes = strcmp(verb, "close") == 0;
    if (!closes && strcmp(verb, "show") != 0 && strcmp(verb, "reopen") != 0) {
        return command_misused("reports", json, "unknown verb", verb);
    }
    if (order->word_count != (closes ? 3u : 2u)) {
        return command_misused("reports", json,
                               closes ? "close needs the number of a report, and dismissed or acted"
                                      : "this needs the number of one report",
                               NULL);
    }
    if (!command_parse_u64(order->words[1], 1, INT64_MAX, &number)) {
        return command_misused("reports", json, "this is no number of a report:", order->words[1]);
    }
    if (closes && strcmp(order->words[2], "dismissed") != 0 &&
        strcmp(order->words[2], "acted") != 0) {
        return command_misused("reports", json, "a report is closed as dismissed or acted, not",
                               order->words[2]);
    }
    snprintf(path, sizeof path, "/admin/reports/%llu", (unsigned long long)number);
    return strcmp(verb, "show") == 0 ? tool_show(&order->client, "GET", path, NULL, print_report)
                                     : close_report(order, path, closes ? order->words[2] : "open");
}

// --- places -------------------------------------------------------------------------------------

static void print_waiting(const JsonNode *row)
{
    diagnostic_print(stdout, "%-32s  %-16s  %s  %s", tool_text(row, "package_id"),
                     tool_text(row, "owner"), tool_text(row, "updated"), tool_text(row, "title"));
}

static void print_act(const JsonNode *root)
{
    const JsonNode *act = json_find(root, "moderation");
    const char *state = tool_text(act, "state"), *reason = tool_text(act, "reason");
    diagnostic_print(stdout, "%s: %s%s%s", tool_text(root, "package_id"),
                     state[0] != '\0' ? state : "done", reason[0] != '\0' ? ": " : "", reason);
}

static int run_moderate(const Order *order)
{
    const Tool *client = &order->client;
    static const char *const acts[] = {"approve", "restore", "refuse", "unlist", "remove"};
    const char *verb = order->word_count > 0 ? order->words[0] : "", *id = order->words[1];
    char path[PATH_BYTES], body[BODY_BYTES], place[PLACE_ID_TEXT_BYTES], escaped[PATH_BYTES / 2];
    size_t at = 0;
    if (strcmp(verb, "waiting") == 0 && order->word_count == 1) {
        return tool_list(client, "/admin/approvals", "approvals", "after", print_waiting);
    }
    while (at < sizeof acts / sizeof acts[0] && strcmp(verb, acts[at]) != 0) {
        at += 1;
    }
    if (at == sizeof acts / sizeof acts[0]) {
        return command_misused("moderate", client->json,
                               verb[0] != '\0' ? "unknown verb" : "what shall be done?",
                               verb[0] != '\0' ? verb : NULL);
    }
    if (order->word_count != 2) {
        return command_misused("moderate", client->json, "this needs one place", NULL);
    }
    if (at >= 2 && order->text == NULL) { // its owner wants to know
        return command_misused("moderate", client->json, "this needs --reason TEXT", NULL);
    }
    int code = EXIT_OK;
    if (strncmp(id, "spell:", 6) == 0) {
        id += 6;
    } else {
        code = place_argument(client, id, place);
        id = place;
    }
    if (code != EXIT_OK) {
        return code;
    }
    tool_escape(id, escaped, sizeof escaped);
    snprintf(path, sizeof path, "/admin/packages/%s", escaped);
    return tool_object(body, sizeof body, "act", verb, "reason", order->text, NULL)
               ? tool_show(client, "POST", path, body, print_act)
               : tool_fail(client, "the reason is no text, or too long");
}

// --- the arguments ------------------------------------------------------------------------------

static int parse_arguments(Order *order, const char *command, const char *text_option, int argc,
                           char **argv, CommandUsage usage)
{
    const bool json = order->client.json;
    for (int i = 1; i < argc; i++) {
        const char *value = command_value(argc, argv, i);
        const bool is_text = strcmp(argv[i], text_option) == 0;
        const bool is_state = strcmp(command, "reports") == 0 && strcmp(argv[i], "--state") == 0;
        if ((is_text || is_state) && value != NULL) {
            *(is_text ? &order->text : &order->state) = value;
            i += 1;
        } else if (argv[i][0] == '-') {
            return command_unknown_option(command, json, argv[i], usage);
        } else if (order->word_count == 4) {
            return command_misused(command, json, "unexpected argument", argv[i]);
        } else {
            order->words[order->word_count++] = argv[i];
        }
    }
    return EXIT_OK;
}

static bool wants_help(int argc, char **argv)
{
    return argc == 2 && (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0);
}

int cmd_reports(int argc, char **argv)
{
    Order order = {.state = "open"};
    if (wants_help(argc, argv)) {
        print_reports_usage(stdout);
        return EXIT_OK;
    }
    int code = tool_open(&order.client, "reports", &argc, argv);
    code = code == EXIT_OK
               ? parse_arguments(&order, "reports", "--note", argc, argv, print_reports_usage)
               : code;
    return code == EXIT_OK ? run_reports(&order) : code;
}

int cmd_moderate(int argc, char **argv)
{
    Order order = {0};
    if (wants_help(argc, argv)) {
        print_moderate_usage(stdout);
        return EXIT_OK;
    }
    int code = tool_open(&order.client, "moderate", &argc, argv);
    code = code == EXIT_OK
               ? parse_arguments(&order, "moderate", "--reason", argc, argv, print_moderate_usage)
               : code;
    return code == EXIT_OK ? run_moderate(&order) : code;
}
