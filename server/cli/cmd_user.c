// `sandlot user` and `sandlot invite`: accounts of a server, for its operators.
#define _GNU_SOURCE
#include "server/build/base/diagnostic.h"
#include "server/cli/tool.h"

#include <string.h>

#define BODY_BYTES 1024
#define PATH_BYTES 512

static void print_user_usage(FILE *out)
{
    fprintf(
        out,
        "usage: sandlot user list                       all accounts\n"
        "       sandlot user show NAME                  one account\n"
        "       sandlot user role NAME ROLES            set its roles: player, creator,\n"
        "                                               teacher, operator, trusted; several\n"
        "                                               with spaces between them, in quotes\n"
        "       sandlot user reset NAME                 make a link for a new password, good\n"
        "                                               once and for 24 hours\n"
        "       sandlot user ban NAME [--minutes N] [--reason TEXT]\n"
        "       sandlot user unban NAME\n"
        "       sandlot user mute NAME [--minutes N] [--reason TEXT]\n"
        "       sandlot user unmute NAME\n"
        "       sandlot user kick NAME [--reason TEXT]  out of the worlds that run\n"
        "       sandlot user delete NAME --yes          everything that is stored about it. Its\n"
        "                                               places and spells go with it, but for\n"
        "                                               listed ones: those are in the trash for\n"
        "                                               30 days, where an operator can restore\n"
        "                                               them for their players\n\n" TOOL_HELP
        "\nNAME is an account's name, or a client_id such as guest_1f. For operators: sign in\n"
        "with `sandlot login` first. Exit codes: 0 done, 1 failed, 2 invalid arguments.\n");
}

static void print_invite_usage(FILE *out)
{
    fprintf(out,
            "usage: sandlot invite [options]   make a link by which somebody makes an account\n\n"
            "  --role ROLE    of the account: player, creator, teacher or operator (default:\n"
            "                 player)\n"
            "  --hours N      how long the link is good, 1 to 8760 (default: 168)\n" TOOL_HELP
            "\nThe link is good once. For operators; teachers invite players. Exit codes: 0 made,\n"
            "1 failed, 2 invalid arguments.\n");
}

typedef struct User {
    Tool client;
    const char *verb, *name, *roles, *reason;
    uint32_t minutes; // 0: for good
    bool is_sure;
} User;

// --- what is printed ----------------------------------------------------------------------------

static void roles_text(const JsonNode *account, char out[64])
{
    size_t at = 0;
    const JsonNode *roles = json_find(account, "roles");
    out[0] = '\0';
    for (const JsonNode *role = roles != NULL ? roles->first : NULL; role != NULL && at < 48;
         role = role->next) {
        at += (size_t)snprintf(out + at, 64 - at, "%s%.12s", at > 0 ? " " : "",
                               role->kind == JSON_STRING ? role->text : "");
    }
    if (at == 0) {
        snprintf(out, 64, "player");
    }
}

static void print_row(const JsonNode *user)
{
    char roles[64];
    roles_text(user, roles);
    diagnostic_print(stdout, "%-32s  %-25s  %s  %s", tool_text(user, "username"), roles,
                     tool_text(user, "last_sign_in"), tool_text(user, "shown_name"));
}

static int list(const Tool *client)
{
    return tool_list(client, "/admin/users", "users", "after", print_row);
}

static void print_user(const JsonNode *root)
{
    char roles[64];
    roles_text(root, roles);
    diagnostic_print(stdout, "name       %s", tool_text(root, "username"));
    diagnostic_print(stdout, "shown as   %s", tool_text(root, "shown_name"));
    diagnostic_print(stdout, "account    %s (UserId %.0f)", tool_text(root, "account"),
                     tool_number(root, "user_id"));
    diagnostic_print(stdout, "roles      %s", roles);
    diagnostic_print(stdout, "created    %s", tool_text(root, "created"));
    diagnostic_print(stdout, "signed in  %s", tool_text(root, "last_sign_in"));
    diagnostic_print(stdout, "sign-ins   %.0f", tool_number(root, "sign_ins"));
    const JsonNode *banned = json_find(root, "banned"), *muted = json_find(root, "muted");
    diagnostic_print(stdout, "banned     %s", banned != NULL && banned->boolean ? "yes" : "no");
    diagnostic_print(stdout, "muted      %s", muted != NULL && muted->boolean ? "yes" : "no");
}

// --- what is done -------------------------------------------------------------------------------

static void print_link(const JsonNode *root)
{
    diagnostic_print(stdout, "%s", tool_text(root, "link"));
}

static void print_done(const JsonNode *root)
{
    (void)root;
    printf("done\n");
}

// Ban, mute and kick: {"account","reason"?,"minutes"?}.
static int order(const User *user, const char *path)
{
    char body[BODY_BYTES];
    if (!tool_object(body, sizeof body - 32, "account", user->name, "reason", user->reason, NULL)) {
        return tool_fail(&user->client, "the name or the reason is no text, or too long");
    }
    if (user->minutes > 0) {
        snprintf(body + strlen(body) - 1, 32, ",\"minutes\":%u}", user->minutes);
    }
    return tool_show(&user->client, "POST", path, body, print_done);
}

