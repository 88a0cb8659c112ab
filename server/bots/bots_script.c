// Bots that run client scripts. Bytecode from a server is loaded only inside the jail, and only if
// the manifest that names it is signed by the key that came with the ticket, as in any native
// client. Names are resolved before the process enters the jail.
#define _GNU_SOURCE
#include "server/bots/bots_inside.h"

#include "core/base/utf8.h"
#include "core/script/rune/rune_unpack.h"
#include "server/sys/jail.h"

#include <netdb.h>
#include <sodium.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SANITIZED true
#else
#define SANITIZED false
#endif
#define JAIL_BYTES     (4ull << 30)
#define JAIL_BOT_BYTES (64ull << 20) // of each: its scripts' block, and what is around it
#define FAULTS_SHOWN   50

// --- locking in ---------------------------------------------------------------------------------

// Resolves the server's address, because that needs files, which the jail forbids.
static Status resolve(Bots *bots)
{
    BotsHttp parts;
    Status status = bots_http_init(&parts, bots->config.server);
    if (status != STATUS_OK) {
        return status;
    }
    const struct addrinfo hints = {.ai_family = AF_UNSPEC, .ai_socktype = SOCK_STREAM};
    struct addrinfo *list = NULL;
    char host[NI_MAXHOST];
    if (getaddrinfo(parts.host, parts.port, &hints, &list) != 0 || list == NULL) {
        return STATUS_BLOCKED;
    }
    const bool good = getnameinfo(list->ai_addr, list->ai_addrlen, host, sizeof host, NULL, 0,
                                  NI_NUMERICHOST) == 0;
    const bool six = list->ai_family == AF_INET6;
    freeaddrinfo(list);
    const int bytes = snprintf(bots->server, sizeof bots->server, "http://%s%s%s:%s",
                               six ? "[" : "", host, six ? "]" : "", parts.port);
    return good && bytes > 0 && (size_t)bytes < sizeof bots->server ? STATUS_OK : STATUS_RANGE;
}

Status bots_script_lock_in(Bots *bots, char *reason, size_t reason_bytes)
{
    Status status = resolve(bots);
    if (status != STATUS_OK || sodium_init() < 0) {
        snprintf(reason, reason_bytes, "%s cannot be asked: %s", bots->config.server,
                 status_text(status));
        return status != STATUS_OK ? status : STATUS_BLOCKED;
    }
    bots->config.server = bots->server;
    status = rune_unpack_create(&bots->heap, &bots->unpack);
    if (status != STATUS_OK) {
        snprintf(reason, reason_bytes, "runes cannot be unpacked: %s", status_text(status));
        return status;
    }
    JailConfig jail = jail_config_default();
    jail.allow_weak = bots->config.allow_weak_jail;
    jail.clients = true;
    jail.memory_bytes_max = SANITIZED ? 0 : JAIL_BYTES + bots->config.count * JAIL_BOT_BYTES;
    uint32_t layers = 0;
    return jail_enter(&jail, &layers, reason, reason_bytes);
}

// --- what a client needs ------------------------------------------------------------------------

static Status verify(void *user, const uint8_t *text, size_t bytes, const uint8_t *signature)
{
    const Bots *bots = user;
    return crypto_sign_verify_detached(signature, text, bytes, bots->signing_key) == 0
               ? STATUS_OK
               : STATUS_DENIED;
}

static Status unpack(void *user, const char *path, const uint8_t *packed, size_t packed_bytes,
                     uint8_t *rune, size_t rune_bytes)
{
    Bots *bots = user;
    const Status status = rune_unpack(bots->unpack, path, packed, packed_bytes, rune, rune_bytes);
    bots->report.runes_unpacked += status == STATUS_OK;
    return status;
}

void bots_script_configure(Bots *bots, ClientConfig *config)
{
    config->verify = verify;
    config->verify_user = bots;
    config->packing = rune_unpack_number(bots->unpack);
    config->unpack = unpack;
    config->unpack_user = bots;
}

// The scene is fetched over HTTP once for all bots; runes over the socket, as native clients do.
void bots_script_fetch(Bot *bot)
{
    ClientWant want;
    if (client_want(bot->client, 0, &want) && want.kind != CLIENT_WANT_SCENE) {
        client_fetch_over_wire(bot->client);
    }
}

// --- what creators want to know -----------------------------------------------------------------

void bots_script_look(Bots *bots, Bot *bot)
{
    ScriptSystem *scripts = client_scripts(bot->client);
    ScriptFault fault;
    while (scripts != NULL && script_faults(scripts, &fault, 1) > 0) {
        bots->report.script_faults += 1;
        if (bots->report.script_faults <= FAULTS_SHOWN) {
            // An error of Lua begins with its place already.
            const bool placed = strncmp(fault.message, fault.file, strlen(fault.file)) == 0;
            char where[SCRIPT_FILE_BYTES + 16] = "";
            if (!placed) {
                snprintf(where, sizeof where, "%s:%u: ", fault.file, fault.line);
            }
            utf8_clean(fault.message);
            fprintf(stderr, "bot %u: %s%s\n", bot->index, where, fault.message);
        }
    }
}

void bots_script_measure(Bots *bots)
{
    BotsReport *report = &bots->report;
    report->scripted = 0;
    for (uint32_t i = 0; i < bots->config.count; i++) {
        const Bot *bot = &bots->bots[i];
        if (bot->client == NULL) {
            continue;
        }
        const ClientStats stats = client_stats(bot->client);
        const bool runs = stats.manifest_version != 0 && stats.manifest_is_proven;
        report->scripted += runs;
        report->manifest_version = stats.manifest_version > report->manifest_version
                                       ? stats.manifest_version
                                       : report->manifest_version;
    }
}
