// How the subcommands that ask a running server do it: which server, which token, one request, and
// an answer as JSON. Tokens are kept in ~/.config/sandlot/tokens, for this user alone.
#pragma once

#include "core/base/json_read.h"
#include "server/build/base/buffer.h"
#include "server/cli/command.h"

#define TOOL_URL_BYTES    256
#define TOOL_TOKEN_BYTES  256
#define TOOL_REASON_BYTES 512
#define TOOL_URL_DEFAULT  "http://127.0.0.1:5000"

typedef struct Tool {
    const char *command;          // "worlds", for messages
    bool json;                    // --json: failures are printed as JSON too
    bool is_quiet;                // a failure is not printed at all: the command goes on without
    char url[TOOL_URL_BYTES];     // without a slash at its end
    char token[TOOL_TOKEN_BYTES]; // "": none
} Tool;

typedef struct ToolReply {
    long status;
    Buffer body;
    void *memory;         // of the tree
    const JsonNode *root; // never NULL if tool_ask gave EXIT_OK
} ToolReply;

// Takes `--server URL` and `--json` out of the arguments, and finds the server and its token: the
// option, SANDLOT_URL, the last `sandlot login`, or this machine. EXIT_OK, or what is wrong was
// printed.
int tool_open(Tool *client, const char *command, int *argc, char **argv);
// What --help of these commands says about it.
#define TOOL_HELP                                                                         \
    "  --server URL   which server (default: SANDLOT_URL, the last `sandlot login`, or\n" \
    "                 " TOOL_URL_DEFAULT ")\n"                                            \
    "  --json         print JSON, for programs\n"

// One request; the body is JSON or NULL. EXIT_OK: the server did it. Otherwise what went wrong was
// printed, in the server's words if there are any. The reply must be freed in every case.
int tool_ask(const Tool *client, const char *method, const char *path, const char *body,
             ToolReply *reply);
// A body of any bytes. `progress` is told how many have been sent, now and then; NULL: nobody is.
typedef void (*ToolProgress)(void *user, uint64_t sent, uint64_t total);
int tool_upload(const Tool *client, const char *path, const void *data, size_t bytes,
                ToolProgress progress, void *user, ToolReply *reply);
// A body that is no JSON: the answer is in reply->body.
int tool_download(const Tool *client, const char *path, size_t bytes_max, ToolReply *reply);
void tool_free(ToolReply *reply);

// All pages of a list, whose member `name` has the rows: each is printed, with --json the pages as
// they came. `more` is the parameter by which a list goes on ("after"); `path` may have others.
typedef void (*ToolRow)(const JsonNode *row);
int tool_list(const Tool *client, const char *path, const char *name, const char *more,
              ToolRow print);
// One request whose answer is printed, with --json as it came.
int tool_show(const Tool *client, const char *method, const char *path, const char *body,
              ToolRow print);
// Waits for a build on the server; `show` is told each new stage, and NULL before something
// is printed; it may be NULL. EXIT_OK: it is done; otherwise its mistakes and the reason were
// printed, of `what` ("place_x r3").
typedef void (*ToolStage)(void *user, const char *stage, double percent);
int tool_wait(const Tool *client, const char *job_id, const char *what, ToolStage show, void *user);
// Prints what is wrong, as command_fail does; gives EXIT_FAILED.
int tool_fail(const Tool *client, const char *format, ...) __attribute__((format(printf, 2, 3)));

// A member as text: "" if it is not there. Numbers are printed into `space`.
const char *tool_text(const JsonNode *object, const char *name);
double tool_number(const JsonNode *object, const char *name); // 0 if it is not there
bool tool_flag(const JsonNode *object, const char *name);     // false if it is not there
// Writes a part of an address: everything but letters, digits and -_.~ is escaped.
void tool_escape(const char *text, char *out, size_t bytes);
// A JSON object of texts: names and values by turns, ended by NULL; a value that is NULL is left
// out. False: it does not fit.
bool tool_object(char *out, size_t bytes, ...);

// --- tokens -------------------------------------------------------------------------------------
// True: `url` is as it is kept: http or https, a host, no path. False: `reason` says why not.
bool tool_url(const char *text, char url[TOOL_URL_BYTES], char *reason, size_t bytes);
// Keeps a token for a server in place of the one there was; "" removes it.
bool tool_keep_token(const char *url, const char *token, char *reason, size_t bytes);