static int run_user(const User *user)
{
    const Tool *client = &user->client;
    char name[PATH_BYTES / 2], path[PATH_BYTES], body[BODY_BYTES];
    tool_escape(user->name, name, sizeof name);
    if (strcmp(user->verb, "list") == 0) {
        return list(client);
    }
    if (strcmp(user->verb, "show") == 0) {
        snprintf(path, sizeof path, "/admin/users/%s", name);
        return tool_show(client, "GET", path, NULL, print_user);
    }
    if (strcmp(user->verb, "role") == 0) {
        snprintf(path, sizeof path, "/api/accounts/%s/roles", name);
        return tool_object(body, sizeof body, "roles", user->roles, NULL)
                   ? tool_show(client, "POST", path, body, print_done)
                   : tool_fail(client, "the roles are no text");
    }
    if (strcmp(user->verb, "reset") == 0) {
        snprintf(path, sizeof path, "/api/accounts/%s/reset", name);
        return tool_show(client, "POST", path, NULL, print_link);
    }
    if (strcmp(user->verb, "delete") == 0) {
        snprintf(path, sizeof path, "/api/accounts/%s", name);
        return tool_show(client, "DELETE", path, NULL, print_done);
    }
    if (strncmp(user->verb, "un", 2) == 0) {
        snprintf(path, sizeof path, "/admin/%s?account=%s", user->verb + 2, name);
        return tool_show(client, "DELETE", path, NULL, print_done);
    }
    snprintf(path, sizeof path, "/admin/%s", user->verb); // kick, ban, mute
    return order(user, path);
}

// --- the arguments ------------------------------------------------------------------------------

static bool is_verb(const char *text)
{
    static const char *const verbs[] = {"list",  "show", "role",   "reset", "ban",
                                        "unban", "mute", "unmute", "kick",  "delete"};
    for (size_t i = 0; i < sizeof verbs / sizeof verbs[0]; i++) {
        if (strcmp(text, verbs[i]) == 0) {
            return true;
        }
    }
    return false;
}

static int parse_user(User *user, int argc, char **argv)
{
    const bool json = user->client.json;
    const char *words[4] = {NULL};
    uint32_t count = 0;
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--minutes") == 0) {
            if (!command_parse_u32(command_value(argc, argv, i), 1, 5270400, &user->minutes)) {
                return command_misused("user", json, "--minutes is 1 to 5270400", NULL);
            }
            i += 1;
        } else if (strcmp(argv[i], "--reason") == 0 && command_value(argc, argv, i) != NULL) {
            user->reason = argv[++i];
        } else if (strcmp(argv[i], "--yes") == 0) {
            user->is_sure = true;
        } else if (argv[i][0] == '-') {
            return command_unknown_option("user", json, argv[i], print_user_usage);
        } else if (count < 4) {
            words[count++] = argv[i];
        }
    }
    if (count == 0 || !is_verb(words[0])) {
        return command_misused("user", json, count == 0 ? "what shall be done?" : "unknown verb",
                               words[0]);
    }
    const bool is_list = strcmp(words[0], "list") == 0, is_role = strcmp(words[0], "role") == 0;
    if (count != (is_list ? 1u : is_role ? 3u : 2u)) {
        return command_misused("user", json,
                               is_role   ? "role needs a name and roles"
                               : is_list ? "list needs nothing more"
                                         : "this needs the name of one account",
                               NULL);
    }
    if (strcmp(words[0], "delete") == 0 && !user->is_sure) {
        return command_misused("user", json, "this cannot be undone; if you mean it, add --yes",
                               NULL);
    }
    user->verb = words[0];
    user->name = words[1] != NULL ? words[1] : "";
    user->roles = words[2];
    return EXIT_OK;
}

int cmd_user(int argc, char **argv)
{
    User user = {0};
    if (argc == 2 && (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0)) {
        print_user_usage(stdout);
        return EXIT_OK;
    }
    int code = tool_open(&user.client, "user", &argc, argv);
    code = code == EXIT_OK ? parse_user(&user, argc, argv) : code;
    return code == EXIT_OK ? run_user(&user) : code;
}

int cmd_invite(int argc, char **argv)
{
    Tool client;
    char body[BODY_BYTES];
    const char *role = NULL;
    uint32_t hours = 168;
    if (argc == 2 && (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0)) {
        print_invite_usage(stdout);
        return EXIT_OK;
    }
    const int code = tool_open(&client, "invite", &argc, argv);
    if (code != EXIT_OK) {
        return code;
    }
    for (int i = 1; i < argc; i++) {
        const char *value = command_value(argc, argv, i);
        if (strcmp(argv[i], "--role") == 0 && value != NULL) {
            role = value;
        } else if (strcmp(argv[i], "--hours") == 0) {
            if (!command_parse_u32(value, 1, 8760, &hours)) {
                return command_misused("invite", client.json, "--hours is 1 to 8760", NULL);
            }
        } else {
            return command_unknown_option("invite", client.json, argv[i], print_invite_usage);
        }
        i += 1;
    }
    if (!tool_object(body, sizeof body - 32, "role", role, NULL)) {
        return tool_fail(&client, "the role is no text");
    }
    snprintf(body + strlen(body) - 1, 32, "%s\"expires_h\":%u}", role != NULL ? "," : "", hours);
    return tool_show(&client, "POST", "/api/invitations", body, print_link);
}
