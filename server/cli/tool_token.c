// Which server a command asks, and with which token: see tool.h. The file has a line for each
// server, "URL TOKEN", the one of the last login first. It is written whole, beside itself, and
// then takes the old one's place.
#define _GNU_SOURCE
#include "server/cli/tool.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#define LINES_MAX  256
#define LINE_BYTES (TOOL_URL_BYTES + TOOL_TOKEN_BYTES + 4)

typedef struct TokenLine {
    char url[TOOL_URL_BYTES], token[TOOL_TOKEN_BYTES];
} TokenLine;

typedef struct TokenFile {
    TokenLine lines[LINES_MAX];
    uint32_t count;
} TokenFile;

// --- addresses ----------------------------------------------------------------------------------

bool tool_url(const char *text, char url[TOOL_URL_BYTES], char *reason, size_t bytes)
{
    const bool is_http = strncasecmp(text, "http://", 7) == 0;
    const bool is_https = strncasecmp(text, "https://", 8) == 0;
    const char *host = text + (is_https ? 8 : 7);
    if (!is_http && !is_https) {
        snprintf(reason, bytes, "\"%.100s\" is no address: it begins with http:// or https://",
                 text);
        return false;
    }
    size_t length = strlen(text);
    length -= length > 0 && text[length - 1] == '/';
    const size_t host_bytes = length - (size_t)(host - text);
    if (length >= TOOL_URL_BYTES || host_bytes == 0 ||
        strspn(host, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-:[]") <
            host_bytes) {
        snprintf(reason, bytes,
                 "\"%.100s\" is no address of a server: only the scheme, the host and a port",
                 text);
        return false;
    }
    memcpy(url, text, length);
    url[length] = '\0';
    return true;
}

// --- the file -----------------------------------------------------------------------------------

// The folder, which is made, and the file in it.
static bool find_file(char folder[PATH_MAX], char path[PATH_MAX])
{
    const char *config = getenv("XDG_CONFIG_HOME"), *home = getenv("HOME");
    const bool has_config = config != NULL && config[0] == '/';
    if (!has_config && (home == NULL || home[0] != '/')) {
        return false;
    }
    char parent[PATH_MAX];
    const int parent_bytes = snprintf(parent, sizeof parent, "%s%s", has_config ? config : home,
                                      has_config ? "" : "/.config");
    const int bytes = snprintf(folder, PATH_MAX, "%.*s/sandlot", parent_bytes, parent);
    if (parent_bytes >= PATH_MAX || bytes >= PATH_MAX ||
        snprintf(path, PATH_MAX, "%s/tokens", folder) >= PATH_MAX) {
        return false;
    }
    (void)mkdir(parent, 0700); // usually there
    return mkdir(folder, 0700) == 0 || errno == EEXIST;
}

// True also if there is none.
static bool read_file(const char *path, TokenFile *out, char *reason, size_t bytes)
{
    out->count = 0;
    FILE *file = fopen(path, "re");
    if (file == NULL) {
        return errno == ENOENT;
    }
    struct stat about;
    if (fstat(fileno(file), &about) != 0 || (about.st_mode & 077) != 0) {
        snprintf(reason, bytes, "%s can be read by others; run `chmod 600 %s`", path, path);
        fclose(file);
        return false;
    }
    char line[LINE_BYTES];
    while (out->count < LINES_MAX && fgets(line, sizeof line, file) != NULL) {
        TokenLine *to = &out->lines[out->count];
        char *space = strchr(line, ' ');
        line[strcspn(line, "\n")] = '\0';
        if (space == NULL || (size_t)(space - line) >= sizeof to->url ||
            strlen(space + 1) >= sizeof to->token) {
            continue;
        }
        *space = '\0';
        memcpy(to->url, line, strlen(line) + 1);
        memcpy(to->token, space + 1, strlen(space + 1) + 1);
        out->count += 1;
    }
    fclose(file);
    return true;
}

static bool write_file(const char *path, const TokenFile *tokens)
{
    char temporary[PATH_MAX];
    if (snprintf(temporary, sizeof temporary, "%.*s.new", PATH_MAX - 8, path) >= PATH_MAX) {
        return false;
    }
    const int descriptor = open(temporary, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    FILE *file = descriptor >= 0 ? fdopen(descriptor, "w") : NULL;
    if (file == NULL) {
        return false;
    }
    bool is_written = fchmod(descriptor, 0600) == 0;
    for (uint32_t i = 0; i < tokens->count; i++) {
        is_written = fprintf(file, "%s %s\n", tokens->lines[i].url, tokens->lines[i].token) > 0 &&
                     is_written;
    }
    is_written = fflush(file) == 0 && fsync(descriptor) == 0 && is_written;
    is_written = fclose(file) == 0 && is_written;
    return is_written && rename(temporary, path) == 0;
}

bool tool_keep_token(const char *url, const char *token, char *reason, size_t bytes)
{
    static TokenFile old, new; // large
    char folder[PATH_MAX], path[PATH_MAX];
    if (!find_file(folder, path)) {
        snprintf(reason, bytes, "there is no place for tokens: is HOME set?");
        return false;
    }
    if (!read_file(path, &old, reason, bytes)) {
        return false;
    }
    new.count = 0;
    if (token[0] != '\0') {
        TokenLine *first = &new.lines[new.count++];
        snprintf(first->url, sizeof first->url, "%s", url);
        snprintf(first->token, sizeof first->token, "%s", token);
    }
    for (uint32_t i = 0; i < old.count && new.count < LINES_MAX; i++) {
        if (strcmp(old.lines[i].url, url) != 0) {
            new.lines[new.count++] = old.lines[i];
        }
    }
    if (!write_file(path, &new)) {
        snprintf(reason, bytes, "%s cannot be written: %s", path, strerror(errno));
        return false;
    }
    return true;
}

// --- the arguments ------------------------------------------------------------------------------

static void take_out(int *argc, char **argv, int at, int count)
{
    for (int i = at; i + count <= *argc; i++) {
        argv[i] = argv[i + count]; // and the NULL behind them
    }
    *argc -= count;
}

// The token of a server; with url "" that of the last login, whose server it is then.
static bool find_token(Tool *client, char *reason, size_t bytes)
{
    static TokenFile tokens;
    char folder[PATH_MAX], path[PATH_MAX];
    if (!find_file(folder, path)) {
        return true; // no home, no tokens
    }
    if (!read_file(path, &tokens, reason, bytes)) {
        return false;
    }
    for (uint32_t i = 0; i < tokens.count; i++) {
        if (client->url[0] == '\0' || strcmp(tokens.lines[i].url, client->url) == 0) {
            memcpy(client->url, tokens.lines[i].url, sizeof client->url);
            memcpy(client->token, tokens.lines[i].token, sizeof client->token);
            return true;
        }
    }
    return true;
}

int tool_open(Tool *client, const char *command, int *argc, char **argv)
{
    char reason[TOOL_REASON_BYTES] = "";
    const char *server = getenv("SANDLOT_URL");
    *client = (Tool){.command = command, .json = command_wants_json(*argc, argv)};
    for (int i = 1; i < *argc;) {
        if (strcmp(argv[i], "--json") == 0) {
            take_out(argc, argv, i, 1);
        } else if (strcmp(argv[i], "--server") == 0) {
            server = command_value(*argc, argv, i);
            if (server == NULL) {
                return command_misused(command, client->json, "--server needs an address", NULL);
            }
            take_out(argc, argv, i, 2);
        } else {
            i += 1;
        }
    }
    if (server != NULL && server[0] != '\0' &&
        !tool_url(server, client->url, reason, sizeof reason)) {
        return command_fail(command, client->json, EXIT_USAGE, reason);
    }
    if (!find_token(client, reason, sizeof reason)) {
        return command_fail(command, client->json, EXIT_FAILED, reason);
    }
    if (client->url[0] == '\0') {
        memcpy(client->url, TOOL_URL_DEFAULT, sizeof TOOL_URL_DEFAULT);
    }
    return EXIT_OK;
}
