// `sandlot login`: signs in to a server and keeps a named token for the other commands.
#define _GNU_SOURCE
#include "server/build/base/diagnostic.h"
#include "server/cli/tool.h"
#include "server/sys/loopback.h"

#include <stdlib.h>
#include <string.h>
#include <termios.h>
#include <unistd.h>

#define LINE_BYTES 512
#define BODY_BYTES 2048

static void print_usage(FILE *out)
{
    fprintf(
        out,
        "usage: sandlot login URL [options]   sign in, and keep a token for other commands\n\n"
        "  --name NAME     what the token is called in the list of your sign-ins (default: this\n"
        "                  computer's name)\n"
        "  --scope SCOPE   what the token may do: play, create, operate, or several with spaces\n"
        "                  between them (default: \"play create operate\")\n"
        "  --token         read a token from standard input and keep that one\n"
        "  --forget        forget the token of this server on this computer\n"
        "  --json          print JSON, for programs\n\n"
        "Asks for your name and password; from a pipe they are two lines. The token is kept in\n"
        "~/.config/sandlot/tokens, which only you can read. It ends when you end it in the list\n"
        "of your sign-ins, when you change your password, or after 90 days without use.\n"
        "Exit codes: 0 signed in, 1 failed, 2 invalid arguments.\n");
}

typedef struct Login {
    Tool client;
    const char *name, *scope;
    bool reads_token, forgets;
} Login;

// --- asking -------------------------------------------------------------------------------------

// A line of standard input, without its end; a secret is not shown while it is typed.
static bool read_line(const char *what, bool is_secret, char out[LINE_BYTES])
{
    struct termios before, quiet;
    const bool is_terminal = isatty(STDIN_FILENO) == 1;
    const bool hides = is_terminal && is_secret && tcgetattr(STDIN_FILENO, &before) == 0;
    if (is_terminal) {
        fprintf(stderr, "%s: ", what);
        fflush(stderr);
    }
    if (hides) {
        quiet = before;
        quiet.c_lflag &= ~(tcflag_t)ECHO;
        (void)tcsetattr(STDIN_FILENO, TCSAFLUSH, &quiet);
    }
    const bool is_read = fgets(out, LINE_BYTES, stdin) != NULL;
    if (hides) {
        (void)tcsetattr(STDIN_FILENO, TCSAFLUSH, &before);
        fprintf(stderr, "\n");
    }
    if (is_read) {
        out[strcspn(out, "\r\n")] = '\0';
    }
    return is_read && out[0] != '\0';
}

static int keep_token(const Login *login, const char *token)
{
    char reason[TOOL_REASON_BYTES];
    Tool client = login->client;
    snprintf(client.token, sizeof client.token, "%s", token);
    ToolReply who;
    int code = tool_ask(&client, "GET", "/api/session", NULL, &who);
    if (code == EXIT_OK && !tool_keep_token(client.url, token, reason, sizeof reason)) {
        code = tool_fail(&client, "%s", reason);
    }
    if (code == EXIT_OK && client.json) {
        char text[TOOL_REASON_BYTES];
        if (tool_object(text, sizeof text, "url", client.url, "username",
                        tool_text(who.root, "username"), NULL)) {
            printf("%s\n", text);
        }
    } else if (code == EXIT_OK) {
        diagnostic_print(stdout, "signed in to %s as %s", client.url,
                         tool_text(who.root, "username"));
    }
    explicit_bzero(&client, sizeof client);
    tool_free(&who);
    return code;
}

// Signs in, makes the token, and ends the sign-in that made it.
static int sign_in(Login *login, const char *user, const char *password)
{
    char body[BODY_BYTES];
    ToolReply session, made, ended;
    Tool *client = &login->client;
    client->token[0] = '\0';
    if (!tool_object(body, sizeof body, "username", user, "password", password, NULL)) {
        return tool_fail(client, "the name or the password is no text");
    }
    int code = tool_ask(client, "POST", "/login", body, &session);
    explicit_bzero(body, sizeof body);
    if (code == EXIT_OK) {
        snprintf(client->token, sizeof client->token, "%s",
                 tool_text(session.root, "session_token"));
        (void)tool_object(body, sizeof body, "name", login->name, "scope", login->scope, NULL);
        code = tool_ask(client, "POST", "/api/account/tokens", body, &made);
        if (code == EXIT_OK) {
            code = keep_token(login, tool_text(made.root, "token"));
        }
        (void)tool_ask(client, "POST", "/logout", NULL, &ended);
        tool_free(&ended);
        tool_free(&made);
    }
    tool_free(&session);
    return code;
}

static int run(Login *login)
{
    char first[LINE_BYTES], second[LINE_BYTES];
    int code;
    if (login->reads_token) {
        if (!read_line("token", true, first)) {
            return tool_fail(&login->client, "there is no token on standard input");
        }
        code = keep_token(login, first);
    } else {
        if (!read_line("name", false, first) || !read_line("password", true, second)) {
            return tool_fail(&login->client, "a name and a password are needed");
        }
        code = sign_in(login, first, second);
    }
    explicit_bzero(first, sizeof first);
    explicit_bzero(second, sizeof second);
    return code;
}

// --- the arguments ------------------------------------------------------------------------------

static int parse_arguments(Login *login, int argc, char **argv)
{
    char reason[TOOL_REASON_BYTES];
    const char *url = NULL;
    Tool *client = &login->client;
    for (int i = 1; i < argc; i++) {
        const char *value = command_value(argc, argv, i);
        const bool takes = strcmp(argv[i], "--name") == 0 || strcmp(argv[i], "--scope") == 0;
        if (strcmp(argv[i], "--json") == 0) {
            client->json = true;
        } else if (strcmp(argv[i], "--token") == 0) {
            login->reads_token = true;
        } else if (strcmp(argv[i], "--forget") == 0) {
            login->forgets = true;
        } else if (takes && value != NULL) {
            *(strcmp(argv[i], "--name") == 0 ? &login->name : &login->scope) = value;
            i += 1;
        } else if (argv[i][0] == '-') {
            return command_unknown_option("login", client->json, argv[i], print_usage);
        } else if (url != NULL) {
            return command_misused("login", client->json, "unexpected argument", argv[i]);
        } else {
            url = argv[i];
        }
    }
    if (url == NULL) {
        return command_misused("login", client->json, "which server? name its address", NULL);
    }
    if (!tool_url(url, client->url, reason, sizeof reason)) {
        return command_fail("login", client->json, EXIT_USAGE, reason);
    }
    return EXIT_OK;
}

static bool is_near(const char *url)
{
    return strncmp(url, "https:", 6) == 0 || url_is_loopback(url);
}

int cmd_login(int argc, char **argv)
{
    char machine[65] = "tool", reason[TOOL_REASON_BYTES];
    if (argc == 2 && (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0)) {
        print_usage(stdout);
        return EXIT_OK;
    }
    (void)gethostname(machine, sizeof machine - 1);
    Login login = {.client = {.command = "login", .json = command_wants_json(argc, argv)},
                   .name = machine,
                   .scope = "play create operate"};
    const int code = parse_arguments(&login, argc, argv);
    if (code != EXIT_OK) {
        return code;
    }
    if (login.forgets) {
        return tool_keep_token(login.client.url, "", reason, sizeof reason)
                   ? EXIT_OK
                   : tool_fail(&login.client, "%s", reason);
    }
    if (!is_near(login.client.url)) {
        fprintf(stderr, "sandlot login: this is plain http: everybody on the way can read the "
                        "password and the token\n");
    }
    return run(&login);
}
