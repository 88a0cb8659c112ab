// Bots that run client scripts. Bytecode from a server is loaded only inside the jail, and only if
// the manifest that names it is signed by the key that came with the ticket, as in any native
// client. Names are resolved before the process enters the jail.
#define _GNU_SOURCE
#include "server/bots/bots_inside.h"

#include "core/base/utf8.h"
#include "core/script/rune/rune_unpack.h"
#include "server/bots/rune_store.h"
#include "server/sys/jail.h"

#include <netdb.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

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
    if (getaddrinfo(parts.servers[0].host, parts.servers[0].port, &hints, &list) != 0 ||
        list == NULL) {
        return STATUS_BLOCKED;
    }
    const bool good = getnameinfo(list->ai_addr, list->ai_addrlen, host, sizeof host, NULL, 0,
                                  NI_NUMERICHOST) == 0;
    const bool six = list->ai_family == AF_INET6;
    freeaddrinfo(list);
    const int bytes = snprintf(bots->server, sizeof bots->server, "http://%s%s%s:%s",
                               six ? "[" : "", host, six ? "]" : "", parts.servers[0].port);
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
    if (bots->config.cache != NULL) {
        status = rune_keeper_start(bots->config.cache, &bots->keeper);
        if (status != STATUS_OK) {
            fprintf(stderr, "%s cannot be used: %s; runes are fetched\n", bots->config.cache,
                    status_text(status));
        }
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

static void stop_keeping(Bots *bots)
{
    close(bots->keeper);
    bots->keeper = -1;
}

// Runes of which it is known that none is kept.
static bool *missing_slot(Bots *bots, const uint8_t hash[SHA256_BYTES])
{
    uint32_t slot = 0;
    memcpy(&slot, hash, sizeof slot);
    return &bots->is_missing[slot % BOTS_MISSING_MAX];
}

// What an earlier run has kept. The client checks it against the hash of its manifest.
static bool give_kept(Bots *bots, Bot *bot, const ClientWant *want)
{
    uint8_t *data = NULL;
    size_t bytes = 0;
    bool *is_missing = missing_slot(bots, want->hash);
    if (bots->keeper < 0 || want->from_host || *is_missing) {
        return false;
    }
    const Status status = rune_keeper_read(bots->keeper, want->hash, &data, &bytes);
    const bool is_given = status == STATUS_OK && client_give(bot->client, data, bytes) == STATUS_OK;
    bots->report.runes_cached += is_given;
    *is_missing = !is_given;
    free(data);
    if (status == STATUS_BLOCKED) {
        stop_keeping(bots);
    }
    return is_given;
}

// One bot keeps what it runs, for all of them.
static void keep_runes(Bots *bots, Bot *bot)
{
    const uint32_t version = client_stats(bot->client).manifest_version;
    if (bots->keeper < 0 || bot->index != 0 || version == bot->kept_version) {
        return;
    }
    bot->kept_version = version;
    ClientRuneBytes rune;
    for (uint32_t i = 0; bots->keeper >= 0 && client_rune(bot->client, i, &rune); i++) {
        if (rune.bytes != NULL &&
            rune_keeper_write(bots->keeper, rune.hash, rune.bytes, rune.count) != STATUS_OK) {
            stop_keeping(bots);
        }
    }
}

// --- the rows of a manifest ---------------------------------------------------------------------

static void keep_rows(Bots *bots, const uint8_t hash[SHA256_BYTES], uint8_t *data, size_t bytes)
{
    free(bots->rows);
    bots->rows = data;
    bots->rows_bytes = bytes;
    memcpy(bots->rows_hash, hash, SHA256_BYTES);
    bots->rows_failed = false;
}

void bots_script_take_rows(Bots *bots, BotsFetched *fetched)
{
    bots->rows_asked = false;
    bots->rows_failed = fetched->status != STATUS_OK; // then they come over the socket
    if (fetched->status == STATUS_OK) {
        bots->report.rows_fetched += 1;
        if (bots->keeper >= 0 && rune_keeper_write(bots->keeper, fetched->hash, fetched->scene,
                                                   fetched->scene_bytes) != STATUS_OK) {
            stop_keeping(bots);
        }
        keep_rows(bots, fetched->hash, fetched->scene, fetched->scene_bytes);
    }
    for (uint32_t i = 0; i < bots->config.count; i++) {
        bots->bots[i].wants_change = UINT32_MAX;
    }
}

static bool read_kept_rows(Bots *bots, const ClientWant *want)
{
    uint8_t *data = NULL;
    size_t bytes = 0;
    if (bots->keeper < 0) {
        return false;
    }
    const Status status = rune_keeper_read(bots->keeper, want->hash, &data, &bytes);
    if (status == STATUS_BLOCKED) {
        stop_keeping(bots);
    }
    if (status != STATUS_OK) {
        return false;
    }
    bots->report.rows_cached += 1;
    keep_rows(bots, want->hash, data, bytes);
    return true;
}

// From another bot, the keeper, or HTTP; and if there is nothing, over the socket.
static void fetch_rows(Bots *bots, Bot *bot, const ClientWant *want)
{
    const bool is_known = memcmp(bots->rows_hash, want->hash, SHA256_BYTES) == 0;
    if (is_known && bots->rows_asked) {
        return;
    }
    const bool is_here =
        (is_known && !bots->rows_failed && bots->rows != NULL) || read_kept_rows(bots, want);
    if (is_here &&
        client_give_for(bot->client, want->hash, bots->rows, bots->rows_bytes) == STATUS_OK) {
        return;
    }
    if (is_here || is_known || bots->rows_asked) {
        (void)client_fetch_one_over_wire(bot->client, want->hash);
        return;
    }
    memcpy(bots->rows_hash, want->hash, SHA256_BYTES);
    bots->rows_asked = true;
    bots_fetcher_ask(bots->fetcher, BOTS_FETCH_ROWS, bot->index, want->hash);
}

// The scene and the rows of a large manifest are fetched over HTTP once for all bots; runes that
// are not kept over the socket, as native clients do.
void bots_script_fetch(Bots *bots, Bot *bot)
{
    keep_runes(bots, bot);
    if (client_wants_change(bot->client) == bot->wants_change) {
        return;
    }
    const uint32_t count = client_wants(bot->client, bots->wants, BOTS_WANTS_MAX);
    for (uint32_t i = 0; i < count; i++) {
        const ClientWant *want = &bots->wants[i];
        if (want->kind == CLIENT_WANT_MANIFEST) {
            fetch_rows(bots, bot, want);
        } else if (want->kind == CLIENT_WANT_RUNE && !give_kept(bots, bot, want)) {
            (void)client_fetch_one_over_wire(bot->client, want->hash);
        }
    }
    bot->wants_change = client_wants_change(bot->client);
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
