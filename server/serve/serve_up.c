// What only `sandlot up` has: the key for stored sign-ins, and what it tells the person who started
// it.
#define _GNU_SOURCE
#include "server/build/base/diagnostic.h"
#include "server/control/account.h"
#include "server/control/token.h"
#include "server/serve/http/shared_url.h"
#include "server/serve/serve_inside.h"
#include "server/store/people/store_setting.h"
#include "server/sys/clock.h"
#include "server/sys/entropy.h"
#include "server/sys/file.h"

#include <stdio.h>
#include <sys/stat.h>

// The operator's key, or a random one that is made at the first start and kept. The data folder is
// locked, so nobody else makes one at the same time.
static int open_secret(Serve *serve)
{
    char path[SERVE_PATH_BYTES];
    uint8_t *bytes = NULL;
    size_t count = 0;
    if (serve->config.has_secret) {
        memcpy(serve->secret_key, serve->config.secret_key, sizeof serve->secret_key);
        return 0;
    }
    if (!serve_join_path(path, serve->data, SERVE_SECRET_FILE)) {
        return serve_data_failed(serve, SERVE_SECRET_FILE, "the path is too long");
    }
    Status status =
        file_read_own(path, S_IRWXG | S_IRWXO, sizeof serve->secret_key, &bytes, &count);
    if (status == STATUS_OK) {
        status = count == sizeof serve->secret_key ? STATUS_OK : STATUS_MALFORMED;
        if (status == STATUS_OK) {
            memcpy(serve->secret_key, bytes, sizeof serve->secret_key);
        }
        free(bytes);
    } else if (status == STATUS_NOT_FOUND) {
        entropy_fill(serve->secret_key, sizeof serve->secret_key);
        status = file_write_private(path, serve->secret_key, sizeof serve->secret_key);
    }
    if (status == STATUS_OK) {
        return 0;
    }
    return serve_data_failed(
        serve, SERVE_SECRET_FILE,
        status == STATUS_DENIED ? "it must be yours and readable by nobody else; `chmod 600` it"
        : status == STATUS_MALFORMED ? "it is damaged; remove it, and everybody signs in again"
                                     : status_text(status));
}

// What is kept as a hash is known again only with the same secret, so all hosts of a store need the
// same.
static int agree_on_secret(const Serve *serve)
{
    uint8_t check[TOKEN_HASH_BYTES];
    bool was_changed = false;
    token_hash(serve->secret_key, "same-secret", "", check);
    const Status status = store_secret_agree(serve->store, check, serve->config.store != NULL,
                                             clock_unix_ms(), &was_changed);
    if (status == STATUS_MISMATCH) {
        serve_log_failure(
            serve->command,
            "%s, so sign-ins of other hosts on this database would be unknown here. Start every "
            "host with the same SANDLOT_SECRET_KEY. To change it, stop all hosts and wait for a "
            "minute",
            serve->config.has_secret ? "the secret key is not that of the hosts on this database"
                                     : "there is no secret key (SANDLOT_SECRET_KEY)");
        return 1;
    }
    if (status != STATUS_OK) {
        serve_log_failure(serve->command, "the database server: %s", status_text(status));
        return 1;
    }
    if (was_changed) {
        serve_log(
            LOG_WARN, "store",
            "the secret key is another one than before: everybody signs in again, and codes of "
            "classes, recovery codes, invitations, links, tokens and host keys that were made "
            "with the old one do not hold any more");
    }
    return 0;
}

int serve_secret_open(Serve *serve)
{
    const int code = open_secret(serve);
    return code == 0 ? agree_on_secret(serve) : code;
}

// --- what is printed ----------------------------------------------------------------------------

static void print_served(const Serve *serve)
{
    for (uint32_t i = 0; i < serve->built_in_count; i++) {
        const ServeBuiltIn *place = &serve->built_in[i];
        const bool is_default = strcmp(place->place_id, serve->default_place) == 0;
        diagnostic_print(stdout, "place   %s: %s%s", place->place_id, place->title,
                         is_default ? " (default)" : "");
    }
    diagnostic_print(stdout, "data    %s", serve->data);
}

// At each start, until somebody has used it.
static void print_operator_link(const Serve *serve, const char *url)
{
    char token[TOKEN_TEXT_BYTES];
    if (serve->control != NULL && control_operator_link(serve->control, token) == STATUS_OK) {
        const size_t bytes = strlen(url) - (url[strlen(url) - 1] == '/');
        diagnostic_print(stdout, "  operator open %.*s/account?link=%s", (int)bytes, url, token);
        printf("           to register as the operator; the link is good once\n");
    }
}

static void print_next(const Serve *serve, const char *address, unsigned port)
{
    char link[256];
    if (serve->config.public_url != NULL) {
        const size_t bytes = strlen(serve->config.public_url);
        const bool has_slash = bytes > 0 && serve->config.public_url[bytes - 1] == '/';
        snprintf(link, sizeof link, "%s%s", serve->config.public_url, has_slash ? "" : "/");
    } else {
        snprintf(link, sizeof link, "http://%s:%u/", address, port);
    }
    printf("\nNext:\n");
    print_operator_link(serve, link);
    if (serve->config.web == NULL) {
        printf("  pages    there are none: run `make build`, or say --web DIR\n");
    } else {
        // By the place, so that friends who open it meet in one world.
        diagnostic_print(
            stdout,
            "  play     open %splace/%s in a browser, and for a second player in a private window",
            link, serve->default_place);
        diagnostic_print(
            stdout, "  create   open %screate in a browser; or, in a folder of your own:", link);
    }
    printf("  %s `sandlot new mygame --template obby`, then `sandlot dev mygame`\n",
           serve->config.web == NULL ? "create  " : "        ");
    if (serve->development) {
        printf(
            "  share    `sandlot up --new-secret-key` once, then `sandlot up --host 0.0.0.0`;\n"
            "           until then only this computer can connect, and nobody needs a password\n");
    }
    printf("  stop     press Ctrl-C: everything is saved first\n");
}

// In a school that is often so, but whoever runs the server shall know.
static void warn_of_plain_http(const Serve *serve)
{
    if (!serve->development && !serve->is_https) {
        serve_log(LOG_WARN, "accounts",
                  "passwords travel readable through the network, because the public URL is not "
                  "https; a proxy with TLS in front and public_url = https://… change that");
    }
}

void serve_print_up(const Serve *serve, const char *address, unsigned port)
{
    warn_of_plain_http(serve);
    char addresses[NETWORK_ADDRESSES_MAX][NETWORK_ADDRESS_BYTES];
    printf("Sandlot runs at http://%s:%u/\n", address, port);
    const uint32_t count = serve_is_everywhere(serve) ? network_addresses(addresses) : 0;
    for (uint32_t i = 0; i < count; i++) {
        printf("network http://%s:%u/\n", addresses[i], port);
    }
    print_served(serve);
    print_next(serve, address, port);
    fflush(stdout);
}
